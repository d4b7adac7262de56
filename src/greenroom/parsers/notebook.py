"""Where a parser notes down what it sees, within limits, to make a Reading of it."""

from __future__ import annotations

from greenroom.model.sightings import Reading, Sighting

MAX_SIGHTINGS = 10_000
MAX_PUZZLES = 20
MAX_EVIDENCE_CHARS = 500
MAX_PUZZLE_CHARS = 200


class Notebook:
    """Notes of one reading. Beyond its limits it counts no further; the last puzzle says so."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.sightings: list[Sighting] = []
        self.healthy = 0
        self._puzzles: list[str] = []

    def add(self, code: str, device: str = "", *, line: int = 0, evidence: str = "", **rest: object) -> None:
        """Note a sighting. ``count`` and ``when`` are the sighting's own, all else is detail."""
        if len(self.sightings) >= MAX_SIGHTINGS:
            self.puzzled(f"more than {MAX_SIGHTINGS} sightings: the rest is left out")
            return
        count, when = rest.pop("count", 1), rest.pop("when", "")
        self.sightings.append(
            Sighting(
                code=code,
                device=device[:200],
                line=line,
                count=count if isinstance(count, int) else 1,
                when=str(when),
                detail={key: value for key, value in rest.items() if value not in (None, "")},
                evidence=evidence.strip()[:MAX_EVIDENCE_CHARS],
            )
        )

    def ok(self, things: int = 1) -> None:
        """Note things that are as they should be."""
        self.healthy += things

    def puzzled(self, text: str) -> None:
        """Note what looked relevant and could not be understood, or could not be told."""
        clipped = " ".join(text.split())[:MAX_PUZZLE_CHARS]
        if len(self._puzzles) < MAX_PUZZLES and clipped and clipped not in self._puzzles:
            self._puzzles.append(clipped)

    def reading(self) -> Reading:
        """The whole."""
        return Reading(
            kind=self.kind,
            sightings=tuple(self.sightings),
            healthy=self.healthy,
            not_understood=tuple(self._puzzles),
        )

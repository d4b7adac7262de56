"""``ipmitool sel list`` and ``sel elist`` -> events of the management controller that tell of a fault.

Sensor types and events: IPMI 2.0 specification, tables 42-1 to 42-3; the words are those of ipmitool.
"""
# ruff: noqa: E501 - one rule, one line

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from greenroom.model.sightings import Reading
from greenroom.parsers.notebook import Notebook
from greenroom.parsers.texts import head, lines

KIND = "ipmi-sel"
_GAP = r" {0,12}\| {0,12}"
_ROW = re.compile(
    rf"^ {{0,12}}(?P<id>[0-9a-f]{{1,4}}){_GAP}(?P<date>\d\d/\d\d/\d{{2,4}}|Pre-Init|Unknown|Unspecified){_GAP}"
    rf"(?P<time>[\w: .+/-]{{0,30}}?){_GAP}(?P<sensor>[^|]{{1,80}}?){_GAP}(?P<event>[^|]{{1,120}}?)"
    r"(?: {0,12}\| {0,12}(?P<way>Asserted|Deasserted))?(?: {0,12}\|.{0,200})?\s*$",
    re.IGNORECASE,
)
_TIME = re.compile(r"^(\d\d):(\d\d):(\d\d)(?: (AM|PM))?", re.IGNORECASE)
# Sensor and event together -> code; the first that fits. Fatal before what could be corrected.
_RULES = tuple(
    (re.compile(pattern, re.IGNORECASE), code)
    for pattern, code in (
        (r"memory.*uncorrectable|uncorrectable ecc|memory.*(?:parity|scrub failed)", "host.edac.ue"),
        (r"memory.*device disabled", "host.memory.module"),
        (r"memory.*correctable|correctable ecc", "host.edac.ce"),
        (r"processor.*(?:IERR|machine check|FRB|uncorrectable)|\bcaterr\b|\bIERR\b", "host.mce.uncorrected"),
        (r"processor.*(?:thermal trip)", "host.temperature"),
        (r"(?<!non-)fatal error", "pcie.aer.fatal"),
        (r"pci serr|pci perr|bus uncorrectable error", "pcie.aer.uncorrectable"),
        (r"power unit.*(?:failure|lost|soft)|(?:power supply|ps\w*).*redundancy (?:lost|degraded)|power.*redundancy (?:lost|degraded)", "host.power.redundancy"),
        (r"power supply.*(?:fail|lost|out of range|predictive|mismatch|inactive)|\bac lost\b", "host.power.supply"),
        (r"\bfan.*(?:(?<!non-)critical|non-recoverable|redundancy lost|fail|fault)", "host.fan"),
        (r"(?:temp|thermal).*(?:upper critical|upper non-recoverable|over-?temp)", "host.temperature"),
        (r"drive (?:slot|bay)?.*(?:fault|failure|in critical array|in failed array)", "disk.fault"),
        (r"watchdog.*(?:reset|power (?:down|cycle)|timer expired|hard)", "host.watchdog"),
    )
)  # fmt: skip
_HARMLESS = re.compile(
    r"redundancy (?:regained|fully|restored)|fully redundant|presence detected|log area", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One entry of the log."""

    id: str
    at: float | None
    """Unix s, the controller's clock taken as UTC; None: its clock was not set."""
    sensor: str
    event: str
    asserted: bool
    line: int
    text: str

    @property
    def code(self) -> str:
        """Fault code; empty: it tells of none."""
        words = f"{self.sensor} {self.event}"
        if not self.asserted or _HARMLESS.search(words):
            return ""
        return next((code for pattern, code in _RULES if pattern.search(words)), "")


def recognise(text: str) -> float:
    """How sure it is the list of events."""
    rows = sum(1 for line in head(text).split("\n")[:50] if _ROW.match(line))
    return 0.9 if rows >= 2 else 0.8 * rows


def parse_events(text: str) -> Iterator[Event]:
    """The entries, oldest first, as the controller keeps them."""
    for count, line in lines(text):
        if row := _ROW.match(line):
            yield Event(
                id=row["id"],
                at=_unix_s(row["date"], row["time"]),
                sensor=row["sensor"].strip(),
                event=row["event"].strip(),
                asserted=(row["way"] or "asserted").lower() == "asserted",
                line=count,
                text=line.strip(),
            )


def standing(events: list[Event]) -> list[Event]:
    """Without states that ended: an event is taken back when its sensor tells of the same, deasserted."""
    ended: set[tuple[str, str]] = set()
    kept = []
    for event in reversed(events):
        key = (event.sensor, event.event)
        if not event.asserted:
            ended.add(key)
        elif key not in ended:
            kept.append(event)
    return kept[::-1]


def _unix_s(date: str, time: str) -> float | None:
    clock = _TIME.match(time.strip())
    if not clock or "/" not in date:
        return None
    month, day, year = (int(part) for part in date.split("/"))
    hour = int(clock[1]) % 12 + 12 * (clock[4].upper() == "PM") if clock[4] else int(clock[1])
    try:
        moment = datetime(
            year + 2000 * (year < 100), month, day, hour, int(clock[2]), int(clock[3]), tzinfo=UTC
        )
    except ValueError:
        return None
    return moment.timestamp()


def read(text: str) -> Reading:
    """Events that tell of a fault and were not taken back."""
    book = Notebook(KIND)
    events = list(parse_events(text))
    for event in standing(events):
        if code := event.code:
            when = event.text.split("|")[1].strip() + " " + event.text.split("|")[2].strip()
            book.add(code, event.sensor, line=event.line, evidence=event.text, when=when, event=event.event)
        else:
            book.ok()
    if not events:
        book.puzzled("no event is shown: " + text[:100])
    return book.reading()

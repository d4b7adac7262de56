"""A repair carried out by an executable of the site, with JSON in and out.

The executable gets one JSON object on standard input, ``{"action": "start" | "poll", "action_id",
"node", "rung", "reason"}``, and prints one: ``{"progress": "running" | "done" | "failed" |
"refused", "detail"}``. ``start`` twice with one ``action_id`` must start once.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from greenroom.model.jsonish import Unreadable, from_json
from greenroom.model.words import Rung
from greenroom.probes.host import ProbeUnavailable, run_command
from greenroom.recovery import ProviderUnavailable, RepairState


class CommandProvider:
    """See recovery.Provider."""

    def __init__(self, argv: Sequence[str], *, rung: Rung, timeout_s: float = 60.0) -> None:
        """``timeout_s``: how long one call may take; the repair itself may take longer (poll)."""
        self._argv, self._rung, self._timeout_s = tuple(argv), rung, timeout_s

    def offers(self) -> frozenset[Rung]:  # noqa: D102 - the protocol says it
        return frozenset({self._rung})

    def start(self, *, action_id: str, node: str, rung: Rung, reason: str) -> RepairState:  # noqa: D102
        return self._call(action="start", action_id=action_id, node=node, rung=rung.value, reason=reason)

    def poll(self, *, action_id: str, node: str, rung: Rung) -> RepairState:  # noqa: D102
        return self._call(action="poll", action_id=action_id, node=node, rung=rung.value)

    def _call(self, **asked: str) -> RepairState:
        try:
            ran = run_command(self._argv, timeout_s=self._timeout_s, stdin=json.dumps(asked))
        except ProbeUnavailable as error:
            raise ProviderUnavailable(str(error)) from error
        if ran.rc != 0:
            said = ran.stderr.strip().splitlines()[-1:] or ["no message"]
            raise ProviderUnavailable(f"{self._argv[0]}: exit code {ran.rc}: {said[0][:200]}")
        try:
            return from_json(RepairState, json.loads(ran.stdout), self._argv[0])
        except (Unreadable, json.JSONDecodeError) as error:
            raise ProviderUnavailable(
                f"{self._argv[0]}: expected one JSON object with progress and detail: {error}"
            ) from error

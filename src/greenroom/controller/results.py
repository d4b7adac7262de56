"""Results coming home, and the question "is this boot admitted?"."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from dataclasses import dataclass

from greenroom.controller.gate import Gate
from greenroom.model.admission import Record, sign, token, verify
from greenroom.model.jsonish import from_json, to_json
from greenroom.model.results import Finding, Report
from greenroom.model.words import Phase
from greenroom.policy.events import RunFinished
from greenroom.policy.state import NodeState
from greenroom.store import Json

MAX_FINDINGS = 50


class Refused(Exception):
    """The sender may not say this: wrong token, wrong node, no such run."""


@dataclass(frozen=True, slots=True)
class Keys:
    """The controller's secret (run tokens) and the key all nodes share (admission records)."""

    secret: bytes
    admission: bytes


class Results:
    """Takes reports and answers prologs; used by the web API."""

    def __init__(self, gate: Gate, keys: Keys, now: Callable[[], float]) -> None:
        """``now``: Unix time, s."""
        self._gate, self._keys, self._now = gate, keys, now

    def finished(self, run_id: str, sent_token: str, body: Json) -> Json:
        """A report of a run we launched.

        Raises:
            Refused: the token is not this run's, or the report is of another node.
            Unreadable: the body is no report.
            StoreUnavailable: not taken; to be sent again.
        """
        if not hmac.compare_digest(sent_token, token(self._keys.secret, run_id)):
            raise Refused("the token is not this run's")
        report = from_json(Report, body)
        run = self._gate.store.run(run_id)
        if run is None or run.node != report.node or report.run_id != run_id:
            raise Refused(f"run {run_id} is not of node {report.node}")
        state, _ = self._gate.submit(
            report.node, _event(report, run_id), key=f"run:{run_id}", report=to_json(report)
        )
        return {"phase": state.phase, "admission": self._admission(state, run_id)}

    def found(self, node: str, record: Record, body: Json) -> Json:
        """A report nobody asked for, from a node in service: its admission record is its ticket."""
        boot_id = str(record.get("boot_id", ""))
        if wrong := verify(record, self._keys.admission, node=node, boot_id=boot_id):
            raise Refused(wrong)
        report = from_json(Report, body)
        state = self._gate.store.load(node)
        if state is None or state.admitted is None or report.node != node:
            raise Refused(f"{node} is not in service")
        if state.admitted.boot_id not in ("", boot_id) or report.identity.boot_id != boot_id:
            raise Refused("the report or the record is of another boot")
        state, _ = self._gate.submit(node, _event(report, ""), report=to_json(report))
        return {"phase": state.phase, "admission": None}

    def admitted(self, node: str, boot_id: str) -> tuple[bool, str]:
        """Whether this boot of the node may run jobs, and why (not)."""
        state = self._gate.store.load(node)
        if state is None:
            return False, "the controller does not know this node"
        if state.phase is not Phase.IN_SERVICE or state.admitted is None:
            return False, f"{state.phase}: {state.reason}"
        if state.admitted.boot_id not in ("", boot_id):
            return False, "another boot of this node was admitted"
        return True, state.reason

    def _admission(self, state: NodeState, run_id: str) -> Record | None:
        admitted = state.admitted
        if state.phase is not Phase.IN_SERVICE or admitted is None or admitted.run_id != run_id:
            return None
        return sign(
            self._keys.admission,
            node=state.node,
            boot_id=admitted.boot_id,
            hardware=admitted.hardware,
            run_id=run_id,
            issued_at=self._now(),
        )


def _event(report: Report, run_id: str) -> RunFinished:
    findings: tuple[Finding, ...] = report.findings[:MAX_FINDINGS]
    return RunFinished(run_id=run_id, verdict=report.verdict, identity=report.identity, findings=findings)

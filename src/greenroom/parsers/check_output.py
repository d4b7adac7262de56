"""What other people's checks print: our own JSON, Nagios plugins, NHC, ``HEALTH_CHECK_RESULT:`` lines.

Pure: exit code and output in, findings out. Nothing readable is ``Unclear``, never a pass.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from greenroom.model.jsonish import Unreadable, from_json
from greenroom.model.results import Finding
from greenroom.model.words import Rung, Severity

MAX_TEXT_CHARS = 500
# Nagios plugin guidelines: exit code 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN; text up to "|" is the message.
NAGIOS_SEVERITY = {1: Severity.SUSPECT, 2: Severity.FAIL}
_NHC = re.compile(r"^ERROR:\s+nhc:\s+Health check failed:\s*(.*)$", re.MULTILINE)
_MARKER = re.compile(
    r"^HEALTH_CHECK_RESULT:(?P<host>[^:\n]*):(?P<result>Passed|Failed|Skipped):"
    r"(?P<action>none|reboot|replace):(?P<reason>.*)$",
    re.MULTILINE,
)
_ACTIONS = {"none": None, "reboot": Rung.REBOOT, "replace": Rung.REPLACE}


@dataclass(frozen=True, slots=True)
class Answered:
    """The check could look; no findings = it is content."""

    findings: tuple[Finding, ...] = ()
    skipped: str = ""
    """It says that it does not apply here, for this reason."""


@dataclass(frozen=True, slots=True)
class Unclear:
    """It could not tell, or what it printed is not understood."""

    why: str


def read(style: str, *, code: str, rc: int, out: str) -> Answered | Unclear:
    """Read the output of a check in one of STYLES; ``code`` is the fault code of what it finds."""
    return STYLES[style](code, rc, out)


def _nagios(code: str, rc: int, out: str) -> Answered | Unclear:
    message = out.strip().split("|", 1)[0].strip()[:MAX_TEXT_CHARS]
    if rc == 0:
        return Answered()
    if rc not in NAGIOS_SEVERITY:
        return Unclear(message or f"exit code {rc}")
    return Answered((_finding(code, message or f"exit code {rc}", severity=NAGIOS_SEVERITY[rc]),))


def _nhc(code: str, rc: int, out: str) -> Answered | Unclear:
    if rc == 0:
        return Answered()
    failed = [text.strip() for text in _NHC.findall(out)]
    if not failed:
        return Unclear(f"exit code {rc} without an NHC error line")
    return Answered(tuple(_finding(code, text[:MAX_TEXT_CHARS]) for text in failed))


def _marker(code: str, rc: int, out: str) -> Answered | Unclear:
    lines = list(_MARKER.finditer(out))
    if not lines:
        return Unclear(f"exit code {rc}, no HEALTH_CHECK_RESULT line")
    failed = [line for line in lines if line["result"] == "Failed"]
    if not failed and all(line["result"] == "Skipped" for line in lines):
        return Answered(skipped=lines[0]["reason"].strip()[:MAX_TEXT_CHARS] or "skipped")
    return Answered(
        tuple(
            _finding(
                code,
                line["reason"].strip()[:MAX_TEXT_CHARS] or "failed",
                subject=line["host"].strip(),
                remedy=_ACTIONS[line["action"]],
            )
            for line in failed
        )
    )


def _json(code: str, rc: int, out: str) -> Answered | Unclear:
    """``{"findings": [{"subject", "message", "severity"?, "code"?, "remedy"?}], "skipped"?: reason}``."""
    try:
        data = json.loads(out)
        rows = data["findings"]
        findings = tuple(from_json(Finding, {"code": code, "subject": "node", **row}) for row in rows)
    except (ValueError, TypeError, KeyError, Unreadable, RecursionError) as error:
        return Unclear(f"exit code {rc}; expected JSON with findings: {error!s:.200}")
    return Answered(findings, skipped=str(data.get("skipped", ""))[:MAX_TEXT_CHARS])


def _finding(
    code: str,
    message: str,
    *,
    subject: str = "node",
    severity: Severity = Severity.FAIL,
    remedy: Rung | None = None,
) -> Finding:
    return Finding(code=code, subject=subject or "node", message=message, severity=severity, remedy=remedy)


STYLES = {"json": _json, "nagios": _nagios, "nhc": _nhc, "marker": _marker}

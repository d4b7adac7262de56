"""The management controller (BMC) over Redfish: health of its parts, and its log. Nothing is ever written."""

from __future__ import annotations

import re
from collections.abc import Sequence

from greenroom.checks.bmc import CLOCK_S, EVENTS, LONG, SENSORS, boot_time, event_findings
from greenroom.checks.expectations import Expected
from greenroom.checks.frame import Answer, Facts, Looked, NotApplicable, check, found
from greenroom.model.words import Stage
from greenroom.probes.host import Host, ProbeUnavailable

ROOT = "/redfish/v1/"
COLLECTIONS = ("Systems", "Chassis", "Managers")
BELOW = (
    "Thermal",
    "Power",
    "ThermalSubsystem",
    "PowerSubsystem",
    "Fans",
    "PowerSupplies",
    "LogServices",
    "Entries",
)
IF_UNWELL = ("Memory", "Processors", "Storage", "Drives")
"""Many resources, that the health of the system sums up."""
NO_EVENTS = re.compile(r"/LogServices/[^/]*(?:dump|audit|journal|post|crash|debug|fdr)", re.IGNORECASE)
MAX_RESOURCES = 120
AT_ONCE = 20
LAST = 100
"""Events that are read, the newest."""
BUDGET_S = 15.0
REQUEST_TIMEOUT_S = 8
BATCH_TIMEOUT_S = 20.0
MAX_BYTES = 4_000_000
MARK = "@greenroom"
PRIVATE = 0o077


@check(
    "bmc.redfish",
    needs={"curl"},
    cost_s=10.0,
    detects=(EVENTS | SENSORS) - {"host.bmc.full"},
    expects={"bmc.redfish_url", "bmc.redfish_netrc", "bmc.redfish_ca"},
    stage=Stage.OBSERVE,
    profiles=LONG,
)
def redfish(facts: Facts, host: Host, expected: Expected) -> Answer:
    """No part is critical to the machine's controller, and its log tells of no fault since the admission.

    Asked where the site names the address. The user's name and password stand in a file in netrc form that
    root alone can read; the certificate is checked. A warning counts for power supplies only. Without an
    admission events since the boot count; their times are taken as UTC where they name no zone.
    """
    url = str(expected["bmc.redfish_url"].value or "").rstrip("/")
    if not url:
        return NotApplicable("no address of a Redfish service is named (bmc.redfish_url)")
    from greenroom.parsers import ipmi_sel  # noqa: PLC0415 - only where there is a controller
    from greenroom.parsers import redfish as parser  # noqa: PLC0415

    service = _Service(host, url, expected)
    documents = service.read_all()
    seen = [part for document in documents for part in parser.parts(document)]
    if not seen:
        raise ProbeUnavailable(
            f"{url}: shows no health of anything ({service.refused or 'no'} requests refused)"
        )
    told = sorted((e for document in documents for e in parser.events(document)), key=lambda e: e.at or 0.0)
    since = (facts.since or boot_time(host)) - CLOCK_S
    new = [event for event in ipmi_sel.standing(told) if event.at is not None and event.at >= since]
    findings = [
        found(part.code, subject=part.name, message=part.text, measured=part.health, evidence=(part.text,))
        for part in parser.unwell(seen)
    ]
    return Looked(
        looked={
            "resources": len(documents),
            "refused": service.refused,
            "left_out": service.left_out,
            "parts": len(seen),
            "near": [part.name for part in seen if part.health != "OK" and not part.code],
            "events": len(told),
            "new": len(new),
            "undated": sum(1 for event in told if event.at is None),
        },
        findings=(*findings, *event_findings(new, otherwise="host.bmc")),
    )


class _Service:
    """Reads resources, several with each start of curl, so that one connection serves them all."""

    def __init__(self, host: Host, url: str, expected: Expected) -> None:
        self._host = host
        self._url = url
        scheme = url.partition("://")[0]
        if scheme not in ("https", "http"):
            raise ProbeUnavailable(f"bmc.redfish_url: expected https://..., got {url!r:.60}")
        self._argv = ["curl", "-sS", "--globoff", "--proto", f"={scheme}", "-m", str(REQUEST_TIMEOUT_S)]
        self._argv += ["--max-filesize", str(MAX_BYTES), "-w", f"\n{MARK} %{{http_code}}\n"]
        self._netrc = str(expected["bmc.redfish_netrc"].value or "")
        if self._netrc:
            _refuse_readable(host, self._netrc)
            self._argv += ["--netrc-file", self._netrc]
        if ca := expected["bmc.redfish_ca"].value:
            self._argv += ["--cacert", str(ca)]
        self.refused = 0
        self.left_out = 0

    def read_all(self) -> list[object]:
        """Every resource that tells of health or keeps a log, as far as number and time allow."""
        from greenroom.parsers.redfish import links  # noqa: PLC0415 - only where there is a controller

        until = self._host.now() + BUDGET_S
        known = {ROOT}
        left, documents = [ROOT], []
        while left and len(known) - len(left) < MAX_RESOURCES and self._host.now() < until:
            batch, left = left[:AT_ONCE], left[AT_ONCE:]
            for document in self._get(batch):
                documents.append(document)
                names = COLLECTIONS + BELOW + (IF_UNWELL if _unwell(document) else ())
                paths = [*links(document, *names), *_members(document), *_last_page(document)]
                fresh = [
                    path for path in dict.fromkeys(paths) if path not in known and not NO_EVENTS.search(path)
                ]
                known.update(fresh)
                left += fresh
        self.left_out = len(left)
        return documents

    def _get(self, paths: Sequence[str]) -> list[object]:
        from greenroom.parsers.texts import load_json  # noqa: PLC0415 - only where there is a controller

        ran = self._host.run([*self._argv, *(self._url + path for path in paths)], timeout_s=BATCH_TIMEOUT_S)
        documents = []
        *answers, _ = re.split(rf"\n{MARK} (\d{{3}})\n", ran.stdout) if MARK in ran.stdout else [""]
        for body, status in zip(answers[::2], answers[1::2], strict=False):
            if status == "401":
                with_what = (
                    f"the user and password in {self._netrc}" if self._netrc else "no bmc.redfish_netrc"
                )
                raise ProbeUnavailable(f"{self._url}: refuses us (401), with {with_what}")
            document = load_json(body) if status == "200" else None
            documents += [document] if document is not None else []
        if not documents and ROOT in paths:
            said = ran.stderr.strip() or f"no Redfish service: {' '.join(answers[1::2]) or 'no answer'}"
            raise ProbeUnavailable(f"{self._url}: {said:.200}")
        self.refused += len(paths) - len(documents)
        return documents


def _unwell(document: object) -> bool:
    from greenroom.parsers.redfish import parts  # noqa: PLC0415 - only where there is a controller

    return any(part.kind in ("ComputerSystem", "Storage") and part.health != "OK" for part in parts(document))


def _members(document: object) -> list[str]:
    """Those of a collection that stand for themselves; the entries of a log are in it."""
    from greenroom.parsers.redfish import links  # noqa: PLC0415 - only where there is a controller

    kind = str(document.get("@odata.type")) if isinstance(document, dict) else ""
    return [] if "LogEntry" in kind else links(document, "Members")


def _last_page(document: object) -> list[str]:
    """The end of a log of which the controller has sent a part only."""
    if not isinstance(document, dict) or "LogEntryCollection" not in str(document.get("@odata.type")):
        return []
    count, shown, path = (document.get(key) for key in ("Members@odata.count", "Members", "@odata.id"))
    if not isinstance(count, int) or not isinstance(shown, list) or count <= len(shown):
        return []
    return (
        [f"{path}?$skip={max(0, count - LAST)}"]
        if re.fullmatch(r"/redfish/v1[\w/.-]{0,300}", str(path))
        else []
    )


def _refuse_readable(host: Host, path: str) -> None:
    ran = host.run(["stat", "-Lc", "%a", path], timeout_s=5.0)
    mode = ran.stdout.strip()
    if ran.rc or not re.fullmatch(r"[0-7]{1,4}", mode):
        raise ProbeUnavailable(f"{path}: {(ran.stderr.strip() or 'cannot be looked at'):.150}")
    if int(mode, 8) & PRIVATE:
        raise ProbeUnavailable(
            f"{path}: others may read it (mode {mode}), and it holds a password: chmod 600 {path}"
        )

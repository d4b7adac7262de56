"""Memory errors that the kernel's EDAC drivers have counted (Documentation/driver-api/edac.rst)."""

from __future__ import annotations

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import Answer, Facts, Looked, NotApplicable, check, found
from greenroom.checks.optional import read_number, read_text
from greenroom.model.results import Finding, Json
from greenroom.probes.host import Host

ROOT = "/sys/devices/system/edac/mc"


@check(
    "memory.edac",
    cost_s=0.02,
    detects={"host.edac.ue", "host.edac.ce"},
    expects={"memory.edac_corrected_max"},
)
def edac(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """No uncorrectable memory error since the boot, and few corrected ones."""
    controllers = host.glob(f"{ROOT}/mc*/ue_count")
    if not controllers:
        return NotApplicable("no EDAC driver counts memory errors here")
    limit = expected.number("memory.edac_corrected_max")
    looked: Json = {}
    findings: list[Finding] = []
    for path in controllers:
        name = path.split("/")[-2]
        wrong, corrected = int(host.read(path)), int(host.read(path.replace("ue_count", "ce_count")))
        looked[name] = {"uncorrected": wrong, "corrected": corrected}
        if wrong:
            message = f"{wrong} uncorrectable memory errors since the boot"
            evidence = _modules(host, name, "ue")
            findings.append(
                found("host.edac.ue", subject=name, message=message, measured=str(wrong), evidence=evidence)
            )
        elif limit is not None and corrected > limit:
            findings.append(
                found(
                    "host.edac.ce",
                    subject=name,
                    message=f"{corrected} corrected memory errors since the boot",
                    measured=str(corrected),
                    threshold=expected["memory.edac_corrected_max"],
                    evidence=_modules(host, name, "ce"),
                )
            )
    return Looked(looked=looked, findings=tuple(findings))


def _modules(host: Host, controller: str, kind: str) -> tuple[str, ...]:
    """Which modules (``dimm*``, ``rank*``) have counted ``ce`` or ``ue``, the most first, by their label."""
    paths = host.glob(f"{ROOT}/{controller}/*/dimm_{kind}_count")
    counts = {path: read_number(host, path) or 0 for path in paths}
    worst = sorted((path for path, count in counts.items() if count), key=lambda path: -counts[path])
    lines = []
    for path in worst:
        folder = path.rpartition("/")[0]
        label = read_text(host, f"{folder}/dimm_label") or folder.rpartition("/")[2]
        place = read_text(host, f"{folder}/dimm_location") or "no place told"
        lines.append(f"{label} ({place}): {counts[path]}")
    return tuple(lines)

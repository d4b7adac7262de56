"""Is each drive right, and as fast as its model?"""

from __future__ import annotations

from collections import defaultdict

from greenroom.checks.disk import verify_path
from greenroom.checks.expectations import Expected
from greenroom.checks.frame import Answer, Facts, Looked, NotApplicable, check, found
from greenroom.checks.optional import number_of, read_number, read_text, split_pairs
from greenroom.model.figures import median
from greenroom.model.results import Finding, Json
from greenroom.model.words import Stage
from greenroom.parsers import fio, mountinfo
from greenroom.probes.host import Host, ProbeUnavailable

BLOCK = "/sys/block"
VIRTUAL = ("loop", "ram", "zram", "dm-", "md", "sr", "fd", "nbd", "rbd")
"""Not drives: they lie on others, in memory, or behind a network."""
ALIKE = 4
"""Own choice: fewer drives of one model have no norm."""
MIB_PER_S, MIB_PER_S_TURNING = 250, 40
"""Data for each second of load, flash and magnetic: a healthy one moves them both ways in that time."""
SETTLE_S = 10.0
LIMITS = {"read_mb_per_s": "disk.read_mb_per_s_min", "write_mb_per_s": "disk.write_mb_per_s_min"}


@check(
    "disk.drives",
    needs={"fio"},
    cost_s=2.0,
    load_share=0.05,
    detects={"host.disk.slow", "host.disk.corrupt", "host.disk.error"},
    expects={"disk.paths", "disk.behind_percent_max", *LIMITS.values()},
    stage=Stage.WARN,
    profiles=("full", "burn-in"),
)
def drives(facts: Facts, host: Host, expected: Expected) -> Answer:
    """Each drive gives back what was written, at the speed of its model and of its like; faster is no fault.

    A drive with a mounted file system is written to and read back there; any other is only read, raw.
    """
    names = [name for name in _names(host) if not name.startswith(VIRTUAL)]
    if not names:
        return NotApplicable("no drive of its own is here")
    mounts = _mounts(host)
    looked: Json = {}
    findings: list[Finding] = []
    trouble: list[str] = []
    for name in names:
        try:
            finding, looked[name] = _measure(host, name, mounts, expected, facts.load_s / len(names))
        except ProbeUnavailable as error:
            trouble.append(f"{name}: {error}")
            continue
        findings += [finding] if finding else []
    findings += _slow(looked, expected)
    if trouble and not findings:
        raise ProbeUnavailable("; ".join(trouble[:3]))
    return Looked(looked={**looked, **({"unable": trouble} if trouble else {})}, findings=tuple(findings))


def _names(host: Host) -> list[str]:
    paths = host.glob(f"{BLOCK}/*/size")
    return [path.split("/")[3] for path in paths if read_number(host, path)]


def _mounts(host: Host) -> dict[str, str]:
    """Device -> where it is mounted for writing, the shortest path."""
    found_at: dict[str, str] = {}
    for mount in mountinfo.parse(host.read("/proc/self/mountinfo")):
        if mount.device.startswith("/dev/") and "ro" not in mount.mount_options | mount.fs_options:
            known = found_at.get(mount.device)
            if known is None or len(mount.path) < len(known):
                found_at[mount.device] = mount.path
    return found_at


def _measure(
    host: Host, name: str, mounts: dict[str, str], expected: Expected, load_s: float
) -> tuple[Finding | None, Json]:
    about = {"model": _model(host, name)}
    here = [path for device, path in mounts.items() if _is_on(device, name)]
    if not here:
        return None, {**about, **_read_raw(host, name, load_s), "verified": False}
    # A folder that the site names is better than the root of a file system.
    named = [path for path in expected.texts("disk.paths") if _mount_of(path, mounts) in here]
    folder = (named or sorted(here, key=len))[0]
    turning = read_number(host, f"{BLOCK}/{name}/queue/rotational") == 1
    size_mib = max(16, int((MIB_PER_S_TURNING if turning else MIB_PER_S) * load_s))
    finding, told = verify_path(host, folder, size_mib=size_mib, load_s=4 * load_s)
    return finding, {**about, **told, "folder": folder, "verified": finding is None}


def _model(host: Host, name: str) -> str:
    return read_text(host, f"{BLOCK}/{name}/device/model") or "unknown"


def _is_on(device: str, name: str) -> bool:
    """``/dev/nvme0n1p1`` and ``/dev/nvme0n1`` are on nvme0n1, ``/dev/nvme0n10`` is not."""
    rest = device.removeprefix(f"/dev/{name}")
    return rest != device and (
        not rest or (rest.lstrip("p").isdecimal() and (rest[0] == "p") == name[-1].isdecimal())
    )


def _mount_of(path: str, mounts: dict[str, str]) -> str:
    above = [one for one in mounts.values() if f"{path}/".startswith(f"{one.rstrip('/')}/")]
    return max(above, key=len, default="")


def _read_raw(host: Host, name: str, load_s: float) -> Json:
    seconds = max(1, round(load_s))
    argv = [
        "fio",
        "--name=read",
        f"--filename=/dev/{name}",
        "--readonly",
        "--rw=read",
        "--bs=1M",
        "--direct=1",
    ]
    argv += ["--ioengine=libaio", "--iodepth=8", "--size=100%", "--time_based", f"--runtime={seconds}"]
    ran = host.run([*argv, "--output-format=json"], timeout_s=seconds + SETTLE_S)
    try:
        job = fio.parse(ran.stdout)
    except fio.Unparsable as error:
        raise ProbeUnavailable(f"{error} (exit {ran.rc}): {ran.stderr.strip():.200}") from error
    if job.error or not job.read_bytes:
        said = (ran.stderr.strip() or ran.stdout.strip()).splitlines()[:1]
        raise ProbeUnavailable(f"fio read nothing: {said[0] if said else f'exit {ran.rc}'}")
    return {"read_bytes": job.read_bytes, "read_mb_per_s": round(job.read_bytes_per_s / 1e6, 1)}


def _slow(looked: Json, expected: Expected) -> list[Finding]:
    """Slower than its model's limit, or far behind drives of the same model that were measured alike."""
    findings = []
    for field, limit in LIMITS.items():
        limits = split_pairs(expected.texts(limit))
        alike: dict[tuple[str, bool], dict[str, float]] = defaultdict(dict)
        for name, row in looked.items():
            if field in row:
                alike[row["model"], "folder" in row][name] = row[field]
        for (model, _), speeds in alike.items():
            least = next((number_of(value, limit) for part, value in limits.items() if part in model), None)
            usual = median(speeds.values())
            behind = float(expected.number("disk.behind_percent_max") or 100)
            for name, value in speeds.items():
                what, said = field.split("_", maxsplit=1)[0], ""
                if least is not None and value < least:
                    said = f"expected {least:g} of {model}"
                elif len(speeds) >= ALIKE and value < usual * (1 - behind / 100):
                    said = f"the {len(speeds)} drives of its model have {usual:g} (median)"
                if said:
                    findings.append(
                        found(
                            "host.disk.slow",
                            subject=name,
                            message=f"{what}: {value:g} MB/s, {said}",
                            measured=f"{value:g} MB/s",
                            threshold=expected[limit] if least is not None and value < least else None,
                        )
                    )
    return findings

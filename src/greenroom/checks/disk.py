"""Do the disks give back what was written?"""

from __future__ import annotations

import contextlib

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import WITH_LOAD, Answer, Facts, Looked, NotApplicable, check, found
from greenroom.model.results import Finding, Json
from greenroom.parsers import fio
from greenroom.probes.host import Host, ProbeUnavailable, Ran

MIB = 1024 * 1024
MIB_PER_S = 32
"""Data for each second of load: a healthy disk of any kind writes and reads back that much, with room."""
MAX_SHARE = 0.1
"""Of the free space."""
SETTLE_S = 10.0


@check(
    "disk.verify",
    needs={"fio"},
    cost_s=1.0,
    load_share=0.04,
    detects={"host.disk.corrupt", "host.disk.error"},
    expects={"disk.paths"},
    profiles=WITH_LOAD,
)
def verify(facts: Facts, host: Host, expected: Expected) -> Answer:
    """Data written to the disks come back unchanged: each block carries a CRC-32C and is read back.

    Past the page cache (O_DIRECT) where the file system can; ``looked`` says where it could not.
    """
    paths = [path for path in expected.texts("disk.paths") if host.exists(path)]
    if not paths:
        return NotApplicable("none of the folders to write test data to is here")
    looked: Json = {}
    findings = []
    for path in paths:
        finding, looked[path] = verify_path(
            host, path, size_mib=max(16, int(MIB_PER_S * facts.load_s / len(paths))), load_s=facts.load_s
        )
        findings += [finding] if finding else []
    return Looked(looked=looked, findings=tuple(findings))


def verify_path(host: Host, path: str, *, size_mib: int, load_s: float) -> tuple[Finding | None, Json]:
    """Write so much into a folder, or what there is room for, read it back and compare.

    Raises:
        ProbeUnavailable: there is no room, or fio did not say what came of it.
    """
    room_mib = int(host.space(path).free_bytes * MAX_SHARE) // MIB
    size_mib = min(room_mib, size_mib)
    if size_mib < 1:
        raise ProbeUnavailable(f"{path}: no room for test data")
    file = f"{path.rstrip('/')}/.greenroom-verify-{int(host.now() * 1000):x}"
    try:
        ran, direct = _run_fio(host, file, size_mib=size_mib, direct=True, timeout_s=load_s + SETTLE_S), True
        if f"error={fio.EINVAL}" in ran.stderr or "Invalid argument" in ran.stdout + ran.stderr:
            # the file system cannot bypass the page cache
            ran, direct = (
                _run_fio(host, file, size_mib=size_mib, direct=False, timeout_s=load_s + SETTLE_S),
                False,
            )
    finally:
        with contextlib.suppress(ProbeUnavailable):
            host.run(["rm", "-f", "--", file], timeout_s=5)
    try:
        job = fio.parse(ran.stdout)
    except fio.Unparsable as error:
        raise ProbeUnavailable(f"{error} (exit {ran.rc}): {ran.stderr.strip():.200}") from error
    looked: Json = {
        "read_bytes": job.read_bytes,
        "write_mb_per_s": round(job.write_bytes_per_s / 1e6, 1),
        "read_mb_per_s": round(job.read_bytes_per_s / 1e6, 1),
        "direct": direct,
    }
    if job.error:
        code = "host.disk.corrupt" if job.corrupt else "host.disk.error"
        text = "data read back differ from those written" if job.corrupt else f"I/O error {job.error}"
        evidence = tuple(line for line in ran.stderr.splitlines() if "verify" in line or "error" in line)
        return found(code, subject=path, message=text, evidence=evidence), looked
    if job.read_bytes == 0:
        raise ProbeUnavailable(f"{path}: fio read nothing back")
    return None, looked


def _run_fio(host: Host, file: str, *, size_mib: int, direct: bool, timeout_s: float) -> Ran:
    return host.run(
        [
            "fio",
            "--name=verify",
            f"--filename={file}",
            f"--size={size_mib}M",
            "--rw=write",
            "--bs=1M",
            "--ioengine=libaio",
            "--iodepth=8",
            "--verify=crc32c",
            "--do_verify=1",
            "--verify_fatal=1",
            "--end_fsync=1",
            "--verify_state_save=0",  # else it leaves a file in the working directory
            f"--direct={int(direct)}",
            "--unlink=1",
            "--output-format=json",
        ],
        timeout_s=timeout_s,
    )

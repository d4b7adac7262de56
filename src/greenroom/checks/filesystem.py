"""File systems: mounted, writable, with room."""

from __future__ import annotations

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import Answer, Facts, Looked, NotApplicable, check, found
from greenroom.checks.mounts import MOUNTINFO, ask_mounts
from greenroom.parsers.mountinfo import parse
from greenroom.probes.host import Host, ProbeUnavailable

# Those that are written to; a squashfs or an ISO image is read-only by nature.
WRITABLE = frozenset(
    {"ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "nfs", "nfs4", "lustre", "beegfs", "gpfs"}
)

STOPPED = frozenset({"ro", "emergency_ro", "shutdown"})
"""How a file system shows that the kernel lets nobody write; ext4 says the last two from Linux 6.13 on."""


@check(
    "filesystem.free",
    cost_s=0.05,
    detects={"host.fs.full"},
    expects={"filesystem.free_paths", "filesystem.free_percent_min"},
)
def free(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """The file systems that jobs and logs write to have free space and free inodes."""
    threshold = expected["filesystem.free_percent_min"]
    limit = expected.number("filesystem.free_percent_min") or 0.0
    looked, findings = {}, []
    for path in expected.texts("filesystem.free_paths"):
        if not host.exists(path):
            continue
        space = host.space(path)
        for what, total, left in (
            ("space", space.total_bytes, space.free_bytes),
            ("inodes", space.total_inodes, space.free_inodes),
        ):
            if total == 0:  # btrfs and network file systems have no inodes to run out of
                continue
            percent = 100.0 * left / total
            looked[f"{path} {what} free_percent"] = round(percent, 1)
            if percent < limit:
                findings.append(
                    found(
                        "host.fs.full",
                        subject=path,
                        message=f"{percent:.1f} % of {what} free, expected {limit:g} %",
                        measured=f"{percent:.1f} %",
                        threshold=threshold,
                    )
                )
    return Looked(looked=looked, findings=tuple(findings))


@check("filesystem.writable", cost_s=0.02, detects={"host.fs.readonly"})
def writable(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """No file system has been turned read-only by the kernel after an error.

    A mount that somebody made read-only (``ro`` of the mount itself, or in /etc/fstab) is a wish.
    """
    mounts = [mount for mount in parse(host.read(MOUNTINFO)) if mount.kind in WRITABLE]
    if not mounts:
        return NotApplicable("no file system of a disk or a file server is mounted")
    wished = _readonly_in_fstab(host)
    findings = tuple(
        found(
            "host.fs.readonly",
            subject=mount.path,
            message=f"{mount.kind} on {mount.device} has gone read-only",
            measured=",".join(sorted(mount.fs_options & STOPPED)),
            evidence=(",".join(sorted(mount.fs_options)),),
        )
        for mount in mounts
        if mount.fs_options & STOPPED and "ro" not in mount.mount_options and mount.path not in wished
    )
    return Looked(looked={"mounts": len(mounts)}, findings=findings)


@check(
    "filesystem.mounted",
    cost_s=0.02,
    detects={"host.mount.missing", "host.mount.silent"},
    expects={"filesystem.mounts"},
)
def mounted(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """Every mount point that jobs need is mounted, and answers."""
    wanted = expected.texts("filesystem.mounts")
    if not wanted:
        return NotApplicable("no mount point is expected")
    there = {mount.path for mount in parse(host.read(MOUNTINFO))}
    findings = [
        found(
            "host.mount.missing",
            subject=path,
            message=f"nothing is mounted on {path}",
            measured="not mounted",
            threshold=expected["filesystem.mounts"],
        )
        for path in wanted
        if path not in there
    ]
    silent, denied = ask_mounts(host, (path for path in wanted if path in there))
    findings += [
        found(
            "host.mount.silent",
            subject=path,
            message=f"{path} does not answer: {why}",
            measured=why,
            threshold=expected["filesystem.mounts"],
        )
        for path, why in silent.items()
    ]
    if denied and not findings:
        raise ProbeUnavailable("; ".join(f"{path}: {why}" for path, why in denied.items()))
    return Looked(looked={"mounts": len(wanted)}, findings=tuple(findings))


def _readonly_in_fstab(host: Host) -> set[str]:
    try:
        lines = host.read("/etc/fstab").splitlines()
    except ProbeUnavailable:
        return set()
    rows = [line.split() for line in lines if not line.lstrip().startswith("#")]
    return {row[1] for row in rows if len(row) >= 4 and "ro" in row[3].split(",")}

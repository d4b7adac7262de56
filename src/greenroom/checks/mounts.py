"""Network file systems: do they answer, does Lustre hold its servers, are mounts set up as expected?"""

from __future__ import annotations

import re
from collections.abc import Iterable

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import Answer, Facts, Looked, NotApplicable, check, found
from greenroom.checks.optional import read_text, split_pairs
from greenroom.model.results import Finding, Json
from greenroom.model.words import Stage
from greenroom.parsers.mountinfo import Mount, parse
from greenroom.probes.host import Host, ProbeUnavailable

MOUNTINFO = "/proc/self/mountinfo"
NETWORK = frozenset(
    [
        "nfs",
        "nfs4",
        "lustre",
        "gpfs",
        "beegfs",
        "ceph",
        "cifs",
        "smb3",
        "afs",
        "panfs",
        "wekafs",
        "orangefs",
        "fuse.glusterfs",
        "fuse.ceph-fuse",
        "fuse.sshfs",
        "fuse.s3fs",
        "fuse.gcsfuse",
        "fuse.juicefs",
        "fuse.cvmfs2",
    ]
)
ANSWER_S = 1.0
"""For one statfs: over a healthy network it takes a thousandth of this."""
MAX_SILENT = 3
"""After so many dead mounts the rest is not looked at: each costs its deadline."""
MAX_MOUNTS = 64
# What statfs says of a mount whose server or helper is gone, and only then (errno(3)).
_DEAD = re.compile(
    r"not back after|[Ss]tale|Input/output error|Transport endpoint|Host is down|No route|timed out|"
    r"Communication error|Remote I/O|Cannot send after"
)
LUSTRE = ("/sys/kernel/debug/lustre", "/proc/fs/lustre")
HEALTH = ("/sys/fs/lustre/health_check", "/proc/fs/lustre/health_check")
_IMPORT = re.compile(r"^\s*(target|state):\s*(\S+)", re.MULTILINE)


@check("mounts.answering", cost_s=0.1, detects={"storage.mount.silent"}, stage=Stage.WARN)
def answering(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """Every mounted network file system answers. One that hangs is named, and the others still looked at."""
    mounts = _network_mounts(host)
    if not mounts:
        return NotApplicable("no network file system is mounted")
    silent, denied = ask_mounts(host, (mount.path for mount in mounts))
    kinds = {mount.path: f"{mount.kind} on {mount.device}" for mount in mounts}
    findings = tuple(
        found("storage.mount.silent", subject=path, message=f"{kinds[path]}: {why}", measured=why)
        for path, why in silent.items()
    )
    if not findings and len(denied) == len(mounts):
        raise ProbeUnavailable(next(iter(denied.values())))
    looked: Json = {"mounts": len(mounts), "denied": sorted(denied)}
    if len(silent) >= MAX_SILENT:
        looked["stopped_after"] = list(silent)[-1]
    return Looked(looked=looked, findings=findings)


def ask_mounts(host: Host, paths: Iterable[str]) -> tuple[dict[str, str], dict[str, str]]:
    """(mounts that do not answer, mounts that we may not ask), each with the reason."""
    silent: dict[str, str] = {}
    denied: dict[str, str] = {}
    for path in paths:
        try:
            host.space(path, timeout_s=ANSWER_S)
        except ProbeUnavailable as error:
            why = str(error).removeprefix(f"{path}: ")
            (silent if _DEAD.search(why) else denied)[path] = why
        if len(silent) >= MAX_SILENT:
            break
    return silent, denied


def _network_mounts(host: Host) -> list[Mount]:
    """One of each source: a bind mount of the same server is the same question."""
    mounts = {
        (mount.kind, mount.device): mount
        for mount in reversed(parse(host.read(MOUNTINFO)))
        if mount.kind in NETWORK
    }
    return sorted(mounts.values(), key=lambda mount: mount.path)[:MAX_MOUNTS]


@check(
    "mounts.lustre",
    cost_s=0.02,
    detects={"storage.lustre", "storage.lustre.evicted", "storage.lustre.unhealthy"},
    stage=Stage.WARN,
)
def lustre(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """Lustre calls itself healthy, and the client holds its connection to every server.

    An idle connection is closed by design (state IDLE).
    """
    health = next(filter(None, (read_text(host, path) for path in HEALTH)), "")
    imports = [path for root in LUSTRE for path in host.glob(f"{root}/*/*/import")]
    if not health and not imports:
        if any(mount.kind == "lustre" for mount in parse(host.read(MOUNTINFO))):
            raise ProbeUnavailable("Lustre is mounted and shows neither its health nor its connections")
        return NotApplicable("no Lustre client is here")
    findings: list[Finding] = []
    if health and health.splitlines()[0].strip() != "healthy":
        message = f"health_check says {health.splitlines()[0]!r:.60}"
        findings.append(found("storage.lustre.unhealthy", subject="lustre", message=message, measured=health))
    states: Json = {}
    for path in imports:
        fields = dict(_IMPORT.findall(read_text(host, path)))
        state, target = fields.get("state", ""), fields.get("target", path.split("/")[-2])
        states[target] = state
        if state in ("FULL", "IDLE", "NEW", ""):
            continue
        code = "storage.lustre.evicted" if state == "EVICTED" else "storage.lustre"
        findings.append(
            found(code, subject=target, message=f"connection is {state}, expected FULL", measured=state)
        )
    return Looked(looked={"health": health or "not shown", "connections": states}, findings=tuple(findings))


@check(
    "mounts.options",
    cost_s=0.02,
    detects={"host.mount.options"},
    expects={"filesystem.options"},
    stage=Stage.WARN,
)
def options(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """Mounts have the options of the site (/dev/shm, /tmp: nosuid, nodev, size)."""
    wanted = split_pairs(expected.texts("filesystem.options"))
    if not wanted:
        return NotApplicable("no option of a mount is expected")
    there = {mount.path: mount.mount_options | mount.fs_options for mount in parse(host.read(MOUNTINFO))}
    findings = []
    for path, words in wanted.items():
        lacking = sorted(set(words.split(",")) - there.get(path, frozenset()))
        if lacking:
            state = f"mounted without {','.join(lacking)}" if path in there else "not mounted"
            findings.append(
                found(
                    "host.mount.options",
                    subject=path,
                    message=f"{path} is {state}",
                    measured=state,
                    threshold=expected["filesystem.options"],
                )
            )
    return Looked(looked={"mounts": len(wanted)}, findings=tuple(findings))

"""Daemons that start jobs: container runtimes, kubelet, slurmd. They are asked, never changed."""

from __future__ import annotations

import re

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import WITH_LOAD, Answer, Facts, Looked, NotApplicable, check, found
from greenroom.checks.optional import read_text, run_if_installed
from greenroom.model.results import Finding, Json
from greenroom.model.words import Stage
from greenroom.probes.host import Host, ProbeUnavailable

TOOL_TIMEOUT_S = 5.0
SOCKETS = {
    "containerd": "/run/containerd/containerd.sock",
    "crio": "/run/crio/crio.sock",
    "docker": "/run/docker.sock",
}
CDI_FOLDERS = ("/etc/cdi", "/var/run/cdi")
CDI_KIND = "nvidia.com/gpu"
TOOLKIT = ("/usr/bin/nvidia-ctk", "/usr/bin/nvidia-container-runtime", "/usr/local/nvidia/toolkit/nvidia-ctk")
"""By the packages of the distributions, and by the GPU operator."""
_LIBRARY = re.compile(r"libcuda\.so\.(\d+\.\d+(?:\.\d+)?)")
KUBELET = "/var/lib/kubelet"
HEALTHZ = "http://127.0.0.1:10248/healthz"
SLURM = ("/etc/slurm/slurm.conf", "/run/slurm/conf/slurm.conf", "/var/spool/slurmd/conf-cache/slurm.conf")
NODE_FAULTS = frozenset(
    {
        "slurm.node.config",
        "slurm.node.low_memory",
        "slurm.node.low_resources",
        "slurm.node.gres_missing",
        "slurm.node.not_responding",
    }
)
"""What Slurm itself has found out about the node. That somebody drained it is no fault: we do, too."""


@check(
    "containers.runtime",
    needs={"crictl, docker"},
    cost_s=0.3,
    detects={"host.container.runtime"},
    expects={"containers.runtimes"},
    stage=Stage.WARN,
    profiles=WITH_LOAD,
)
def runtime(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """Container runtimes answer: those that are expected, and any whose socket is there."""
    wanted = expected.texts("containers.runtimes")
    there = [name for name, path in SOCKETS.items() if host.exists(path)]
    if not wanted and not there:
        return NotApplicable("no container runtime is here, and none is expected")
    looked: Json = {}
    findings: list[Finding] = []
    silent = []
    for name in sorted({*wanted, *there}):
        said = _ask_runtime(host, name) if name in there else "has no socket: it does not run"
        looked[name] = said or "answers"
        if said is None:
            silent.append(name)
        elif said:
            threshold = expected["containers.runtimes"] if name in wanted else None
            findings.append(
                found(
                    "host.container.runtime", subject=name, message=said, measured=said, threshold=threshold
                )
            )
    if not findings and silent:
        if set(silent) & set(wanted):
            raise ProbeUnavailable(f"no tool is installed to ask {', '.join(silent)}")
        if len(silent) == len(looked):
            return NotApplicable(f"no tool is installed to ask {', '.join(silent)}, and nothing is expected")
    return Looked(looked=looked, findings=tuple(findings))


def _ask_runtime(host: Host, name: str) -> str | None:
    """What is wrong with it, empty: nothing; None: there is no tool to ask it with."""
    argv = (
        ["docker", "version", "--format", "{{.Server.Version}}"]
        if name == "docker"
        else ["crictl", "--runtime-endpoint", f"unix://{SOCKETS[name]}", "version"]
    )
    try:
        ran = run_if_installed(host, argv, timeout_s=TOOL_TIMEOUT_S)
    except ProbeUnavailable as error:
        return str(error)
    if ran is None:
        return None
    if "Unimplemented" in ran.stderr:  # Docker's own containerd: it answers, and serves no Kubernetes
        return ""
    return "" if ran.rc == 0 else f"{argv[0]}: {(ran.stderr or ran.stdout).strip():.150}"


@check(
    "containers.cdi",
    cost_s=0.02,
    detects={"host.container.cdi"},
    expects={"containers.cdi"},
    stage=Stage.WARN,
)
def cdi(facts: Facts, host: Host, expected: Expected) -> Answer:
    """The GPUs are described for containers (CDI), by the driver that is loaded and not by an older one."""
    wanted = expected["containers.cdi"]
    if wanted.value is not True:
        return NotApplicable("no description of GPUs for containers is expected")
    files = [
        path for folder in CDI_FOLDERS for end in ("yaml", "json") for path in host.glob(f"{folder}/*.{end}")
    ]
    specs = {path: text for path in files if CDI_KIND in (text := read_text(host, path))}
    drivers = sorted({version for text in specs.values() for version in _LIBRARY.findall(text)})
    message = ""
    if not specs:
        message = f"no file in {' or '.join(CDI_FOLDERS)} describes {CDI_KIND}"
    elif drivers and facts.gpus.version and facts.gpus.version not in drivers:
        message = f"made for driver {', '.join(drivers)}, {facts.gpus.version} is loaded: make it anew"
    findings: tuple[Finding, ...] = ()
    if message:
        subject, measured = next(iter(specs), "cdi"), ", ".join(drivers) or "none"
        findings = (
            found(
                "host.container.cdi", subject=subject, message=message, measured=measured, threshold=wanted
            ),
        )
    return Looked(looked={"files": sorted(specs), "count": len(specs), "drivers": drivers}, findings=findings)


@check(
    "containers.toolkit",
    cost_s=0.01,
    detects={"host.container.toolkit"},
    expects={"containers.toolkit"},
    stage=Stage.WARN,
)
def toolkit(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """The NVIDIA container toolkit is installed: without it no container sees a GPU."""
    wanted = expected["containers.toolkit"]
    if wanted.value is not True:
        return NotApplicable("no container toolkit is expected")
    there = [path for path in TOOLKIT if host.exists(path)]
    findings: tuple[Finding, ...] = ()
    if not there:
        message = f"none of {', '.join(TOOLKIT)} is there"
        findings = (
            found(
                "host.container.toolkit",
                subject="toolkit",
                message=message,
                measured="absent",
                threshold=wanted,
            ),
        )
    return Looked(looked={"looked_for": list(TOOLKIT), "found": there}, findings=findings)


@check(
    "kubelet.healthy",
    needs={"curl"},
    cost_s=0.2,
    detects={"host.kubelet"},
    expects={"kubelet.expected"},
    stage=Stage.WARN,
    profiles=WITH_LOAD,
)
def kubelet(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """The kubelet calls itself healthy on its own port of this machine (``/healthz``)."""
    wanted = expected["kubelet.expected"].value is True
    if not wanted and not host.exists(f"{KUBELET}/config.yaml"):
        return NotApplicable("no kubelet is set up here, and none is expected")
    ran = run_if_installed(host, ["curl", "-sS", "-m", "3", HEALTHZ], timeout_s=TOOL_TIMEOUT_S)
    if ran is None:
        if wanted:
            raise ProbeUnavailable("curl: not installed")
        return NotApplicable("curl is not installed to ask the kubelet")
    said = (ran.stdout.strip() or ran.stderr.strip())[:150]
    findings: tuple[Finding, ...] = ()
    if ran.rc or ran.stdout.strip() != "ok":
        message = f"{HEALTHZ} says {said!r}"
        findings = (found("host.kubelet", subject="kubelet", message=message, measured=said),)
    return Looked(looked={"healthz": said or "nothing"}, findings=findings)


@check(
    "slurm.node",
    needs={"scontrol"},
    cost_s=0.3,
    detects=set(NODE_FAULTS),
    expects={"slurm.expected"},
    stage=Stage.OBSERVE,
    profiles=WITH_LOAD,
)
def slurm(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001
    """Slurm has found nothing wrong with this node: it has the GPUs and memory of slurm.conf, and answers.

    That the node is drained, and by whom, is told and not judged.
    """
    wanted = expected["slurm.expected"].value is True
    if not wanted and not any(host.exists(path) for path in SLURM):
        return NotApplicable("the node does not belong to Slurm, as far as can be seen")
    name = host.read("/proc/sys/kernel/hostname").strip().split(".")[0]
    ran = run_if_installed(host, ["scontrol", "show", "node", name], timeout_s=TOOL_TIMEOUT_S)
    if ran is None and not wanted:
        return NotApplicable("scontrol is not installed here")
    from greenroom.parsers import scontrol  # noqa: PLC0415 - only where there is Slurm

    text = ran.stdout if ran else ""
    nodes = [node for node in scontrol.parse_shown(text) if node.flags]
    if not nodes:
        why = (ran.stderr.strip() or ran.stdout.strip() or "no answer") if ran else "not installed"
        raise ProbeUnavailable(f"scontrol: {why:.150}")
    findings = tuple(
        found(
            one.code,
            subject=name,
            message=str(one.detail.get("reason") or one.detail.get("state", "")),
            measured=str(one.detail.get("state", "")),
            evidence=(one.evidence[:300],),
        )
        for one in scontrol.read(text).sightings
        if one.code in NODE_FAULTS
    )
    looked = {"state": "+".join(nodes[0].flags), "reason": nodes[0].reason, "by": nodes[0].by}
    return Looked(looked=looked, findings=findings)

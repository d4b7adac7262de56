"""How the machine is set up: versions, firmware, settings, parts: facts that nodes of one kind share."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import WITH_LOAD, Answer, Facts, Looked, NotApplicable, check, found
from greenroom.model.words import Stage
from greenroom.probes.host import Host, ProbeUnavailable
from greenroom.probes.nvml import Gpu

GOLDEN = "configuration.golden"
# Fact -> file whose first line is its value. Where the file is absent there is no such fact.
FILES = {
    "kernel.release": "/proc/sys/kernel/osrelease",
    "bios.version": "/sys/class/dmi/id/bios_version",
    "machine.vendor": "/sys/class/dmi/id/sys_vendor",
    "machine.product": "/sys/class/dmi/id/product_name",
    "machine.board": "/sys/class/dmi/id/board_name",
    "cpu.online": "/sys/devices/system/cpu/online",
    "cpu.smt": "/sys/devices/system/cpu/smt/control",
    "cpu.governor": "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
    "memory.hugepages.transparent": "/sys/kernel/mm/transparent_hugepage/enabled",
    "numa.nodes": "/sys/devices/system/node/online",
}
SYSCTLS = (
    "kernel.numa_balancing", "kernel.pid_max", "kernel.shmmax", "net.core.rmem_max", "net.core.somaxconn",
    "net.core.wmem_max", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem", "vm.max_map_count",
    "vm.nr_hugepages", "vm.overcommit_memory", "vm.swappiness", "vm.zone_reclaim_mode",
)  # fmt: skip
# Pattern -> fact, with the matched part of the path in it.
TREES = {
    "/sys/class/infiniband/{}/fw_ver": "infiniband.{}.firmware",
    "/sys/class/infiniband/{}/board_id": "infiniband.{}.board",
    "/sys/class/infiniband/{}/ports/1/rate": "infiniband.{}.rate",
    "/sys/class/net/{}/mtu": "network.{}.mtu",
    "/sys/class/net/{}/speed": "network.{}.speed",
    "/sys/class/nvme/{}/model": "nvme.{}.model",
    "/sys/class/nvme/{}/firmware_rev": "nvme.{}.firmware",
    "/sys/module/{}/version": "module.{}.version",
}
OF_GPU = ("name", "pcie_gen_max", "pcie_width_max", "nvlinks_up", "ecc_enabled")
MODULES = re.compile(r"nvidia|gdrdrv|amdgpu|mlx|ib_|bnxt|efa$|irdma|ice$|ena$|lustre|lnet|xpmem|knem|fuse$")
# What differs from boot to boot or from disk to disk and says nothing.
OWN_WORDS = re.compile(r"^(BOOT_IMAGE|initrd|root|resume|rd\.\S+|ip|BOOTIF|hostname)=|UUID", re.IGNORECASE)


@check(
    "configuration.drift",
    cost_s=0.1,
    detects={"host.configuration.drift"},
    expects={GOLDEN},
    stage=Stage.WARN,
    profiles=WITH_LOAD,
)
def drift(facts: Facts, host: Host, expected: Expected) -> Answer:
    """The machine is set up like the good one that the site wrote down (`greenroom drift --save`).

    Without such a file the facts are only reported; `greenroom drift` compares them over the fleet.
    """
    own = read_facts(facts, host)
    path = expected[GOLDEN].value
    if not isinstance(path, str):
        return NotApplicable("no golden configuration is given", looked=dict(own))
    from greenroom.policy.drift import differences  # noqa: PLC0415 - most machines have no golden file

    findings = tuple(
        found(
            "host.configuration.drift",
            subject=one.fact,
            message=f"{one.fact} is {one.measured}, the good machine has {one.expected}",
            measured=one.measured,
            threshold=expected[GOLDEN],
        )
        for one in differences(own, read_golden(host.read(path), path))
    )
    return Looked(looked=dict(own), findings=findings)


def read_golden(text: str, path: str) -> dict[str, str]:
    """The facts of a file written by `greenroom drift --save`. Raises ProbeUnavailable naming the file."""
    try:
        data = json.loads(text)
    except ValueError as error:
        raise ProbeUnavailable(f"{path}: not JSON: {error}") from error
    if not isinstance(data, dict) or not data or not all(isinstance(value, str) for value in data.values()):
        raise ProbeUnavailable(f"{path}: expected an object of texts, as `greenroom drift --save` writes it")
    return data


def read_facts(facts: Facts, host: Host) -> dict[str, str]:
    """Fact -> value, sorted by name. What this machine does not tell is not there."""
    return dict(sorted({**dict(_of_host(host)), **dict(_of_gpus(facts))}.items()))


def _of_gpus(facts: Facts) -> Iterator[tuple[str, str]]:
    if facts.gpus.version:
        yield "gpu.driver", facts.gpus.version
    if facts.gpus.gpus or facts.gpus_on_bus:
        yield "gpu.count", str(len(facts.gpus.gpus))
    for gpu in facts.gpus.gpus:
        yield from _of_gpu(gpu)


def _of_gpu(gpu: Gpu) -> Iterator[tuple[str, str]]:
    for name in OF_GPU:
        value = getattr(gpu, name)
        if value is not None:
            yield f"gpu.{gpu.index}.{name}", str(value)


def _of_host(host: Host) -> Iterator[tuple[str, str]]:
    for fact, path in FILES.items():
        if value := _line(host, path):
            yield fact, value
    for name in SYSCTLS:
        if value := _line(host, "/proc/sys/" + name.replace(".", "/")):
            yield f"sysctl.{name}", value
    for pattern, fact in TREES.items():
        head, tail = pattern.split("{}")
        for path in host.glob(head + "*" + tail):
            name = path.removeprefix(head).removesuffix(tail)
            if _is_of_interest(host, head, name) and (value := _line(host, path)):
                yield fact.format(name), value
    yield from _of_texts(host)


def _is_of_interest(host: Host, folder: str, name: str) -> bool:
    if folder == "/sys/class/net/":  # a virtual interface is the doing of whatever runs just now
        return host.exists(f"{folder}{name}/device")
    return folder != "/sys/module/" or bool(MODULES.match(name))


def _of_texts(host: Host) -> Iterator[tuple[str, str]]:
    """Facts out of longer files."""
    words = [word for word in _line(host, "/proc/cmdline").split() if not OWN_WORDS.search(word)]
    if words:
        yield "kernel.cmdline", " ".join(sorted(words))
    for line in _text(host, "/etc/os-release").splitlines():
        if line.startswith("PRETTY_NAME="):
            yield "os.release", line.partition("=")[2].strip('"')
    cpu = {
        key.strip(): value.strip()
        for key, _, value in (
            line.partition(":") for line in _text(host, "/proc/cpuinfo").split("\n\n")[0].splitlines()
        )
    }
    for key, fact in (("model name", "cpu.model"), ("microcode", "cpu.microcode")):
        if cpu.get(key):
            yield fact, cpu[key]
    meminfo = re.search(r"^MemTotal:\s+(\d+) kB", _text(host, "/proc/meminfo"), re.MULTILINE)
    if meminfo:  # whole GiB: the kernel itself takes a little more or less at each boot
        yield "memory.gib", str(round(int(meminfo[1]) / 1024**2))


def _line(host: Host, path: str) -> str:
    return " ".join(_text(host, path).strip().split("\n", 1)[0].split())


def _text(host: Host, path: str) -> str:
    try:
        return host.read(path)
    except ProbeUnavailable:
        return ""

"""How a machine is set up, and whether its model is known."""

from cases import bad, good
from healthy import expect, gpus

from greenroom.checks.configuration import read_facts
from greenroom.checks.frame import Facts
from greenroom.probes.recorded import RecordedHost

TREE = {
    "/proc/sys/kernel/osrelease": "6.1.0-18-amd64\n",
    "/proc/sys/vm/swappiness": "10\n",
    "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance\n",
    "/proc/cmdline": "BOOT_IMAGE=/vmlinuz root=UUID=1-2 quiet iommu=pt\n",
    "/proc/meminfo": "MemTotal:       2113541724 kB\n",
    "/proc/cpuinfo": "processor\t: 0\nmodel name\t: Xeon\nmicrocode\t: 0x1\n\nprocessor\t: 1\n",
    "/etc/os-release": 'NAME="x"\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n',
    "/sys/class/infiniband/mlx5_0/fw_ver": "28.39.1002\n",
    "/sys/class/net/eth0/mtu": "9000\n",
    "/sys/class/net/eth0/device/vendor": "0x15b3\n",
    "/sys/class/net/veth1/mtu": "1500\n",
    "/sys/module/nvidia/version": "570.124.06\n",
    "/sys/module/xz_dec/version": "1.2\n",
}


def machine(golden: str = "", **changes: str) -> RecordedHost:
    """That tree, with these files (two underscores for a slash) otherwise, and a golden file."""
    changed = {"/" + name.replace("__", "/"): text for name, text in changes.items()}
    return RecordedHost(files={**TREE, **changed, "/golden": golden})


def golden() -> str:
    """The facts of the unchanged machine."""
    import json

    return json.dumps(read_facts(Facts(gpus=gpus()), machine()))


WANTED = expect(configuration__golden="/golden")
CASES = [
    good("gpu_model.known", "eight of the model that is expected"),
    good("gpu_model.known", "a part of the name is expected", expected=expect(gpu__model="H100")),
    bad(
        "gpu_model.known", "gpu.model.unexpected", "one of another model",
        gpus=gpus(name="NVIDIA H100 PCIe"), expected=expect(gpu__model="H100 80GB HBM3"),
    ),
    good("configuration.drift", "like the good machine", host=machine(golden()), expected=WANTED),
    bad(
        "configuration.drift", "host.configuration.drift", "another firmware",
        host=machine(golden(), sys__class__infiniband__mlx5_0__fw_ver="28.40.1000\n"), expected=WANTED,
    ),
    bad("configuration.drift", "host.configuration.drift", "a GPU is gone", gpus=gpus(count=7), host=machine(golden()), expected=WANTED),
]  # fmt: skip

"""What a recording takes down besides what the checks ask: sysfs, proc, tools. Reading only."""

from __future__ import annotations

import contextlib

from greenroom.probes.host import Host, ProbeUnavailable

MAX_FILES = 4000
COMMAND_TIMEOUT_S = 20.0
FILES = (
    "/proc/{cpuinfo,meminfo,mounts,cmdline,modules,version,uptime,loadavg,swaps,net/dev,sys/kernel/osrelease}",
    "/etc/{os-release,machine-id}",
    "/sys/class/dmi/id/{sys_vendor,product_name,product_serial,board_name,board_serial,bios_version}",
    "/sys/class/net/*/{operstate,speed,mtu,carrier_changes,address,duplex}",
    "/sys/class/net/*/statistics/{rx_errors,tx_errors,rx_dropped,rx_crc_errors}",
    "/proc/net/bonding/*",
    "/sys/class/infiniband/*/{fw_ver,hca_type,board_id,node_guid}",
    "/sys/class/infiniband/*/ports/*/{state,phys_state,rate,link_layer,lid,sm_lid}",
    "/sys/class/infiniband/*/ports/*/{counters,hw_counters}/*",
    "/sys/bus/pci/devices/*/{vendor,device,subsystem_vendor,subsystem_device,class,numa_node}",
    "/sys/bus/pci/devices/*/{current_link_speed,current_link_width,max_link_speed,max_link_width}",
    "/sys/bus/pci/devices/*/{aer_dev_correctable,aer_dev_nonfatal,aer_dev_fatal}",
    "/sys/devices/system/node/node*/{meminfo,cpulist,distance}",
    "/sys/devices/system/cpu/{online,present,smt/active}",
    "/sys/devices/system/cpu/cpu0/cpufreq/{scaling_governor,scaling_max_freq,scaling_cur_freq}",
    "/sys/devices/system/edac/mc/mc*/{ce_count,ue_count}",
    "/sys/class/hwmon/hwmon*/{name,temp1_input,temp1_max}",
    "/proc/driver/nvidia/{version,params}",
    "/proc/driver/nvidia/gpus/*/information",
    "/sys/class/drm/card*/device/{gpu_busy_percent,mem_info_vram_total}",
)
COMMANDS = (
    ("uname", "-a"),
    ("nvidia-smi",),
    ("nvidia-smi", "-q"),
    ("nvidia-smi", "-q", "-x"),
    ("nvidia-smi", "topo", "-m"),
    ("nvidia-smi", "nvlink", "-s"),
    ("nvidia-smi", "nvlink", "-e"),
    ("dcgmi", "discovery", "-l"),
    ("dcgmi", "health", "-c"),
    ("rocm-smi", "--showall", "--json"),
    ("amd-smi", "static", "--json"),
    ("ibstat",),
    ("ibv_devinfo", "-v"),
    ("ip", "-j", "link"),
    ("lspci", "-nn"),
    ("nvme", "list", "-o", "json"),
    ("lsblk", "-J"),
    ("chronyc", "-n", "tracking"),
    ("sinfo", "--version"),
    ("dmesg",),
)


def walk(host: Host) -> int:
    """Ask the host for all of it; how many things answered."""
    answered = 0
    for path in sorted({path for pattern in FILES for one in _braces(pattern) for path in host.glob(one)})[
        :MAX_FILES
    ]:
        with contextlib.suppress(ProbeUnavailable):
            host.read(path)
            answered += 1
    for argv in COMMANDS:
        with contextlib.suppress(ProbeUnavailable):
            host.run(argv, timeout_s=COMMAND_TIMEOUT_S)
            answered += 1
    return answered


def _braces(pattern: str) -> list[str]:
    """``a/{b,c}/d`` -> ``a/b/d``, ``a/c/d``."""
    head, brace, rest = pattern.partition("{")
    if not brace:
        return [pattern]
    choices, _, tail = rest.partition("}")
    return [head + choice + end for choice in choices.split(",") for end in _braces(tail)]

"""Ways to really break a machine, and what a whole run of `greenroom check` must find then."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Broken:
    """Shell that breaks it, as root in mount, network and process name spaces of its own; `$1` is a folder."""

    check: str
    code: str
    shell: str
    expected: str = ""
    """The site's expectations, TOML; ``$1`` as in the shell."""


ROOM = '[filesystem]\nfree_paths = ["$1"]\n'
FAULTS = {
    "file system without room": Broken(
        "filesystem.free",
        "host.fs.full",
        "mount -t tmpfs -o size=1m none $1; head -c 1040000 /dev/zero > $1/big",
        ROOM,
    ),
    "file system without inodes": Broken(
        "filesystem.free",
        "host.fs.full",
        "mount -t tmpfs -o size=1m,nr_inodes=9 none $1; touch $1/1 $1/2 $1/3 $1/4 $1/5 $1/6 $1/7 $1/8 2>/dev/null; true",
        ROOM,
    ),
    "ext4 that met an error": Broken(
        "filesystem.writable",
        "host.fs.readonly",
        "truncate -s 8M $1.img; mkfs.ext4 -q $1.img; mount -o loop,errors=remount-ro $1.img $1;"
        " loop=$(findmnt -no SOURCE $1); echo 1 > /sys/fs/ext4/${loop##*/}/trigger_fs_error",
    ),
    "file system that is not mounted": Broken(
        "filesystem.mounted",
        "host.mount.missing",
        "mount -t tmpfs none $1; umount $1",
        '[filesystem]\nmounts = ["$1"]\n',
    ),
    "link without a carrier": Broken(
        "network.links",
        "net.link.down",
        "ip link add gr0 type veth peer name gr1; ip link set gr0 up",
        '[network]\nlinks = ["gr0"]\n',
    ),
    "link that comes and goes": Broken(
        "network.links",
        "net.link.flapping",
        "ip link add gr0 type veth peer name gr1; ip link set gr0 up;"
        " for i in 1 2 3 4; do ip link set gr1 up; ip link set gr1 down; done; ip link set gr1 up",
        '[network]\nlinks = ["gr0"]\ncarrier_changes_max = 5\n',
    ),
    "processes that nobody reaps": Broken(
        "processes.stuck",
        "host.processes.zombies",
        # the shell that started them has become a sleep, which waits for nobody
        'sh -c "true & true & true & exec sleep 60" & sleep 0.5',
        "[processes]\nzombies_max = 2\n",
    ),
    "line in the kernel's log": Broken(
        "kernel_log.xid",
        "gpu.xid.43",
        'echo "<4>NVRM: Xid (PCI:0000:ff:00): 43, pid=1, name=test, Ch 00000001" > /dev/kmsg',
    ),
}

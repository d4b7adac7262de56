"""Drives, file systems and mounts."""

from __future__ import annotations

import json

from cases import bad, good
from healthy import expect

from greenroom.probes.host import ProbeUnavailable, Ran, Space
from greenroom.probes.recorded import RecordedHost

GIB = 1024**3
NVME = "/sys/class/nvme"
SECTORS = 7_501_476_528  # a drive of 3.84 TB


def ran(stdout="", *, rc=0, stderr=""):
    return Ran(argv=(), rc=rc, stdout=stdout, stderr=stderr, seconds=0.0)


def drive(name, *, state="live", sectors=SECTORS, transport="pcie", celsius=35):
    files = {
        f"{NVME}/{name}/state": f"{state}\n",
        f"{NVME}/{name}/transport": f"{transport}\n",
        f"{NVME}/{name}/hwmon3/temp1_input": f"{celsius * 1000}\n",
        f"{NVME}/{name}/hwmon3/temp1_max": "79850\n",
    }
    return files | ({f"{NVME}/{name}/{name}n1/size": f"{sectors}\n"} if sectors else {})


def drives(**second):
    return RecordedHost(files=drive("nvme0") | drive("nvme1", **second))


TWO = expect(nvme__count=2, nvme__size_gb_min=3800)
WELL = {"critical_warning": 0, "avail_spare": 100, "spare_thresh": 10, "percent_used": 3, "media_errors": 0}


def smart(**changes):
    text = json.dumps(WELL | changes)
    return RecordedHost(files=drive("nvme0"), commands={"nvme smart-log -o json /dev/nvme0": text})


SMARTCTL = json.dumps(
    {
        "device": {"name": "/dev/nvme0"},
        "smart_status": {"passed": False},
        "nvme_smart_health_information_log": {"critical_warning": 0, "percentage_used": 3, "media_errors": 0},
    }
)


def sata(*tables, **changes):
    """One drive an ATA attribute table (id -> raw value); smartctl's JSON of each."""
    files, commands = {}, {}
    for letter, table in zip("ab", tables, strict=False):
        rows = [
            {"id": number, "name": f"attribute {number}", "raw": {"value": raw}}
            for number, raw in table.items()
        ]
        told = {"smart_status": {"passed": True}, "ata_smart_attributes": {"table": rows}} | changes
        files[f"/sys/block/sd{letter}/size"] = "1875385008\n"
        commands[f"smartctl -j -a /dev/sd{letter}"] = json.dumps(told)
    return RecordedHost(files=files, commands=commands)


ATA = {5: 0, 187: 0, 197: 0, 198: 0}
KINDS = {5: "reallocated", 187: "reported_uncorrectable", 197: "pending", 198: "uncorrectable"}
SAS = {"scsi_grown_defect_list": 0, "scsi_error_counter_log": {"read": {"total_uncorrected_errors": 0}}}
WARNINGS = {
    "spare": 1, "temperature": 2, "reliability": 4, "read_only": 8, "backup": 16, "pmr_read_only": 32,
}  # fmt: skip


def room(*, free=0.5, inodes=0.5):
    return Space(
        total_bytes=GIB, free_bytes=int(GIB * free), total_inodes=1000, free_inodes=int(1000 * inodes)
    )


MOUNTS = """\
29 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 29 0:25 / /dev/shm rw,nosuid shared:2 - tmpfs tmpfs rw
31 29 0:40 / /home rw shared:3 - nfs4 filer:/home rw,vers=4.2
32 29 0:41 / /scratch rw shared:4 - lustre mgs@o2ib:/scratch rw
"""
SPACES = {"/": room(), "/home": room(), "/scratch": room(), "/tmp": room()}
DEAD = ProbeUnavailable("/scratch: not back after 1 s, ended")
STALE = ProbeUnavailable("/home: Stale file handle")


def mounted(text=MOUNTS, **spaces):
    paths = {f"/{name}": answer for name, answer in spaces.items()}
    return RecordedHost(files={"/proc/self/mountinfo": text}, spaces=SPACES | paths)


LUSTRE = "/sys/kernel/debug/lustre"


def lustre(*, health="healthy", state="FULL"):
    text = f"import:\n    name: scratch-OST0001-osc\n    target: scratch-OST0001_UUID\n    state: {state}\n"
    idle = "import:\n    target: scratch-OST0002_UUID\n    state: IDLE\n"
    return RecordedHost(
        files={
            "/sys/fs/lustre/health_check": f"{health}\n",
            f"{LUSTRE}/osc/scratch-OST0001-osc-ff/import": text,
            f"{LUSTRE}/osc/scratch-OST0002-osc-ff/import": idle,
        }
    )


def fio(error=0, stderr=""):
    job = {
        "error": error,
        "write": {"io_bytes": 1 << 20, "bw_bytes": 1e8},
        "read": {"io_bytes": 1 << 20, "bw_bytes": 2e8},
    }
    answer = ran(json.dumps({"jobs": [job]}), rc=int(error > 0), stderr=stderr)
    return RecordedHost(spaces={"/var/tmp": room()}, commands={"fio": answer, "rm": ""})


JOBS = expect(filesystem__mounts=["/home", "/scratch"])
TMP = expect(filesystem__free_paths=["/tmp"])
CASES = [
    good("nvme.drives", "two drives", host=drives(), expected=TWO),
    bad("nvme.drives", "nvme.missing", "one of two", host=RecordedHost(files=drive("nvme0")), expected=TWO),
    bad("nvme.drives", "nvme.missing", "one is of a network", host=drives(transport="rdma"), expected=TWO),
    bad("nvme.drives", "nvme.dead nvme.missing", "one is dead", host=drives(state="dead"), expected=TWO),
    bad("nvme.drives", "nvme.reset", "one is being reset", host=drives(state="resetting")),
    bad("nvme.drives", "nvme.too_small", "one is smaller", host=drives(sectors=SECTORS // 2), expected=TWO),
    bad("nvme.drives", "nvme.too_small", "one has no namespace", host=drives(sectors=0), expected=TWO),
    bad("nvme.drives", "nvme.critical_warning.temperature", "one is hot", host=drives(celsius=80)),
    good("nvme.smart", "a drive in its youth", host=smart()),
    *(
        bad("nvme.smart", f"nvme.critical_warning.{name}", name, host=smart(critical_warning=bit))
        for name, bit in WARNINGS.items()
    ),
    bad("nvme.smart", "nvme.spare", "few spare blocks", host=smart(avail_spare=9)),
    bad("nvme.smart", "nvme.worn", "worn out", host=smart(percent_used=100)),
    bad("nvme.smart", "nvme.media_errors", "media errors", host=smart(media_errors=2)),
    bad(
        "nvme.smart",
        "smart.failed",
        "smartctl alone is installed",
        host=RecordedHost(files=drive("nvme0"), commands={"smartctl -j -a /dev/nvme0": SMARTCTL}),
    ),
    good("disk.smart", "two SATA drives", host=sata(ATA, ATA)),
    good("disk.smart", "a SAS drive", host=sata({}, **SAS)),
    *(
        bad("disk.smart", f"smart.sectors.{kind}", f"{kind} sectors", host=sata(ATA, ATA | {number: 8}))
        for number, kind in KINDS.items()
    ),
    bad(
        "disk.smart",
        "smart.sectors.reallocated",
        "SAS: grown defects",
        host=sata({}, **(SAS | {"scsi_grown_defect_list": 3})),
    ),
    bad("disk.smart", "smart.failed", "the second says so", host=sata(ATA, smart_status={"passed": False})),
    good("filesystem.free", "half full", host=mounted(), expected=TMP),
    bad("filesystem.free", "host.fs.full", "no space", host=mounted(tmp=room(free=0.01)), expected=TMP),
    bad("filesystem.free", "host.fs.full", "no inodes", host=mounted(tmp=room(inodes=0.01)), expected=TMP),
    good("filesystem.writable", "all are writable", host=mounted()),
    bad(
        "filesystem.writable",
        "host.fs.readonly",
        "the root has gone read-only",
        host=mounted(MOUNTS.replace("/dev/sda1 rw", "/dev/sda1 ro")),
    ),
    good("filesystem.mounted", "both are there", host=mounted(), expected=JOBS),
    bad(
        "filesystem.mounted",
        "host.mount.missing",
        "one is not mounted",
        host=mounted("".join(MOUNTS.splitlines(keepends=True)[:3])),
        expected=JOBS,
    ),
    bad("filesystem.mounted", "host.mount.silent", "one hangs", host=mounted(scratch=DEAD), expected=JOBS),
    good("mounts.answering", "both servers answer", host=mounted()),
    bad("mounts.answering", "storage.mount.silent", "one hangs", host=mounted(scratch=DEAD)),
    bad("mounts.answering", "storage.mount.silent", "one is stale", host=mounted(home=STALE)),
    good("mounts.lustre", "connected or idle", host=lustre()),
    bad("mounts.lustre", "storage.lustre", "a server is away", host=lustre(state="DISCONN")),
    bad("mounts.lustre", "storage.lustre.evicted", "evicted", host=lustre(state="EVICTED")),
    bad("mounts.lustre", "storage.lustre.unhealthy", "not healthy", host=lustre(health="NOT HEALTHY")),
    good(
        "mounts.options",
        "as wished",
        host=mounted(),
        expected=expect(filesystem__options=["/dev/shm=nosuid,rw"]),
    ),
    bad(
        "mounts.options",
        "host.mount.options",
        "an option is lacking",
        host=mounted(),
        expected=expect(filesystem__options=["/dev/shm=nosuid,nodev"]),
    ),
    bad(
        "mounts.options",
        "host.mount.options",
        "it is no mount",
        host=mounted(),
        expected=expect(filesystem__options=["/tmp=nosuid"]),
    ),
    good("disk.verify", "the data come back", host=fio()),
    bad("disk.verify", "host.disk.corrupt", "other data come back", host=fio(84, "verify: bad header")),
    bad("disk.verify", "host.disk.error", "a write fails", host=fio(5)),
]

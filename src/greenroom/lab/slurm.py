"""slurm.conf, gres.conf and cgroup.conf of a lab, everything on loopback and in one directory."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from greenroom.parsers.slurm_nodes import BORN_HELD

# No cgroups, no systemd, no real hardware; quick reactions. ``cred_expire`` bounds how long a job
# waits after its node was lost (121 s by default). NoInAddrAny: nothing listens beyond loopback.
_CONF = """\
ClusterName=lab
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={dir}/munge/munge.sock,cred_expire=5
StateSaveLocation={dir}/state
SlurmdSpoolDir={dir}/spool/%n
SlurmctldPidFile={dir}/run/slurmctld.pid
SlurmdPidFile={dir}/run/slurmd-%n.pid
SlurmctldLogFile={dir}/log/slurmctld.log
SlurmdLogFile={dir}/log/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SlurmdParameters=config_overrides
GresTypes=gpu
ReturnToService=1
RebootProgram={dir}/bin/reboot
ResumeTimeout=30
MailProg=/bin/true
SlurmctldTimeout=30
SlurmdTimeout=10
InactiveLimit=0
KillWait=2
MinJobAge=300
Waittime=0
SchedulerParameters=sched_interval=2,bf_interval=2,batch_sched_delay=0,sched_min_interval=0,nohold_on_prolog_fail
MessageTimeout=3
TCPTimeout=2
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
"""
_PROLOG = "Prolog={dir}/bin/prolog\nPrologFlags=Alloc\nPrologEpilogTimeout=30\n"
_NODE = (
    "NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=16 SocketsPerBoard=2 "
    "CoresPerSocket=8 ThreadsPerCore=1 RealMemory=64000 {gres}State={state}\n"
)


_CGROUP = "CgroupPlugin=disabled\n"
_CGROUP_BEFORE_24_05 = "CgroupAutomount=no\nCgroupPlugin=cgroup/v1\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class SlurmFiles:
    """What to write."""

    dir: Path
    nodes: Sequence[str]
    gpus: int = 8
    born_held: bool = True
    prolog: bool = True
    extra: str = ""
    """More lines for slurm.conf."""

    def write(self) -> Path:
        """Write the files; the path of slurm.conf."""
        for name in ("etc", "state", "spool", "run", "log", "dev", "bin", "munge"):
            (self.dir / name).mkdir(parents=True, exist_ok=True)
        self.dir.chmod(0o755)
        for name in self.nodes:
            (self.dir / "spool" / name).mkdir(exist_ok=True)
        (self.dir / "etc/gres.conf").write_text(self._gres())
        conf = self.dir / "etc/slurm.conf"
        conf.write_text(self._conf())
        return conf

    def write_cgroup(self, version: tuple[int, int, int]) -> None:
        """cgroup.conf for this version; its commands say theirs only once slurm.conf is there."""
        text = _CGROUP if version >= (24, 5, 0) else _CGROUP_BEFORE_24_05
        (self.dir / "etc/cgroup.conf").write_text(text)

    def _conf(self) -> str:
        host = socket.gethostname().split(".")[0]
        ports = free_ports(len(self.nodes) + 1)
        state = f'DRAIN Reason="{BORN_HELD}"' if self.born_held else "UNKNOWN"
        gres = f"Gres=gpu:{self.gpus} " if self.gpus else ""
        lines = [_CONF.format(host=host, ports=ports, dir=self.dir)]
        if self.prolog:
            lines.append(_PROLOG.format(dir=self.dir))
        lines.append(f"{self.extra.rstrip()}\n")
        lines += [
            _NODE.format(name=name, host=host, port=port, gres=gres, state=state)
            for name, port in zip(self.nodes, ports[1:], strict=True)
        ]
        lines.append(
            f"PartitionName=main Nodes={','.join(self.nodes)} Default=YES MaxTime=INFINITE State=UP\n"
        )
        return "".join(lines)

    def _gres(self) -> str:
        for index in range(self.gpus):
            device = self.dir / f"dev/nvidia{index}"
            if not device.exists():
                os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))  # a twin of /dev/null
        files = f"Name=gpu File={self.dir}/dev/nvidia[0-{self.gpus - 1}]\n" if self.gpus else ""
        return f"AutoDetect=off\n{files}"


def free_ports(count: int) -> list[int]:
    """TCP ports on loopback that are free now."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports: list[int] = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports

"""``ps aux`` (and ``ps -ef``-like tables with a state) -> processes that hang in the kernel, and zombies."""

from __future__ import annotations

import re
from dataclasses import dataclass

from greenroom.model.sightings import Reading
from greenroom.parsers.notebook import Notebook
from greenroom.parsers.texts import head, lines

KIND = "ps"
_AUX = re.compile(
    r"^(?P<user>\S{1,40})\s+(?P<pid>\d{1,8})\s+[\d.]{1,6}\s+[\d.]{1,6}\s+\d{1,15}\s+\d{1,15}\s+\S{1,12}\s+"
    r"(?P<state>[RSDTtZXIW][<NLsl+]*)\s+(?P<start>\S{1,12})\s+(?P<time>[\d:-]{1,15})\s+(?P<command>\S.*)$"
)
_GPU_TOOL = re.compile(
    r"nvidia-(?:smi|persistenced|fabricmanager)|dcgm|nv-hostengine|rocm-smi|amd-smi|nvcc|nvidia-modprobe"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """One process."""

    pid: int
    user: str
    state: str
    start: str
    command: str
    line: int = 0
    text: str = ""

    @property
    def stuck(self) -> bool:
        """In a wait that no signal ends (state D). Normal for moments; kernel threads show idle as I."""
        return self.state.startswith("D")


def recognise(text: str) -> float:
    """How sure it is ps aux."""
    start = [line for _, line in list(lines(head(text)))[:30]]
    if any(re.match(r"^USER\s+PID\s+%CPU", line) for line in start):
        return 0.95
    return 0.85 if any(_AUX.match(line) for line in start) else 0.0


def parse_ps(text: str) -> list[Process]:
    """The processes in the order printed."""
    return [
        Process(
            pid=int(found["pid"]),
            user=found["user"],
            state=found["state"],
            start=found["start"],
            command=found["command"][:300],
            line=count,
            text=line.strip(),
        )
        for count, line in lines(text)
        if (found := _AUX.match(line))
    ]


def read(text: str) -> Reading:
    """Processes in state D; those that talk to a GPU have a code of their own."""
    book = Notebook(KIND)
    processes = parse_ps(text)
    for process in processes:
        name = process.command.split()[0].rsplit("/", 1)[-1]
        if process.stuck:
            code = "gpu.process.dstate" if _GPU_TOOL.search(process.command) else "host.process.dstate"
            evidence = process.text
            book.add(
                code, line=process.line, evidence=evidence, process=name, pid=process.pid, since=process.start
            )
        elif process.state.startswith("Z"):
            book.add(
                "host.process.zombie", line=process.line, evidence=process.text, process=name, pid=process.pid
            )
        else:
            book.ok()
    if not processes:
        book.puzzled("no process is shown: " + text[:100])
    return book.reading()

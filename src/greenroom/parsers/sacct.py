"""``sacct`` (columns, or ``-p``/``-P`` with ``|``) -> jobs whose end blames a node.

A step that failed does not make its job fail, and the other way round: each line is read for itself.
Exit code 0:0 of a job tells of its batch script alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from greenroom.model.sightings import Reading
from greenroom.parsers.notebook import Notebook
from greenroom.parsers.texts import head, lines

KIND = "sacct"
_STATES = (
    "BOOT_FAIL|CANCELLED|COMPLETED|COMPLETING|CONFIGURING|DEADLINE|FAILED|NODE_FAIL|OUT_OF_MEMORY|PENDING|PREEMPTED|"
    "REQUEUED|RESIZING|REVOKED|RUNNING|SUSPENDED|TIMEOUT"
)
_STATE = re.compile(
    rf"(?<![\w+])(?P<state>{_STATES}|NODE_FA\+|OUT_OF_ME\+|CANCELLED\+|BOOT_FA\+)"
    r"(?:\+|(?= by \d)|(?=[\s|]|$))"
)
_JOB = re.compile(r"^\s*(?P<job>\d{1,12}(?:[_+.][\w\[\]%-]{1,40})*)")
_EXIT = re.compile(r"(?<![\d:])(\d{1,3}:\d{1,3})(?![\d:])")
_CODES = {
    "NODE_FAIL": "slurm.job.node_fail",
    "NODE_FA+": "slurm.job.node_fail",
    "BOOT_FAIL": "slurm.job.boot_fail",
    "BOOT_FA+": "slurm.job.boot_fail",
    "FAILED": "slurm.job.failed",
    "OUT_OF_MEMORY": "slurm.job.out_of_memory",
    "OUT_OF_ME+": "slurm.job.out_of_memory",
    "TIMEOUT": "slurm.job.timeout",
    "DEADLINE": "slurm.job.timeout",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class JobLine:
    """One job or step."""

    job: str
    state: str
    exit_code: str = ""
    nodes: str = ""
    line: int = 0
    text: str = ""


def recognise(text: str) -> float:
    """How sure it is sacct."""
    start = head(text)
    if re.search(r"^[ \t]*\"?JobID(?:Raw)?\b.*\bState\b", start, re.MULTILINE):
        return 0.95
    rows = [
        line
        for _, line in list(lines(start))[:20]
        if _JOB.match(line) and _STATE.search(line) and _EXIT.search(line)
    ]
    return 0.75 if rows else 0.0


def parse_jobs(text: str) -> list[JobLine]:
    """The jobs and steps in the order printed."""
    found_jobs = []
    columns: list[str] = []
    for count, line in lines(text):
        if line.startswith("JobID") and "|" in line:
            columns = [name.strip().lower() for name in line.split("|")]
            continue
        job, state = _JOB.match(line), _STATE.search(line)
        if not job or not state:
            continue
        cells = dict(zip(columns, line.split("|"), strict=False)) if columns else {}
        exits = _EXIT.findall(line)
        found_jobs.append(
            JobLine(
                job=job["job"],
                state=state["state"],
                exit_code=cells.get("exitcode") or (exits[-1] if exits else ""),
                nodes=cells.get("nodelist", ""),
                line=count,
                text=line.strip(),
            )
        )
    return found_jobs


def read(text: str) -> Reading:
    """Jobs that ended badly; only some ends speak against a node."""
    book = Notebook(KIND)
    jobs = parse_jobs(text)
    for job in jobs:
        code = _CODES.get(job.state, "")
        failed_quietly = job.state == "COMPLETED" and job.exit_code not in {"", "0:0"}
        if code or failed_quietly:
            book.add(
                code or "slurm.job.failed",
                job.nodes,
                line=job.line,
                evidence=job.text,
                job=job.job,
                exit_code=job.exit_code,
                state=job.state,
            )
        else:
            book.ok()
    if not jobs:
        book.puzzled("no job is shown: " + text[:100])
    return book.reading()

"""Lines of slurmd's, slurmctld's and srun's logs that speak of a node."""

# ruff: noqa: E501 - one rule, one line

from __future__ import annotations

import re

from greenroom.model.sightings import Reading
from greenroom.parsers.framing import peel
from greenroom.parsers.notebook import Notebook
from greenroom.parsers.slurm_reasons import find_counts, find_reason
from greenroom.parsers.texts import head, lines

KIND = "slurm-log"
_LINE = re.compile(r"^\[(?P<when>\d{4}-\d\d-\d\dT[\d:.]{8,15})\] (?P<text>.*)$")
_ERROR = re.compile(r"^error: ")
# In the journal, in syslog, or as it comes to a terminal.
_DAEMON = re.compile(r"(?:^|\s)(?P<who>slurmctld|slurmd|slurmstepd|srun)(?:\[\d{1,9}\])?: (?P<text>.*)$")
_STEP = re.compile(r"\bSTEP (?P<job>\d{1,12})(?:\.\w+)? ")
_OWN_WORDS = re.compile(r"\bSTEP |slurm|\bStepId=|\bJobId=|\[\d{1,12}\.\w{1,12}\]", re.IGNORECASE)
_NODE = re.compile(
    r"\bON (?P<on>[\w.-]{1,64})\b|\b[Nn]odes? (?P<node>(?!failure)[\w.\[\],-]{1,200})|"
    r"[Nn]ode failure on (?P<failed>[\w.-]{1,64})|error: (?P<srun>[\w.-]{1,64}): tasks? "
)
_REASON = re.compile(r"reason set to: (?P<reason>.{1,200})")
_RULES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), code)
    for pattern, code in (
        (r"STEPD TERMINATED .* NOT ENDING WITH SIGNALS|kill task failed", "slurm.node.kill_task_failed"),
        (r"gres/\w+ count (?:reported lower|too low)", "slurm.node.gres_missing"),
        (r"low real_?memory|RealMemory .{0,40} low", "slurm.node.low_memory"),
        (r"unexpectedly rebooted", "slurm.node.rebooted"),
        (r"prolog .{0,80}(?:fail|error|exit status)", "slurm.node.prolog_error"),
        (r"epilog .{0,80}(?:fail|error|exit status)", "slurm.node.epilog_error"),
        (r"nodes? \S+ not responding", "slurm.node.not_responding"),
        (r"CANCELLED AT .* DUE TO NODE FAILURE|error: Node failure on", "slurm.job.node_fail"),
        (r"oom[-_]kill", "slurm.job.out_of_memory"),
        (r"CANCELLED AT .* DUE TO TIME LIMIT", "slurm.job.timeout"),
        (
            r"error: \S+: tasks? [\d,-]+: (?:Killed|Aborted|Segmentation fault|Bus error|Exited with exit code [1-9])",
            "slurm.job.failed",
        ),
        (r"node \S+ state set to (?:DRAIN|DOWN|FAIL)", "slurm.node.drained"),
        (r"node \S+ reason set to:", "slurm.node.drained"),
    )
)


def recognise(text: str) -> float:
    """How sure it is such a log."""
    start = [line for _, line in list(lines(head(text)))[:100]]
    stamped = [line for line in start if _LINE.match(line)]
    if any(_OWN_WORDS.search(line) for line in stamped):
        return 0.9
    known = any(pattern.search(line) for line in start for pattern, _ in _RULES)
    return (
        0.55
        if known and (stamped or any(_DAEMON.search(line) or _ERROR.match(line) for line in start))
        else 0.0
    )


def _code(words: str) -> str:
    if reason := _REASON.search(words):
        return find_reason(reason["reason"])
    return next((code for pattern, code in _RULES if pattern.search(words)), "")


def read(text: str) -> Reading:
    """What the log says of nodes; a cancelled step alone is nothing."""
    book = Notebook(KIND)
    seen = 0
    told: set[str] = set()
    for count, line in lines(text):
        found = _LINE.match(line)
        spoken = found or _DAEMON.search(line)
        seen += bool(spoken)
        words = spoken["text"] if spoken else line
        code = _code(words)
        if not code:
            continue
        named, step = _NODE.search(words), _STEP.search(words)
        node = next((name for name in named.groups() if name), "") if named else ""
        if code == "slurm.node.drained" and node in told:
            continue  # why was said before
        told.add(node)
        have, want = find_counts(words)
        book.add(
            code,
            node,
            line=count,
            evidence=line,
            when=found["when"] if found else peel(line).when,
            job=step["job"] if step else None,
            have=have,
            want=want,
        )
    if seen and not book.sightings:
        book.ok()
    elif not seen and not book.sightings:
        book.puzzled("no line of Slurm's log: " + text[:100])
    return book.reading()

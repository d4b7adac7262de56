"""Lines of slurmd's and slurmctld's logs that speak of a node."""

from __future__ import annotations

import re

from greenroom.model.sightings import Reading
from greenroom.parsers.notebook import Notebook
from greenroom.parsers.slurm_reasons import find_counts
from greenroom.parsers.texts import head, lines

KIND = "slurm-log"
_LINE = re.compile(r"^\[(?P<when>\d{4}-\d\d-\d\dT[\d:.]{8,15})\] (?P<text>.*)$")
_ERROR = re.compile(r"^(?:slurm\w*: )?error: ")
_STEP = re.compile(r"\bSTEP (?P<job>\d{1,12})(?:\.\w+)? ")
_OWN_WORDS = re.compile(r"\bSTEP |slurm|\bStepId=|\bJobId=|\[\d{1,12}\.\w{1,12}\]", re.IGNORECASE)
_NODE = re.compile(r"\bON (?P<on>[\w.-]{1,64})\b|\b[Nn]odes? (?P<node>[\w.\[\],-]{1,200})")
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
        (r"CANCELLED AT .* DUE TO NODE FAILURE", "slurm.job.node_fail"),
        (r"oom[-_]kill", "slurm.job.out_of_memory"),
    )
)


def recognise(text: str) -> float:
    """How sure it is such a log."""
    start = [line for _, line in list(lines(head(text)))[:100]]
    stamped = [line for line in start if _LINE.match(line)]
    if any(_OWN_WORDS.search(line) for line in stamped):
        return 0.9
    known = any(pattern.search(line) for line in start for pattern, _ in _RULES)
    if known and any(_ERROR.match(line) for line in start):
        return 0.55
    return 0.55 if known and stamped else 0.0


def read(text: str) -> Reading:
    """What the log says of nodes; a cancelled step alone is nothing."""
    book = Notebook(KIND)
    seen = 0
    for count, line in lines(text):
        found = _LINE.match(line)
        seen += bool(found)
        words = found["text"] if found else line
        code = next((code for pattern, code in _RULES if pattern.search(words)), "")
        if not code:
            continue
        node, step = _NODE.search(words), _STEP.search(words)
        have, want = find_counts(words)
        book.add(
            code,
            (node["on"] or node["node"] or "") if node else "",
            line=count,
            evidence=line,
            when=found["when"] if found else "",
            job=step["job"] if step else None,
            have=have,
            want=want,
        )
    if seen and not book.sightings:
        book.ok()
    elif not seen and not book.sightings:
        book.puzzled("no line of Slurm's log: " + text[:100])
    return book.reading()

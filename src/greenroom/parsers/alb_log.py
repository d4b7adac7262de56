"""Access logs of AWS load balancers: application (ALB) and classic (ELB), and tables quoted from them.

A time of -1 is "no value". The classic form lacks the type in front: every field stands one to the left.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from greenroom.model.sightings import Reading
from greenroom.parsers.notebook import Notebook
from greenroom.parsers.texts import head, integer, lines, number

KIND = "alb"
_STAMP = r"(?P<when>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z)"
_TIMES = r"(?P<request>-?[\d.]{1,15}) (?P<target_s>-?[\d.]{1,15}) (?P<response>-?[\d.]{1,15})"
_STATUS = r"(?P<elb>\d{3}|-) (?P<target_status>\d{3}|-) (?P<received>\d{1,15}) (?P<sent>\d{1,15})"
_ENDS = r"(?P<name>\S{1,200}) (?P<client>\S{1,64}) (?P<target>\S{1,64})"
_ALB = re.compile(rf"^(?P<type>https?|h2|grpcs|wss?) {_STAMP} {_ENDS} {_TIMES} {_STATUS}")
_CLASSIC = re.compile(rf"^{_STAMP} {_ENDS} {_TIMES} {_STATUS}")
_TEST_OBJECT = re.compile(r"Enable (?:AccessLog|ConnectionLog)File for (?:ELB|ALB|NLB)|ELBAccessLogTestFile")
_HEADER = re.compile(r"elb_status_code")
_AFTER = re.compile(r'"(?P<request>[^"]{0,1000})" "(?P<agent>[^"]{0,500})"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """One request. None: the log has no value."""

    kind: str
    """``alb``, ``classic-elb``, ``table``."""
    elb_status: int | None
    target_status: int | None = None
    target: str = ""
    seconds: tuple[float | None, float | None, float | None] = (None, None, None)
    """Until it was sent to the target, until the target answered, until the answer was sent on."""
    when: str = ""
    complete: bool = True
    line: int = 0
    text: str = ""

    @property
    def latency_s(self) -> float | None:
        """The whole, if every part has a value."""
        parts = [part for part in self.seconds if part is not None]
        return round(sum(parts), 6) if len(parts) == 3 else None


def recognise(text: str) -> float:
    """How sure it is such a log."""
    start = [line for _, line in list(lines(head(text)))[:20]]
    if any(_ALB.match(line) or _CLASSIC.match(line) for line in start):
        return 0.95
    if any(_TEST_OBJECT.search(line) for line in start):
        return 0.9
    return 0.9 if any(_HEADER.search(line) and "|" in line for line in start) else 0.0


def parse_log(text: str) -> Iterator[Access]:
    """The requests in the order logged."""
    columns: list[str] = []
    for count, line in lines(text):
        if _HEADER.search(line) and "|" in line:
            columns = [cell.strip().strip("`").lower() for cell in line.strip().strip("|").split("|")]
        elif columns and line.lstrip().startswith("|"):
            cells = dict(
                zip(columns, (cell.strip() for cell in line.strip().strip("|").split("|")), strict=False)
            )
            if (status := integer(cells.get("elb_status_code"))) is not None:
                names = ("request_processing_time", "target_processing_time", "response_processing_time")
                times = [_time(cells.get(name)) for name in names]
                yield Access(
                    kind="table",
                    elb_status=status,
                    target_status=integer(cells.get("target_status_code")),
                    seconds=(times[0], times[1], times[2]),
                    line=count,
                    text=line.strip(),
                )
        elif found := _ALB.match(line) or _CLASSIC.match(line):
            modern = "type" in found.groupdict()
            yield Access(
                kind="alb" if modern else "classic-elb",
                elb_status=integer(found["elb"]),
                target_status=integer(found["target_status"]),
                target="" if found["target"] == "-" else found["target"],
                seconds=(_time(found["request"]), _time(found["target_s"]), _time(found["response"])),
                when=found["when"],
                complete=_AFTER.search(line, found.end()) is not None
                and (not modern or line.count('"') >= 8),
                line=count,
                text=line,
            )


def _time(value: object) -> float | None:
    seconds = number(value)
    return None if seconds is None or seconds < 0 else seconds


def read(text: str) -> Reading:
    """Requests that failed at the target (it answered so) or at the balancer (no answer from the target)."""
    book = Notebook(KIND)
    some = False
    for access in parse_log(text):
        some = True
        status = access.elb_status or 0
        if status < 500 and status != 460:
            book.ok()
            continue
        own = access.target_status is not None and access.target_status >= 500
        book.add(
            f"lb.target.{access.target_status}" if own else f"lb.balancer.{status}",
            access.target,
            line=access.line,
            evidence=access.text,
            when=access.when,
            status=status,
            target_s=access.seconds[1],
            format=access.kind,
            truncated=None if access.complete else True,
        )
    if not some and _TEST_OBJECT.search(head(text)):
        book.puzzled("the object that AWS writes to test the bucket: no request in it")
    elif not some:
        book.puzzled("no request is shown: " + text[:100])
    return book.reading()

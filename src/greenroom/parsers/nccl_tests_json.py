"""``-J`` output of nccl-tests -> the same facts as from its text."""

from __future__ import annotations

from greenroom.model.sightings import Reading
from greenroom.parsers import nccl_tests
from greenroom.parsers.nccl_tests import Outcome, Row
from greenroom.parsers.notebook import Notebook
from greenroom.parsers.texts import head, integer, load_json, mapping, number, sequence

KIND = "nccl-tests-json"


def recognise(text: str) -> float:
    """How sure it is this JSON."""
    start = head(text)
    if '"average_bus_bandwidth"' in text[-2000:] or '"average_bus_bandwidth"' in start:
        return 0.97
    return 0.9 if '"nccl_version"' in start or ('"out_of_place"' in start and '"bus_bw"' in start) else 0.0


def parse_json(text: str) -> Outcome:
    """The run."""
    data = mapping(load_json(text, mend=True))
    outcome = Outcome(ranks=len(sequence(data.get("devices"))))
    for item in sequence(data.get("results"))[:10_000]:
        row = mapping(item)
        places = [mapping(row.get(place)) for place in ("out_of_place", "in_place") if row.get(place)]
        wrongs = [wrong for place in places if (wrong := number(place.get("nwrong"))) is not None]
        outcome.rows.append(
            Row(
                size_bytes=integer(row.get("size")) or 0,
                busbw=max((number(place.get("bus_bw")) or 0.0 for place in places), default=0.0),
                wrong=max(wrongs) if wrongs else None,
                text=str(row)[:300],
            )
        )
    bounds = mapping(data.get("out_of_bounds"))
    outcome.out_of_bounds = integer(bounds.get("count"))
    outcome.failed_bounds = bounds.get("okay") is False
    outcome.average = number(mapping(data.get("average_bus_bandwidth")).get("bandwidth"))
    return outcome


def read(text: str) -> Reading:
    """Wrong values, and bandwidth that falls with size."""
    book = Notebook(KIND)
    outcome = parse_json(text)
    nccl_tests.note(book, outcome)
    if not outcome.rows:
        book.puzzled("no result in the JSON (or it is cut): " + text[:100])
    elif outcome.average is None:
        book.puzzled("the run has no average bus bandwidth: it did not end")
    return book.reading()

"""JSON output of fio -> bytes moved, errors, and whether a verification failed."""

from __future__ import annotations

import json
from dataclasses import dataclass

EILSEQ = 84  # fio ends a job with this error number when a checksum does not match (fio, verify.c)
EINVAL = 22


class Unparsable(ValueError):
    """The text is not what the tool prints; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FioJob:
    """One job: write, read back, compare."""

    error: int
    """errno of the first error, 0 = none."""
    written_bytes: int
    read_bytes: int
    write_bytes_per_s: float
    read_bytes_per_s: float
    corrupt: bool
    """The bytes read back are not those written."""


def parse(output: str) -> FioJob:
    """Facts of ``fio --output-format=json`` with one job. fio prints notes before the JSON: skipped.

    Raises:
        Unparsable: there is no JSON of one job in the text.
    """
    start = output.find("{")
    try:
        job = json.loads(output[start:])["jobs"][0]
        return FioJob(
            error=int(job["error"]),
            written_bytes=int(job["write"]["io_bytes"]),
            read_bytes=int(job["read"]["io_bytes"]),
            write_bytes_per_s=float(job["write"]["bw_bytes"]),
            read_bytes_per_s=float(job["read"]["bw_bytes"]),
            corrupt=int(job["error"]) == EILSEQ,
        )
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise Unparsable(f"fio: no readable JSON ({error!r:.80})") from error

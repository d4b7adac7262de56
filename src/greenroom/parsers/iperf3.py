"""JSON output of the iperf3 client -> bits per second received, or the error it names."""

from __future__ import annotations

import json

from greenroom.parsers.fio import Unparsable


def parse_bits_per_s(output: str) -> float:
    """Rate at the receiver, bit/s.

    Raises:
        Unparsable: no JSON, or iperf3 itself reports an error (its words are in the message).
    """
    try:
        data = json.loads(output)
        if "error" in data:
            raise Unparsable(f"iperf3: {data['error']}")
        return float(data["end"]["sum_received"]["bits_per_second"])
    except (ValueError, KeyError, TypeError) as error:
        if isinstance(error, Unparsable):
            raise
        raise Unparsable(f"iperf3: no readable JSON ({error!r:.80})") from error

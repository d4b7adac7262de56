"""The bits of PCI Express' error status registers, as the kernel prints them under an AER report.

Source: PCI Express Base Specification 6.0, 7.8.4.2 (uncorrectable) and 7.8.4.5 (correctable error status).
"""

from __future__ import annotations

REPLAYS = (1 << 8) | (1 << 12)
"""Replay number rollover and replay timer timeout: the link lost packets."""
KINDS = {
    4: "data_link_protocol",
    5: "surprise_down",
    12: "poisoned_tlp",
    13: "flow_control_protocol",
    14: "completion_timeout",
    15: "completer_abort",
    16: "unexpected_completion",
    17: "receiver_overflow",
    18: "malformed_tlp",
    19: "ecrc",
    20: "unsupported_request",
    21: "acs_violation",
    22: "internal",
    23: "mc_blocked_tlp",
    24: "atomicop_egress_blocked",
    25: "tlp_prefix_blocked",
    26: "poisoned_tlp_egress_blocked",
}
"""Bit of the uncorrectable errors -> last part of the fault code."""


def named(code: str, status: int) -> str:
    """The code of a report with its kind of error: that of the lowest bit that is set.

    Corrected errors have no kinds of their own but one: packets that were lost and sent again.
    """
    kind, _, told = code.removeprefix("pcie.aer.").partition(".")
    if kind == "corrected":
        return "pcie.aer.corrected.replay" if status & REPLAYS else code
    if kind not in ("nonfatal", "fatal") or told:
        return code
    bit = next((bit for bit in KINDS if status >> bit & 1), None)
    return code if bit is None else f"{code}.{KINDS[bit]}"

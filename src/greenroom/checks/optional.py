"""Reading what need not be there: attributes of sysfs and proc, tools that are installed or not."""

from __future__ import annotations

import re
from collections.abc import Sequence

from greenroom.probes.host import Host, ProbeUnavailable, Ran

NOT_INSTALLED = "not installed"


def read_text(host: Host, path: str) -> str:
    """The file's text without blanks at its ends; empty if it cannot be read."""
    try:
        return host.read(path).strip()
    except ProbeUnavailable:
        return ""


def read_number(host: Host, path: str) -> int | None:
    """The file's one number, decimal or ``0x..``; None if it has none (``-1``, ``unknown``, no file)."""
    text = read_text(host, path)
    if text.isascii() and text.isdecimal():
        return int(text)
    return int(text, 16) if re.fullmatch(r"0x[0-9a-fA-F]{1,16}", text) else None


def run_if_installed(host: Host, argv: Sequence[str], *, timeout_s: float) -> Ran | None:
    """What the tool answered; None if it is not installed.

    Raises:
        ProbeUnavailable: it is there and did not answer in time, or may not be started.
    """
    try:
        return host.run(argv, timeout_s=timeout_s)
    except ProbeUnavailable as error:
        if str(error).endswith(NOT_INSTALLED):
            return None
        raise


def split_pairs(texts: Sequence[str]) -> dict[str, str]:
    """``["eth0=9000"]`` -> ``{"eth0": "9000"}``; one without ``=`` stands for itself with nothing behind."""
    pairs = (text.partition("=") for text in texts)
    return {name.strip(): value.strip() for name, _, value in pairs}


def number_of(text: str, name: str) -> float:
    """A number that the site wrote into a list of texts.

    Raises:
        ProbeUnavailable: it is none; the text names the expectation.
    """
    try:
        return int(text, 16) if text.lower().startswith("0x") else float(text)
    except ValueError:
        raise ProbeUnavailable(f"{name}: expected a number, got {text!r:.40}") from None

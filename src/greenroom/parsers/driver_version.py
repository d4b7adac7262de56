"""Which driver a text is about: several reports changed their form from one branch to the next."""

# ruff: noqa: E501 - patterns, one a line

from __future__ import annotations

import re

_VERSION = re.compile(
    r"(?:NVIDIA UNIX (?:Open )?(?:\S{1,12} )?Kernel Module(?: for \S{1,12})?|Driver Version\s{0,40}[:=]|\"?driver_version\"?\s{0,3}[:=]|"
    r"<driver_version>|this kernel module has the version)\s{0,4}\"?(?P<branch>\d{3})\.\d{1,3}",
    re.IGNORECASE,
)
_SIGNS = ("Kernel Module", "river", "DRIVER")


def find_branch(text: str) -> int:
    """The branch of NVIDIA's driver (575 of 575.57.08) that the text names first; 0: it names none."""
    if not any(sign in text for sign in _SIGNS):
        return 0
    found = _VERSION.search(text)
    return int(found["branch"]) if found else 0

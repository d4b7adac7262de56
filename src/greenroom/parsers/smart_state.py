"""What the SMART readings of a drive mean, whichever tool printed them.

Bits of the critical warning: NVM Express base specification, SMART / Health Information log.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from greenroom.parsers.notebook import Notebook

_BITS = {0: "spare", 1: "temperature", 2: "reliability", 3: "read_only", 4: "backup", 5: "pmr_read_only"}
_WORN_PERCENT = 100
"""At 100 the endurance that the maker vouches for is used up; drives count on, up to 255."""


@dataclass(slots=True)
class Smart:
    """One drive. None: the text does not say."""

    device: str = ""
    model: str = ""
    passed: bool | None = None
    critical_warning: int | None = None
    spare_percent: int | None = None
    spare_threshold_percent: int | None = None
    used_percent: int | None = None
    media_errors: int | None = None
    error_log_entries: int | None = None
    """Usually above 0: it counts commands the drive does not know."""
    sectors: dict[str, int] = field(default_factory=dict)
    """ATA and SAS: reallocated, pending, uncorrectable sectors."""
    failing_now: list[str] = field(default_factory=list)
    """ATA attributes below their threshold."""
    supported: bool = True
    """False: the drive says that it keeps no SMART readings (a virtual one)."""
    line: int = 0
    evidence: dict[str, str] = field(default_factory=dict)

    @property
    def known(self) -> bool:
        """Whether anything of weight was read."""
        values = (
            self.passed,
            self.critical_warning,
            self.used_percent,
            self.media_errors,
            self.spare_percent,
        )
        return any(value is not None for value in values) or bool(self.sectors)


def find_flaws(smart: Smart) -> Iterator[tuple[str, str]]:
    """(code, reading) of each thing that is wrong."""
    bits = [name for bit, name in _BITS.items() if (smart.critical_warning or 0) >> bit & 1]
    worn = smart.used_percent is not None and smart.used_percent >= _WORN_PERCENT
    only_worn = worn and bits == ["reliability"] and not smart.media_errors and not _spare_low(smart)
    if worn:
        yield "nvme.worn", "used_percent"
    if not only_worn:
        for name in bits:
            yield f"nvme.critical_warning.{name}", "critical_warning"
    if _spare_low(smart) and "spare" not in bits:
        yield "nvme.spare", "spare_percent"
    if smart.media_errors:
        yield "nvme.media_errors", "media_errors"
    for name in smart.failing_now:
        yield "smart.failed", name
    for name, value in smart.sectors.items():
        if value:
            yield f"smart.sectors.{name}", name
    if smart.passed is False and not bits and not smart.failing_now:
        yield "smart.failed", "passed"


def _spare_low(smart: Smart) -> bool:
    threshold = smart.spare_threshold_percent
    return smart.spare_percent is not None and threshold is not None and smart.spare_percent < threshold


def note(book: Notebook, smart: Smart) -> None:
    """Write one drive into the notebook."""
    flaws = list(find_flaws(smart))
    for code, reading in flaws:
        value = smart.sectors.get(reading, getattr(smart, reading, None))
        book.add(
            code,
            smart.device,
            line=smart.line,
            evidence=smart.evidence.get(reading, f"{reading}: {value}"),
            value=value,
            used_percent=smart.used_percent,
            critical_warning=smart.critical_warning,
            model=smart.model,
        )
    if not flaws and smart.known:
        book.ok()

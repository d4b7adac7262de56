"""Dates as logs print them -> Unix time. Pure: a date without a year stays without a time."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_ISO = re.compile(
    r"(\d{4})[-/](\d\d)[-/](\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))? ?(Z|UTC|GMT|[+-]\d\d:?\d\d)?"
)
_NAMED = re.compile(
    r"([A-Z][a-z]{2}) +(\d{1,2})(?: (\d{4}))? (\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?"
    r"(?: [A-Z]{3,4})?(?: (\d{4}))?"
)
_UNIX = re.compile(r"\d{9,11}\.\d{3,9}$")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def unix_time(stamp: str) -> float | None:
    """Unix s of a full date; None without a year. Without a zone the date is read as UTC."""
    if _UNIX.match(stamp):
        return float(stamp)
    if found := _ISO.search(stamp):
        year, month, day, hour, minute, second, fraction, zone = found.groups()
        moment = _moment(year, int(month), day, (hour, minute, second))
        return None if moment is None else moment + _fraction(fraction) - _offset_s(zone)
    if (found := _NAMED.search(stamp)) and found[1] in _MONTHS and (year := found[3] or found[8]):
        moment = _moment(year, _MONTHS.index(found[1]) + 1, found[2], (found[4], found[5], found[6]))
        return None if moment is None else moment + _fraction(found[7])
    return None


def _moment(year: str, month: int, day: str, clock: tuple[str, str, str]) -> float | None:
    hour, minute, second = map(int, clock)
    try:
        return datetime(int(year), month, int(day), hour, minute, min(second, 59), tzinfo=UTC).timestamp()
    except ValueError:
        return None


def _fraction(digits: str | None) -> float:
    return float(f"0.{digits}") if digits else 0.0


def _offset_s(zone: str | None) -> float:
    if not zone or zone[0] not in "+-":
        return 0.0
    minutes = int(zone[1:3]) * 60 + int(zone[-2:])
    return (minutes if zone[0] == "+" else -minutes) * 60.0

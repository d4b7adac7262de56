"""``ipmitool sdr``, ``sdr elist`` and ``sensor`` -> sensors of the management controller out of their limits.

The states are ipmitool's: ok, ns (not shown), nc, cr, nr (beyond the non-critical, critical, non-recoverable
limit), also with l or u before (lower, upper).
"""
# ruff: noqa: E501 - one rule, one line

from __future__ import annotations

import re
from dataclasses import dataclass

from greenroom.model.sightings import Reading
from greenroom.parsers.notebook import Notebook
from greenroom.parsers.texts import head, lines, number

KIND = "ipmi-sdr"
_STATE = r"(?P<state>ok|ns|[lu]?nc|[lu]?cr|[lu]?nr|na|us|0x[0-9a-f]{2,4})"
_ELIST = re.compile(
    rf"^(?P<name>[^|]{{1,40}}?) +\| (?P<id>[0-9A-F]{{2}})h \| {_STATE} +\| +\d{{1,3}}\.\d{{1,3}} \| ?(?P<value>.{{0,200}}?)\s*$"
)
_SENSOR = re.compile(
    rf"^(?P<name>[^|]{{1,40}}?) +\| (?P<value>[^|]{{1,20}}?) +\| (?P<unit>[^|]{{1,20}}?) +\| {_STATE} *\|.{{0,160}}$"
)
_SDR = re.compile(rf"^(?P<name>[^|]{{1,40}}?) +\| (?P<value>[^|]{{1,60}}?) +\| {_STATE}\s*$")
_BEYOND = re.compile(r"^[lu]?(?:cr|nr)$")
_NON_CRITICAL = re.compile(r"^[lu]?nc$")
# Words of discrete sensors (IPMI 2.0, table 42-3).
_WORDS = (
    (re.compile(r"redundancy (?:lost|degraded)|non-redundant", re.IGNORECASE), "host.power.redundancy"),
    (re.compile(r"failure detected|predictive failure|power supply ac lost|ac lost|out-of-range", re.IGNORECASE), "host.power.supply"),
    (re.compile(r"drive fault|in critical array|in failed array", re.IGNORECASE), "disk.fault"),
    (re.compile(r"\bIERR\b|thermal trip|\buncorrectable", re.IGNORECASE), "host.mce.uncorrected"),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensor:
    """One sensor."""

    name: str
    state: str
    value: str
    line: int
    text: str

    @property
    def code(self) -> str:
        """Fault code; empty: within its limits, or it says nothing."""
        words = next((code for pattern, code in _WORDS if pattern.search(self.value)), "")
        if words and not re.search(r"fan", self.name, re.IGNORECASE):
            return words
        if words or _BEYOND.match(self.state):
            return self._of_kind()
        return ""

    @property
    def near(self) -> bool:
        """Beyond the limit that calls for no action yet."""
        return _NON_CRITICAL.match(self.state) is not None

    def _of_kind(self) -> str:
        kinds = (
            (r"fan|rpm", "host.fan"),
            (r"temp|therm|degrees", "host.temperature"),
            (r"\bps\w*|psu|power|volt|amp|watt|vcore|vrm|\d+v\b|^[pv]\d", "host.power"),
        )
        words = f"{self.name} {self.value}"
        return next((code for pattern, code in kinds if re.search(pattern, words, re.IGNORECASE)), "host.bmc")


def recognise(text: str) -> float:
    """How sure it is a list of sensors."""
    rows = sum(1 for line in head(text).split("\n")[:60] if _parse(line))
    return 0.9 if rows >= 2 else 0.75 * rows


def parse_sensors(text: str) -> list[Sensor]:
    """The sensors in the order printed."""
    sensors = []
    for count, line in lines(text):
        if row := _parse(line):
            value = row["value"].strip()
            if "unit" in row.re.groupindex:
                value = f"{value} {row['unit'].strip()}"
            sensors.append(
                Sensor(
                    name=row["name"].strip(), state=row["state"], value=value, line=count, text=line.strip()
                )
            )
    return sensors


def _parse(line: str) -> re.Match[str] | None:
    return _ELIST.match(line) or _SENSOR.match(line) or _SDR.match(line)


def read(text: str) -> Reading:
    """Sensors beyond a limit, and power supplies, fans and drives that failed."""
    book = Notebook(KIND)
    sensors = parse_sensors(text)
    for sensor in sensors:
        if code := sensor.code:
            book.add(
                code,
                sensor.name,
                line=sensor.line,
                evidence=sensor.text,
                value=number(sensor.value),
                state=sensor.state,
            )
        elif sensor.state not in ("ns", "na", "us"):
            book.ok()
    if not sensors:
        book.puzzled("no sensor is shown: " + text[:100])
    return book.reading()

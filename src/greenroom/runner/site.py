"""What a site says of the checks: switches (off, or only observed) and checks of its own.

::

    [switch."clock.synchronised"]     # stage: off, observe or warn; all other keys are required
    stage = "observe"
    reason = "no time service in this lab"
    owner = "ann"
    until = 2026-12-31

    [command.scratch-quota]           # any executable
    argv = ["/usr/local/sbin/check-quota", "--warn", "90"]
    output = "nagios"                 # json, nagios, nhc, marker
    timeout_s = 10
    remedy = "person"
"""

from __future__ import annotations

import datetime as dt
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import ALL_PROFILES, Answer, Check, Facts, Looked, NotApplicable
from greenroom.model.words import Rung, Stage
from greenroom.parsers.check_output import STYLES, Unclear, read
from greenroom.probes.host import Host, ProbeUnavailable

OFF = "off"
MAX_OUTPUT_CHARS = 65_536


class SiteWrong(ValueError):
    """The file is wrong; the text names file and field and what was expected."""

    is_config = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """A check lowered or switched off, by whom, why, and until when."""

    stage: str
    reason: str
    owner: str
    until: dt.date
    """The last day on which it holds (UTC)."""

    @property
    def text(self) -> str:
        """For the report."""
        return f"{self.stage} until {self.until} by {self.owner}: {self.reason}"

    def holds(self, now: float) -> bool:
        """Whether it has not expired at this Unix time."""
        return dt.datetime.fromtimestamp(now, dt.UTC).date() <= self.until


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """The whole file."""

    switches: Mapping[str, Switch] = field(default_factory=dict)
    commands: tuple[Check, ...] = ()

    def apply(self, checks: Mapping[str, Check], now: float) -> tuple[list[Check], dict[str, str]]:
        """(checks with the stages that hold now, check -> why it is switched off)."""
        todo, off = [], {}
        for check in (*checks.values(), *self.commands):
            switch = self.switches.get(check.name)
            if switch is None or not switch.holds(now):
                todo.append(check)
            elif switch.stage == OFF:
                off[check.name] = switch.text
            else:
                todo.append(replace(check, stage=Stage(switch.stage)))
        return todo, off


def load_site(path: Path | None, checks: Mapping[str, Check]) -> Site:
    """Read the file. Raises SiteWrong."""
    if path is None:
        return Site()
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SiteWrong(f"{path}: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SiteWrong(f"{path}: {error}") from error
    _known(path, data, ("switch", "command"), "")
    commands = tuple(_command(path, name, row) for name, row in data.get("command", {}).items())
    names = [*checks, *(check.name for check in commands)]
    switches = {name: _switch(path, name, row, names) for name, row in data.get("switch", {}).items()}
    return Site(switches=switches, commands=commands)


def _switch(path: Path, name: str, row: Any, names: list[str]) -> Switch:  # noqa: ANN401 - TOML
    where = f"switch.{name}"
    if name not in names:
        raise SiteWrong(f"{path}: {where}: no such check{_near(name, names)}")
    _known(path, row, ("stage", "reason", "owner", "until"), where)
    stages = (OFF, Stage.OBSERVE.value, Stage.WARN.value)
    if row.get("stage") not in stages:
        raise SiteWrong(
            f"{path}: {where}.stage: expected one of {', '.join(stages)}, got {row.get('stage')!r}"
        )
    until = row.get("until")
    if isinstance(until, dt.datetime) or not isinstance(until, dt.date):
        raise SiteWrong(f"{path}: {where}.until: expected a date such as 2026-12-31, got {until!r}")
    return Switch(
        stage=row["stage"],
        reason=_text(path, where, row, "reason"),
        owner=_text(path, where, row, "owner"),
        until=until,
    )


def _command(path: Path, name: str, row: Any) -> Check:  # noqa: ANN401 - TOML
    where = f"command.{name}"
    _known(path, row, ("argv", "output", "timeout_s", "stage", "remedy", "profiles"), where)
    argv = row.get("argv")
    if not isinstance(argv, list) or not argv or not all(isinstance(part, str) for part in argv):
        raise SiteWrong(f"{path}: {where}.argv: expected a list of texts, got {argv!r}")
    style = _one_of(path, where, row, "output", tuple(STYLES), "json")
    stage = _one_of(path, where, row, "stage", tuple(Stage), Stage.OBSERVE)
    remedy = _one_of(path, where, row, "remedy", tuple(Rung), Rung.PERSON)
    profiles = row.get("profiles", list(ALL_PROFILES))
    if not isinstance(profiles, list) or not set(profiles) <= set(ALL_PROFILES):
        raise SiteWrong(f"{path}: {where}.profiles: expected some of {', '.join(ALL_PROFILES)}")
    timeout_s = row.get("timeout_s", 10)
    if isinstance(timeout_s, bool) or not isinstance(timeout_s, (int, float)) or timeout_s <= 0:
        raise SiteWrong(f"{path}: {where}.timeout_s: expected seconds above 0, got {timeout_s!r}")
    return Check(
        name=where,
        function=_runner(where, argv, style=style, timeout_s=float(timeout_s), remedy=Rung(remedy)),
        about=f"the site's own check: {' '.join(argv)}",
        needs=frozenset({argv[0]}),
        cost_s=float(timeout_s) / 2,
        load_share=0.0,
        detects=frozenset({where}),
        expects=frozenset(),
        stage=Stage(stage),
        vendors=frozenset(),
        profiles=tuple(profiles),
    )


def _runner(code: str, argv: list[str], *, style: str, timeout_s: float, remedy: Rung) -> Any:  # noqa: ANN401
    def run(facts: Facts, host: Host, expected: Expected) -> Answer:  # noqa: ARG001 - a check's signature
        ran = host.run(argv, timeout_s=timeout_s)
        answer = read(style, code=code, rc=ran.rc, out=ran.stdout[:MAX_OUTPUT_CHARS])
        if isinstance(answer, Unclear):
            raise ProbeUnavailable(f"{argv[0]}: {answer.why}")
        if answer.skipped:
            return NotApplicable(answer.skipped)
        findings = tuple(replace(one, remedy=one.remedy or remedy) for one in answer.findings)
        return Looked(looked={"exit_code": ran.rc}, findings=findings)

    return run


def _known(path: Path, row: Any, keys: tuple[str, ...], where: str) -> None:  # noqa: ANN401
    if not isinstance(row, dict):
        raise SiteWrong(f"{path}: {where}: expected a table, got {row!r:.60}")
    for key in row:
        if key not in keys:
            raise SiteWrong(f"{path}: {'.'.join(filter(None, (where, key)))}: unknown key{_near(key, keys)}")


def _text(path: Path, where: str, row: dict[str, Any], key: str) -> str:
    value = row.get(key)
    if not isinstance(value, str) or not value.strip():
        raise SiteWrong(f"{path}: {where}.{key}: expected a text: a switch says why, by whom and until when")
    return value.strip()


def _one_of(
    path: Path, where: str, row: dict[str, Any], key: str, known: tuple[str, ...], default: str
) -> str:
    value = row.get(key, default)
    if value not in known:
        raise SiteWrong(f"{path}: {where}.{key}: expected one of {', '.join(known)}, got {value!r}")
    return str(value)


def _near(name: str, known: Any) -> str:  # noqa: ANN401
    near = get_close_matches(name, list(known), n=1)
    return f"; did you mean {near[0]}?" if near else f"; known: {', '.join(sorted(known)[:12])}"

"""greenroom.toml: what the operator decides, as dataclasses with their defaults."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from greenroom import faults
from greenroom.controller.config_file import ConfigFile, nearest
from greenroom.model.words import Rung
from greenroom.parsers.hostlist import HostlistError, expand
from greenroom.policy.rules import DEFAULT_LADDER, DEFAULT_LADDERS, GroupRule, Rules, Step
from greenroom.recovery import Provider
from greenroom.recovery.command import CommandProvider
from greenroom.recovery.scheduler_reboot import SchedulerReboot
from greenroom.runner.profiles import PROFILES
from greenroom.schedulers import Scheduler


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerSection:
    """``[controller]``."""

    listen: str = "127.0.0.1:8642"
    """Address and port of the HTTP API."""
    url: str = ""
    """How nodes reach the controller; default http://<listen>."""
    state_dir: str = "/var/lib/greenroom"
    """Store, keys, lock; made at the first start, mode 0700."""
    store: str = ""
    """SQLAlchemy URL; default SQLite in state_dir."""
    admission_key_file: str = ""
    """The key that signs admission records, the same file on every node; default in state_dir."""
    poll_s: float = 5.0
    """Between two readings of the scheduler; sooner while something is going on."""
    log: str = "json"
    """``json`` or ``console``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulerSection:
    """``[scheduler]`` and the back end's own table ``[scheduler.<kind>]``."""

    kind: str = "slurm"
    """``slurm``, or ``memory`` (tests)."""
    slurm: Mapping[str, Any] = field(default_factory=dict)
    """``conf`` (SLURM_CONF), ``bin_dir``, ``command_timeout_s`` (15), ``born_held_reason``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateSection:
    """``[gate]``: when a node is checked and what a verdict leads to."""

    on_start_profile: str = "light"
    """For a node that is new, rebooted or repaired; groups may name their own."""
    undecided_tries: int = 2
    """Runs in a row without a verdict before a person is called."""
    run_grace_s: float = 120.0
    """On top of a profile's limit: queueing, start, bringing the result home."""
    trust_running: bool = False
    """Nodes that already work when first seen are admitted as they are, not checked in waves."""
    on_fail_in_service: str = "finish"
    """Jobs on a node found unfit: ``finish`` (they run to their end) or ``requeue``."""
    fault_files: tuple[str, ...] = ()
    """The site's own word on faults: TOML files laid over the catalogue, each row with its comment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSection:
    """``[check]``: how a check is started on a node."""

    command: tuple[str, ...] = ("greenroom",)
    """The executable on the nodes."""
    arguments: tuple[str, ...] = ()
    """Put after ``greenroom check``."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Set for the check."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitsSection:
    """``[limits]``: how many nodes may be out of service by our decision."""

    max_out: int = 0
    """At once; 0 = max(1, max_out_share of the fleet)."""
    max_out_share: float = 0.10
    """Share of all nodes that are not retired."""
    max_out_per_hour: int = 0
    """0 = as many as at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSection:
    """``[recovery.reboot]``, ``[recovery.replace]``."""

    provider: str = ""
    """``scheduler`` (reboot only) or ``command``."""
    command: tuple[str, ...] = ()
    """The executable and its arguments (JSON on standard input and output)."""
    timeout_s: float = 60.0
    """One call of the command."""
    deadline_s: float = 0.0
    """The whole repair; 0 = the default of the rung."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoverySection:
    """``[recovery]``: attempts, ladders, providers."""

    max_attempts: int = 3
    """Repairs of all kinds on one machine within the window; then a person."""
    attempt_window_s: float = 7 * 86_400.0
    """How long a repair is remembered."""
    reboot: ProviderSection = field(default_factory=lambda: ProviderSection(provider="scheduler"))
    replace: ProviderSection = field(default_factory=ProviderSection)
    ladders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Fault code (or its beginning), or ``default`` -> rungs, e.g. ``["reboot*2", "replace"]``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSection:
    """``[groups.<name>]``: nodes that are waited for together."""

    partition: str = ""
    """All nodes of a partition, or"""
    feature: str = ""
    """all nodes with a feature, or"""
    nodes: str = ""
    """Host list in Slurm notation."""
    size: int = 0
    """Wanted number of nodes; 0 = as many as there are."""
    min: int = 0
    """Admitted nodes with which a job can start."""
    profile: str = ""
    """On-start profile; default: the gate's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The whole file."""

    controller: ControllerSection = field(default_factory=ControllerSection)
    scheduler: SchedulerSection = field(default_factory=SchedulerSection)
    gate: GateSection = field(default_factory=GateSection)
    check: CheckSection = field(default_factory=CheckSection)
    limits: LimitsSection = field(default_factory=LimitsSection)
    recovery: RecoverySection = field(default_factory=RecoverySection)
    groups: Mapping[str, GroupSection] = field(default_factory=dict)
    rules: Rules = field(default_factory=Rules)
    """Made from the above; not a table of the file."""

    @property
    def url(self) -> str:
        """How nodes reach the controller."""
        return self.controller.url or f"http://{self.controller.listen}"

    @property
    def store_url(self) -> str:
        """SQLAlchemy URL of the store."""
        return self.controller.store or f"sqlite:///{self.controller.state_dir}/greenroom.db"

    @property
    def address(self) -> tuple[str, int]:
        """Host and port to listen on."""
        host, _, port = self.controller.listen.rpartition(":")
        return host.strip("[]"), int(port)


def load(path: Path) -> Config:
    """Read and check the file. Raises ConfigError naming file, line and field."""
    file = ConfigFile(path)
    if "rules" in file.data:
        raise file.error(("rules",), f"unknown key{nearest('rules', Config.__dataclass_fields__)}")
    config = file.fill(Config, file.data)
    if not re.fullmatch(r".+:\d{1,5}", config.controller.listen):
        raise file.error(("controller", "listen"), "expected address:port")
    if config.gate.on_fail_in_service not in ("finish", "requeue"):
        raise file.error(("gate", "on_fail_in_service"), "expected 'finish' or 'requeue'")
    if not 0 < config.limits.max_out_share <= 1:
        raise file.error(("limits", "max_out_share"), "expected a share above 0 and up to 1")
    _check_providers(file, config.recovery)
    object.__setattr__(config, "rules", _rules(file, config))
    return config


def providers(config: Config, scheduler: Scheduler) -> dict[Rung, Provider]:
    """The providers the configuration names."""
    found: dict[Rung, Provider] = {}
    for rung, section in ((Rung.REBOOT, config.recovery.reboot), (Rung.REPLACE, config.recovery.replace)):
        if section.provider == "scheduler":
            found[rung] = SchedulerReboot(scheduler)
        elif section.provider == "command":
            found[rung] = CommandProvider(section.command, rung=rung, timeout_s=section.timeout_s)
    return found


def _check_providers(file: ConfigFile, recovery: RecoverySection) -> None:
    for name, section in (("reboot", recovery.reboot), ("replace", recovery.replace)):
        allowed = ("", "scheduler", "command") if name == "reboot" else ("", "command")
        if section.provider not in allowed:
            known = ", ".join(repr(one) for one in allowed if one)
            raise file.error(("recovery", name, "provider"), f"expected {known}; got {section.provider!r}")
        if section.provider == "command" and not section.command:
            raise file.error(("recovery", name, "command"), "missing: the executable and its arguments")


def _rules(file: ConfigFile, config: Config) -> Rules:
    profiles = {name: profile.limit_s for name, profile in PROFILES.items()}
    groups = tuple(_group(file, name, section, profiles) for name, section in config.groups.items())
    if config.gate.on_start_profile not in profiles:
        known = nearest(config.gate.on_start_profile, profiles)
        raise file.error(("gate", "on_start_profile"), f"no such profile{known}")
    named = {name: _ladder(file, name, steps) for name, steps in config.recovery.ladders.items()}
    default = named.pop("default", DEFAULT_LADDER)
    offered = {
        rung
        for rung, section in ((Rung.REBOOT, config.recovery.reboot), (Rung.REPLACE, config.recovery.replace))
        if section.provider
    }
    times = dict(Rules().repair_time_s)
    for rung, section in ((Rung.REBOOT, config.recovery.reboot), (Rung.REPLACE, config.recovery.replace)):
        times[rung] = section.deadline_s or times[rung]
    return Rules(
        faults=_faults(file, config.gate.fault_files),
        groups=groups,
        on_start_profile=config.gate.on_start_profile,
        profile_time_s=profiles,
        run_grace_s=config.gate.run_grace_s,
        undecided_tries=config.gate.undecided_tries,
        trust_running=config.gate.trust_running,
        on_fail_in_service=config.gate.on_fail_in_service,
        ladder=default,
        ladders={**DEFAULT_LADDERS, **named},
        offered=frozenset(offered),
        max_attempts=config.recovery.max_attempts,
        attempt_window_s=config.recovery.attempt_window_s,
        repair_time_s=times,
        max_out=config.limits.max_out,
        max_out_share=config.limits.max_out_share,
        max_out_per_hour=config.limits.max_out_per_hour,
    )


def _faults(file: ConfigFile, paths: tuple[str, ...]) -> Mapping[str, faults.Fault]:
    try:
        return faults.load(Path(path) for path in paths)
    except faults.CatalogueWrong as error:
        raise file.error(("gate", "fault_files"), str(error)) from error


def _group(file: ConfigFile, name: str, section: GroupSection, profiles: Mapping[str, float]) -> GroupRule:
    where = ("groups", name)
    if sum(bool(one) for one in (section.partition, section.feature, section.nodes)) != 1:
        raise file.error(where, "expected exactly one of partition, feature, nodes")
    if section.profile and section.profile not in profiles:
        raise file.error((*where, "profile"), f"no such profile{nearest(section.profile, profiles)}")
    try:
        nodes = frozenset(expand(section.nodes)) if section.nodes else frozenset()
    except HostlistError as error:
        raise file.error((*where, "nodes"), str(error)) from error
    return GroupRule(
        name=name,
        partition=section.partition,
        feature=section.feature,
        nodes=nodes,
        size=section.size or len(nodes),
        minimum=section.min,
        profile=section.profile,
    )


def _ladder(file: ConfigFile, name: str, steps: tuple[str, ...]) -> tuple[Step, ...]:
    known = {Rung.REBOOT.value, Rung.REPLACE.value, Rung.PERSON.value}
    ladder = []
    for step in steps:
        rung, _, times = step.partition("*")
        if rung.strip() not in known or (times and not times.strip().isdigit()):
            expected = f"expected rungs like 'reboot' or 'reboot*2'{nearest(rung, known)}"
            raise file.error(("recovery", "ladders", name), f"{step!r}: {expected}")
        if rung.strip() == Rung.PERSON:
            break  # every ladder ends there anyway
        ladder.append(Step(rung=Rung(rung.strip()), times=int(times or 1)))
    return tuple(ladder)

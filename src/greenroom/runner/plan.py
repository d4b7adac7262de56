"""Pure: profile and checks -> what runs, in which order, with how much load; and why the rest does not."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from greenroom.checks.frame import Check
from greenroom.runner.profiles import Profile

SPARE_S = 5.0
"""Each check's deadline is half as much again as its plan, and this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """One check to run."""

    check: Check
    load_s: float
    """How long it may put load on the machine, s."""
    deadline_s: float
    """After so long it is ended, s."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What runs and what does not."""

    steps: tuple[Planned, ...]
    left_out: dict[str, str]
    """Check -> why."""

    @property
    def planned_s(self) -> float:
        """Time all steps take on a healthy machine, s."""
        return sum(step.check.cost_s + step.load_s for step in self.steps)


def make_plan(
    checks: Iterable[Check], profile: Profile, *, only: Collection[str] = (), vendor: str = "nvidia"
) -> Plan:
    """The cheap checks first: a node that is plainly broken is known to be so within a second.

    A check for which the budget has no room any more is left out, with the reason.
    """
    steps: list[Planned] = []
    left_out: dict[str, str] = {}
    room_s = profile.budget_s
    for check in sorted(checks, key=lambda check: (_cost_s(check, profile), check.name)):
        cost_s = _cost_s(check, profile)
        if only and check.name not in only:
            left_out[check.name] = "not asked for"
        elif profile.name not in check.profiles:
            left_out[check.name] = f"not part of profile {profile.name}"
        elif check.vendors and vendor not in check.vendors:
            left_out[check.name] = f"for GPUs of {', '.join(sorted(check.vendors))}"
        elif cost_s > room_s:
            left_out[check.name] = f"needs {cost_s:g} s, {room_s:.1f} s of the budget are left"
        else:
            room_s -= cost_s
            steps.append(
                Planned(
                    check=check,
                    load_s=check.load_share * profile.budget_s,
                    deadline_s=1.5 * cost_s + SPARE_S + (SPARE_S * 2 if check.load_share else 0.0),
                )
            )
    return Plan(steps=tuple(steps), left_out=left_out)


def _cost_s(check: Check, profile: Profile) -> float:
    return check.cost_s + check.load_share * profile.budget_s

"""The named sets of checks and their time budgets: the one place where they stand."""

from __future__ import annotations

from dataclasses import dataclass

SLACK_S = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A set of checks (each check says to which it belongs) and the time they may take together."""

    name: str
    budget_s: float
    about: str

    @property
    def limit_s(self) -> float:
        """After so long the run is ended, whatever sticks, s; well within what the controller waits."""
        return self.budget_s + SLACK_S


PROFILES = {
    profile.name: profile
    for profile in (
        Profile(name="quick", budget_s=10.0, about="looks, no load: before every job"),
        Profile(name="light", budget_s=60.0, about="short load: when a node comes up"),
        Profile(name="full", budget_s=600.0, about="real load: after a repair"),
        Profile(name="burn-in", budget_s=14_400.0, about="hours of load: a new machine"),
    )
}

"""The live table of `greenroom check` on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live
from rich.table import Table as RichTable
from rich.text import Text

from greenroom.model.words import Outcome, Stage
from greenroom.runner.run import Progress, Wish
from greenroom.runner.verdict import judge

if TYPE_CHECKING:
    from greenroom.model.results import CheckResult
    from greenroom.runner.plan import Plan, Planned

STYLE = {
    "pass": "green",
    "warn": "yellow",
    "fail": "bold red",
    "skipped": "dim",
    "unable": "magenta",
    "disabled": "dim",
}


class Table(Progress):
    """Draws one row a check. It draws only when told: a thread would be in the way of the forks."""

    def __init__(self, wish: Wish, console: Console | None = None) -> None:
        self.wish = wish
        self.results: list[CheckResult] = []
        self.running = ""
        self.steps = 0
        self.live = Live(console=console or Console(), auto_refresh=False)

    def planned(self, plan: Plan) -> None:
        """Open the table."""
        self.steps = len(plan.steps)
        self.live.start()

    def started(self, step: Planned) -> None:
        """Say what runs now."""
        load = f", about {step.load_s:.0f} s" if step.load_s else ""
        self.running = f"{step.check.name}{load}"
        self.live.update(self._draw(), refresh=True)

    def finished(self, result: CheckResult) -> None:
        """Add its row."""
        self.results.append(result)
        self.running = ""
        self.live.update(self._draw(), refresh=True)

    def closed(self) -> None:
        """Give the terminal back; say the verdict if all checks were run."""
        self.live.stop()
        if len(self.results) == self.steps:
            self.live.console.print(f"{self.wish.node}: [bold]{judge(self.results)}[/bold]")

    def _draw(self) -> RichTable:
        table = RichTable("check", "outcome", "s", "what", title=f"profile {self.wish.profile}")
        for result in self.results:
            outcome = Text(result.outcome, style=STYLE[result.outcome])
            table.add_row(result.check, outcome, f"{result.seconds:.2f}", Text(_tell(result)))
        if self.running:
            table.add_row(self.running, "…", "", f"{len(self.results) + 1} of {self.steps}")
        return table


def _tell(result: CheckResult) -> str:
    said = [f"{finding.subject}: {finding.message}" for finding in result.findings]
    stage = "" if result.stage is Stage.GATE or result.outcome is Outcome.PASS else f" ({result.stage} only)"
    return (result.reason or "\n".join(said[:4])) + stage

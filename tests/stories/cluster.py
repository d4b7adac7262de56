"""The real controller on a cluster in memory, with a clock that is set by hand."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from greenroom.controller.effects import Effects, Tools
from greenroom.controller.gate import Gate
from greenroom.controller.loop import Loop
from greenroom.model.nodes import CheckJob
from greenroom.model.results import Finding, Identity
from greenroom.model.words import Phase, Rung, Verdict
from greenroom.policy.events import RunFinished
from greenroom.policy.rules import Rules
from greenroom.recovery import Progress, RepairState
from greenroom.recovery.scheduler_reboot import SchedulerReboot
from greenroom.schedulers.memory import MemoryNode, MemoryScheduler
from greenroom.store.memory import MemoryStore


@dataclass
class Machine:
    """The hardware in a slot."""

    serial: str
    faults: list[str] = field(default_factory=list)
    cured_by_reboot: bool = False


class Replacer:
    """A provider that swaps the machine of a slot."""

    def __init__(self, story) -> None:
        self.story, self.done, self.refuse = story, [], False

    def offers(self):
        return frozenset({Rung.REPLACE})

    def start(self, *, action_id, node, rung, reason):
        if self.refuse:
            return RepairState(progress=Progress.REFUSED, detail="no spare")
        if action_id not in self.done:
            self.done.append(action_id)
            self.story.machines[node] = Machine(serial=f"{node}-spare{len(self.done)}")
            self.story.scheduler.cluster[node].boot += 1000
            self.story.scheduler.cluster[node].our_jobs.clear()
        return RepairState(progress=Progress.DONE)

    def poll(self, *, action_id, node, rung):
        return RepairState(progress=Progress.DONE)


class Resetter:
    """A provider whose GPU resets help."""

    def __init__(self, story) -> None:
        self.story = story

    def offers(self):
        return frozenset({Rung.RESET_GPU})

    def start(self, *, action_id, node, rung, reason):
        self.story.machines[node].faults.clear()
        return RepairState(progress=Progress.DONE)

    def poll(self, *, action_id, node, rung):
        return RepairState(progress=Progress.DONE)


class Story:
    """Nodes, machines, controller; ``turn()`` lets time pass."""

    def __init__(self, *, store=None, **rules) -> None:
        self.now = 1_000_000.0
        self.rules = Rules(**{"offered": frozenset({Rung.REBOOT, Rung.REPLACE}), **rules})
        self.scheduler = MemoryScheduler()
        self.machines: dict[str, Machine] = {}
        self.store = store or MemoryStore()
        self.replacer = Replacer(self)
        self.launches = []
        self.silent: set[str] = set()
        """Nodes whose runs bring no result home."""
        self.boot()

    def boot(self) -> None:
        """Start (or restart) the controller on the same store and scheduler."""
        clock = lambda: self.now  # noqa: E731
        self.gate = Gate(self.store, lambda: self.rules, clock)
        tools = Tools(
            scheduler=self.scheduler,
            providers={
                Rung.REBOOT: SchedulerReboot(self.scheduler),
                Rung.REPLACE: self.replacer,
                Rung.RESET_GPU: Resetter(self),
            },
            check_job=self._check_job,
        )
        self.loop = Loop(self.gate, Effects(self.gate, tools, clock, None), lambda: self.rules, clock)

    def _check_job(self, action, view):
        self.launches.append(action)
        return CheckJob(run_id=action.run_id, node=view.name, argv=())

    def join(self, *names, drained="born held", ours=True, **machine) -> None:
        for name in names:
            self.scheduler.cluster[name] = MemoryNode(name=name, drained=drained, ours=ours, boot=self.now)
            self.machines[name] = Machine(serial=f"serial-{name}", **machine)

    def turn(self, times=1, *, step_s=20.0) -> None:
        for _ in range(times):
            reboots = len(self.scheduler.reboots)
            self.loop.cycle()
            for node in self.scheduler.reboots[reboots:]:
                if self.machines[node].cured_by_reboot:
                    self.machines[node].faults.clear()
            self._finish_runs()
            self.now += step_s

    def _finish_runs(self) -> None:
        for name, node in self.scheduler.cluster.items():
            for run_id in list(node.our_jobs):
                if name not in self.silent:
                    self.report(name, run_id)
                    self.scheduler.finish(run_id)

    def report(self, name, run_id="") -> None:
        machine = self.machines[name]
        verdict = Verdict.UNFIT if machine.faults else Verdict.FIT
        findings = tuple(Finding(code=code, subject="gpu0", message="bad") for code in machine.faults)
        boot_id = f"boot-{self.scheduler.cluster[name].boot}"
        event = RunFinished(
            run_id=run_id,
            verdict=verdict,
            findings=findings,
            identity=Identity(machine=machine.serial, boot_id=boot_id),
        )
        self.gate.submit(name, event, key=f"run:{run_id}" if run_id else "", report={"verdict": verdict})

    def tell(self, name, event) -> str:
        decision = self.gate.submit(name, event)[1]
        return decision.rule if decision else "duplicate"

    def state(self, name):
        return self.store.load(name)

    def phase(self, name) -> Phase:
        return self.state(name).phase

    def free(self) -> set[str]:
        """Nodes on which user jobs may start."""
        return {
            name
            for name, node in self.scheduler.cluster.items()
            if node.up and not node.drained and not node.reserved
        }

    def phases(self) -> dict[str, str]:
        return {state.node: state.phase.value for state in self.store.states()}

    def reload(self, **rules) -> None:
        self.rules = replace(self.rules, **rules)

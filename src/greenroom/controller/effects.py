"""The only place where decisions are carried out. Every action is idempotent by its id."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

import structlog

from greenroom.controller.gate import Gate
from greenroom.model.nodes import CheckJob, NodeView
from greenroom.model.words import Phase, Rung
from greenroom.policy.events import Alert, Cancel, Launch, RepairEnded, Requeue, StartRepair
from greenroom.policy.state import NodeState
from greenroom.recovery import Progress, Provider, ProviderUnavailable, RepairState
from greenroom.schedulers import Scheduler, SchedulerUnavailable
from greenroom.store import Pending, Settled, StoreUnavailable

log = structlog.get_logger("greenroom.effects")
RUNNING = "running: "
BUDGET_S = 5.0
"""One pass may take so long; holds and readings must not wait behind a thousand launches."""


@dataclass(frozen=True, slots=True)
class Tools:
    """What effects work with; replaced whole when the configuration is reloaded."""

    scheduler: Scheduler
    providers: Mapping[Rung, Provider]
    check_job: Callable[[Launch, NodeView], CheckJob]


class Effects:
    """Carries out pending actions. Provider calls run on ``pool``: a slow one holds up nothing else."""

    def __init__(self, gate: Gate, tools: Tools, now: Callable[[], float], pool: Executor | None) -> None:
        """``pool`` None: everything in the caller's thread (tests, simulation)."""
        self._gate, self.tools, self._now, self._pool = gate, tools, now, pool
        self._busy: set[str] = set()
        self._done: list[Settled] = []

    def carry_out(self, pending: Sequence[Pending], views: Mapping[str, NodeView]) -> bool:
        """One pass over the pending actions, oldest first; what cannot be done now stays pending.

        True if the pass ended before its work: another one soon is worthwhile.
        """
        states = {state.node: state for state in self._gate.store.states()} if pending else {}
        until = self._now() + BUDGET_S
        try:
            return self._pass(pending, states, views, until)
        finally:
            # Together: each is idempotent by its id, so a crash before this only repeats it.
            done, self._done = self._done, []
            if done:
                self._gate.store.settle(done)

    def _pass(
        self,
        pending: Sequence[Pending],
        states: Mapping[str, NodeState],
        views: Mapping[str, NodeView],
        until: float,
    ) -> bool:
        for one in pending:
            if one.id in self._busy:
                continue
            if self._now() > until:
                return True
            try:
                self._do(one, states[one.node], views.get(one.node))
            except (SchedulerUnavailable, ProviderUnavailable) as error:
                self._not_yet(one, error)
        return False

    def _not_yet(self, one: Pending, error: Exception) -> None:
        log.warning("not done yet", action=one.id, node=one.node, why=str(error))
        begun = RUNNING if one.detail.startswith(RUNNING) else ""
        self._gate.store.tried(one.id, f"{begun}{error}"[:300])

    def _do(self, one: Pending, state: NodeState, view: NodeView | None) -> None:
        action = one.action
        match action:
            case Launch():
                if state.phase is not Phase.CHECKING or state.run_id != action.run_id:
                    self._settle(one, "void: no longer wanted")
                elif view is not None:
                    job = self.tools.scheduler.launch(self.tools.check_job(action, view))
                    self._settle(one, f"job {job}")
            case Cancel():
                self.tools.scheduler.cancel(action.run_id)
                self._settle(one, "cancelled")
            case Requeue():
                jobs = self.tools.scheduler.requeue_jobs(one.node, action.reason)
                self._settle(one, f"requeued: {', '.join(jobs) or 'none'}")
            case Alert():
                self._gate.store.raise_alert(action.key, action.text, self._now())
                log.error("alert", key=action.key, text=action.text)
                self._settle(one, "raised")
            case StartRepair():
                self._repair(one, action, state, view)

    def _repair(self, one: Pending, action: StartRepair, state: NodeState, view: NodeView | None) -> None:
        if state.repair is None or state.repair.action_id != action.action_id:
            self._settle(one, "over")
            return
        provider = self.tools.providers.get(action.rung)
        if provider is None:
            ended = RepairEnded(
                action_id=action.action_id, ok=False, refused=True, detail="no provider offers it"
            )
            self._ended(one, ended)
            return
        started = one.detail.startswith(RUNNING)
        if not started and view is None:
            return  # never begin a repair on a node that cannot be seen
        if self._pool is None:
            self._call(one, action, provider, started=started)
            return
        self._busy.add(one.id)
        self._pool.submit(self._call_safely, one, action, provider, started=started)

    def _call_safely(self, one: Pending, action: StartRepair, provider: Provider, *, started: bool) -> None:
        try:
            self._call(one, action, provider, started=started)
        except (SchedulerUnavailable, ProviderUnavailable) as error:
            self._not_yet(one, error)
        except StoreUnavailable as error:
            log.warning("store away", action=one.id, why=str(error))
        except Exception:
            log.exception("a provider failed in an unforeseen way", action=one.id, node=one.node)
        finally:
            self._busy.discard(one.id)

    def _call(self, one: Pending, action: StartRepair, provider: Provider, *, started: bool) -> None:
        if started:
            state = provider.poll(action_id=action.action_id, node=one.node, rung=action.rung)
        else:
            log.info("repair", node=one.node, rung=action.rung, action=action.action_id)
            state = provider.start(
                action_id=action.action_id, node=one.node, rung=action.rung, reason=action.reason
            )
        if state.progress is Progress.RUNNING:
            if not started:
                self._gate.store.tried(one.id, f"{RUNNING}{state.detail}"[:300])
            return
        self._ended(one, _ended(action, state))

    def _ended(self, one: Pending, event: RepairEnded) -> None:
        self._gate.submit(one.node, event, key=f"repair:{event.action_id}")
        over = Settled(action_id=one.id, ok=event.ok, detail=event.detail or "done", at=self._now())
        self._gate.store.settle([over])

    def _settle(self, one: Pending, detail: str) -> None:
        self._done.append(Settled(action_id=one.id, ok=True, detail=detail, at=self._now()))


def _ended(action: StartRepair, state: RepairState) -> RepairEnded:
    return RepairEnded(
        action_id=action.action_id,
        ok=state.progress is Progress.DONE,
        refused=state.progress is Progress.REFUSED,
        detail=state.detail,
    )

"""/metrics for Prometheus: sums over the store, made when asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric

from greenroom.controller.loop import Health
from greenroom.model.words import Phase
from greenroom.store import Store


class Sums:
    """A Prometheus collector over the store."""

    def __init__(self, store: Store, health: Callable[[], Health]) -> None:
        """Reads both at every scrape."""
        self._store, self._health = store, health

    def collect(self) -> Iterator[Metric]:
        """Nodes by phase, nodes out by us, open alerts, how the controller is doing."""
        states = self._store.states()
        phases = GaugeMetricFamily("greenroom_nodes", "Nodes by phase.", labels=["phase"])
        for phase in Phase:
            phases.add_metric([phase.value], sum(state.phase is phase for state in states))
        yield phases
        out = sum(state.out_by_us for state in states)
        yield GaugeMetricFamily("greenroom_nodes_out", "Nodes taken out of service by Greenroom.", value=out)
        waiting = sum(state.waits_for_grant for state in states)
        yield GaugeMetricFamily(
            "greenroom_nodes_waiting", "Nodes waiting for the fleet limit.", value=waiting
        )
        alerts = GaugeMetricFamily("greenroom_alert_open", "Open alerts.", labels=["key"])
        for alert in self._store.alerts(open_only=True):
            alerts.add_metric([alert.key], 1)
        yield alerts
        health = self._health()
        away = 1 if health.scheduler_away else 0
        yield GaugeMetricFamily(
            "greenroom_scheduler_away", "1 while the scheduler cannot be read.", value=away
        )
        at = health.last_cycle_at
        yield GaugeMetricFamily("greenroom_last_cycle_seconds", "End of the last cycle, Unix s.", value=at)


def exposition(store: Store, health: Callable[[], Health]) -> bytes:
    """The text a scrape gets."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Sums(store, health))
    return generate_latest(registry)

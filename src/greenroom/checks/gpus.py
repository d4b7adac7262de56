"""Which GPUs a check can look at, and what to say when it cannot: shared by the gpu_* checks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from greenroom.checks.expectations import Expected
from greenroom.checks.frame import Answer, Facts, Looked, NotApplicable, found, is_grave
from greenroom.model.results import Finding
from greenroom.probes.host import ProbeUnavailable
from greenroom.probes.nvml import NOT_SUPPORTED, Driver, Gpu

MUST_REPORT = "gpu.must_report"
ABSENT = (Driver.BINDING_MISSING, Driver.LIBRARY_MISSING, Driver.NOT_LOADED)


def wanted_gpus(facts: Facts, expected: Expected) -> int | None:
    """How many GPUs there should be: as told, else as many as are on the bus; None: nobody says."""
    told = expected.number("gpu.count")
    return int(told) if told is not None else (facts.gpus_on_bus or None)


def no_gpus(facts: Facts, expected: Expected) -> NotApplicable | None:
    """The reason to skip if the machine has no GPU and needs none."""
    if wanted_gpus(facts, expected) == 0:
        return NotApplicable("no GPU is expected here")
    empty = facts.gpus.driver in ABSENT or (facts.gpus.driver is Driver.OK and not facts.gpus.gpus)
    if empty and wanted_gpus(facts, expected) is None:
        return NotApplicable("no GPU here, and none is expected")
    return None


def answering(facts: Facts) -> tuple[Gpu, ...]:
    """GPUs whose readings can be trusted. Lost ones are for gpu_count to report.

    Raises:
        ProbeUnavailable: the driver cannot be asked, or no GPU answers: nothing to look at.
    """
    if facts.gpus.driver is not Driver.OK:
        raise ProbeUnavailable(facts.gpus.message or facts.gpus.driver.value)
    gpus = tuple(gpu for gpu in facts.gpus.gpus if "handle" not in gpu.errors and not gpu.trouble)
    if not gpus:
        raise ProbeUnavailable("no GPU answers")
    return gpus


@dataclass(slots=True)
class Survey:
    """Collects readings over all GPUs, and what could not be read."""

    facts: Facts
    expected: Expected
    findings: list[Finding] = field(default_factory=list)
    values: dict[str, dict[str, Any]] = field(default_factory=dict)
    """GPU -> field -> value."""
    unreadable: list[str] = field(default_factory=list)
    unsupported: set[str] = field(default_factory=set)

    def read(self, name: str) -> list[tuple[Gpu, Any]]:
        """Each answering GPU that has the reading, with its value."""
        pairs = []
        for gpu in answering(self.facts):
            value = getattr(gpu, name)
            if value is not None:
                self.values.setdefault(gpu.label, {})[name] = value
                pairs.append((gpu, value))
            elif gpu.errors.get(name) != NOT_SUPPORTED:
                self.unreadable.append(f"{gpu.label} {name}: {gpu.errors.get(name, 'no answer')}")
            elif name in self.expected.texts(MUST_REPORT):
                self.unreadable.append(f"{gpu.label} {name}: not supported, though this model reports it")
            else:
                self.unsupported.add(name)
        return pairs

    def limit(self, name: str, code: str, threshold: str, message: str, *, low: bool = False) -> None:
        """A finding for each GPU whose reading is past the threshold, where there is one.

        ``low``: too little is wrong, not too much. ``message`` may name the ``{value}``.
        """
        limit = self.expected.number(threshold)
        for gpu, value in self.read(name):
            if limit is not None and (value < limit if low else value > limit):
                self.findings.append(
                    found(
                        code,
                        subject=gpu.label,
                        message=message.format(value=value),
                        measured=f"{value:g}",
                        threshold=self.expected[threshold],
                    )
                )

    def conclude(self) -> Answer:
        """What the check returns. A reading that failed is no pass, but a fault found elsewhere stands.

        Raises:
            ProbeUnavailable: something could not be read and nothing grave was found.
        """
        if self.unreadable and not any(map(is_grave, self.findings)):
            raise ProbeUnavailable("; ".join(self.unreadable[:3]))
        if not self.values:
            missing = ", ".join(sorted(self.unsupported))
            return NotApplicable(f"this GPU model does not report {missing}")
        return Looked(
            looked={"gpus": len(self.values), "readings": self.values}, findings=tuple(self.findings)
        )

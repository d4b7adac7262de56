"""A healthy machine to break, one reading at a time."""

from __future__ import annotations

from typing import Any

from greenroom.checks.expectations import Expected, load_expected
from greenroom.checks.frame import Answer, Facts, load_all
from greenroom.probes.nvml import NOT_SUPPORTED, Driver, Gpu, GpuFacts
from greenroom.probes.recorded import RecordedHost

H100 = "NVIDIA H100 80GB HBM3"


def gpu(index: int = 0, **changes: Any) -> Gpu:
    """A healthy idle H100; it has no retired pages, as its model has rows instead."""
    values: dict[str, Any] = {
        "uuid": f"GPU-{index}",
        "serial": f"165000{index}",
        "name": H100,
        "pci": f"00000000:{0x1A + index:02x}:00.0",
        "vbios": "96.00.74.00.01",
        "inforom": "G520.0200.00.05",
        "inforom_valid": True,
        "gsp": "570.124.06",
        "persistence": True,
        "compute_mode": 0,
        "mig": False,
        "recovery": 0,
        "ecc_enabled": True,
        "ecc_volatile_uncorrected": 0,
        "ecc_aggregate_uncorrected": 0,
        "sram_uncorrected": 0,
        "sram_exceeded": False,
        "banks_without_spare": 0,
        "banks_low": 0,
        "memory_total_mib": 81559,
        "memory_used_mib": 550,
        "remapped_corrected": 0,
        "remapped_uncorrected": 0,
        "remap_pending": False,
        "remap_failed": False,
        "pcie_gen": 5,
        "pcie_gen_max": 5,
        "pcie_width": 16,
        "pcie_width_max": 16,
        "clock_reasons": 1,
        "pcie_replays": 0,
        "clock_max_mhz": 1980,
        "temperature_c": 31,
        "temperature_shutdown_c": 95,
        "temperature_slowdown_c": 92,
        "memory_temperature_c": 38,
        "slowed_by_heat_s": 0.5,
        "slowed_by_brake_s": 0.0,
        "power_w": 71.0,
        "power_limit_w": 700.0,
        "power_default_w": 700.0,
        "nvlinks_up": 18,
        "nvlink_mbps": 26562,
        "nvlink_replays": 0,
        "nvlink_recoveries": 0,
        "nvlink_crc_errors": 0,
        "unreachable": (),
        "fabric_state": 3,
        "fabric_status": 0,
        "fabric_health": 0b1_10101010,
        "processes": (),
        "errors": dict.fromkeys(("retired_pages", "retired_pending", "c2c_links", "c2c_up"), NOT_SUPPORTED),
    }
    return Gpu(index=index, **{**values, **changes})


def gpus(*, count: int = 8, driver: Driver = Driver.OK, message: str = "", **changes: Any) -> GpuFacts:
    """Eight healthy ones; ``changes`` are made to GPU 2."""
    if driver is not Driver.OK:
        return GpuFacts(driver=driver, message=message)
    found = tuple(gpu(i, **(changes if i == 2 else {})) for i in range(count))
    return GpuFacts(driver=driver, version="570.124.06", gpus=found)


def expect(*, names: tuple[str, ...] = (H100,), **values: Any) -> Expected:
    """Expectations of an H100 node with eight GPUs; two underscores stand for the dot."""
    expected = load_expected(gpu_names=names)
    for name, value in {"gpu__count": 8, **values}.items():
        expected = expected.with_value(name.replace("__", "."), value, source="test")
    return expected


def ask(
    name: str,
    *,
    facts: GpuFacts | None = None,
    host: RecordedHost | None = None,
    expected: Expected | None = None,
    since: float = 0.0,
    reset_at: float = 0.0,
    load_s: float = 2.0,
    on_bus: int = 0,
) -> Answer:
    """Call one check as the runner does: with what it declared to expect and nothing more."""
    check = load_all()[name]
    known = (expected or expect()).only(check.expects)
    given = Facts(gpus=facts or gpus(), since=since, reset_at=reset_at, load_s=load_s, gpus_on_bus=on_bus)
    return check.function(given, host or RecordedHost(), known)


def codes(answer: Answer) -> list[str]:
    """Fault codes of an answer."""
    return [finding.code for finding in answer.findings]

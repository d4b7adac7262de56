from __future__ import annotations

import pytest

from greenroom.probes.identity import read_identity
from greenroom.probes.nvml import Driver, Gpu, GpuFacts
from greenroom.probes.recorded import RecordedHost

NO_GPUS = GpuFacts(driver=Driver.LIBRARY_MISSING)
PRODUCT, BOARD, MACHINE_ID = (
    "/sys/class/dmi/id/product_serial",
    "/sys/class/dmi/id/board_serial",
    "/etc/machine-id",
)


def machine(**files: str) -> str:
    paths = {"product": PRODUCT, "board": BOARD, "machine_id": MACHINE_ID}
    return read_identity(
        RecordedHost(files={paths[key]: text for key, text in files.items()}), NO_GPUS
    ).machine


def test_from_the_most_to_the_least_tied_to_hardware():
    assert machine(product="S1\n", board="B1\n", machine_id="m\n") == "S1"
    assert machine(board="B1\n", machine_id="m\n") == "B1"
    assert machine(machine_id="m\n") == "m"
    assert machine() == ""


@pytest.mark.parametrize(
    "text",
    [
        "",
        "To be filled by O.E.M.",
        "To Be Filled By O.E.M.",
        "None",
        "Default string",
        "0000000000",
        "  ",
        "N/A",
        "Not Specified",
        "System Serial Number",
        "0123456789",
        "...............",
    ],
)
def test_placeholders_are_no_serial(text):
    assert machine(product=f"{text}\n", board="B1\n") == "B1"


@pytest.mark.parametrize("text", ["0000ABC1", "J1000Y2", "1234-5678", "NONESUCH7"])
def test_real_serials(text):
    assert machine(product=f"{text}\n") == text


def test_boot_and_gpus():
    gpus = GpuFacts(
        driver=Driver.OK, gpus=(Gpu(index=0, serial="2"), Gpu(index=1, uuid="GPU-1"), Gpu(index=2))
    )
    host = RecordedHost(files={"/proc/sys/kernel/random/boot_id": "b-1\n", PRODUCT: "S1\n"})
    identity = read_identity(host, gpus)
    assert (identity.boot_id, identity.gpus) == ("b-1", ("2", "GPU-1"))
    assert len(identity.hardware) == 12

"""One made-up machine: boot id, kernel log, serial, GPUs. Files that its mount namespace shows as its own."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from pathlib import Path

from greenroom.lab.gpus import STATE_ENV, write_state

# What the machine's own namespace sees in place of the real file. All must be there to be covered.
COVERED = {
    "boot_id": "/proc/sys/kernel/random/boot_id",
    "kmsg": "/dev/kmsg",
    "machine-id": "/etc/machine-id",
    "product_serial": "/sys/class/dmi/id/product_serial",
    "board_serial": "/sys/class/dmi/id/board_serial",
}
# Faults that are gone after a reboot, as with real GPUs: the row is remapped, the hung GPU is reset.
CURED_BY_REBOOT = frozenset({"remap-pending", "reset-required", "hang", "lost"})
# The arguments are pairs of file and target up to "--"; the rest is the command.
_ENTER = 'while [ "$1" != -- ]; do mount --bind "$1" "$2" || exit 71; shift 2; done; shift; exec "$@"'


@dataclass(slots=True)
class LabNode:
    """A machine in a slot called ``name``."""

    name: str
    place: Path
    """Its directory."""
    gpus: int = 8
    model: str = "h100"
    faults: list[str] = field(default_factory=list)
    machine: int = 0
    """How often it was replaced."""

    @property
    def serial(self) -> str:
        """Of the machine now in the slot."""
        return f"{self.name}-machine-{self.machine}"

    def build(self) -> None:
        """Write the files of a machine that is switched on for the first time."""
        (self.place / "state").mkdir(parents=True, exist_ok=True)
        self._write("machine-id", uuid.uuid5(uuid.NAMESPACE_OID, self.serial).hex)
        self._write("product_serial", self.serial)
        self._write("board_serial", f"{self.serial}-board")
        self._boot()

    def reboot(self) -> None:
        """A new boot of the same machine."""
        self.faults = [fault for fault in self.faults if fault.partition(":")[0] not in CURED_BY_REBOOT]
        self._boot()

    def _boot(self) -> None:
        self._write("boot_id", str(uuid.uuid4()))
        # A kernel always logs something: an empty log would mean that it cannot be read.
        (self.place / "kmsg").write_text("6,1,0,-;Linux version lab\n")
        self.show_gpus()

    def replace(self) -> None:
        """Another machine in the slot: the faults went with the old one."""
        self.machine += 1
        self.faults = []
        self.build()

    def show_gpus(self) -> None:
        """Write what the driver is to show."""
        write_state(
            self.place / "gpus.state",
            node=self.name,
            gpus=self.gpus,
            model=self.model,
            serial_seed=self.serial,
            faults=self.faults,
        )

    def log(self, text: str, *, after_s: float = 1.0) -> None:
        """A line of its kernel log, in the format of /dev/kmsg."""
        with (self.place / "kmsg").open("a") as file:
            file.write(f"3,1,{after_s * 1e6:.0f},-;{text}\n")

    def env(self, *, driver: Path, controller_url: str, key_file: Path) -> dict[str, str]:
        """What Greenroom finds in its environment on this machine."""
        return {
            "LD_LIBRARY_PATH": str(driver),
            STATE_ENV: str(self.place / "gpus.state"),
            "GREENROOM_NODE": self.name,
            "GREENROOM_STATE_DIR": str(self.place / "state"),
            "GREENROOM_CONTROLLER": controller_url,
            "GREENROOM_KEY_FILE": str(key_file),
        }

    def enter(self, argv: list[str]) -> list[str]:
        """The command, started in a mount namespace of its own with this machine's files in place."""
        pairs = [
            text
            for name, target in COVERED.items()
            if Path(target).exists()
            for text in (str(self.place / name), target)
        ]
        return ["unshare", "-m", "--propagation", "private", "sh", "-c", _ENTER, "sh", *pairs, "--", *argv]

    def _write(self, name: str, text: str) -> None:
        # In place, not by rename: a file that is mounted somewhere stays the mounted one.
        (self.place / name).write_text(f"{text}\n")

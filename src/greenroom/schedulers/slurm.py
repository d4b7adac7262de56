"""Slurm, through its own commands: scontrol, squeue, sbatch, scancel. See schedulers.Scheduler."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence

from greenroom.model.nodes import CheckJob, NodeView, Write, Written
from greenroom.parsers.slurm_nodes import BORN_HELD
from greenroom.schedulers import slurm_jobs, slurm_write
from greenroom.schedulers.slurm_client import SlurmClient, SlurmSettings

_KEYS: dict[str, tuple[type, ...]] = {
    "conf": (str,),
    "bin_dir": (str,),
    "command_timeout_s": (int, float),
    "born_held_reason": (str,),
}


class SlurmScheduler:
    """The cluster one slurm.conf describes."""

    def __init__(self, settings: SlurmSettings) -> None:
        """Starts nothing yet: the first call does."""
        self._client = SlurmClient(settings)

    @classmethod
    def from_settings(cls, settings: Mapping[str, object]) -> SlurmScheduler:
        """Of the table ``[scheduler.slurm]``. Raises ValueError naming the key and what was expected."""
        for key, value in settings.items():
            if key not in _KEYS:
                near = difflib.get_close_matches(key, _KEYS, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(sorted(_KEYS))}"
                raise ValueError(f"slurm.{key}: unknown key; {hint}")
            if not isinstance(value, _KEYS[key]) or isinstance(value, bool):
                raise ValueError(  # noqa: TRY004 - a wrong setting, whatever is wrong with it
                    f"slurm.{key}: expected {_KEYS[key][-1].__name__}, got {value!r}"
                )
        timeout_s = float(str(settings.get("command_timeout_s", 15.0)))
        if not timeout_s > 0:
            raise ValueError(f"slurm.command_timeout_s: expected seconds above 0, got {timeout_s:g}")
        return cls(
            SlurmSettings(
                conf=str(settings.get("conf", "")),
                bin_dir=str(settings.get("bin_dir", "")),
                command_timeout_s=timeout_s,
                born_held_reason=str(settings.get("born_held_reason", "")) or BORN_HELD,
            )
        )

    def nodes(self, owned: Mapping[str, str]) -> list[NodeView]:  # noqa: D102 - the protocol says it
        return self._client.read().views(owned, born_held=self._client.settings.born_held_reason)

    def apply(self, writes: Sequence[Write]) -> list[Written]:  # noqa: D102
        return slurm_write.apply(self._client, writes)

    def launch(self, job: CheckJob) -> str:  # noqa: D102
        return slurm_jobs.launch(self._client, job)

    def cancel(self, run_id: str) -> None:  # noqa: D102
        slurm_jobs.cancel(self._client, run_id)

    def reboot(self, node: str, reason: str) -> None:  # noqa: D102
        slurm_jobs.reboot(self._client, node, reason)

    def requeue_jobs(self, node: str, reason: str) -> list[str]:  # noqa: ARG002, D102 - Slurm keeps no reason
        return slurm_jobs.requeue_jobs(self._client, node)

"""What the lab is asked from outside its process: reboots by Slurm, replacements by the controller.

A request is a file ``NODE.reboot``, ``NODE.add`` or ``NODE.replace`` in the lab's directory; so the
lab stays the parent of every daemon, whoever asked. A replacement's progress is a file by action id.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from greenroom.lab.gpus import LabError
from greenroom.model.words import Rung
from greenroom.parsers.hostlist import is_name

POLL_S = 0.1


class Requests:
    """Carries them out on threads of its own, one request a node at a time."""

    def __init__(self, folder: Path, actions: Mapping[str, Callable[[str], None]]) -> None:
        """``actions``: what the ending of the file's name asks for -> what does it."""
        self._folder, self._actions = folder, actions
        self._stop = threading.Event()
        self._busy: set[str] = set()
        self._pool = ThreadPoolExecutor(max_workers=8, thread_name_prefix="lab")
        self._watch = threading.Thread(target=self._run, name="lab-requests", daemon=True)

    def start(self) -> None:
        """Begin to look for requests."""
        self._watch.start()

    def stop(self) -> None:
        """Finish what is under way."""
        self._stop.set()
        self._watch.join()
        self._pool.shutdown(wait=True)

    def _run(self) -> None:
        while not self._stop.wait(POLL_S):
            for path in sorted((self._folder / "requests").iterdir()):
                node, _, what = path.name.rpartition(".")
                if node and node not in self._busy and what in self._actions:
                    action_id = path.read_text().strip()
                    path.unlink()
                    self._busy.add(node)
                    self._pool.submit(self._do, node, what, action_id)

    def _do(self, node: str, what: str, action_id: str) -> None:
        answer = {"progress": "done", "detail": f"{node}: {what}"}
        try:
            self._actions[what](node)
        except (LabError, KeyError) as error:
            answer = {"progress": "failed", "detail": str(error)}
        finally:
            self._busy.discard(node)
        if action_id:
            _write(self._folder / "replaced" / action_id, json.dumps(answer))


def ask(folder: Path, node: str, what: str, action_id: str = "") -> None:
    """Ask the lab in ``folder``."""
    _write(folder / "requests" / f"{node}.{what}", action_id)


def answer_provider(folder: Path, asked: Mapping[str, object]) -> dict[str, str]:
    """The lab as a replacement provider: recovery.command's contract."""
    action_id, node = str(asked.get("action_id", "")), str(asked.get("node", ""))
    if not is_name(action_id) or not is_name(node):
        raise LabError("expected action_id and node, of letters, digits, '_', '.', '-'")
    if asked.get("rung") != Rung.REPLACE:
        return {"progress": "refused", "detail": "the lab only replaces"}
    progress = folder / "replaced" / action_id
    if not progress.exists():
        if asked.get("action") != "start":
            return {"progress": "failed", "detail": "nothing was started with this action id"}
        if not (folder / "nodes" / node).exists():
            return {"progress": "refused", "detail": f"no machine is in the slot {node}"}
        _write(progress, json.dumps({"progress": "running", "detail": "a spare is being put in"}))
        ask(folder, node, "replace", action_id)
    answer: dict[str, str] = json.loads(progress.read_text())
    return answer


def _write(path: Path, text: str) -> None:
    draft = path.with_name(f".{path.name}")
    draft.write_text(text)
    draft.replace(path)

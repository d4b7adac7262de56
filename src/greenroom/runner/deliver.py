"""Brings a report home to the controller: spooled first, then sent until it is taken.

A report that nobody took is not lost: it stays in the spool and goes along with the next one.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from greenroom.model.jsonish import to_json
from greenroom.model.results import Report

REQUEST_TIMEOUT_S = 10.0
FIRST_WAIT_S, LONGEST_WAIT_S = 0.5, 30.0
MAX_SPOOLED = 100
"""Reports kept; the oldest go first. A node makes a few a day."""
PERMANENT = range(400, 500)
PASSING = (408, 425, 429)
"""Of those, not a word about this report: try again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivered:
    """What became of the report."""

    ok: bool
    detail: str = ""
    answer: dict[str, Any] | None = None
    """The controller's: ``phase`` and, if it admitted the node, ``admission``."""


class Refused(Exception):
    """The controller will never take this report."""


def deliver(  # noqa: PLR0913 - what is sent, to whom, and how long
    report: Report,
    *,
    url: str,
    token: str,
    state_dir: Path,
    deliver_for_s: float,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Delivered:
    """Spool the report, then try until ``deliver_for_s`` are over; it stays in the spool if nobody took it.

    Raises:
        OSError: the report could not even be spooled.
    """
    spool = state_dir / "spool"
    name = report.run_id or f"unasked-{report.started_at:.0f}"
    path = spool / f"{quote(name, safe='')}.json"
    write_private(path, {"token": token, "report": to_json(report)})
    _trim(spool)
    deadline, wait_s = clock() + deliver_for_s, FIRST_WAIT_S
    while True:
        try:
            answer = _send_all(url, spool, path, state_dir)
        except Refused as error:
            return Delivered(ok=False, detail=str(error))
        except OSError as error:
            if clock() + wait_s > deadline:
                return Delivered(ok=False, detail=f"{error}; kept in {path}")
            sleep(wait_s)
            wait_s = min(LONGEST_WAIT_S, 2 * wait_s)
        else:
            return Delivered(ok=True, answer=answer)


def write_private(path: Path, data: object) -> None:
    """Write JSON so that a crash leaves the old file or the new one, readable by root alone."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(data, file, separators=(",", ":"))
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _send_all(url: str, spool: Path, ours: Path, state_dir: Path) -> dict[str, Any]:
    """Send what earlier runs left, oldest first, then ours; the answer to ours."""
    for path in sorted(spool.glob("*.json"), key=lambda path: path.stat().st_mtime):
        if path != ours:
            with contextlib.suppress(Refused):
                _send(url, path, state_dir)
    # gone: another run on this node has sent it along with its own
    return _send(url, ours, state_dir) if ours.exists() else {}


def _send(url: str, path: Path, state_dir: Path) -> dict[str, Any]:
    """Send one spooled report; taken: the file goes; refused for good: it moves to ``rejected``."""
    try:
        spooled = json.loads(path.read_text(encoding="utf-8"))
        report, token = spooled["report"], spooled["token"]
    except (ValueError, KeyError, TypeError):
        _reject(path, state_dir)
        raise Refused(f"{path.name}: not readable") from None
    try:
        with urllib.request.urlopen(  # noqa: S310 - the scheme is checked by the command line
            _request(url, report, token, state_dir), timeout=REQUEST_TIMEOUT_S
        ) as response:
            answer = json.loads(response.read() or b"{}")
    except urllib.error.HTTPError as error:
        with error:
            said = error.read(500).decode("utf-8", "replace").strip()
        if error.code in PERMANENT and error.code not in PASSING:
            _reject(path, state_dir)
            raise Refused(f"{url} answered {error.code}: {said}") from None
        raise OSError(f"{url} answered {error.code}: {said}") from None
    except ValueError as error:
        raise OSError(f"{url}: answer is not JSON") from error
    path.unlink(missing_ok=True)
    if not isinstance(answer, dict):
        return {}
    if isinstance(answer.get("admission"), dict):
        # signed and bound to the boot: whoever reads it checks that, whichever report brought it
        write_private(state_dir / "admission.json", answer["admission"])
    return answer


def _request(url: str, report: dict[str, Any], token: str, state_dir: Path) -> urllib.request.Request:
    headers = {"Content-Type": "application/json"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    if report["run_id"]:
        place = f"runs/{quote(report['run_id'], safe='')}/report"
    else:
        place = f"nodes/{quote(report['node'], safe='')}/report"
        with contextlib.suppress(OSError, ValueError):
            record = json.loads((state_dir / "admission.json").read_text(encoding="utf-8"))
            headers["X-Greenroom-Admission"] = json.dumps(record, separators=(",", ":"))
    body = json.dumps(report, separators=(",", ":")).encode()
    return urllib.request.Request(  # noqa: S310
        f"{url.rstrip('/')}/api/v1/{place}", data=body, headers=headers, method="POST"
    )


def _reject(path: Path, state_dir: Path) -> None:
    rejected = state_dir / "rejected"
    rejected.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.replace(rejected / path.name)
    _trim(rejected)


def _trim(folder: Path) -> None:
    paths = sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime)
    for path in paths[:-MAX_SPOOLED]:
        path.unlink(missing_ok=True)

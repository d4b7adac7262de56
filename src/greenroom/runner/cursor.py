"""From when on evidence counts: what was there before has been judged, or a person has seen to it.

The place is kept on the node and holds for one boot: a new boot has a new log.
"""

from __future__ import annotations

import json
from pathlib import Path

from greenroom.probes.host import Host
from greenroom.probes.identity import read_boot_id

FILE = "cursor.json"


def read_cursor(state_dir: Path, host: Host) -> float:
    """Unix time, s, before which logs no longer count; 0: all since the boot."""
    try:
        kept = json.loads((state_dir / FILE).read_text(encoding="utf-8"))
        at, boot_id = float(kept["at"]), kept["boot_id"]
    except (OSError, ValueError, KeyError, TypeError):
        return 0.0  # nothing kept, or not readable: more counts, not less
    return at if boot_id and boot_id == read_boot_id(host) and at <= host.now() else 0.0


def move_cursor(state_dir: Path, host: Host, *, at: float, why: str) -> None:
    """Keep that evidence from before this Unix time is done with. Never moves back within a boot.

    Raises:
        OSError: it could not be written.
    """
    from greenroom.runner.deliver import write_private  # noqa: PLC0415 - most runs only read

    at = max(at, read_cursor(state_dir, host))
    write_private(state_dir / FILE, {"at": at, "boot_id": read_boot_id(host), "why": why})

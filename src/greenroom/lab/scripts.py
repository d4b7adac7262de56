"""The small scripts a lab's Slurm and controller call. Each knows its node from its environment."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

# A job and a prolog know their node by SLURMD_NODENAME; the controller's commands have none.
_GREENROOM = """\
#!/bin/sh
if [ -n "$SLURMD_NODENAME" ]; then set -a; . {dir}/nodes/"$SLURMD_NODENAME"/env; set +a; fi
exec {python} -m greenroom.cli.main "$@"
"""
_PROLOG = """\
#!/bin/sh
exec {dir}/bin/greenroom ask
"""
# slurmd runs it with slurmd's own environment, where the lab has put the name.
_REBOOT = """\
#!/bin/sh
: > {dir}/requests/"$GREENROOM_LAB_NODE".reboot
"""
_REPLACE = """\
#!/bin/sh
exec {python} -m greenroom.cli.main lab replace --dir {dir}
"""


def write_scripts(folder: Path) -> None:
    """Into ``folder/bin``."""
    for name, text in (
        ("greenroom", _GREENROOM),
        ("prolog", _PROLOG),
        ("reboot", _REBOOT),
        ("replace", _REPLACE),
    ):
        path = folder / "bin" / name
        path.write_text(text.format(dir=shlex.quote(str(folder)), python=shlex.quote(sys.executable)))
        path.chmod(0o755)


def env_file(env: Mapping[str, str]) -> str:
    """Lines that a shell reads."""
    return "".join(f"{key}={shlex.quote(value)}\n" for key, value in env.items())

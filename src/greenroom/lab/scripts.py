"""The small scripts a lab's Slurm calls: Greenroom on a made-up machine, Prolog, RebootProgram."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

from greenroom import schedulers

PROLOG = Path(schedulers.__file__).with_name("slurm_prolog.sh")
"""The shipped Prolog, used unchanged."""

# A job knows its node by SLURMD_NODENAME; outside of jobs (the controller's commands) nothing is set.
_GREENROOM = """\
#!/bin/sh
if [ -n "$SLURMD_NODENAME" ]; then set -a; . {dir}/nodes/"$SLURMD_NODENAME"/env; set +a; fi
exec {python} -m greenroom.cli.main "$@"
"""
_PROLOG = """\
#!/bin/sh
export GREENROOM={dir}/bin/greenroom GREENROOM_NODE_ENV={dir}/nodes/"$SLURMD_NODENAME"/env
exec /bin/sh {prolog}
"""
# slurmd runs it with slurmd's own environment, where the lab has put the name.
_REBOOT = """\
#!/bin/sh
: > {dir}/requests/"$GREENROOM_LAB_NODE".reboot
"""


def write_scripts(folder: Path) -> None:
    """Into ``folder/bin``."""
    names = {"greenroom": _GREENROOM, "prolog": _PROLOG, "reboot": _REBOOT}
    for name, text in names.items():
        path = folder / "bin" / name
        values = {"dir": shlex.quote(str(folder)), "python": sys.executable, "prolog": PROLOG}
        path.write_text(text.format(**values))
        path.chmod(0o755)


def env_file(env: Mapping[str, str]) -> str:
    """Lines that a shell reads."""
    return "".join(f"{key}={shlex.quote(value)}\n" for key, value in env.items())

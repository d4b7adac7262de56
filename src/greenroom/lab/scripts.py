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
# Slurm does not tell it which node is meant, and from 26.05 on it empties its environment: the slurmd
# among its ancestors was started with -N NODE.
_REBOOT = r"""#!/bin/sh
pid=$PPID
while [ "$pid" -gt 1 ]; do
  node=$(tr '\0' '\n' < /proc/"$pid"/cmdline | sed -n '/^-N$/{{n;p;}}')
  [ -n "$node" ] && break
  pid=$(sed -n 's/^PPid:[^0-9]*//p' /proc/"$pid"/status)
done
[ -n "$node" ] && : > {dir}/requests/"$node".reboot
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

"""``python -m greenroom.workloads NAME SPEC``; exit code 0: a result, 3: it could not be done, 64: usage."""

from __future__ import annotations

import json
import sys
from importlib import import_module

from greenroom.workloads.process import (
    EXIT_UNABLE,
    Unable,
    end_after,
    end_with_parent,
    first_line,
    say,
    take,
)

NAMES = ("alone", "collective", "copies", "gemm", "memory", "training")


def main(argv: list[str]) -> int:
    """Run one workload."""
    if len(argv) != 2 or argv[0] not in NAMES:
        sys.stderr.write(f"usage: python -m greenroom.workloads {{{','.join(NAMES)}}} SPEC\n")
        return 64
    module = import_module(f"greenroom.workloads.{argv[0]}")
    try:
        spec = dict(json.loads(argv[1]))
        follow = spec.pop("follow_stdin", False)
        wanted = take(spec, module.DEFAULTS)
    except (ValueError, TypeError) as error:
        sys.stderr.write(f"greenroom.workloads {argv[0]}: SPEC: {error}\n")
        return 64
    end_after(float(wanted["deadline_s"]))
    if follow:
        end_with_parent()
    try:
        say("result", **module.run(wanted))
    except Unable as error:
        say("unable", reason=str(error))
        return EXIT_UNABLE
    except Exception as error:  # noqa: BLE001 - a device's library may raise anything
        say("unable", reason=first_line(error))
        return EXIT_UNABLE
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

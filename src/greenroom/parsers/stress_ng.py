"""Output of stress-ng (``--verify --metrics-brief``) -> what was done and what failed."""

from __future__ import annotations

import re
from dataclasses import dataclass

# stress-ng: metrc: [3906] cpu              1234      2.00 ...; before 0.15 the word is "info:"
_METRIC = re.compile(r"^stress-ng: (?:metrc|info): *\[\d+\] (\w[\w-]*) +(\d+) +(\d+\.\d+) ")
_FAILED = re.compile(r"^stress-ng: fail: *\[\d+\] (.*)$")
VERIFY_FAILED = 2  # stress-ng(1), EXIT STATUS: 2 = one or more stressors failed


@dataclass(frozen=True, slots=True, kw_only=True)
class Stressed:
    """One run of stress-ng."""

    operations: int
    """Bogus operations done by all stressors; 0: nothing was exercised."""
    failures: tuple[str, ...]
    """What the stressors complained of: wrong results, in the tool's words."""


def parse(output: str) -> Stressed:
    """Facts of stress-ng's standard output and error taken together."""
    operations, failures = 0, []
    for line in output.splitlines():
        if match := _METRIC.match(line):
            operations += int(match[2])
        elif match := _FAILED.match(line):
            failures.append(match[1].strip())
    return Stressed(operations=operations, failures=tuple(failures))

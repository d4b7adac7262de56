"""slurm.conf: settings and node lines. Keys are case-insensitive; later lines win, as in Slurm."""

from __future__ import annotations

import re
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class SlurmConf:
    """What the file says."""

    settings: dict[str, str] = field(default_factory=dict)
    """Lower-case key -> value."""
    nodes: tuple[dict[str, str], ...] = ()
    """Node lines, lower-case keys, defaults of ``NodeName=DEFAULT`` filled in."""
    includes: tuple[str, ...] = ()

    def words(self, key: str) -> set[str]:
        """Values of a comma-separated setting, lower-case."""
        return {
            word.strip().lower() for word in self.settings.get(key.lower(), "").split(",") if word.strip()
        }


def parse(text: str) -> SlurmConf:
    """Read the text of a slurm.conf; lines that are not understood are passed over (Slurm judges them)."""
    settings: dict[str, str] = {}
    nodes: list[dict[str, str]] = []
    includes: list[str] = []
    defaults: dict[str, str] = {}
    joined = re.sub(r"\\\n", " ", text)
    for raw in joined.splitlines():
        line = re.sub(r"(?<!\\)#.*", "", raw).strip()
        if not line:
            continue
        if match := re.match(r"include\s+(\S+)", line, re.IGNORECASE):
            includes.append(match[1])
            continue
        pairs = {key.lower(): value.strip('"') for key, value in re.findall(r'(\w+)=("[^"]*"|\S+)', line)}
        first = line.partition("=")[0].strip().lower()
        if first == "nodename":
            if pairs["nodename"].upper() == "DEFAULT":
                defaults = {key: value for key, value in pairs.items() if key != "nodename"}
            else:
                nodes.append({**defaults, **pairs})
        elif first not in ("partitionname", "nodeset", "downnodes") and "=" in line:
            settings[first] = line.partition("=")[2].strip().strip('"')
    return SlurmConf(settings=settings, nodes=tuple(nodes), includes=tuple(includes))

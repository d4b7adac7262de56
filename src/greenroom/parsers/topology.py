"""Which rack (leaf switch, block) each node stands in: Slurm's topology, Kubernetes' nodes, or a JSON map.

Sources: topology.conf(5) and `scontrol show topology` of Slurm 22.05 to 24.11; labels as Topograph (v1 and
before), Amazon EKS and Google GKE set them on nodes.
"""

from __future__ import annotations

import json
import re
from typing import Any

from greenroom.parsers.hostlist import HostlistError, expand

RACK_LABELS = (
    "fabric.topograph.run/tier-0",
    "network.topology.nvidia.com/leaf",
    "topology.k8s.aws/network-node-layer-3",
    "cloud.google.com/gce-topology-subblock",
)
"""The switch next to the node; the first that any node has counts."""
_WORD = re.compile(r"(\w+)=(\S+)")


class TopologyUnreadable(ValueError):
    """No topology; the text names the line or field, and what was expected."""


def racks(text: str, *, label: str = "") -> dict[str, str]:
    """Node -> rack. ``label``: of Kubernetes nodes, instead of the known ones.

    Raises:
        TopologyUnreadable: it is none of the three forms, or names no node.
    """
    found = _of_json(text, label) if text.lstrip()[:1] in ("{", "[") else _of_slurm(text)
    if not found:
        raise TopologyUnreadable(
            'no node in it; expected topology.conf, `kubectl get nodes -o json`, or {"node": "rack"}'
        )
    return found


def _of_slurm(text: str) -> dict[str, str]:
    """Lines of leaf switches and blocks; switches of switches are passed over."""
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = {key.lower(): value for key, value in _WORD.findall(line.partition("#")[0])}
        name = words.get("switchname") or words.get("blockname")
        if not name or "switches" in words or "nodes" not in words:
            continue
        try:
            found |= dict.fromkeys(expand(words["nodes"]), name)
        except HostlistError as error:
            raise TopologyUnreadable(f"line {number}: Nodes: {error}") from error
    return found


def _of_json(text: str, label: str) -> dict[str, str]:
    try:
        data = json.loads(text)
    except ValueError as error:
        raise TopologyUnreadable(f"no JSON: {error}") from error
    if isinstance(data, dict) and isinstance(data.get("items"), list):
        return _of_labels(data["items"], label)
    if not isinstance(data, dict) or not all(isinstance(rack, str) for rack in data.values()):
        raise TopologyUnreadable('expected {"node": "rack", ...} or a list of Kubernetes nodes')
    return dict(data)


def _of_labels(items: list[Any], label: str) -> dict[str, str]:
    nodes: dict[str, dict[str, str]] = {}
    for index, item in enumerate(items):
        try:
            nodes[item["metadata"]["name"]] = item["metadata"].get("labels") or {}
        except (TypeError, KeyError, AttributeError) as error:
            raise TopologyUnreadable(f"items[{index}].metadata.name: expected a node's name") from error
    for known in (label,) if label else RACK_LABELS:
        if found := {node: labels[known] for node, labels in nodes.items() if known in labels}:
            return found
    raise TopologyUnreadable(f"no node has a label of {label or ', '.join(RACK_LABELS)}")

"""Whom the trials of a campaign blame, and how sure that is. Pure.

A node is blamed only if it never passed. Who passes inside its rack and fails only across racks is well: its
way to other racks is not. Who passes over one adapter and fails over another is well: that adapter, or its
cable, is not. Where nearly everybody fails, one cause is likelier than many: then no node is blamed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from greenroom.model.fabric import Blame, Findings, Trial
from greenroom.runner.pairs import Allowed, Rules, Standing, anybody, confirmed, stand

LEAST_WITNESSES = 2
"""Proven partners that a node must have failed with before it is blamed, where no more are to be had."""


def confidence(failures: int, rules: Rules) -> float:
    """Chance that a node is bad that failed with so many proven partners and never passed.

    Bayes: a bad node always fails; a good one fails a test with probability ``flake``, each for itself.
    """
    good = (1 - rules.bad) * rules.flake**failures
    return rules.bad / (rules.bad + good)


def judge(
    nodes: Sequence[str],
    trials: Sequence[Trial],
    *,
    rules: Rules = Rules(),  # noqa: B008 - frozen
    witnesses: Sequence[str] = (),
    allowed: Allowed = anybody,
) -> Findings:
    """What trials of one kind (one level, one adapter) say of the nodes."""
    standing = stand(trials, witnesses)
    cleared = tuple(node for node in nodes if node in standing.proven)
    suspects, undecided = [], {}
    for node in nodes:
        if node in standing.proven:
            continue
        by = sorted(standing.failed[node] & standing.proven)
        if confirmed(node, standing, rules) or (
            _exhausted(node, standing, allowed) and len(by) >= LEAST_WITNESSES
        ):
            suspects.append(_blame(node, by, rules))
        else:
            undecided[node] = _why(node, standing, by)
    tested = [node for node in nodes if standing.tested[node]]
    shared = _shared(tested, [one.name for one in suspects], cleared, standing, rules)
    if shared:
        undecided |= {one.name: shared for one in suspects}
    return Findings(
        blamed=() if shared else tuple(suspects),
        cleared=cleared,
        undecided=undecided,
        shared=shared,
        rounds=standing.rounds,
        runs=standing.runs,
    )


def _exhausted(node: str, standing: Standing, allowed: Allowed) -> bool:
    """Whether no proven partner is left that the node has not met."""
    return all(one in standing.tested[node] for one in standing.proven if one != node and allowed(node, one))


def _blame(node: str, by: Sequence[str], rules: Rules) -> Blame:
    names = ", ".join(by[:5]) + (", ..." if len(by) > 5 else "")
    return Blame(
        what="node",
        name=node,
        confidence=confidence(len(by), rules),
        reason=f"never passed; failed with {len(by)} that passed with others: {names}",
        failed_with=tuple(by),
    )


def _why(node: str, standing: Standing, by: Sequence[str]) -> str:
    if reason := standing.why_unable.get(node, ""):
        return f"could not be tested: {reason}"
    if not standing.tested[node]:
        return "no partner was there"
    if not standing.proven:
        others = ", ".join(sorted(standing.failed[node])[:5])
        return f"failed with {others}, and nobody passed: either, or the way between"
    return f"failed with {len(by)} proven partners; more are needed for a blame"


def _shared(
    tested: Sequence[str], suspects: Sequence[str], cleared: Sequence[str], standing: Standing, rules: Rules
) -> str:
    failing = [node for node in tested if node not in standing.proven]
    if tested and not cleared and not standing.proven and len(tested) > 2:
        return f"none of {len(tested)} nodes passed with anybody: something that they share"
    if len(failing) >= rules.shared_least and len(failing) > rules.shared_above * len(tested) and suspects:
        return f"{len(failing)} of {len(tested)} nodes fail: something that they share"
    return ""


def paths(racks: Mapping[str, str], across: Findings) -> list[Blame]:
    """Nodes that fail only across racks -> their ways; a rack all of whose nodes do has one."""
    by_rack: dict[str, list[Blame]] = defaultdict(list)
    for one in across.blamed:
        by_rack[racks.get(one.name, "")].append(one)
    found = []
    for rack, ones in sorted(by_rack.items()):
        tested = [node for node in (*across.cleared, *across.undecided) if racks.get(node) == rack]
        if len(ones) > 1 and not tested:
            surest = max(ones, key=lambda one: one.confidence)
            reason = f"none of its {len(ones)} nodes passed with another rack; inside it they pass"
            found.append(replace(surest, what="path", name=f"rack {rack}", reason=reason))
        else:
            found += [
                replace(one, what="path", reason=f"passes inside its rack; across racks it {one.reason}")
                for one in ones
            ]
    return found


def adapters(by_rail: Mapping[str, Findings]) -> list[Blame]:
    """What fails over each of several adapters -> nodes, adapters of nodes, and whole rails.

    A node that fails over all of them is blamed itself. A rail over which nobody passes is in no node.
    """
    names: dict[str, dict[str, Blame]] = defaultdict(dict)
    for rail, findings in by_rail.items():
        for one in findings.blamed:
            names[one.name][rail] = one
    able = [rail for rail, findings in by_rail.items() if not findings.shared]
    found = [
        Blame(what="rail", name="", rail=rail, confidence=1.0, reason=findings.shared)
        for rail, findings in by_rail.items()
        if findings.shared and able
    ]
    for _, bad in sorted(names.items()):
        surest = max(bad.values(), key=lambda one: one.confidence)
        if set(bad) == set(able):
            found.append(surest)
            continue
        well = ", ".join(rail for rail in able if rail not in bad)
        found += [
            replace(
                one, what="adapter", rail=rail, reason=f"over {rail} it {one.reason}; over {well} it passes"
            )
            for rail, one in sorted(bad.items())
        ]
    return found

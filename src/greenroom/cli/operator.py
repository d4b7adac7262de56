"""`greenroom hold / release / admit / retire`: an operator's word, recorded with the user's name."""

from __future__ import annotations

from pathlib import Path

import click

from greenroom.cli.session import config_option, hosts, json_option, print_json, session, user
from greenroom.policy.events import Event, OperatorAdmit, OperatorHold, OperatorRelease, OperatorRetire


def _command(
    name: str, kind: type[OperatorHold | OperatorRelease | OperatorAdmit | OperatorRetire], text: str
) -> click.Command:
    @click.command(name, help=text)
    @click.argument("nodes", metavar="NODES")
    @click.option("--reason", required=True, help="Why: kept in the node's history with your name.")
    @config_option
    @json_option
    def command(nodes: str, reason: str, path: Path, as_json: bool) -> int:
        event: Event = kind(user=user(), reason=reason)
        with session(path) as opened:
            names = hosts(nodes)
            for node in names:
                if opened.store.load(node) is None:
                    opened.gate.submit(node, event)  # raises, naming the nearest known nodes
            done = []
            for node in names:
                state, decision = opened.gate.submit(node, event)
                rule = decision.rule if decision else ""
                done.append({"node": node, "phase": state.phase, "rule": rule})
        if as_json:
            print_json(done)
        else:
            for one in done:
                print(f"{one['node']}: {one['phase']} - {one['rule']}")
        return 0

    return command


hold = _command(
    "hold",
    OperatorHold,
    "Hold NODES (Slurm host list) out of the scheduler until `release`. Running jobs go on.",
)
release = _command(
    "release", OperatorRelease, "End a hold, or a wait for a person: NODES are checked, and admitted if fit."
)
admit = _command("admit", OperatorAdmit, "Put NODES into service by hand, without a passing run.")
retire = _command("retire", OperatorRetire, "Take NODES out of Greenroom's care; `release` brings them back.")

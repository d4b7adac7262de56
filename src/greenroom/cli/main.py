"""Knows the names of the commands only; each is imported after its name is known (the start-up rule)."""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False  # importing typing for its own constant would cost as much as all of `ask`
if TYPE_CHECKING:
    import click

COMMANDS = {
    "admit": ("operator", "Put a node into service by hand, without a passing run."),
    "ask": ("ask", "Is this boot of this node admitted? (The prolog's question.)"),
    "bisect": ("bisect", "The smallest set of nodes on which any command fails or hangs."),
    "check": ("check", "Check this machine."),
    "check-nodes": ("check_nodes", "Ask for a check of nodes of the cluster."),
    "checks": ("checks", "List the checks: cost, needs, faults detected."),
    "diagnose": ("diagnose", "What a pasted log or a tool's output means."),
    "drift": ("drift", "Which nodes are set up otherwise than the others."),
    "expect": ("expect", "What a healthy machine looks like: learn, show, diff, lint."),
    "fabric": ("fabric", "Test nodes with each other, and name the culprit."),
    "explain": ("explain", "Why a node is where it is: event, rule, action."),
    "groups": ("groups", "Progress of the groups."),
    "handled": ("handled", "This machine was repaired: what its logs told until now counts no more."),
    "hold": ("operator", "Hold a node out of the scheduler."),
    "install": ("install", "What a scheduler needs to work with Greenroom, and what is missing."),
    "lab": ("lab", "A real cluster on this machine with stand-in GPUs."),
    "node": ("node", "One node: state and timeline."),
    "nodes": ("nodes", "All nodes: phase, verdict, reason, since, attempts."),
    "outliers": ("outliers", "Nodes that are slow beside their like, or compute something else."),
    "record": ("record", "Write this machine down, for a bug report or a test."),
    "release": ("operator", "Take back a hold made by `hold`; the node is checked again."),
    "retire": ("operator", "Take a node out of Greenroom's care for good."),
    "run": ("run", "One run: what was checked and found."),
    "runs": ("runs", "The latest runs."),
    "serve": ("serve", "Run the controller."),
    "sim": ("sim", "The algorithms on made-up clusters."),
    "wait": ("wait", "Wait until a group has enough admitted nodes."),
}


def main(argv: list[str] | None = None) -> int:
    """Run one command; the exit codes are those of model.words.Exit."""
    args = sys.argv[1:] if argv is None else argv
    if args[:1] == ["ask"]:  # the fast path: standard library only
        from greenroom.cli.ask import main as ask

        return ask(args[1:])
    return _run_click(args)


def load(name: str) -> click.Command:
    """The click command called ``name``: its module's ``command``, or the one of that name of several."""
    module = import_module(f"greenroom.cli.{COMMANDS[name][0]}")
    command: click.Command = getattr(module, "command", None) or getattr(module, name)
    return command


def _run_click(args: list[str]) -> int:
    import click

    from greenroom.cli.group import root
    from greenroom.model.words import Exit

    try:
        result = root().main(args=args, prog_name="greenroom", standalone_mode=False)
    except click.UsageError as error:
        error.show()
        return Exit.USAGE
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        print("stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:
        return 141
    except Exception as error:  # noqa: BLE001 - the last line of defence says what it is
        from greenroom.cli.failure import explain

        return explain(error)
    return result if isinstance(result, int) else 0


if __name__ == "__main__":
    sys.exit(main())

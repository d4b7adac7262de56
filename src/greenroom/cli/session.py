"""What the operator verbs share: the store, the gate, who is asking, how to print."""

from __future__ import annotations

import getpass
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

import click

from greenroom.cli.failure import Misconfigured
from greenroom.controller.config import Config, load
from greenroom.controller.gate import Gate, UnknownNode
from greenroom.model.jsonish import to_json
from greenroom.model.words import Phase
from greenroom.store import Store, StoreUnavailable, open_store

if TYPE_CHECKING:
    from rich.text import Text

DEFAULT_CONFIG = "/etc/greenroom/greenroom.toml"
COLOURS = {
    Phase.IN_SERVICE: "green",
    Phase.CHECKING: "cyan",
    Phase.RECOVERING: "yellow",
    Phase.WITH_PERSON: "red",
    Phase.HELD: "cyan",
    Phase.NEW: "dim",
    Phase.RETIRED: "dim",
}


@dataclass(frozen=True, slots=True)
class Session:
    """An open store with the configuration that led to it."""

    config: Config
    store: Store
    gate: Gate


@contextmanager
def session(path: Path) -> Iterator[Session]:
    """The store the controller uses, opened directly: works also while the controller is down."""
    config = load(path)
    if config.store_url == "memory:":
        raise Misconfigured(f"{path}: controller.store: a store in memory cannot be read from outside")
    try:
        store = open_store(config.store_url)
    except StoreUnavailable as error:
        raise click.ClickException(f"store: {error}") from error
    try:
        yield Session(config, store, Gate(store, lambda: config.rules, time.time))
    except (StoreUnavailable, UnknownNode) as error:
        raise click.ClickException(str(error)) from error
    finally:
        store.close()


def config_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--config``, also from GREENROOM_CONFIG."""
    return click.option(
        "--config",
        "path",
        type=click.Path(path_type=Path),
        envvar="GREENROOM_CONFIG",
        default=DEFAULT_CONFIG,
        show_default=True,
        help="The controller's configuration.",
    )(function)


def json_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(function)


@contextmanager
def stoppable() -> Iterator[Event]:
    """Set once the work is over, by Ctrl-C or SIGTERM too: what runs then is killed, not left behind."""
    stop = Event()
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        yield stop
    finally:
        stop.set()
        signal.signal(signal.SIGTERM, before)


def user() -> str:
    """Who is asking, for the audit: the name behind sudo, if there is one."""
    try:
        return os.environ.get("SUDO_USER") or getpass.getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"


def print_json(value: object) -> None:
    """One JSON document."""
    print(json.dumps(to_json(value), indent=2, ensure_ascii=False))


def coloured(phase: Phase) -> Text:
    """The phase in its colour."""
    from rich.text import Text

    return Text(phase.value, style=COLOURS[phase])


def ago(then: float, now: float) -> str:
    """``12s``, ``3m``, ``5h``, ``2d`` since then; empty if never."""
    if not then:
        return ""
    seconds = max(0.0, now - then)
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds / size:.0f}{unit}"
    return f"{seconds:.0f}s"


def clock(then: float) -> str:
    """Local date and time of a Unix time."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(then)) if then else ""


def hosts(text: str) -> list[str]:
    """Names of a host list in Slurm notation; a usage error says what is wrong with it."""
    from greenroom.parsers.hostlist import HostlistError, expand

    try:
        return list(expand(text))
    except HostlistError as error:
        raise click.UsageError(f"{text}: {error}") from error

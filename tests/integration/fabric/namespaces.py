"""Hosts on this machine: network namespaces on a bridge, each link with a rate of its own."""

from __future__ import annotations

import itertools
import os
import subprocess
from contextlib import contextmanager

RATE_MBIT = 200
NUMBERS = itertools.count()


def run(*argv, check=True):
    return subprocess.run(argv, check=check, capture_output=True, text=True, timeout=30)


def able():
    """Whether namespaces and shaping work here (root)."""
    if os.geteuid() != 0:
        return False
    made = run("ip", "netns", "add", "grprobe", check=False)
    run("ip", "netns", "del", "grprobe", check=False)
    return made.returncode == 0


def name(prefix, index):
    return f"{prefix}-{index}"


@contextmanager
def hosts(count, *, rate_mbit=RATE_MBIT):
    """Names of the namespaces; everything is taken away again."""
    # A name of its own each time: the kernel takes a namespace away when it likes, and others may test as well.
    prefix = f"gr{os.getpid() % 10_000}x{next(NUMBERS)}"
    bridge = f"{prefix}br"
    names = [name(prefix, index) for index in range(count)]
    clear(names, bridge)
    try:
        run("ip", "link", "add", bridge, "type", "bridge")
        run("ip", "link", "set", bridge, "up")
        for index, node in enumerate(names):
            outside = f"{prefix}v{index}"
            run("ip", "netns", "add", node)
            run("ip", "link", "add", outside, "type", "veth", "peer", "name", "eth0", "netns", node)
            run("ip", "link", "set", outside, "master", bridge, "up")
            run("ip", "-n", node, "addr", "add", f"10.77.0.{index + 1}/24", "dev", "eth0")
            run("ip", "-n", node, "link", "set", "eth0", "up")
            run("ip", "-n", node, "link", "set", "lo", "up")
            shape(node, rate_mbit)
        yield names
    finally:
        clear(names, bridge)


def shape(node, rate_mbit):
    """What the node sends is no faster than this."""
    limit = ["rate", f"{rate_mbit}mbit", "burst", "128kb", "latency", "100ms"]
    run("ip", "netns", "exec", node, "tc", "qdisc", "replace", "dev", "eth0", "root", "tbf", *limit)


def unplug(node):
    """No packet leaves it; its link looks up."""
    run("ip", "-n", node, "addr", "flush", "dev", "eth0")
    run("ip", "-n", node, "addr", "add", "10.99.0.1/24", "dev", "eth0")


def outside_of(node):
    prefix, _, index = node.rpartition("-")
    return f"{prefix}v{index}"


def clear(names, bridge):
    for node in names:
        run("ip", "link", "del", outside_of(node), check=False)
        run("ip", "netns", "del", node, check=False)
    run("ip", "link", "del", bridge, check=False)

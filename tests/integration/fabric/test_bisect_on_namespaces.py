"""A user's job that hangs because one node hears nobody: the node is named, and no process stays behind."""

from __future__ import annotations

import json
import sys

import namespaces
import pytest
from click.testing import CliRunner

from greenroom.cli.bisect import command

pytestmark = [
    pytest.mark.skipif(not namespaces.able(), reason="network namespaces need root"),
    pytest.mark.timeout(200),
]
# Everybody sends one byte to the first, who waits for all: as a barrier does.
JOB = """
import os, socket, time
names, rank = os.environ["GREENROOM_NODES"].split(","), int(os.environ["GREENROOM_RANK"])
first = ("10.77.0.%d" % (int(names[0].rpartition("-")[2]) + 1), 9876)
if rank == 0:
    with socket.create_server(first) as server:
        for _ in names[1:]:
            server.accept()
else:
    while True:
        try:
            socket.create_connection(first, timeout=60).close()
            break
        except OSError:
            time.sleep(0.05)
"""


def test_the_node_on_which_a_job_hangs_is_named():
    with namespaces.hosts(6) as nodes:
        namespaces.unplug(nodes[3])
        words = ["-w", ",".join(nodes), "--via", "netns", "--at-least", "2", "--deadline", "4", "--json"]
        ran = CliRunner().invoke(command, [*words, "--", sys.executable, "-c", JOB], standalone_mode=False)
    said = json.loads(ran.stdout)
    assert ran.return_value == 1, said
    assert [one["nodes"] for one in said["culprits"]] == [[nodes[3]]]
    assert "not back after 4 s" in said["runs"][0]["why"]

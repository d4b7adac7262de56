"""Every code that a parser can make has a row in the catalogue: from all texts of the tests, and from the sources."""

from __future__ import annotations

import re
from pathlib import Path

from shapes import HARMLESS, TROUBLE
from test_kernel_faults import LINES
from tool_texts import BAD, GOOD

from greenroom import parsers
from greenroom.faults import lookup
from greenroom.parsers import app_log, kernel_faults, prose
from greenroom.parsers.registry import read_all

UNKNOWN = "not in the catalogue"
NUMBERED = re.compile(r"\{\w+\}")
FAMILIES = "app|dcgm|disk|fabric|gpu|host|ib|k8s|lb|nccl|nhc|nic|node|nvme|nvswitch|pci|pcie|perftest|roce|slurm|smart|storage"
LITERAL = re.compile(rf"\"((?:{FAMILIES})\.[a-z][a-z0-9_.]{{2,60}})\"")
# Completed by the severity that the line tells.
NO_CODES = {"pcie.aer"}


def test_codes_of_all_texts():
    texts = (
        [row[0] for row in TROUBLE]
        + HARMLESS
        + [row[1] for row in GOOD]
        + [row[1] for row in BAD]
        + list(LINES)
    )
    codes = {one.code for text in texts for reading in read_all(text) for one in reading.sightings}
    assert len(codes) > 120
    assert {code for code in codes if lookup(code).source == UNKNOWN} == set()


def test_codes_of_the_rules():
    ruled = {rule.code for rule in (*kernel_faults.RULES, *app_log.RULES)} - {"pcie.aer"} | {
        code for _, code in prose._RULES
    }
    plain = {code for code in ruled if not NUMBERED.search(code)}
    assert {code for code in plain if lookup(code).source == UNKNOWN} == set()


def test_codes_that_stand_in_the_sources():
    named = {
        code.rstrip(".")
        for path in Path(parsers.__file__).parent.glob("*.py")
        for code in LITERAL.findall(path.read_text(encoding="utf-8"))
    }
    numbered = {code for code in named if re.match(r"gpu\.xid(?:\.|$)|nvswitch\.sxid(?:\.|$)", code)}
    missing = {code for code in named - numbered - NO_CODES if lookup(code).source == UNKNOWN}
    assert missing == set()


def test_every_rule_of_the_programs_has_a_shape():
    told = {one.code for row in TROUBLE for reading in read_all(row[0]) for one in reading.sightings}
    told |= {one.code for row in BAD for reading in read_all(row[1]) for one in reading.sightings}
    wanted = {rule.code for rule in app_log.RULES if not NUMBERED.search(rule.code)}
    assert wanted - told == set()

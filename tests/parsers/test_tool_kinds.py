"""Every parser of a tool's output: its good and bad texts, cut, changed, and before the other parsers."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tool_texts import BAD, GOOD
from tool_texts_dcgm import diag
from tool_texts_nvidia import query, xml

from greenroom.parsers import nvidia_smi_xml, registry
from greenroom.parsers.registry import all_parsers, read, recognise

BAD_IDS = [f"{kind}-{code}-{index}" for index, (kind, _, code, _, _) in enumerate(BAD)]
GOOD_IDS = [f"{kind}-{index}" for index, (kind, _) in enumerate(GOOD)]
TEXTS = [text for _, text in GOOD] + [text for _, text, _, _, _ in BAD]
# Its good texts are in test_tools.py
ONLY_BAD = {"ibstat"}


def codes(reading):
    return {(one.code, one.device) for one in reading.sightings}


def found(reading, code, device):
    return any(one.startswith(code) and place == device for one, place in codes(reading))


def test_every_kind_has_its_good_and_its_bad_text():
    kinds = set(all_parsers()) - {"kernel-log"}
    assert kinds == {kind for kind, *_ in BAD}
    assert kinds - ONLY_BAD == {kind for kind, _ in GOOD}


@pytest.mark.parametrize(("kind", "text"), GOOD, ids=GOOD_IDS)
def test_a_good_text_is_recognised_and_tells_of_nothing_wrong(kind, text):
    assert recognise(text) == kind
    reading = read(text)
    assert codes(reading) == set()
    assert reading.healthy > 0
    assert reading.not_understood == ()


@pytest.mark.parametrize(("kind", "text", "code", "device", "says"), BAD, ids=BAD_IDS)
def test_a_bad_text_is_recognised_and_told(kind, text, code, device, says):
    assert recognise(text) == kind
    reading = read(text)
    assert found(reading, code, device), codes(reading)
    assert len({one for one in codes(reading) if one[1] == device}) <= 2, "one trouble, many names"


@pytest.mark.parametrize(("kind", "text", "code", "device", "says"), BAD, ids=BAD_IDS)
def test_no_cut_behind_the_bad_line_makes_it_good(kind, text, code, device, says):
    end = text.find("\n", text.rfind(says)) if says else -1
    if end < 0:  # JSON: it cannot be read in part; but then it must not count as good
        for cut in range(1, len(text), 11):
            reading = read(text[:cut], kind)
            assert reading.sightings or reading.not_understood or not reading.healthy
        return
    for cut in range(end, len(text), 5):
        assert found(read(text[:cut], kind), code, device), text[:cut][-80:]


@pytest.mark.parametrize("text", TEXTS)
def test_line_ends_and_notes_before_do_not_matter(text):
    kind = recognise(text)
    wanted = codes(read(text, kind))
    assert codes(read(text.replace("\n", "\r\n"), kind)) == wanted
    assert codes(read("$ sudo the-tool\nWarning: a note of the tool\n" + text, kind)) == wanted


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(TEXTS),
    st.lists(st.tuples(st.integers(0, 4000), st.integers(0, 30), st.text(max_size=12)), max_size=6),
)
def test_no_changed_text_makes_a_parser_raise(text, changes):
    for at, length, instead in changes:
        text = text[:at] + instead + text[at + length :]
    for kind, parser in all_parsers().items():
        assert 0.0 <= parser.recognise(text) <= 1.0
        assert read(text, kind).kind == kind


HUGE = "9" * 6000


@pytest.mark.parametrize("text", TEXTS)
def test_numbers_beyond_any_size_are_no_trouble(text):
    kind = recognise(text)
    for digit in "0123456789":
        read(text.replace(digit, HUGE, 3), kind)
        read(text.replace(digit, "1e400", 2), kind)
        read(text.replace(digit, "٣", 2), kind)


@pytest.mark.parametrize("kind", sorted(all_parsers()))
def test_what_is_not_there_is_no_health(kind):
    for text in (
        "",
        "\n",
        "the quick brown fox\njumps over 7 dogs: yes\n",
        "{}",
        "[]",
        "[1, [2]]",
        '{"a": {"b": 1}}',
    ):
        reading = all_parsers()[kind].read(text)
        assert reading.healthy == 0
        assert reading.sightings == ()


NASTY = [
    "[" * 200_000,
    '{"a":' * 200_000,
    "<a" * 200_000,
    "<gpu id=" * 100_000,
    "|" * 400_000,
    ("| " * 900 + "\n") * 400,
    ("x " * 1000 + "\n") * 400,
    "[0]" * 130_000,
    "1 " * 200_000,
    "GPU 0: " * 60_000,
    ", " * 200_000,
    "\n" * 400_000,
    "a:" * 200_000,
    ("    : \n") * 60_000,
    ("0: " * 600 + "\n") * 300,
    "State: " * 60_000,
    '{"' + "a" * 400_000,
    ("{,  \n") * 80_000,
]


@pytest.mark.parametrize("index", range(len(NASTY)))
def test_no_text_takes_long(index):
    text = NASTY[index]
    for kind, parser in all_parsers().items():
        start = time.process_time()
        parser.recognise(text)
        parser.read(text)
        assert time.process_time() - start < 3, kind


def test_a_document_with_entities_is_not_expanded():
    bomb = xml().replace(
        "<!DOCTYPE nvidia_smi_log SYSTEM", '<!DOCTYPE x [<!ENTITY a "y"><!ENTITY b "&a;&a;">]><!-- SYSTEM'
    )
    gpus = nvidia_smi_xml.parse_xml(bomb.replace("NVIDIA H100 80GB HBM3", "&b;"))
    assert [gpu.name for gpu in gpus] == ["&b;", "&b;"]


def test_skipped_and_not_run_and_could_not_run_are_no_pass():
    for status in ("Skip", "Not Run", ""):
        reading = read(diag([{"entity_group": "GPU", "entity_id": 0, "status": status}]))
        assert (reading.healthy, codes(reading)) == (0, set())
        assert "not tested" in reading.not_understood[0]
    reading = read('{"DCGM Diagnostic": {"version": "4.2.3", "runtime_error": "another run is going on"}}')
    assert (reading.healthy, codes(reading)) == (0, set())
    assert "another run" in reading.not_understood[0]


def test_a_pass_that_carries_an_error_is_no_pass():
    error = {"warning": "allocated less", "error_id": 56}
    reading = read(diag([{"entity_group": "GPU", "entity_id": 0, "status": "Pass", "warnings": [error]}]))
    assert (reading.healthy, codes(reading)) == (0, {("dcgm.56", "gpu:0")})


def test_four_ways_to_have_no_value():
    def told(value):
        return codes(
            read(query().replace("Fan Speed                             : N/A", f"Fan Speed : {value}"))
        )

    assert told("N/A") == told("[Not Supported]") == set()
    assert told("Unknown Error") == told("ERR!") == {("gpu.sensor.unreadable", "0000:5d:00")}
    assert told("GPU is lost") == {("gpu.lost", "0000:5d:00")}
    assert told("GPU requires reset") == {("gpu.reset_required", "0000:5d:00")}


def test_a_text_of_no_kind_is_handed_back():
    reading = registry.read("Dear colleague, the machine is slow today.\n")
    assert (reading.kind, reading.sightings, reading.healthy) == ("", (), 0)

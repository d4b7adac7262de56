from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.parsers.hostlist import HostlistError, compress, expand, is_name


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("gpu1", ["gpu1"]),
        ("gpu[01-03,12],cpu3", ["gpu01", "gpu02", "gpu03", "gpu12", "cpu3"]),
        ("gpu[8-11]", ["gpu8", "gpu9", "gpu10", "gpu11"]),
        ("gpu[08-11]", ["gpu08", "gpu09", "gpu10", "gpu11"]),
        ("r[1-2]n[01-02]", ["r1n01", "r1n02", "r2n01", "r2n02"]),
        ("a[1]b,a1b", ["a1b"]),
        ("rack-a.site_1", ["rack-a.site_1"]),
        ("n1, n2", ["n1", "n2"]),
    ],
)
def test_expands(text, names):
    assert expand(text) == names


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "expected a node name at position 0"),
        ("a,,b", "expected a node name at position 2"),
        ("gpu[1-", "not closed"),
        ("gpu]1[", "does not match"),
        ("gpu[[1]]", "does not match"),
        ("gpu[3-1]", "runs backwards"),
        ("gpu[a-b]", "expected numbers"),
        ("gpu[]", "expected numbers"),
        ("gpu 1", "expected letters"),
        ("gpu1;reboot", "expected letters"),
        ("-w", "expected a node name"),
        ("gpu[1-99999999]", "more than 100000 hosts"),
        ("g[1-1000]n[1-1000]", "more than 100000 hosts"),
    ],
)
def test_says_what_is_wrong(text, why):
    with pytest.raises(HostlistError, match=why):
        expand(text)


def test_compresses():
    assert compress(["gpu01", "gpu03", "gpu02", "gpu10", "gpu09", "cpu"]) == "cpu,gpu[01-03,09-10]"
    assert compress(["n9", "n10", "n11"]) == "n[9-11]"
    assert compress(["n1", "n01"]) == "n01,n1"
    assert compress(["gpu7"]) == "gpu7"
    assert compress([]) == ""


def test_names_that_may_go_into_a_command():
    assert is_name("gpu-01.site")
    assert not any(map(is_name, ["", "a b", "a,b", "a[1]", "-w", "a\nb", 'a"b', "a;b"]))
    with pytest.raises(HostlistError):
        compress(["gpu 1"])


NAMES = st.from_regex(r"[a-z]{1,3}(-[a-z])?[0-9]{0,4}([a-z][0-9]{1,3})?", fullmatch=True)


@given(st.sets(NAMES, max_size=40))
def test_round_trip(names):
    assert set(expand(compress(names))) == names if names else compress(names) == ""

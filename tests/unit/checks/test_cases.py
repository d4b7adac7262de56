"""Every check can pass and can find every fault it claims; the matrix page says with which case."""

from collections import Counter
from fnmatch import fnmatchcase

import pytest
from cases import all_cases
from healthy import codes

from greenroom.checks.expectations import load_expected
from greenroom.checks.frame import Looked, load_all

CASES = all_cases()


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.check}-{case.about}")
def test_the_check_says_what_is_so(case):
    answer = case.ask()
    assert isinstance(answer, Looked)
    assert answer.looked
    assert set(codes(answer)) == set(case.finds), answer
    for finding in answer.findings:
        assert finding.subject
        assert finding.message
        assert finding.source


def test_no_two_cases_of_a_check_have_the_same_name():
    assert max(Counter((case.check, case.about) for case in CASES).values()) == 1


def test_every_check_has_a_good_case():
    assert set(load_all()) == {case.check for case in CASES if not case.finds}


@pytest.mark.parametrize("check", load_all().values(), ids=lambda check: check.name)
def test_every_fault_a_check_claims_is_shown(check):
    shown = {code for case in CASES if case.check == check.name for code in case.finds}
    # A row of the catalogue stands for the codes that begin with it: dcgm.test for dcgm.test.memory.
    named = {code: {row for row in check.detects if f"{code}.".startswith(f"{row}.")} for code in shown}
    assert {row for rows in named.values() for row in rows} == check.detects
    assert all(named.values()), "a code that the check does not say it detects"


@pytest.mark.parametrize(
    "threshold", [one for one in load_expected().thresholds.values() if one.seen], ids=lambda one: one.name
)
def test_what_is_learned_from_a_check_is_what_it_shows(threshold):
    """The path of a reading (``seen``) fits what the check shows of a good machine."""
    name, _, path = threshold.seen.partition("=")[0].partition(":")
    shown = [case.ask().looked for case in CASES if case.check == name and not case.finds]
    paths = {path for looked in shown for path in paths_of(looked)}
    assert any(fnmatchcase(one, path) for one in paths), paths


def paths_of(value, before=""):
    """``a.b`` of each plain value."""
    if not isinstance(value, dict):
        return [before[:-1]]
    return [path for key, inner in value.items() for path in paths_of(inner, f"{before}{key}.")]

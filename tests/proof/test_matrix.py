"""No fault of the catalogue that nothing detects, and the page says what does."""

import matrix
from made import NVML_WORDS

from greenroom.checks.frame import load_all


def test_nothing_in_the_catalogue_is_detected_by_nothing():
    assert matrix.missing() == []


def test_no_code_is_made_that_the_catalogue_does_not_know():
    assert "" not in {*matrix.of_checks(), *matrix.of_texts()}


def test_an_answer_of_nvml_makes_the_check_unable_unless_the_model_has_no_such_reading():
    answers = matrix.of_nvml()
    others = {"nvml.3": "no such", "nvml.13": "no such", "nvml.15": "found: ", "nvml.16": "found: "}
    assert {code: made_of[:7] for code, made_of in answers.items()} == {
        code: others.get(code, "the che") for code in answers
    }
    assert set(NVML_WORDS) <= set(answers)


def test_whole_runs_find_faults_that_checks_claim():
    claimed = {row for check in load_all().values() for row in check.detects}
    assert set(matrix.of_the_lab()) <= claimed


def test_the_committed_page_is_the_made_one():
    assert matrix.PAGE.read_text(encoding="utf-8") == matrix.page(), "run: make docs"

"""The command provider: JSON in, JSON out; everything else is "no answer", never a result."""

from __future__ import annotations

import json

import pytest

from greenroom.model.words import Rung
from greenroom.recovery import Progress, ProviderUnavailable
from greenroom.recovery.command import CommandProvider


def provider(tmp_path, text, *, timeout_s=5.0):
    path = tmp_path / "replace"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return CommandProvider([str(path)], rung=Rung.REPLACE, timeout_s=timeout_s)


def start(one):
    return one.start(action_id="a1", node="gpu-01", rung=Rung.REPLACE, reason="gpu.missing: 'quoted'")


def test_it_gets_the_whole_question_and_its_answer_is_read(tmp_path):
    one = provider(
        tmp_path, f"""cat > {tmp_path}/asked; echo '{{"progress": "running", "detail": "spare 7"}}'"""
    )
    assert one.offers() == {Rung.REPLACE}
    state = start(one)
    assert (state.progress, state.detail) == (Progress.RUNNING, "spare 7")
    asked = json.loads((tmp_path / "asked").read_text())
    assert asked == {
        "action": "start", "action_id": "a1", "node": "gpu-01", "rung": "replace", "reason": "gpu.missing: 'quoted'",
    }  # fmt: skip
    assert one.poll(action_id="a1", node="gpu-01", rung=Rung.REPLACE).progress is Progress.RUNNING
    assert json.loads((tmp_path / "asked").read_text())["action"] == "poll"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("echo oh no >&2; exit 3", "exit code 3: oh no"),
        ("echo nonsense", "expected one JSON object"),
        ("echo '{}'", "progress: missing"),
        ("""echo '{"progress": "perhaps"}'""", "'perhaps' is none of: running, done, failed, refused"),
        ("sleep 60", "not back after 0.3 s"),
        ("true", "expected one JSON object"),
    ],
)
def test_no_answer_is_no_result(tmp_path, text, why):
    with pytest.raises(ProviderUnavailable, match=why):
        start(provider(tmp_path, text, timeout_s=0.3 if "sleep" in text else 5.0))


def test_a_missing_executable_is_named(tmp_path):
    with pytest.raises(ProviderUnavailable, match="nowhere: not installed"):
        start(CommandProvider([str(tmp_path / "nowhere")], rung=Rung.REPLACE))

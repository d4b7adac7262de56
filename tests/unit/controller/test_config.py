"""greenroom.toml: every error names file, line and field, and the nearest key."""

from __future__ import annotations

from pathlib import Path

import pytest

from greenroom.controller.config import load, providers
from greenroom.controller.config_file import ConfigError
from greenroom.controller.config_reference import reference
from greenroom.model.words import Rung
from greenroom.policy.rules import Step
from greenroom.recovery.command import CommandProvider
from greenroom.recovery.scheduler_reboot import SchedulerReboot
from greenroom.schedulers.memory import MemoryScheduler


def written(tmp_path, text):
    path = tmp_path / "greenroom.toml"
    path.write_text(text)
    return path


GOOD = """\
[controller]
listen = "127.0.0.1:9000"
state_dir = "/tmp/greenroom-test"

[scheduler]
kind = "memory"

[gate]
on_start_profile = "quick"

[recovery]
max_attempts = 5
[recovery.replace]
provider = "command"
command = ["/usr/local/sbin/replace", "--now"]
deadline_s = 60
[recovery.ladders]
default = ["reboot*2", "replace", "person"]
"gpu.ecc" = ["replace"]

[groups.train]
nodes = "gpu-[01-03]"
min = 2
"""


def test_a_good_file_becomes_rules(tmp_path):
    config = load(written(tmp_path, GOOD))
    rules = config.rules
    assert config.url == "http://127.0.0.1:9000"
    assert config.address == ("127.0.0.1", 9000)
    assert rules.ladder == (Step(rung=Rung.REBOOT, times=2), Step(rung=Rung.REPLACE))
    assert rules.ladders["gpu.ecc"] == (Step(rung=Rung.REPLACE),)
    assert rules.ladders["gpu.missing"] == (Step(rung=Rung.REBOOT),)
    assert rules.offered == {Rung.REBOOT, Rung.REPLACE}
    assert rules.repair_time_s[Rung.REPLACE] == 60
    group = rules.groups[0]
    assert (group.nodes, group.size, group.minimum) == ({"gpu-01", "gpu-02", "gpu-03"}, 3, 2)
    made = providers(config, MemoryScheduler())
    assert isinstance(made[Rung.REBOOT], SchedulerReboot)
    assert isinstance(made[Rung.REPLACE], CommandProvider)
    assert rules.faults["gpu.missing"].remedy is Rung.REBOOT


def test_an_empty_file_is_all_defaults(tmp_path):
    config = load(written(tmp_path, ""))
    assert config.store_url == "sqlite:////var/lib/greenroom/greenroom.db"
    assert config.rules.max_out_share == 0.10


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        (
            "on_start_profile",
            "on_start_profil",
            9,
            ["gate.on_start_profil", "did you mean 'on_start_profile'"],
        ),
        ("[gate]", "[gates]", 8, ["gates", "did you mean 'gate'"]),
        ('"quick"', '"quik"', 9, ["gate.on_start_profile", "did you mean 'quick'"]),
        (
            "max_attempts = 5",
            'max_attempts = "5"',
            12,
            ["recovery.max_attempts", "expected a whole number", "'5'"],
        ),
        ("max_attempts = 5", "max_attempts = true", 12, ["expected a whole number", "True"]),
        ('provider = "command"', 'provider = "scheduler"', 14, ["recovery.replace.provider", "'command'"]),
        ('command = ["/usr/local/sbin/replace", "--now"]', "", 13, ["recovery.replace.command", "missing"]),
        (
            '["/usr/local/sbin/replace", "--now"]',
            '"replace"',
            15,
            ["recovery.replace.command", "expected a list"],
        ),
        ('"reboot*2"', '"rebot"', 18, ["recovery.ladders.default", "did you mean 'reboot'"]),
        ('"gpu-[01-03]"', '"gpu-[03-01"', 22, ["groups.train.nodes"]),
        ("min = 2", 'partition = "main"', 21, ["groups.train", "exactly one of"]),
        ("127.0.0.1:9000", "localhost", 2, ["controller.listen", "address:port"]),
        ("[scheduler]", "scheduler = 3\n[x]", 5, ["scheduler", "x"]),
    ],
)
def test_an_error_names_file_line_field_and_what_was_expected(tmp_path, old, new, line, words):
    assert old in GOOD
    path = written(tmp_path, GOOD.replace(old, new, 1))
    with pytest.raises(ConfigError) as caught:
        load(path)
    text = str(caught.value)
    if "[x]" not in new:
        assert text.startswith(f"{path}:{line}: "), text
        assert all(word in text for word in words), text


def test_no_toml_and_no_file_are_named(tmp_path):
    with pytest.raises(ConfigError, match=r"not valid TOML: .*line 1"):
        load(written(tmp_path, "= nothing"))
    with pytest.raises(ConfigError, match=r"none\.toml: No such file"):
        load(tmp_path / "none.toml")


def test_the_reference_page_is_the_one_the_code_makes():
    page = Path(__file__).parents[3] / "docs/reference/configuration.md"
    assert page.read_text() == reference(), "run `make docs`"
    assert "How nodes reach the controller" in reference()


def test_the_shipped_example_is_valid():
    load(Path(__file__).parents[3] / "deploy/greenroom.toml")

"""The enums: one word per idea, as in GLOSSARY.md."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """What became of one check on one node."""

    PASS = "pass"  # noqa: S105 - no password
    WARN = "warn"
    FAIL = "fail"
    SKIPPED = "skipped"
    """Not applicable here; the result says why."""
    UNABLE = "unable"
    """Could not tell (tool missing, no permission, timeout, unparsable): neither pass nor fail."""
    DISABLED = "disabled"
    """Switched off by the site, with a reason, an owner and an end: never a pass."""


class Verdict(StrEnum):
    """What a whole run says of the node."""

    FIT = "fit"
    UNFIT = "unfit"
    UNDECIDED = "undecided"


class Severity(StrEnum):
    """How much a finding weighs."""

    NOTE = "note"
    SUSPECT = "suspect"
    FAIL = "fail"


class Stage(StrEnum):
    """How far a check is trusted: only a GATE check can make a node unfit."""

    OBSERVE = "observe"
    WARN = "warn"
    GATE = "gate"


class Rung(StrEnum):
    """The remedies, from the lightest to the last."""

    RESTART_SERVICE = "restart-service"
    RESET_GPU = "reset-gpu"
    REBOOT = "reboot"
    REPLACE = "replace"
    VENDOR = "vendor"
    PERSON = "person"


class Phase(StrEnum):
    """Where a node stands with Greenroom."""

    NEW = "new"
    HELD = "held"
    CHECKING = "checking"
    IN_SERVICE = "in_service"
    RECOVERING = "recovering"
    WITH_PERSON = "with_person"
    RETIRED = "retired"


class Standing(StrEnum):
    """How the scheduler treats a node, as far as Greenroom is concerned."""

    FREE = "free"
    """User jobs may start on it."""
    HELD = "held"
    """Nothing starts on it, and the hold is ours."""
    QUARANTINED = "quarantined"
    """Only our own check jobs may start on it."""
    FOREIGN = "foreign"
    """Somebody else keeps it out of work: left alone."""
    UNAVAILABLE = "unavailable"
    """Down, silent, powered down, powering up or rebooting: left alone."""
    UNKNOWN = "unknown"
    """Not seen by the scheduler, or not yet."""


class Exit:
    """Exit codes of every command (sysexits.h for the high ones)."""

    FIT = 0
    UNFIT = 1
    UNDECIDED = 3
    USAGE = 64
    BUG = 70
    CONFIG = 78

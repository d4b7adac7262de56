"""Shared by all tests."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path

import structlog
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))  # so that tests share stories.cluster
structlog.configure(
    wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL),
    logger_factory=structlog.PrintLoggerFactory(sys.stderr),
)

# `make campaign` runs the same properties for long; here they are a guard.
settings.register_profile("guard", max_examples=60, deadline=None)
settings.register_profile("campaign", max_examples=3000, deadline=None)
settings.load_profile(os.environ.get("GREENROOM_HYPOTHESIS", "guard"))

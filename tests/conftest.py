"""Tests run from any directory, without colours."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

# An example that takes long on a busy machine is no fault.
settings.register_profile("anabranch", deadline=None)
settings.load_profile("anabranch")

os.environ["NO_COLOR"] = "1"
os.environ["COLUMNS"] = "160"


@pytest.fixture(autouse=True)
def in_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    """Relative paths in tests mean the repository's."""
    monkeypatch.chdir(Path(__file__).parent.parent)


@pytest.fixture(scope="session", autouse=True)
def interruptible() -> None:
    """A shell that starts tests in the background has them, and what they start, ignore Ctrl-C."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)

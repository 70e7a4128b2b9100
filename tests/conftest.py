"""Tests run from any directory, without colours."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

os.environ["NO_COLOR"] = "1"
os.environ["COLUMNS"] = "160"


@pytest.fixture(autouse=True)
def in_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    """Relative paths in tests mean the repository's."""
    monkeypatch.chdir(Path(__file__).parent.parent)

"""Says at the end what became of the examples in the documentation."""

from __future__ import annotations

from typing import Any

import pages


def pytest_terminal_summary(terminalreporter: Any) -> None:
    terminalreporter.section("examples in the documentation", sep="-")
    for line in pages.account():
        terminalreporter.line(line)

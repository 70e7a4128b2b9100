"""Tests of the real kernel: skipped, with the reason printed, where it cannot be had."""

from __future__ import annotations

import pytest
from needs import lacking, unavailable

from anabranch.linux.check import facts

pytest.register_assert_rewrite("beside")


@pytest.fixture(scope="session")
def kernel() -> None:
    """Asks for root, namespaces, TUN and MPTCP."""
    if reason := lacking():
        unavailable(reason)


@pytest.fixture(scope="session")
def controllers(kernel: None) -> None:
    """Asks for controllers in this build, and for a kernel that takes them."""
    wrong = [fact for fact in facts() if "load" in fact.needed_for and fact.state == "no"]
    if wrong:
        unavailable(f"{wrong[0].name}: {wrong[0].detail}; {wrong[0].remedy}")

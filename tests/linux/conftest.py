"""Tests of the real kernel: skipped, with the reason printed, where it cannot be had."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from needs import lacking, unavailable

from anabranch.linux import running
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


@pytest.fixture(scope="module")
def once() -> Iterator[None]:
    """Replications are not repeated where they are invalid: the tests of a module that asks for it
    keep invalid ones, and what they look at is right on a busy machine too.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "REPEATS", 0)
        yield

"""Runs are recorded once, and dissected once."""

from __future__ import annotations

import functools
from collections.abc import Callable

import pytest
from dissector import Packet, dissect, required
from miniature import Recorded, record


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Recorded]:
    """The run of a scenario by its name, recorded."""

    @functools.cache
    def run(name: str) -> Recorded:
        return record(name, tmp_path_factory.mktemp("recorded"))

    return run


@pytest.fixture(scope="session")
def dissected(recorded: Callable[[str], Recorded]) -> Callable[[str], list[Packet]]:
    """Its capture as tshark sees it."""
    required()
    return functools.cache(lambda name: dissect(recorded(name).pcap))

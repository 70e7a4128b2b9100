"""Logs of packets: runs repeated with their events or their qlog, for mechanisms that read them."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..result import Recording, Result, run
from ..scenario import Scenario
from .laboratory import Configuration, scenario_of
from .library import Floats


@cache
def logged(one: Configuration, seeds: tuple[int, ...]) -> Result:
    """A cell run again with its events written down."""
    asked: dict[str, Any] = {"controller": one.controller, "overrides": one.overrides}
    return run(scenario_of(one), seeds, series=one.series, events=True, **asked)


Event = Mapping[str, Any]
"""An event of a path as qlog has it, its time in ms."""


class Steps(NamedTuple):
    """A quantity that changes: when, in seconds, and to what, shape (changes,) each."""

    t_s: Floats
    values: Floats

    def at(self, at_s: float, *, before: bool = False, start: float = np.nan) -> float:
        """The value once everything at a time has happened, or just before; `start` before the
        first. Times are logged in whole nanoseconds.
        """
        place = np.searchsorted(self.t_s, at_s + (-1e-10 if before else 1e-10), side="right")
        return float(self.values[place - 1]) if place else start


def steps(events: Sequence[Event], key: str, unit: float) -> Steps:
    """When a quantity of a path was written down, and what it was in a unit."""
    found = [(e["time"] / 1e3, e["data"][key] / unit) for e in events if key in e["data"]]
    return Steps(*np.array(found).reshape(-1, 2).T)


def traced(
    scenario: Scenario,
    users: str,
    *,
    seed: int = 1,
    recording: Recording | None = None,
    **asked: Any,
) -> tuple[Result, list[list[Event]]]:
    """A run with what `asked` says, and the events of each path of the first user of a class."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "run.qlog"
        whole = replace(recording or Recording(), qlog=file)
        result = run(scenario, (seed,), recording=whole, **asked)
        traces = json.loads(file.read_text())["traces"]
    return result, [one["events"] for one in traces if one["title"].startswith(f"{users}.0.")]

"""Goals of a user's own: a function in a file.

    # mine.py
    import anabranch as ab

    @ab.breaking.goal(limit=0.2, twins=ab.breaking.tcp_on_each_path, paths=2)
    def second_path_idle(trial):
        "The second path carries less than a fifth of what a TCP on it would have."
        tcp = trial.rate("subject", "TCP on path 2")
        return 0.2 + (0.2 * tcp - trial.path_rate(1)) / tcp.mean()

`anabranch break lia --goal mine.py:second_path_idle` searches for networks where it is above 0.2 in
every replication's interval. The function gets a `Trial` and returns an array with a value for each
replication, or a dictionary of such arrays, one of which has to be above the limit.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..offers import lookup
from ..sweeps.functions import function
from .drawing import EventNeed, Needs
from .goals import GOALS
from .kind import Aspects, Goal, GoalError, Part, Twins, no_twins
from .trial import Trial

Own = Callable[[Trial], Any]


def goal(
    *,
    limit: float = 0.0,
    twins: Twins = no_twins,
    others: int = 0,
    paths: int = 1,
    queues: tuple[str, ...] | None = None,
    event: EventNeed = "seldom",
    transfers: bool = False,
    series: bool = False,
    unit: str = "",
) -> Callable[[Own], Goal]:
    """Makes a goal of a function from a `Trial` to values, which is broken above `limit`.

    `twins` are further runs of each network, such as `tcp_on_each_path`; `others` to `transfers`
    say what a network must have (see `Needs`); `series` keeps samples over time. The first line of
    the function's docstring is the goal's meaning.
    """
    needs = Needs(others, paths, queues, event, transfers)

    def made(score: Own) -> Goal:
        return _goal(
            score,
            Goal(
                name=score.__name__.replace("_", "-"),
                meaning=(inspect.getdoc(score) or f"{score.__name__} is above the limit.").split(
                    "\n"
                )[0],
                limit=limit,
                why="as its function says",
                score=_no_score,
                told="{controller}: {aspect} is {value}",
                twins=twins,
                needs=needs,
                percent=False,
                unit=unit,
                series=series,
            ),
        )

    return made


def goal_of(text: str) -> tuple[Goal, Path | None]:
    """The goal that a word of the command line names, and its file if it is a user's own.

    Raises ValueError for an unknown name, a file that fails, and a function that is no goal.
    """
    if ".py:" not in text:
        return GOALS[lookup("goal", text, GOALS, "the goals are")], None
    found: Any = function(text, "--goal")
    file = Path(text.rpartition(":")[0])
    return replace(found if isinstance(found, Goal) else goal()(found), file=text), file


def _goal(score: Own, kind: Goal) -> Goal:
    """The goal with the function as its score."""
    return replace(kind, score=lambda trial: aspects_of(kind.name, score(trial), len(trial.seeds)))


def _no_score(_trial: Trial) -> Aspects:
    return {}


def aspects_of(name: str, values: Any, seeds: int) -> Aspects:
    """What a function returned, as aspects. Raises GoalError for another shape."""
    named = values if isinstance(values, Mapping) else {name: values}
    found = {}
    for key, value in named.items():
        column = np.asarray(value, dtype=float)
        if column.shape != (seeds,):
            raise GoalError(
                f"the goal {name} returned {key!r} with shape {column.shape}; it has a value for each "
                f"of {seeds} replications, shape ({seeds},)"
            )
        found[str(key)] = [Part(column)]
    return found

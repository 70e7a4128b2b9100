"""The hunt for a broken goal, from Python."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from .. import _core
from ..controller import ControllerLike, given_name
from ..makers import Core, Maker
from .bench import Bench, UnderTest
from .drawing import impossible, narrowed
from .hunting import Hunt, Outcome
from .journal import FILE, Journal
from .kind import Goal
from .own import goal_of
from .ranges import Ranges
from .searching import Search, Tell
from .worlds import world_of

TRIALS = 1000
"""Networks that a search for one goal tries."""


def hunt(
    controller: ControllerLike,
    goal: str | Goal,
    *,
    limit: float | None = None,
    ranges: Ranges | None = None,
    trials: int = TRIALS,
    seed: int = 1,
    maker: Maker | None = None,
    out: str | Path | None = None,
    fresh: bool = False,
    seconds: float | None = None,
    tell: Tell = lambda done, total, what: None,
) -> tuple[Bench, Outcome]:
    """Searches for the smallest network on which `controller` breaks `goal`.

    `goal` is a name of `GOALS`, FILE.py:FUNCTION, or a goal; `limit` replaces its limit. `out` is a
    folder in which scores are kept, and from which the same search goes on after an interrupt;
    `fresh` begins it anew. `seconds` ends search and shrinking early, so that their end depends on
    the machine; what was found by then is still confirmed. Else the same arguments give the same
    outcome, wherever the runs are made: `maker` makes them, by default the threads of this process.

    Raises Interrupted, a KeyboardInterrupt with what was found, at an interrupt; ScenarioError for
    an unknown controller, and ValueError for an unknown goal, for a goal
    of theory and a controller without a law, for ranges that hold no network, and for a folder with
    another search.
    """
    tested = UnderTest.of(controller)
    chosen, file = goal_of(goal) if isinstance(goal, str) else (goal, None)
    wanted = ranges or Ranges()
    if why := refusal(tested, chosen, wanted):
        raise ValueError(f"the goal {chosen.name} cannot be tried: {why}")
    wanted = narrowed(wanted, chosen.needs)
    bound = chosen.limit if limit is None else limit
    journal = Journal()
    if out is not None:
        about = _about(controller, tested, chosen, file, bound) | {
            "ranges": asdict(wanted),
            "seed": seed,
        }
        Path(out).mkdir(parents=True, exist_ok=True)
        journal = Journal.open(Path(out) / FILE, about, fresh=fresh)
    bench = Bench(tested, chosen, world_of(maker or Core()), journal)
    search = Search(bench, wanted, bound, trials, seed, passed=_clock(seconds))
    try:
        with bench.working():
            return bench, Hunt(search, tell).run()
    finally:
        journal.close()


def refusal(tested: UnderTest, goal: Goal, ranges: Ranges) -> str | None:
    """Why a goal cannot be tried on a controller within ranges; None if it can."""
    if goal.needs.lawful and not tested.has_law:
        return f"theory knows controllers with a law, and {tested.label} has none"
    if goal.needs.smooth and tested.jumps:
        return f"the growth of {tested.label} jumps, and theory has no slopes there"
    return impossible(ranges, goal.needs)


def _clock(seconds: float | None) -> Callable[[], float]:
    """The part of so many seconds from now that has passed."""
    if seconds is None:
        return lambda: 0.0
    start = time.monotonic()
    return lambda: (time.monotonic() - start) / seconds


def _about(
    controller: ControllerLike, tested: UnderTest, goal: Goal, file: Path | None, limit: float
) -> dict[str, Any]:
    """What makes a search another one; files of Python count by their text."""
    given = given_name(controller)
    classes = Path(given.partition(".py")[0] + ".py") if ".py" in given else None
    return {
        "anabranch": _core.__version__,
        "optuna": _optuna(),
        "controller": tested.text or tested.label,
        "code of the controller": _digest(classes) if tested.text is None else "",
        "goal": goal.name,
        "code of the goal": _digest(file),
        "limit": limit,
    }


def _optuna() -> str:
    """The version of the optimiser: another one asks for other networks."""
    try:
        return version("optuna")
    except PackageNotFoundError:
        return ""


def _digest(file: Path | None) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest() if file and file.is_file() else ""

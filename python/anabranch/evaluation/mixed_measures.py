"""Measures and settings of users under a controller beside rivals (RFC 9743 §5.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..fairness import harm
from ..result import Result
from .criterion import SUBJECT, Case, Found, Measure
from .goals import Values
from .measures import BOTTLENECK, lost_part, mean_completion, occupancy
from .one_link import drop_tail

RIVAL = "rival"
"""Name of the class of rivals."""

ALONE = {"alone": (f"flow.{SUBJECT}.count=0",)}
"""The rivals without the subject, for `Case.beside`."""

CONSTRAINED = (
    "link.bottleneck.rate=8 Mb/s",
    drop_tail(133),
    "duration=240 s",
    "warmup=30 s",
)
"""Prudentia's highly constrained setting: 8 Mb/s with a queue of 4 BDP."""

MODERATE = ("duration=240 s", "warmup=30 s")
"""Its moderately constrained setting, that of the scenario: 50 Mb/s with a queue of 4 BDP."""


def rivals(controller: str, counts: Sequence[int] = (1, 4, 16)) -> tuple[Case, ...]:
    """Cases of one subject beside rivals under `controller`, with the rivals alone beside them."""
    cases = [_rivals(f"8 Mb/s, {_counted(n)}", controller, n, CONSTRAINED) for n in counts]
    return (*cases, _rivals("50 Mb/s, 4 rivals", controller, 4, MODERATE))


def _rivals(name: str, controller: str, count: int, setting: tuple[str, ...]) -> Case:
    own = (f"flow.rival.controller={controller}", f"flow.rival.count={count}")
    return Case(name, "prudentia/rivals", (*setting, *own), ALONE)


def _counted(count: int) -> str:
    return "1 rival" if count == 1 else f"{count} rivals"


def harm_in_throughput(name: str = RIVAL) -> Measure:
    """Harm to the mean rate of a class: the part of its rate alone that it loses."""
    return _compared(lambda result: result.rate(name), _harms)


def room_taken(link: str = BOTTLENECK) -> Measure:
    """Part of the room that a queue has without the subject which the subject fills, in the mean
    over time: 0 if the queue is as long as without it, 1 if it is always full.
    """
    return _compared(lambda result: occupancy(result, link), _part_of_rest)


def loss_added(name: str = RIVAL) -> Measure:
    """Loss of a class beside the subject less that without it: lost packets over sent ones."""
    return _compared(lambda result: lost_part(result, name), lambda alone, beside: beside - alone)


def _compared(
    metric: Callable[[Result], Values], compare: Callable[[Values, Values], Values]
) -> Measure:
    """A measure of a metric alone and beside the subject."""

    def measure(found: Found) -> Values:
        return compare(metric(found.beside["alone"]), metric(found.result))

    return measure


def _harms(alone: Values, beside: Values) -> Values:
    """Harm where more is better."""
    return np.array([harm(a, b) for a, b in zip(alone, beside, strict=True)])


def _part_of_rest(alone: Values, beside: Values) -> Values:
    """What is added, over what was left of 1; NaN where nothing was."""
    left = 1.0 - alone
    return np.where(left > 0, (beside - alone) / np.where(left > 0, left, 1.0), np.nan)


def worst_share(name: str, link: str, metric: str = "throughput_bps") -> Measure:
    """The rate of the worst user of a class over its fair share of a link that all users of the
    network are on: the capacity divided by their number.
    """

    def measure(found: Found) -> Values:
        result = found.result
        users = sum(planned.count for planned in result.plan.classes)
        return np.asarray(result.users(name, metric).min(axis=1) * users / result.rates_bps[link])

    return measure


def slowdown(found: Found) -> Values:
    """How much longer others need beside the subject than alone: mean completion time of the short
    transfers, or, where there are none, time of the long one for the same bytes.

    Transfers that do not complete count with the time until the end of the run.
    """
    alone, result = found.beside["alone"], found.result
    if "short" in result.classes:
        return mean_completion(result, "short") / mean_completion(alone, "short")
    return alone.rate("long") / result.rate("long")

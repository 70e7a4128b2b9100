"""What expressions of a ledger can call: metrics of cells, theory on them, and arithmetic.

A function with a parameter `lab` reads results; the others do not. Annotations such as `Cell`,
`Users`, `Link` and `Metric` say what an argument names, so that a ledger can be checked before
anything runs.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NewType

import numpy as np
from numpy.typing import NDArray

from ..scenario import Scenario
from ..statistics import Interval, interval, jain, significant
from .laboratory import Configuration, Laboratory, scenario_of

Floats = NDArray[np.float64]
"""A value for each seed, shape (seeds,)."""

Cell = NewType("Cell", str)
"""The name of a cell."""
Users = NewType("Users", str)
"""The name of a class of the cell's scenario."""
Link = NewType("Link", str)
"""The name of a link of the cell's scenario."""
Metric = NewType("Metric", str)
"""A column of any table of a result."""
FlowMetric = NewType("FlowMetric", str)
"""A column of a result's table of flows."""
PathNumber = NewType("PathNumber", int)
"""The number of a path of the class `users`, from 0."""
PathMetric = NewType("PathMetric", str)
"""A column of a result's table of paths."""
LinkMetric = NewType("LinkMetric", str)
"""A column of a result's table of links."""

Measure = Callable[..., Any]
Values = Any
"""Values of seeds, shape (seeds,), or one number."""

BASIC: dict[str, Any] = {}
"""The functions that every ledger has, by name."""


def measure(function: Measure) -> Measure:
    """Marks a function of a folder's `measures.py` as one that the ledger may call."""
    function.measures = True  # type: ignore[attr-defined]
    return function


def expensive(function: Measure) -> Measure:
    """Marks a measure that takes no laboratory and long: it is not called to find cells."""
    function.expensive = True  # type: ignore[attr-defined]
    return function


def basic(function: Measure) -> Measure:
    """Registers a function that every ledger has, under its name without a final underscore."""
    BASIC[function.__name__.rstrip("_")] = measure(function)
    return function


def reads(function: Measure) -> bool:
    """Whether a function takes the laboratory."""
    return next(iter(inspect.signature(function).parameters), "") == "lab"


def of_runs(one: Any) -> bool:
    """Whether a name of expressions is a measure that takes the laboratory."""
    return callable(one) and getattr(one, "measures", False) and reads(one)


# Metrics of cells.


@basic
def rate(lab: Laboratory, cell: Cell, users: Users) -> Floats:
    """Mean throughput per user of a class, in Mb/s on the wire."""
    return lab[cell].rate(users) / 1e6


@basic
def goodput(lab: Laboratory, cell: Cell, users: Users) -> Floats:
    """Mean goodput per user of a class, in Mb/s."""
    return lab[cell].rate(users, "goodput_bps") / 1e6


@basic
def of_users(lab: Laboratory, cell: Cell, users: Users, metric: FlowMetric) -> Floats:
    """Mean of a metric over the users of a class."""
    return lab[cell].rate(users, metric)


@basic
def each_user(
    lab: Laboratory, cell: Cell, users: Users, metric: FlowMetric = FlowMetric("throughput_bps")
) -> Floats:
    """A metric of each user of a class, shape (seeds, users)."""
    return lab[cell].users(users, metric)


@basic
def path(
    lab: Laboratory, cell: Cell, users: Users, number: PathNumber, metric: PathMetric
) -> Floats:
    """Mean of a metric of a path over the users of a class; paths count from 0."""
    return np.asarray(lab[cell].path(users, number, metric).mean(axis=1))


@basic
def link(lab: Laboratory, cell: Cell, link: Link, metric: LinkMetric) -> Floats:
    """A metric of a link."""
    return lab[cell].link(link, metric)


@basic
def loss(lab: Laboratory, cell: Cell, link: Link) -> Floats:
    """Dropped over arrived packets of a link."""
    return lab[cell].link(link, "loss")


@basic
def seeds(lab: Laboratory, cell: Cell) -> list[int]:
    """The seeds of a cell."""
    return lab[cell].seeds


@basic
def watched(lab: Laboratory, cell: Cell) -> float:
    """Seconds after the warm-up."""
    plan = lab[cell].plan
    return float(plan.duration_s - plan.warmup_s)


# Theory on cells.


@dataclass(frozen=True)
class Asked:
    """A cell as theory takes it."""

    scenario: Scenario
    controller: str | None
    overrides: tuple[str, ...]


def _asked(lab: Laboratory, cell: str, controller: bool = True) -> Asked:
    one = lab.configurations[cell]
    return Asked(scenario_of(one), one.controller if controller else None, tuple(one.overrides))


@cache
def _network(asked: Asked) -> Any:
    from .. import theory

    return theory.Network.from_plan(_plan(asked.scenario, asked.controller, asked.overrides))


@cache
def _fixed_point(asked: Asked, rtt: float | str) -> Any:
    from .. import theory

    return theory.equilibrium(_network(asked), rtt=rtt)


@cache
def _optimum(asked: Asked, rtt: float | str, floor: float) -> Any:
    from .. import theory

    return theory.optimum(_network(asked), rtt=rtt, floor=floor)


def _predicted(found: Any, users: str, path: int | None) -> float:
    """The rate of a class in a solution, in Mb/s per user, of all paths or of one."""
    if path is None:
        return float(found.class_rates_bps[users] / 1e6)
    return float(found.rates_bps[users][path] / 1e6)


def without_runs(function: Measure) -> Measure:
    """Marks a measure that takes cells and reads no result of theirs."""
    function.no_runs = True  # type: ignore[attr-defined]
    return function


@basic
@without_runs
def fixed_point(
    lab: Laboratory,
    cell: Cell,
    users: Users,
    rtt: float | str = "queueing",
    path: PathNumber | None = None,
) -> float:
    """The rate of a class in the cell's equilibrium, in Mb/s per user, without a run.

    `rtt` in seconds is that of every path; "queueing" adds the queues that a path crosses. `path`
    takes one path's part, counted from 0.
    """
    return _predicted(_fixed_point(_asked(lab, cell), rtt), users, path)


@basic
@without_runs
def optimum(
    lab: Laboratory,
    cell: Cell,
    users: Users,
    rtt: float | str = "base",
    floor: float = 0.0,
    path: PathNumber | None = None,
) -> float:
    """The proportionally fair rate of a class of the cell, in Mb/s per user, without a run.

    `floor` is what every path carries at least, in segments for each round trip. `path` is as for
    `fixed_point`.
    """
    return _predicted(_optimum(_asked(lab, cell, controller=False), rtt, floor), users, path)


@basic
@without_runs
def pareto_optimal(
    lab: Laboratory, cell: Cell, rtt: float | str = "queueing", tolerance: float = 1e-6
) -> bool:
    """Whether no user of the cell's equilibrium can gain without another one's loss."""
    from .. import theory

    found = _fixed_point(_asked(lab, cell), rtt)
    net = _network(_asked(lab, cell))
    return bool(theory.pareto_check(net, found.class_rates_bps, tolerance=tolerance).optimal)


@basic
@without_runs
def most_throughput(lab: Laboratory, cell: Cell) -> float:
    """The cut-set bound on the throughput of all users, in Mb/s."""
    from .. import theory

    return float(theory.max_throughput_bps(_network(_asked(lab, cell))) / 1e6)


@basic
@without_runs
def bottlenecks(lab: Laboratory, cell: Cell, users: Users) -> list[list[str]]:
    """The links with a rate that each path of a class crosses."""
    plan = plan_of(lab.configurations[cell])
    (group,) = (one for one in plan.classes if one.name == users)
    links = plan.links
    return [[links[i].name for i in path.links if links[i].rate_bps] for path in group.paths]


# Arithmetic.


@basic
def mean(values: Values) -> float:
    """The mean over seeds, without its spread."""
    return float(np.mean(values))


@basic
def ratio(numerator: Values, denominator: Values) -> Floats:
    """The ratio of two means: values whose mean is that ratio and whose spread is the ratio's.

    To first order the ratio R = mean(x)/mean(y) errs by the mean of (x - R y)/mean(y) (delta
    method), see `anabranch.statistics.ratio_of_means`.
    """
    x, y = np.asarray(numerator, dtype=float), np.asarray(denominator, dtype=float)
    of_means = x.mean() / y.mean()
    return np.asarray(of_means + (x - of_means * y) / y.mean())


@basic
def average(many: Iterable[Values]) -> Floats:
    """The mean of several values, seed by seed."""
    return np.asarray(np.mean(_listed(many), axis=0))


@basic
def largest(points: Mapping[Any, Values]) -> Any:
    """The name of the point with the largest mean."""
    return max(points, key=lambda name: float(np.mean(points[name])))


@basic
def smallest(points: Mapping[Any, Values]) -> Any:
    """The name of the point with the smallest mean."""
    return min(points, key=lambda name: float(np.mean(points[name])))


@basic
def swing(points: Mapping[Any, Values]) -> Floats:
    """The point with the largest mean less the one with the smallest, seed by seed."""
    high, low = points[largest(points)], points[smallest(points)]
    return np.asarray(np.subtract(high, low), dtype=float)


@basic
def spearman(x: Sequence[float], points: Iterable[Values]) -> float:
    """Spearman's rank correlation of the means of a curve with its parameter."""
    from scipy.stats import spearmanr

    return float(spearmanr(x, [float(np.mean(values)) for values in _listed(points)])[0])


@basic
def jain_index(rates: Values) -> Floats:
    """Jain's index of the users of each seed, from rates of shape (seeds, users)."""
    return np.asarray(jain(rates))


@basic
def beside(*groups: Values) -> Floats:
    """The users of several classes together, shape (seeds, users)."""
    return np.concatenate([np.asarray(one) for one in groups], axis=1)


@basic
def above(values: Values) -> float:
    """The lower end of the interval."""
    return interval(values).low


@basic
def below(values: Values) -> float:
    """The upper end of the interval."""
    return interval(values).high


@basic
def part(flags: Values) -> Floats:
    """1 for each seed in which something holds, else 0."""
    return np.asarray(flags, dtype=float)


def _listed(many: Iterable[Values]) -> list[Values]:
    return list(many.values()) if isinstance(many, Mapping) else list(many)


def _parts(many: Any) -> Any:
    """The parts of a truth. Raises ValueError for none, of which all would be true."""
    found = _listed(many) if isinstance(many, Mapping) else many
    if np.size(found) == 0:
        raise ValueError("there is nothing to hold or not")
    return found


def _reduced(of: Callable[..., Any], pairwise: Callable[..., Any]) -> Measure:
    def reduce(*values: Any) -> Any:
        many = _listed(values[0]) if len(values) == 1 else list(values)
        if any(isinstance(value, np.ndarray) for value in many):
            found = np.asarray(many[0])
            for value in many[1:]:
                found = pairwise(found, value)
            return found
        numbers = [value for value in many if isinstance(value, float | np.floating)]
        return np.nan if any(np.isnan(value) for value in numbers) else of(many)

    return reduce


MOST_NUMBERS = 100_000
"""Numbers of a `range`; more are a slip, and would fill the memory."""


def _counted(*ends: int) -> list[int]:
    numbers = range(*ends)
    if len(numbers) > MOST_NUMBERS:
        raise ValueError(
            f"range gives {len(numbers)} numbers, and at most {MOST_NUMBERS} are taken"
        )
    return list(numbers)


PLAIN: dict[str, tuple[Any, str]] = {
    "min": (_reduced(min, np.minimum), "the smallest of several values, of arrays seed by seed"),
    "max": (_reduced(max, np.maximum), "the largest of several values, of arrays seed by seed"),
    "sum": (_reduced(sum, np.add), "the sum of several values, of arrays seed by seed"),
    "abs": (np.abs, "the absolute value"),
    "sqrt": (np.sqrt, "the square root"),
    "log": (np.log, "the natural logarithm"),
    "median": (np.median, "the median of all values"),
    "round": (round, "a number rounded to so many decimals"),
    "len": (len, "how many there are"),
    "range": (_counted, "whole numbers up to an end, as in Python"),
    "zip": (lambda *many: list(zip(*many, strict=True)), "lists of one length side by side"),
    "sorted": (sorted, "a list in order"),
    "all": (lambda many: bool(np.all(_parts(many))), "whether all of them hold"),
    "any": (lambda many: bool(np.any(_parts(many))), "whether one of them holds"),
    "keys": (list, "the names of points"),
    "values": (_listed, "the values of points"),
    "items": (lambda points: list(points.items()), "points as pairs of name and value"),
    "infinity": (np.inf, "no bound"),
    "str": (str, "a text of a value"),
    "upper": (str.upper, "a text in capitals"),
}
"""Functions of Python and NumPy, each with its meaning."""

BASIC |= {name: function for name, (function, _) in PLAIN.items()}


@basic
def upgrade_harms(
    others_before: Values,
    others_after: Values,
    upgraded_before: Values,
    upgraded_after: Values,
) -> bool:
    """Problem P1 of means: others lose and who upgrades gains nothing (`anabranch.fairness.p1`)."""
    from ..fairness import p1

    means = (others_before, others_after, upgraded_before, upgraded_after)
    return bool(p1(*(mean(one) for one in means)))


@basic
def takes_more_than_fair(
    multipath: Values, single_path: Values, fair_multipath: float, fair_single_path: float
) -> bool:
    """Problem P2 of means (`anabranch.fairness.p2`)."""
    from ..fairness import p2

    return bool(p2(mean(multipath), mean(single_path), fair_multipath, fair_single_path))


# Texts.


@basic
def join(between: str, texts: Iterable[str]) -> str:
    """Texts in a row."""
    return between.join(texts)


@basic
def digits(value: float, number: int = 3) -> str:
    """A number with so many significant digits."""
    return significant(float(value), number)


@basic
def signed_percent(values: Values) -> str:
    """A part as percent, with its sign."""
    found = values if isinstance(values, Interval) else interval(values)
    return f"{'+' if found.mean >= 0 else ''}{found.times(100)} %"


@cache
def _plan(scenario: Scenario, controller: str | None, overrides: tuple[str, ...]) -> Any:
    return scenario.plan(controller=controller, overrides=list(overrides))


def plan_of(cell: Configuration) -> Any:
    """The plan of a cell. Raises ScenarioError."""
    return _plan(scenario_of(cell), cell.controller, tuple(cell.overrides))

"""False alarms and misses of a detector on random networks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..result import run
from ..runs import Run
from ..scenario import Scenario
from .drawing import DURATION_S, SUBJECT, Ranges, Way, draw

GROUP = "group"
"""Name of the quantity that LAW+sbd publishes of a path: the number of its group."""

SHARES_WITH = "shares_with_"
"""Beginning of the names of its other quantities: how sure it is that the path shares a bottleneck
with another one, whose number follows.
"""

CONFIDENCE = 0.95

SURE = (0.2, 0.8)
"""A look between these confidences changes nothing: `crates/sharing/src/detection.rs`."""


@dataclass(frozen=True)
class Rate:
    """How many of some networks, with the exact interval (Clopper and Pearson 1934)."""

    count: int
    of: int

    @property
    def value(self) -> float:
        """The fraction; NaN of none."""
        return self.count / self.of if self.of else float("nan")

    @property
    def interval(self) -> tuple[float, float]:
        """Ends of the interval."""
        from scipy.stats import binomtest

        if not self.of:
            return 0.0, 1.0
        found = binomtest(self.count, self.of).proportion_ci(CONFIDENCE, "exact")
        return float(found.low), float(found.high)

    def to_json(self) -> dict[str, Any]:
        """Count, number, fraction and interval."""
        return {
            "count": self.count,
            "of": self.of,
            "rate": self.value,
            "interval95": list(self.interval),
        }


class Drawn(Protocol):
    """A network of which the answer is known."""

    @property
    def number(self) -> int:
        """Its number among those that were drawn alike."""

    @property
    def shared(self) -> bool:
        """Whether all paths share a bottleneck; otherwise no two of them do."""

    @property
    def ways(self) -> tuple[Way, ...]:
        """The paths of the connection."""

    def document(self, controller: str, duration_s: float) -> dict[str, Any]:
        """A scenario with this controller of the connection, which is called `SUBJECT`."""


@dataclass(frozen=True)
class Judged:
    """What a detector said of a network over time."""

    network: Drawn
    right: NDArray[np.bool_]
    """Whether it was right about every pair of paths, once a second, from the start on."""
    scores: NDArray[np.float64]
    """How sure it was of each pair at the end that it shares."""

    @property
    def at_last(self) -> bool:
        """Whether it was right at the end."""
        return bool(self.right[-1])


@dataclass(frozen=True)
class Errors:
    """The errors of a detector over networks."""

    judged: tuple[Judged, ...]

    def _wrong(self, shared: bool, second: int) -> Rate:
        rows = [one.right[second] for one in self.judged if one.network.shared == shared]
        return Rate(len(rows) - sum(map(int, rows)), len(rows))

    @property
    def misses(self) -> Rate:
        """Networks with a shared bottleneck that was not found for every pair, at the end."""
        return self._wrong(True, -1)

    @property
    def false_alarms(self) -> Rate:
        """Networks without one in which a pair was found to share, at the end."""
        return self._wrong(False, -1)

    @property
    def unknown(self) -> Rate:
        """Networks of which the detector said nothing at the end, of no pair: what it believed
        before stays, and at the start that is that all paths share.
        """
        low, high = SURE
        rows = [bool(np.all((low < one.scores) & (one.scores < high))) for one in self.judged]
        return Rate(sum(rows), len(rows))

    def over_time(self, shared: bool) -> NDArray[np.float64]:
        """Fraction of wrong answers in each second, of networks that share or of the others."""
        rows = [one.right for one in self.judged if one.network.shared == shared]
        return np.asarray(1.0 - np.mean(np.asarray(rows, dtype=float), axis=0))

    def curve(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The receiver operating characteristic over pairs at the end: fractions of false alarms
        and of hits, for every confidence from which on a pair is said to share.
        """
        hits, alarms = (
            np.concatenate([one.scores for one in self.judged if one.network.shared == shared])
            for shared in (True, False)
        )
        levels = np.unique(np.concatenate([hits, alarms, [np.inf]]))[::-1]
        return (
            np.array([float(np.mean(alarms >= level)) for level in levels]),
            np.array([float(np.mean(hits >= level)) for level in levels]),
        )

    def to_json(self) -> dict[str, Any]:
        """Rates, and the numbers of the networks that were judged wrongly."""
        wrong = [one.network.number for one in self.judged if not one.at_last]
        return {
            "misses": self.misses.to_json(),
            "false_alarms": self.false_alarms.to_json(),
            "wrong": wrong,
            "missed_over_time": self.over_time(True).tolist(),
            "false_over_time": self.over_time(False).tolist(),
        }


def published(run: Run, name: str) -> dict[str, list[NDArray[np.float64]]]:
    """What the controller of the first user of a class published over time, by quantity: an array
    for each path, in order.

    The run kept series. Raises ValueError if the controller published no groups.
    """
    found: dict[str, list[NDArray[np.float64]]] = {}
    first = int(np.flatnonzero(np.asarray(run.flows.class_) == name)[0])
    mine = set(np.flatnonzero(np.asarray(run.paths.flow) == first).tolist())
    rows = run.series.internals
    for quantity, path, values in zip(rows.name, rows.path, rows.value, strict=True):
        if int(path) in mine:
            found.setdefault(quantity, []).append(np.asarray(values))
    if GROUP not in found:
        raise ValueError(f"{name} publishes no groups; LAW+sbd does, such as lia+sbd")
    return found


def judge(network: Drawn, controller: str, duration_s: float = DURATION_S) -> Judged:
    """Runs a network under a controller that detects, and compares what it found with the truth."""
    scenario = Scenario.written(network.document(controller, duration_s))
    (one,) = run(scenario, (1,), series=True, threads=1).runs
    found = published(one, SUBJECT)
    groups, paths = np.array(found[GROUP]), len(network.ways)
    pairs = [(a, b) for a in range(paths) for b in range(a + 1, paths)]
    same = np.array([groups[a] == groups[b] for a, b in pairs])
    # The quantity of path b has a row for each other path.
    scores = [float(found[f"{SHARES_WITH}{b}"][a][-1]) for a, b in pairs]
    return Judged(network, np.all(same == network.shared, axis=0), np.array(scores))


def measure(
    controller: str = "lia+sbd",
    networks: int = 200,
    seed: int = 1,
    ranges: Ranges | None = None,
    *,
    duration_s: float = DURATION_S,
    threads: int = 0,
    progress: Callable[[float, float], object] | None = None,
) -> Errors:
    """The errors of the detector of `controller` over so many networks, half of which share."""
    drawn = [draw(number, seed, ranges) for number in range(networks)]
    return measure_on(drawn, controller, duration_s=duration_s, threads=threads, progress=progress)


def measure_on(
    drawn: Sequence[Drawn],
    controller: str = "lia+sbd",
    *,
    duration_s: float = DURATION_S,
    threads: int = 0,
    progress: Callable[[float, float], object] | None = None,
) -> Errors:
    """The errors of the detector of `controller` on these networks."""
    with ThreadPoolExecutor(threads or None) as pool:
        answers: Iterable[Judged] = pool.map(
            lambda network: judge(network, controller, duration_s), drawn
        )
        judged = []
        for number, answer in enumerate(answers, 1):
            judged.append(answer)
            if progress:
                progress(number, len(drawn))
    return Errors(tuple(judged))

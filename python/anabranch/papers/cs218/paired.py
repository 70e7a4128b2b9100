"""The algorithms in one network with the same seeds, and differences seed by seed.

The report's differences are 0.6 to 4 %, without a spread. Runs with the same seed have the same
starts, positions and random losses, so that much of the spread is common and cancels in a
difference. `configurations.sweep` makes the runs of a network, and `Sweep.values` reads them with a
function that gives a number for each seed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...result import Result
from ...statistics import Interval, interval, paired, ratio_of_means
from ..laboratory import Laboratory
from .configurations import CALLED, FOUR, under

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Values:
    """A number for each seed under each controller, shape (seeds,) each; the seeds are the same."""

    by: dict[str, Floats]
    unit: str = ""

    def __post_init__(self) -> None:
        """Raises ValueError if one has more seeds than another."""
        if len({len(values) for values in self.by.values()}) > 1:
            raise ValueError("values of paired seeds are as many under each controller")

    def mean(self, controller: str) -> Interval:
        """The mean under a controller."""
        return interval(self.by[controller])

    def difference(self, first: str, second: str) -> Interval:
        """The first less the second, seed by seed."""
        return paired(self.by[first], self.by[second])

    def relative(self, first: str, second: str) -> Interval:
        """The same as a part of the second one's mean."""
        by = float(np.mean(self.by[second]))
        return paired(self.by[first] / by, self.by[second] / by)

    def ratio(self, first: str, second: str) -> Interval:
        """The ratio of the means, with the interval that pairs have."""
        return ratio_of_means(self.by[first], self.by[second])

    @property
    def ordered(self) -> tuple[str, ...]:
        """Controllers, the largest mean first."""
        return tuple(sorted(self.by, key=lambda name: -float(np.mean(self.by[name]))))

    def listed(self) -> str:
        """Means in words, the largest first."""
        return ", ".join(f"{CALLED.get(c, c)} {self.mean(c)}{self.unit}" for c in self.ordered)

    def compared(self, controller: str) -> str:
        """Relative difference to each other controller, in words."""
        rows = (
            f"{CALLED.get(c, c)} {interval_percent(self.relative(controller, c))}"
            for c in self.ordered
            if c != controller
        )
        return f"{CALLED.get(controller, controller)}, seed by seed, over " + ", ".join(rows)


def interval_percent(part: Interval) -> str:
    """A part as percent, with its sign."""
    scaled = Interval(100 * part.mean, 100 * part.half, part.n)
    return f"{'+' if part.mean >= 0 else ''}{scaled} %"


@dataclass(frozen=True)
class Sweep:
    """A network under several controllers."""

    network: str
    controllers: Sequence[str] = FOUR

    @property
    def configurations(self) -> tuple[str, ...]:
        """Names of its configurations."""
        return tuple(under(self.network, c) for c in self.controllers)

    def have(self, lab: Laboratory) -> bool:
        """Whether all configurations have been run."""
        return all(configuration in lab.results for configuration in self.configurations)

    def values(self, lab: Laboratory, of: Callable[[Result], Floats], unit: str = "") -> Values:
        """A number for each seed under each controller, of those seeds that all of them have."""
        common = lab.paired(self.configurations)
        return Values({c: of(common[under(self.network, c)]) for c in self.controllers}, unit)

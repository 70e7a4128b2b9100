"""Replications until intervals are narrow, decided by the rows alone: so it does not matter who
made them, or in which order.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..frames import TABLES
from ..offers import lookup
from ..records import meanings
from ..seeds import LAST_SEED
from .configuration import Configuration
from .parts import CLASSES, coded
from .store import Store

if TYPE_CHECKING:
    import pyarrow

TARGET = re.compile(r"^\s*([\w.]+)\s*(?:±|\+-|\+/-)\s*([0-9.]+)\s*%\s*$")

LEAST = 3
"""Replications before an interval says anything."""

MOST = 100
"""Replications of a configuration, unless more are allowed."""


@dataclass(frozen=True)
class Until:
    """A metric of classes, and how wide its 95 % interval may be as a part of its mean, to either
    side; at most `most` replications.
    """

    metric: str
    part: float
    most: int = MOST

    @classmethod
    def read(cls, text: str, most: int = MOST) -> Until:
        """From a text such as `throughput_bps ±2%`. Raises ValueError."""
        match = TARGET.match(text)
        part = (
            float(match[2]) / 100 if match and match[2].count(".") < 2 and match[2] != "." else 0.0
        )
        if not match or not part > 0:
            raise ValueError(
                f"--until is {text!r}; write a metric and a width, such as throughput_bps ±2% (or +-2%)"
            )
        if not isinstance(most, int) or not LEAST <= most <= LAST_SEED:
            raise ValueError(f"{most} seeds at most; an interval needs {LEAST}")
        return cls(match[1], part, most)

    def check(self) -> None:
        """Raises UnknownName for a metric that classes do not have."""
        tables = (TABLES["classes"], TABLES["flows"])
        known = [name for table in tables for name, one in meanings(table).items() if one.unit]
        lookup("metric", self.metric, known, "the metrics of classes are")

    def wanted(self, store: Store, version: str, counts: dict[str, int]) -> dict[str, int]:
        """How many replications configurations need, of which there are `counts`: as many as the
        width of now says, and no more than twice as many at a time. Those that need no more are not
        in it. Raises ValueError for a metric that classes do not have.
        """
        rows = store.read(CLASSES, ["class", self.metric], coded=True)
        if not rows.num_rows:
            return {}  # all runs have failed
        lookup("metric", self.metric, rows.column_names, "classes have")
        need = self._needed(_measured(rows, self.metric, version, counts))
        return {
            key: min(counts[key] + more, 2 * counts[key], self.most)
            for key, more in need.items()
            if counts[key] < self.most  # some of which may have failed
        }

    def _needed(self, cells: Cells) -> dict[str, int]:
        """How many more values the widest class of each configuration needs, as far as intervals of
        now tell; those that need none are not in it.
        """
        from scipy.stats import t  # takes most of a second to import

        many, mean = cells.many, np.abs(cells.mean)
        degrees, place = np.unique(np.maximum(many - 1, 1), return_inverse=True)
        half = t.ppf(0.975, degrees)[place] * cells.deviation / np.sqrt(many)
        half[many < 2] = np.inf
        wide = (mean > 0) & (half > self.part * mean)  # of nothing there is no part
        with np.errstate(over="ignore"):  # of a mean that is nearly zero
            ratio = half[wide] / (self.part * mean[wide])
            more = np.clip(np.ceil(many[wide] * ratio**2) - many[wide], 1, self.most)
        more[many[wide] < 2] = 1
        found: dict[str, int] = {}
        for cell, number in zip(np.flatnonzero(wide), more, strict=True):
            key = cells.keys[cell]
            found[key] = max(found.get(key, 0), int(number))
        return found


@dataclass(frozen=True)
class Cells:
    """Classes of configurations, with what is known of a metric: shape (classes,) each."""

    keys: list[str]
    """Of their configurations."""
    many: NDArray[np.int64]
    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]
    """Standard deviation of the values; 0 of a single one, and of equal ones."""


def _measured(rows: pyarrow.Table, metric: str, version: str, counts: Mapping[str, int]) -> Cells:
    """The classes of the configurations in `counts`, of their first seeds and finite values."""
    keys, configuration = coded(rows.column("configuration"))
    names, name = coded(rows.column("class"))
    versions, made_by = coded(rows.column("version"))
    keys = keys.to_pylist()
    most = np.array([counts.get(key, 0) for key in keys], np.uint64)
    seed = rows.column("seed").to_numpy()
    value = rows.column(metric).cast("float64").to_numpy()  # null is NaN
    own = np.array([one == version for one in versions.to_pylist()])[made_by]
    own &= (seed >= 1) & (seed <= most[configuration]) & np.isfinite(value)
    cell = configuration[own] * len(names) + name[own]
    order = np.argsort(cell, kind="stable")
    cell, value = cell[order], value[own][order]
    starts = np.flatnonzero(np.diff(cell, prepend=-1))
    many = np.diff(starts, append=len(cell))
    if not len(starts):
        return Cells([], many, np.zeros(0), np.zeros(0))
    mean = np.add.reduceat(value, starts) / many
    squares = np.add.reduceat((value - np.repeat(mean, many)) ** 2, starts)
    deviation = np.sqrt(squares / np.maximum(many - 1, 1))
    deviation[np.maximum.reduceat(value, starts) == np.minimum.reduceat(value, starts)] = 0
    return Cells([keys[one] for one in cell[starts] // len(names)], many, mean, deviation)


def first(seeds: object, configurations: list[Configuration]) -> dict[str, int]:
    """How many replications every configuration begins with. Raises ValueError for seeds that are
    no number.
    """
    if not isinstance(seeds, int) or isinstance(seeds, bool):
        raise ValueError(
            "with --until, seeds is a number: how many replications there are at least"
        )
    return {one.key: max(seeds, LEAST) for one in configurations}

"""Replications until intervals are narrow, decided by the rows alone: so it does not matter who
made them, or in which order.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np

from ..frames import TABLES
from ..offers import lookup
from ..records import meanings
from ..seeds import LAST_SEED
from ..statistics import interval
from .configuration import Configuration
from .store import CLASSES, Store

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
        values = self._values(store, version, counts)
        more: dict[str, int] = {}
        for key, own in values.items():
            there = counts[key]  # some of them may have failed
            need = max((self._more(np.asarray(found)) for found in own), default=0)
            if need and there < self.most:
                more[key] = min(there + need, 2 * there, self.most)
        return more

    def _more(self, values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> int:
        """How many more values give an interval that is narrow enough, as far as these tell."""
        finite = values[np.isfinite(values)]
        if not len(finite):
            return 0  # the metric has no value here
        found = interval(finite)
        if not found.mean or found.half <= self.part * abs(found.mean):
            return 0  # of nothing there is no part
        if len(finite) < 2:
            return 1
        need = math.ceil(len(finite) * (found.half / (self.part * abs(found.mean))) ** 2)
        return max(need - len(finite), 1)

    def _values(
        self, store: Store, version: str, counts: dict[str, int]
    ) -> dict[str, list[list[float]]]:
        """The metric of each class of each configuration, of its first seeds."""
        rows = store.read(CLASSES, ["class", self.metric])
        if not rows.num_rows:
            return {}  # all runs have failed
        found: dict[tuple[str, str], list[float]] = {}
        columns = ("configuration", "seed", "version", "class", self.metric)
        for key, seed, made_by, name, value in zip(
            *(rows.column(column).to_pylist() for column in columns), strict=True
        ):
            if made_by == version and key in counts and 1 <= seed <= counts[key]:
                number = math.nan if value is None else float(value)
                found.setdefault((key, name), []).append(number)
        of: dict[str, list[list[float]]] = {}
        for (key, _), values in found.items():
            of.setdefault(key, []).append(values)
        return of


def first(seeds: object, configurations: list[Configuration]) -> dict[str, int]:
    """How many replications every configuration begins with. Raises ValueError for seeds that are
    no number.
    """
    if not isinstance(seeds, int) or isinstance(seeds, bool):
        raise ValueError(
            "with --until, seeds is a number: how many replications there are at least"
        )
    return {one.key: max(seeds, LEAST) for one in configurations}

"""Sweeps in one call."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..markup import html_table
from ..scenario import Scenario
from ..seeds import Seeds
from ..sources import load
from ..telling import telling
from .answers import Question, draw, frame, query
from .axes import axis, from_values
from .designs import axes_of, dimension
from .expressions import Derivable
from .parts import CLASSES
from .store import Failure, Store
from .sweep import Progress, Sweep, Tell, sequence
from .until import MOST

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure


MOST_VALUES = 8
"""Values of an axis that notebooks show."""

FEW_VALUES = 3
"""Those in one line."""

MOST_REASONS = 3
"""Reasons of failures that notebooks show."""


@dataclass(frozen=True)
class Swept:
    """A sweep that was run, and its store."""

    sweep: Sweep
    store: Store
    progress: Progress

    @property
    def failures(self) -> list[Failure]:
        """The runs that gave an error, and no rows since."""
        return self.store.failures()

    def frame(self, table: str = CLASSES) -> pandas.DataFrame:
        """A table of all runs in the store; its units are in `.attrs["units"]`."""
        return frame(self.store, table)

    def query(self, sql: str) -> pandas.DataFrame:
        """The answer to a question in SQL over the tables of the store."""
        return query(self.store, sql)

    def plot(
        self,
        x: str,
        y: str = "throughput_bps",
        *,
        by: str = "controller",
        down: str = "",
        panels: str | Sequence[str] = (),
        paired: str = "",
        better: Mapping[str, str] | str | None = None,
        where: Mapping[str, object] | None = None,
        table: str = CLASSES,
        **options: Any,
    ) -> Figure:
        """A metric over an axis: a line for each value of `by`, a panel for each class of users or
        each combination of values of the columns `panels`.

        With `down`, a second axis, maps over both; where `x` is a metric, a point for each
        configuration, and their Pareto front, for which `better` says which way is better, such as
        {"rtt_mean_s": "less"}. `paired` is a value of `by`, to which differences are drawn, of runs
        with the same seed. `where` has the value, or a list of them, that columns are to have.
        Raises ValueError for what does not go together.
        """
        asked = Question(x, y, by, where, table, down, panels, paired, better)
        return draw(self.store, asked, **options)

    def __repr__(self) -> str:
        """Scenario, runs and axes, in one line."""
        axes = [f"; {name} = {values}" for name, values in self._axes(FEW_VALUES).items()]
        return f"<Swept {self.sweep.scenario.name}: {self._runs()}{''.join(axes)}>"

    def _repr_html_(self) -> str:
        """Axes and their values as a table, for notebooks."""
        rows = [[name, values] for name, values in self._axes(MOST_VALUES).items()]
        reasons = Counter(one.reason for one in self.progress.failures).most_common(MOST_REASONS)
        notes = [self._runs(), *(f"{count} failed: {reason}" for reason, count in reasons)]
        title = str(self.store.folder)
        return html_table(
            ["axis", "values"], rows, words=["axis", "values"], title=title, notes=notes
        )

    def _runs(self) -> str:
        """How many runs there are, and how many have failed."""
        made = self.progress
        failed = f", {made.failed} failed" if made.failed else ""
        return f"{made.there + made.made} runs{failed}"

    def _axes(self, most: int) -> dict[str, str]:
        """The values of each axis, controllers among them, so many at most."""
        own = self.sweep
        values = {
            key: [row[place] for row in axis.rows]
            for axis in own.axes
            for place, key in enumerate(axis.keys)
        }
        values |= {"controller": list(own.controllers)} if own.controllers else {}
        return {key: _listed(texts, most) for key, texts in values.items()}


def _listed(texts: Sequence[str], most: int) -> str:
    """Some texts, and how many more there are."""
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return ", ".join(texts[:most]) + more


def sweep(
    scenario: Scenario | str | Path,
    vary: Mapping[str, object] | Sequence[str] = (),
    *,
    controllers: Sequence[str] | str = (),
    seeds: Seeds = 1,
    overrides: Sequence[str] = (),
    tables: Sequence[str] = (),
    sample: str | None = None,
    derive: Mapping[str, Derivable] | None = None,
    only: Sequence[str] = (),
    until: str | None = None,
    most_seeds: int = MOST,
    store: str | Path | None = None,
    on: str = "threads",
    workers: int = 0,
    tell: Tell | None = None,
) -> Swept:
    """Runs every combination of axes, controllers and seeds that the store does not have yet.

    `vary` has axes by key, lists or texts such as "5..40:8 Mb/s", or texts as `--vary` takes them;
    `sample`, such as "sobol:64", draws from ranges without a count. `derive` has values that follow
    from axes, as expressions or as functions of the values by key, `only` conditions on points.
    With `until`, such as "throughput_bps ±2%", replications go on, up to `most_seeds`. `store` is a
    folder, without it that of the scenario's name. `on` and `workers` say where runs are made;
    `tell` hears how far it is, in place of the line that a terminal or a notebook shows.
    Raises ValueError for what is wrong, ScenarioError, StoreError, OSError, ImportError for what is
    not installed.

    >>> counts = {"flow.multipath.count": [5, 10]}
    >>> swept = sweep("khalili/scenario-c", counts, controllers=["lia", "olia"], seeds=2)
    >>> len(swept.frame("runs"))
    8
    """
    whole = scenario if isinstance(scenario, Scenario) else load(scenario)
    if isinstance(vary, Mapping):
        ranges = {
            key: values
            for key, values in vary.items()
            if isinstance(values, str) and dimension(f"{key}={values}")
        }
        plain = [from_values(key, values) for key, values in vary.items() if key not in ranges]
        axes = [*plain, *axes_of([f"{k}={v}" for k, v in ranges.items()], sample, axis)]
    else:
        axes = axes_of(sequence(vary), sample, axis)
    made = Sweep(whole).extended(
        axes,
        controllers=sequence(controllers),
        seeds=seeds,
        overrides=sequence(overrides),
        tables=sequence(tables),
        derive=derive,
        only=sequence(only),
        until=until,
        most_seeds=most_seeds,
    )
    folder = store or f"{whole.name.split('/')[-1]}.sweep"
    if tell:
        progress = made.run(folder, on=on, workers=workers, tell=tell)
        return Swept(made, Store(folder), progress)
    began_s = time.monotonic()
    with telling(f"running into {folder}") as tell_text:

        def told(now: Progress) -> None:
            text = now.text(time.monotonic() - began_s)
            tell_text(now.done - now.there, now.wanted - now.there, text)

        progress = made.run(folder, on=on, workers=workers, tell=told)
    return Swept(made, Store(folder), progress)

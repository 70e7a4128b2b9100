"""Sweeps in one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..scenario import Scenario
from ..seeds import Seeds
from ..sources import load
from .answers import Question, draw, frame, query
from .axes import axis, from_values
from .designs import axes_of, dimension
from .expressions import Expression
from .store import CLASSES, Failure, Store
from .sweep import Progress, Sweep, Tell, sequence
from .until import MOST, Until

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure


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
        where: Mapping[str, str] | None = None,
        **options: Any,
    ) -> Figure:
        """A metric over an axis, a line for each value of `by`, a panel for each class of users."""
        return draw(self.store, Question(x, y, by, where), **options)


def sweep(
    scenario: Scenario | str | Path,
    vary: Mapping[str, object] | Sequence[str] = (),
    *,
    controllers: Sequence[str] | str = (),
    seeds: Seeds = 1,
    overrides: Sequence[str] = (),
    tables: Sequence[str] = (),
    sample: str | None = None,
    derive: Mapping[str, str] | None = None,
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
    from axes, `only` conditions on points. With `until`, such as "throughput_bps ±2%", replications
    go on, up to `most_seeds`. `store` is a folder, without it that of the scenario's name. `on` and
    `workers` say where runs are made. Raises ValueError for what is wrong, ScenarioError,
    StoreError, OSError, ImportError for what is not installed.

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
    keys = [key for one in axes for key in one.keys]
    derived = {key: Expression.read(text, keys) for key, text in (derive or {}).items()}
    made = Sweep(
        whole,
        tuple(axes),
        sequence(controllers),
        seeds,
        sequence(overrides),
        sequence(tables),
        derived,
        tuple(Expression.read(text, [*keys, *derived], unit=False) for text in sequence(only)),
        Until.read(until, most_seeds) if until else None,
    )
    folder = store or f"{whole.name.split('/')[-1]}.sweep"
    progress = made.run(folder, on=on, workers=workers, tell=tell)
    return Swept(made, Store(folder), progress)

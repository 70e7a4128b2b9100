"""Figures of a store: lines over an axis, maps over two, and two metrics against each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import plot
from ..offers import lookup
from ..plot.style import SEPARATOR
from ..statistics import Interval
from . import cells as points
from .better import ways
from .cells import Cells, Runs, runs_of, together
from .columns import axis_label, metrics, units_of, words
from .parts import CLASSES, StoreError, is_axis
from .scan import PARTS, Coded, Codes, Scan, Where, fixed, scan, schema
from .store import Store

if TYPE_CHECKING:
    import pyarrow
    from matplotlib.figure import Figure

FEW = 400
"""Cells of a map that may be empty, however many of them are."""

FILLED = 0.2
"""The part of a larger map that has runs at least."""

MOST_NAMED = 3
"""Overrides in an error."""


@dataclass(frozen=True)
class Question:
    """What a figure of a sweep shows."""

    x: str
    """An axis, or a metric that `y` is drawn against."""
    y: str = "throughput_bps"
    by: str = "controller"
    where: Mapping[str, object] | None = None
    table: str = CLASSES
    down: str = ""
    """The axis along the height of a map."""
    panels: str | Sequence[str] = ()
    """Columns; each combination of their values has a panel."""
    paired: str = ""
    """A value of `by`, to which differences are drawn."""
    better: Mapping[str, str] | str | None = None
    """Which way metrics are better, where `x` is one; see `better.ways`."""


def draw(store: Store, asked: Question, **options: Any) -> Figure:
    """A metric over an axis of a sweep, with 95 % intervals over the seeds: a line for each group,
    a panel for each class, link or station, unless `panels` names other columns. Rows of one run,
    such as its flows, are averaged first.

    With `down` it is a map of the metric over two axes, a panel for each group too. Where `x` is a
    metric, each configuration is a point, and a line joins those that no other is better than in
    both metrics. With `paired`, values are differences to that group, of runs with the same seed.

    Raises ValueError for a column that there is not, for what does not go together, and where a
    point of the figure would be of several configurations: what differs is to be drawn, or fixed by
    `where`.
    """
    columns = schema(store, asked.table)
    question = checked(asked, columns)
    where = fixed(store, asked.table, asked.where or {}, columns.names)
    needed = [question.x, question.y, question.by, question.down, *question.panels, "scenario"]
    needed += [name for name in columns.names if is_axis(name) and name not in needed]
    own = [name for name in (*needed, *PARTS) if name in columns.names]
    drawing = Drawing(store, question, where, scan(store, asked.table, own, where))
    if question.x in metrics(columns):
        return drawing.against(options)
    return drawing.map(options) if question.down else drawing.lines(options)


def checked(asked: Question, columns: pyarrow.Schema) -> Question:
    """A question with the names of columns as tables have them. Raises ValueError."""
    names, numbers = columns.names, metrics(columns)

    def column(name: str) -> str:
        return lookup("column", name, names, "the columns are")

    given = asked.panels.split(",") if isinstance(asked.panels, str) else asked.panels
    panels = tuple(column(name.strip()) for name in given if name.strip())
    own = replace(
        asked,
        x=column(asked.x),
        y=column(asked.y),
        by=column(asked.by),
        down=column(asked.down) if asked.down else "",
    )
    drawn = (own.x, own.by, own.down)
    parts = [name for name in PARTS if name in names and name not in drawn]
    own = replace(own, panels=panels or tuple(parts[:1]))
    if own.y not in numbers:
        raise ValueError(f"{own.y} is no number; columns of numbers are {', '.join(numbers)}")
    _check_axes(own, numbers)
    _check_metrics(own, numbers)
    return own


def _check_axes(own: Question, numbers: Sequence[str]) -> None:
    """Raises ValueError where a column is drawn twice, or a metric stands for an axis."""
    if own.down and own.down in numbers:
        raise ValueError(f"--down is {own.down}, a metric; name an axis, and draw metrics with --y")
    if own.by in numbers:
        raise ValueError(f"--by is {own.by}, a metric; name a column of few values")
    if own.down == own.x:
        raise ValueError(f"--x and --down are both {own.x}; name two axes")
    if own.down and own.by in (own.x, own.down):
        raise ValueError(f"--by is {own.by}, which is an axis of the map; name another column")
    for number, name in enumerate(own.panels):
        others = {"x": own.x, "y": own.y, "by": own.by, "down": own.down}
        for option, other in others.items():
            if name == other:
                raise ValueError(
                    f"--panels has {name}, which --{option} draws; name another column"
                )
        if name in numbers:
            raise ValueError(f"--panels has {name}, a metric; name a column of few values")
        if name in own.panels[:number]:
            raise ValueError(f"--panels has {name} twice")


def _check_metrics(own: Question, numbers: Sequence[str]) -> None:
    """Raises ValueError for what only metrics along x have, and what they do not."""
    if own.x not in numbers:
        if own.better:
            raise ValueError(
                f"--better is of figures of two metrics, and {own.x} is an axis; give a metric as --x"
            )
        return
    if own.x == own.y:
        raise ValueError(f"--x and --y are both {own.x}; name two metrics")
    for option, value in (("down", own.down), ("paired", own.paired)):
        if value:
            raise ValueError(
                f"--{option} needs an axis as --x, and {own.x} is a metric; draw it with --y"
            )


class Drawing:
    """Rows, and what becomes of them in a figure."""

    def __init__(self, store: Store, question: Question, where: Where, rows: Scan) -> None:
        """Raises ValueError where parts of a run would be averaged that are not alike."""
        self.store = store
        self.question = question
        self.where = where
        self.rows = rows
        drawn = (question.x, question.by, question.down, *question.panels)
        part = next((name for name in PARTS if name in rows.table.column_names), None)
        if part and part not in drawn:
            values = rows.coded(part).values
            if len(values) > 1:
                panels = ",".join([part, *question.panels])
                raise ValueError(
                    f"{part} varies ({', '.join(values[:2])}) and is not in the figure: draw it with "
                    f"--panels {panels}, or fix it with --where {part}={values[0]}"
                )

    @cached_property
    def panels(self) -> Coded:
        """A panel for each combination of values of its columns."""
        columns = [self.column(name) for name in self.question.panels]
        if not columns:
            return Coded(np.zeros(len(self.rows.run), dtype=np.int64), [""])
        codes = np.stack([one.codes for one in columns], axis=1)
        missing = (codes < 0).any(axis=1)
        place = together(codes, [len(one.values) for one in columns])
        known, first, places = np.unique(
            np.where(missing, -1, place), return_index=True, return_inverse=True
        )
        own = [place for place, code in enumerate(known) if code >= 0]
        texts = [
            [one.values[code] for one, code in zip(columns, codes[first[place]], strict=True)]
            for place in own
        ]
        return Coded(places - (len(known) - len(own)), [self.title(text) for text in texts])

    def title(self, values: Sequence[str]) -> str:
        """What a panel is called."""
        return SEPARATOR.join(map(titled, self.question.panels, values))

    def column(self, name: str) -> Coded:
        """A column as codes."""
        return self.rows.coded(name)

    def lines(self, options: Mapping[str, Any]) -> Figure:
        """A line for each group over an axis."""
        own = self.question
        dimensions = [self.panels, self.column(own.by), self.column(own.x)]
        found, note = self.found(dimensions)
        drawn: dict[str, dict[str, dict[str, Interval]]] = {}
        for cell, (panel, group, at) in enumerate(found.places):
            lines = drawn.setdefault(dimensions[0].values[panel], {})
            line = lines.setdefault(titled(own.by, dimensions[1].values[group]), {})
            line[dimensions[2].values[at]] = found.interval(cell).times(self.factor(own.y))
        values = _used(dimensions[2], found.places[:, 2])
        return plot.swept(
            drawn,
            values=values,
            labels=(axis_label(own.x, values), self.label(own.y)),
            note=note,
            order=[titled(own.by, value) for value in dimensions[1].values],
            difference=bool(own.paired),
            **options,
        )

    def map(self, options: Mapping[str, Any]) -> Figure:
        """A map over two axes for each group."""
        own = self.question
        names = (own.by, own.x, own.down)
        dimensions = [self.panels, *(self.column(name) for name in names)]
        found, note = self.found(dimensions)
        x, y = (_used(dimensions[place], found.places[:, place]) for place in (2, 3))
        at = [{value: place for place, value in enumerate(values)} for values in (x, y)]
        drawn: dict[str, dict[str, points.Floats]] = {}
        for cell, (panel, group, across, down) in enumerate(found.places):
            groups = drawn.setdefault(dimensions[0].values[panel], {})
            values = groups.setdefault(
                titled(own.by, dimensions[1].values[group]), np.full((len(x), len(y)), np.nan)
            )
            place = at[0][dimensions[2].values[across]], at[1][dimensions[3].values[down]]
            values[place] = found.means[cell, 0] * self.factor(own.y)
        _check_filled(own, drawn)
        return plot.swept_map(
            drawn,
            columns=x,
            rows=y,
            labels=(axis_label(own.x, x), axis_label(own.down, y)),
            quantity=self.label(own.y),
            note=note,
            difference=bool(own.paired),
            **options,
        )

    def against(self, options: Mapping[str, Any]) -> Figure:
        """A metric against another one, a point for each configuration."""
        own = self.question
        more = ways(own.better, [own.x, own.y])
        group = self.column(own.by)
        keys = [self.column(name) for name in ("configuration", "version")]
        runs = runs_of(self.rows, [self.panels, group, *keys], [own.x, own.y])
        found = points.cells(runs)
        factors = np.array([self.factor(own.x), self.factor(own.y)])
        drawn: dict[str, dict[str, plot.Cloud]] = {}
        for panel, code in np.unique(found.places[:, :2], axis=0):
            rows = (found.places[:, :2] == (panel, code)).all(axis=1)
            clouds = drawn.setdefault(self.panels.values[panel], {})
            clouds[titled(own.by, group.values[code])] = plot.Cloud(
                found.means[rows] * factors, found.halves[rows] * factors
            )
        return plot.tradeoff(
            drawn,
            labels=(self.label(own.x), self.label(own.y)),
            more=(more[0], more[1]),
            note=self.note(runs, found),
            **options,
        )

    def found(self, dimensions: Sequence[Coded]) -> tuple[Cells, str]:
        """The points of the figure, and what is said of them. `dimensions` begin with panels and
        groups. Raises ValueError.
        """
        own = self.question
        runs = runs_of(self.rows, dimensions, [own.y])
        self.check(runs)
        if own.paired:
            groups = dimensions[1].values
            value = lookup(own.by, own.paired, groups, f"the values of {own.by} are")
            sizes = [len(one.values) for one in dimensions]
            runs = points.paired(runs, 1, groups.index(value), sizes)
            if not len(runs):
                raise ValueError(
                    f"no run has a partner among those of {value}: none has the same seed and the "
                    f"same values of the axes; draw another --paired, or leave it out"
                )
        found = points.cells(runs)
        return found, self.note(runs, found)

    def note(self, runs: Runs, found: Cells) -> str:
        """What all points have in common."""
        scenarios = self.rows.coded("scenario")
        there = [scenarios.values[code] for code in np.unique(scenarios.codes[runs.rows])]
        few, many = (
            (int(one) for one in (found.counts.min(), found.counts.max())) if len(found) else (0, 0)
        )
        seeds = f"{few} to {many}" if few < many else f"{many}"
        lines = not self.question.down and found.means.shape[1] == 1
        kinds = "95 % intervals" if lines else "means"
        held = [f"{name} = {values[0]}" for name, values in self.where.items() if len(values) == 1]
        pairs = "paired by seed" if self.question.paired else ""
        if many < 2:
            kinds = ""  # of one seed there is no interval
        seeds = f"{seeds} seed" if many == 1 else f"{seeds} seeds"
        held += [f"{name} varies too" for name in self.others(runs)]
        group = self.column(self.question.by)
        only = np.unique(group.codes[runs.rows])
        if len(only) == 1 and self.question.by not in self.where:
            held.insert(0, titled(self.question.by, group.values[only[0]]))
        return SEPARATOR.join(text for text in (*there, *held, seeds, pairs, kinds) if text)

    def others(self, runs: Runs) -> list[str]:
        """The axes that are not drawn, and of which points have several values: each point has one,
        such as where it follows from a drawn axis.
        """
        own = self.question
        drawn = {own.x, own.by, own.down, *own.panels, *self.where}
        names = [name for name in self.rows.table.column_names if is_axis(name)]
        if own.x not in names:
            return []  # points of all configurations
        columns = ((name, self.rows.codes(name)) for name in names if name not in drawn)
        return [name for name, codes in columns if len(np.unique(codes[runs.rows])) > 1]

    def factor(self, metric: str) -> float:
        """From the unit of a metric to the one that is drawn."""
        return 1e-6 if units_of(self.question.table).get(metric) == "bit/s" else 1.0

    def label(self, metric: str) -> str:
        """What a metric is called, with its unit."""
        own = units_of(self.question.table).get(metric, "")
        unit = "Mb/s" if own == "bit/s" else own
        text = f"{words(metric)} ({unit})" if unit else words(metric)
        return f"{text}, difference to {self.question.paired}" if self.question.paired else text

    def check(self, runs: Runs) -> None:
        """Raises ValueError where a point would be of several configurations or versions."""
        codes = [self.rows.codes(name) for name in ("configuration", "version")]
        if pair := points.mixed(runs, codes):
            raise ValueError(self.mixed(*pair))

    def mixed(self, one: int, other: int) -> str:
        """What differs between the configurations of two rows, for an error."""
        own = self.question
        rows = self.rows.table.take([one, other]).to_pylist()
        drawn = {own.x, own.by, own.down, *own.panels} - {""}
        where = {name: [str(rows[0][name])] for name in drawn}
        keys = [row["configuration"] for row in rows]
        columns = schema(self.store, own.table)
        measured = {*metrics(columns), "configuration", "seed"}
        names = [name for name in columns.names if name not in measured]
        whole = scan(self.store, own.table, names, {**where, "configuration": keys}).table
        found = [
            next(
                row
                for row in whole.to_pylist()
                if all(row[n] == of[n] for n in ("configuration", "version"))
            )
            for of in rows
        ]
        for name in names:
            values = [row[name] for row in found]
            if name not in {*drawn, "overrides"} and values[0] != values[1]:
                return (
                    f"{name} varies ({values[0]}, {values[1]}) and is not in the figure: draw it "
                    f"with --x, --by or --panels, or fix it with --where {name}={values[0]}"
                )
        return (
            f"a point of the figure would be of two configurations, {keys[0]} and {keys[1]}, which "
            f"differ in {self.overrides(keys)}: draw it with --by overrides, or fix one with "
            "--where overrides=VALUE, of those that `sweep status` shows"
        )

    def overrides(self, keys: Sequence[str]) -> str:
        """What two configurations that no column tells apart differ in."""
        try:
            first, second = ({*self.store.configuration(key).overrides} for key in keys)
        except StoreError:
            return "what is no column"
        differing = sorted(first ^ second)
        if not 0 < len(differing) <= MOST_NAMED:
            return "what is no column"
        return f"what is no column ({', '.join(differing)})"


def titled(column: str, value: str) -> str:
    """A value of a column; one of an axis says which axis it is of."""
    return value if column in (*PARTS, "controller", "class_controller") else f"{column} = {value}"


def _used(column: Coded, codes: Codes) -> list[str]:
    """The values that are in a figure, in their order."""
    return [column.values[code] for code in np.unique(codes)]


def _check_filled(own: Question, drawn: Mapping[str, Mapping[str, points.Floats]]) -> None:
    """Raises ValueError for a map of hardly any runs, such as of points that a design has drawn."""
    arrays = [values for groups in drawn.values() for values in groups.values()]
    size = max((values.size for values in arrays), default=0)
    most = max((int(np.isfinite(values).sum()) for values in arrays), default=0)
    if size > FEW and most < FILLED * size:
        raise ValueError(
            f"{most} of {size} pairs of values of {own.x} and {own.down} have runs: these are points "
            f"and no grid; leave --down out, or give a metric as --x"
        )

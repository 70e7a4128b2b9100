"""RTTs and windows of the paths of one user, and the internal quantities of their controller."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from . import style
from .inputs import Results, controller_of, of_paths, path_groups, path_label, single
from .labels import joined, name_of, over_time
from .size import Width
from .streams import look_of
from .subflows import View, Who, class_of, of_whom, view

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MEMBER = "in_"
"""Names of memberships of sets, which are 0 or 1, begin so."""
UNITS = {"_segments": " (segments)", "_s": " (s)"}
"""Suffixes of names, and their units in labels."""
BAR = 0.7
"""Height of a membership's bar, of a row's height."""


@style.styled
def law(
    results: Results,
    *,
    flow: str | None = None,
    user: int = 0,
    seed: int | None = None,
    start_s: float = 0.0,
    end_s: float | None = None,
    names: Sequence[str] | None = None,
    width: Width | None = None,
    title: str | None = None,
) -> Figure:
    """The paths of one user of the class `flow`, by default the first with several paths: smoothed
    round-trip times in ms, congestion windows in segments, and a panel for each quantity that the
    controller publishes, such as OLIA's α and l.

    Bars show when a path was a member of a set, such as OLIA's best paths (B) and those of the
    largest window (M). For a controller that publishes nothing there are only the first two panels.
    Of a class with more than four paths the first four are drawn. Scales fit the data after the
    warm-up. `names` has a name for the result.

    Raises ValueError without series, and for an unknown class, user or seed.
    """
    result = single(results, "law")
    who = Who(flow, user, seed)
    seen = view(result, "", who, (start_s, end_s))
    planned = result.plan.classes[class_of(result, flow)]
    paths = path_groups(len(seen.columns))[0]
    drawn = [*base(seen), *published(seen, paths)]
    ratios = [0.35 + 0.2 * len(rows) if isinstance(rows, list) else 1 for _, rows in drawn]
    figure, axes = style.panels(len(drawn), 1.7, title, ratios)
    for ax, (label, what) in zip(axes, drawn, strict=True):
        ax.set_xlim(seen.t_s[0], seen.t_s[-1])
        if isinstance(what, list):
            members(ax, seen, what)
        else:
            lines(ax, seen, paths, what)
            ax.set_ylabel(label)
        style.warmup(ax, seen.warmup_s)
    entries = [
        style.entry(path_label(result, planned, path), **look(seen, paths, path)) for path in paths
    ]
    entries += style.warmup_entry([seen.warmup_s > seen.t_s[0]])
    whose = f"{of_whom(result, who)} ({controller_of(planned)}){of_paths(paths, len(seen.columns))}"
    style.heading(axes[0], whose, entries)
    axes[-1].set_xlabel("Time (s)")
    note = over_time([result], joined(f"seed {seen.run.seed}"), name_of(result, names))
    style.legend(figure, [], note=note)
    return figure


Values: TypeAlias = NDArray[np.float64]
"""A quantity, shape (samples, paths)."""
Rows: TypeAlias = list[tuple[str, int, NDArray[np.float64]]]
"""Memberships: the label of each, its path, and 0 or 1 for each sample."""


def base(seen: View) -> list[tuple[str, Values | Rows]]:
    """Panels for every controller: labels and data."""
    srtt_ms = 1e3 * seen.series("srtt_s")
    known = np.where(srtt_ms > 0, srtt_ms, np.nan)  # 0 before the first sample
    return [("Smoothed RTT (ms)", known), ("Window (segments)", seen.series("cwnd_segments"))]


def published(seen: View, paths: range) -> list[tuple[str, Values | Rows]]:
    """Panels of the quantities that the controller publishes for some paths; memberships share the
    last one.
    """
    panels: list[tuple[str, Values | Rows]] = []
    rows: Rows = []
    for name in dict.fromkeys(internals(seen)):
        values = internals(seen)[name]
        if name.startswith(MEMBER):
            word = name.removeprefix(MEMBER)
            rows += [(f"{word}, {path}", path, values[:, path]) for path in paths]
        else:
            panels.append((labelled(name), values))
    return [*panels, *([("", rows)] if rows else [])]


def internals(seen: View) -> dict[str, NDArray[np.float64]]:
    """Quantities that the controller publishes for the user's paths, shape (samples, paths), by
    name.
    """
    series = seen.run.series
    if not series.has("internals"):
        return {}
    place = {int(column): path for path, column in enumerate(seen.columns)}
    found: dict[str, NDArray[np.float64]] = {}
    table = series.internals
    for name, column, values in zip(table.name, table.path, table.value, strict=True):
        if int(column) in place:
            matrix = found.setdefault(name, np.full(seen.in_use.shape, np.nan))
            matrix[:, place[int(column)]] = values[seen.samples]
    return found


def labelled(name: str) -> str:
    """The label of a quantity with its unit."""
    for end, unit in UNITS.items():
        if name.endswith(end):
            return f"{name.removesuffix(end)}{unit}"
    return name


def look(seen: View, paths: range, path: int) -> dict[str, Any]:
    """Style of the line of a path."""
    return look_of(path, path - paths.start, len(paths), len(seen.t_s))


def lines(ax: Axes, seen: View, paths: range, values: NDArray[np.float64]) -> None:
    """A quantity of the paths over time; it holds from one sample to the next. The scale fits the
    data after the warm-up: slow start would dwarf the rest.
    """
    for path in paths:
        ax.step(seen.t_s, values[:, path], where="post", **look(seen, paths, path))
    scaled = values[seen.t_s >= seen.warmup_s]
    scaled = values if np.isnan(scaled).all() else scaled
    low, high = np.nanmin(scaled, initial=0.0), np.nanmax(scaled, initial=0.0)
    if high > low:
        ax.set_ylim(1.08 * low, 1.08 * high)
    if low < 0:
        ax.axhline(0, color=style.INK, linewidth=style.pt(0.7))


def members(ax: Axes, seen: View, rows: Rows) -> None:
    """A row for each membership, with bars while it holds."""
    t_s = np.append(seen.t_s, seen.t_s[-1])
    for row, (_, path, values) in enumerate(rows):
        holds = np.concatenate(([0], np.nan_to_num(values) > 0, [0])).astype(int)
        first, last = np.flatnonzero(np.diff(holds) > 0), np.flatnonzero(np.diff(holds) < 0)
        spans = [(t_s[a], t_s[b] - t_s[a]) for a, b in zip(first, last, strict=True)]
        tone = look_of(path, 0, 1, 1)["color"]
        ax.broken_barh(spans, (row - BAR / 2, BAR), facecolor=tone, linewidth=0)
    ax.set_yticks(range(len(rows)), [label for label, _, _ in rows])
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.grid(axis="y", visible=False)
    ax.set_ylabel("Member of")

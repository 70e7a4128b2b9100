"""Inputs of plots from results, with errors that name the remedy."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..offers import lookup
from ..plan import Class
from ..result import Result
from ..runs import Run
from ..seeds import consecutive

Results = Result | Sequence[Result]
"""One result, or several to set side by side."""

RATES = {"throughput_bps": "Throughput", "goodput_bps": "Goodput"}
"""Rates of users that plots compare, with the titles of their axes."""

MOST_PANELS = 8
"""A figure has more only when they are asked for by name."""

MOST_LINES = 4
"""Paths per panel, each with its window and its threshold; more paths take several panels."""


def several(results: Results) -> list[Result]:
    """The results as a list. Raises ValueError when there is nothing to draw."""
    given = [results] if isinstance(results, Result) else list(results)
    if not given:
        raise ValueError("there is nothing to draw; give at least one result")
    for result in given:
        if not result.runs:
            raise ValueError(f"{result.plan.name} has no finished replication; run it again")
    return given


def single(results: Results, kind: str) -> Result:
    """The only result. Raises ValueError when there are several."""
    given = several(results)
    if len(given) > 1:
        raise ValueError(f"the plot {kind} draws one result, not {len(given)}; draw each by itself")
    return given[0]


def with_seed(result: Result, seed: int | None) -> Run:
    """The run with `seed`, by default the first. Raises ValueError if there is no such run."""
    found = [run for run in result.runs if seed is None or run.seed == seed]
    if not found:
        seeds = ", ".join(str(known) for known in result.seeds)
        raise ValueError(f"there is no replication with seed {seed}; the seeds are {seeds}")
    return found[0]


def replication(result: Result, seed: int | None) -> Run:
    """The run with `seed`, by default the first. Raises ValueError without it or its series."""
    run = with_seed(result, seed)
    if not run.has("series"):
        raise ValueError(no_series(result))
    return run


def with_series(result: Result) -> list[Run]:
    """All replications. Raises ValueError when one of them has no series."""
    if not all(run.has("series") for run in result.runs):
        raise ValueError(no_series(result))
    return result.runs


def no_series(result: Result) -> str:
    """Error message for missing series, with the command that runs the same with series."""
    command = shlex.join([*result.command(), "--series", "--json", "FILE"])
    chosen = (
        ""
        if result.world == "linux" or consecutive(sorted(result.seeds))
        else ", which runs the first seed alone: only Python takes seeds that do not follow one another"
    )
    return f"the result has no samples over time; run with series=True, or `{command}`{chosen}"


def span(t_s: NDArray[np.float64], start_s: float, end_s: float | None) -> slice:
    """The samples from `start_s` to `end_s`. Raises ValueError when there are fewer than two."""
    end_s = float(t_s[-1]) if end_s is None else end_s
    first, last = np.searchsorted(t_s, [start_s, np.nextafter(end_s, np.inf)])
    if last - first < 2:
        raise ValueError(
            f"there are no samples from {start_s:g} s to {end_s:g} s; "
            f"they go from {t_s[0]:g} s to {t_s[-1]:g} s"
        )
    return slice(int(first), int(last))


def path_columns(result: Result, run: Run, name: str) -> NDArray[np.intp]:
    """Columns of the path series that belong to a class, shape (users, paths)."""
    planned = result.plan.classes[result.classes.index(name)]
    flows = np.asarray(run.flows.class_) == name
    columns = np.flatnonzero(flows[run.paths.flow])
    return columns.reshape(int(flows.sum()), len(planned.paths))


def present(result: Result, run: Run, name: str) -> NDArray[np.bool_]:
    """When the paths of a class are in use, shape (samples, users, paths).

    A path is in use from the start of its user, or when it joins, until it leaves or the transfer
    is done.
    """
    planned = result.plan.classes[result.classes.index(name)]
    flows = np.asarray(run.flows.class_) == name
    t_s = run.series.t_s[:, None, None]
    start = np.asarray(run.flows.start_s)[flows][None, :, None]
    done = np.asarray(run.flows.completed_s, dtype=float)[flows][None, :, None]
    join = np.array([path.join_s for path in planned.paths])
    leave = [path.leave_s for path in planned.paths]
    gone = np.array([np.inf if at is None else at for at in leave])
    in_use: NDArray[np.bool_] = (t_s >= np.maximum(start, join)) & (t_s < gone) & ~(t_s > done)
    return in_use


def user_of(result: Result, user: int) -> None:
    """Raises ValueError when no class has the user."""
    most = max(planned.count for planned in result.plan.classes)
    if not 0 <= user < most:
        raise ValueError(f"there is no user {user}; the largest class has users 0 to {most - 1}")


def panels_of(names: Sequence[str], chosen: Sequence[str] | None, what: str) -> list[int]:
    """Numbers of the classes or links to draw: those chosen, or the first `MOST_PANELS`.

    Raises ValueError for a name that there is not.
    """
    if chosen:
        return [number_of(name, names, what) for name in chosen]
    return list(range(len(names)))[:MOST_PANELS]


def number_of(name: str, names: Sequence[str], what: str) -> int:
    """The number of a class, link or other entity. Raises ValueError for an unknown name."""
    several = f"{what}es" if what.endswith("s") else f"{what}s"
    return list(names).index(lookup(what, name, names, f"the {several} are"))


def cut(shown: int, all_of_them: int, what: str) -> str:
    """A remark for the title where only a part is drawn."""
    return "" if shown == all_of_them else f" ({shown} of {all_of_them} {what})"


def path_label(result: Result, planned: Class, path: int) -> str:
    """Number of a path and the links on which it may queue: links with a rate or on a medium."""
    links = [result.plan.links[link] for link in planned.paths[path].links]
    names = [li.name for li in links if li.rate_bps or li.attachments] or [li.name for li in links]
    via = f"via {', '.join(names)}"
    return shortened(via if len(planned.paths) == 1 else f"path {path} {via}", 36)


def shortened(text: str, most: int) -> str:
    """Text of at most `most` characters."""
    return text if len(text) <= most else text[: most - 1] + "…"


FAR = 10.0
"""Ratio of values from which they need different scales to be legible."""


def apart(values: Sequence[float]) -> list[list[int]]:
    """Indices of values in groups, such that one scale can show each group; groups and members keep
    the order of the values.
    """
    groups: list[list[int]] = []
    for index in sorted(range(len(values)), key=lambda index: -values[index]):
        if groups and not 0 < values[index] * FAR < values[groups[-1][0]]:
            groups[-1].append(index)
        else:
            groups.append([index])
    return sorted(sorted(group) for group in groups)


def path_groups(count: int) -> list[range]:
    """The paths of a class in as few panels as have no more than `MOST_LINES` each."""
    panels = -(-count // MOST_LINES)
    ends = [round(count * panel / panels) for panel in range(panels + 1)]
    return [range(first, end) for first, end in pairwise(ends)]


def of_paths(shown: range, count: int) -> str:
    """The paths of a panel, for its title; empty if it has all."""
    if len(shown) == count:
        return ""
    return f", path {shown[0]}" if len(shown) == 1 else f", paths {shown[0]}–{shown[-1]}"


def class_names(results: Sequence[Result]) -> list[str]:
    """The classes of all results, each once, in the order of their first appearance."""
    return list(dict.fromkeys(name for result in results for name in result.classes))


def controller_of(planned: Class) -> str:
    """The controller of a class, for a title, or "UDP"."""
    return "UDP" if planned.protocol == "udp" else planned.controller


def with_window(result: Result, classes: Sequence[str] | None) -> list[str]:
    """The classes to draw windows of: the chosen ones, or all that have a window.

    Raises ValueError for an unknown class, for a chosen class of datagrams, and when no class has a
    window.
    """
    having = [c.name for c in result.plan.classes if c.protocol != "udp"]
    known = result.classes
    wanted = [known[number_of(name, known, "class")] for name in classes or ()]
    for name in wanted:
        if name not in having:
            raise ValueError(f"the class {name!r} sends datagrams (UDP) and has no window")
    if not having:
        raise ValueError(f"no class of {result.plan.name} has a window; all send datagrams")
    return wanted or having

"""Output of `anabranch theory --fluid` and `--portrait`: the fluid model of a plan."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from .. import plot, theory
from ..plan import Plan
from .draw import Looks
from .terminal import named, progress, table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_ROWS = 10
"""Rows of a table of eigenvalues; omitted ones lie further to the left and decay faster."""

LONGEST_PORTRAIT_S = 60.0


@dataclass(frozen=True)
class Dynamics:
    """The fluid model of a plan, its eigenvalues, and how long it takes from several starts."""

    fluid: theory.Fluid
    stability: theory.Stability
    convergence: list[theory.Convergence]


def axes_from(text: str | None) -> tuple[str, str] | None:
    """The two axes of `--axes`. Raises ValueError when they are not two."""
    if text is None:
        return None
    parts = tuple(part.strip() for part in text.split(","))
    if len(parts) != 2 or not all(parts):
        raise ValueError(
            f"--axes is {text!r}; write two, such as multipath.0,multipath.1 or tcp.0,queue:core"
        )
    return parts[0], parts[1]


def dynamics(plan: Plan, *, follow: bool) -> Dynamics:
    """The fluid model of a plan; trajectories only if `follow`. Raises TheoryError where there is
    none.
    """
    fluid = theory.Fluid(theory.Network.from_plan(plan))
    found = theory.stability(fluid)
    settled: list[theory.Convergence] = []
    if follow:
        with progress("following the fluid model") as tell:
            settled = theory.convergence(fluid, found, tell=tell)
    return Dynamics(fluid, found, settled)


def portrait(what: Dynamics, axes: tuple[str, str] | None, looks: Looks) -> Figure:
    """Trajectories in the plane of two unknowns."""
    watched_s = min(theory.watch_s(what.fluid, what.stability), LONGEST_PORTRAIT_S)
    with progress("following trajectories") as tell:
        seen = theory.portrait(what.fluid, axes=axes, duration_s=watched_s, tell=tell)
    network = what.fluid.network
    laws = "+".join(dict.fromkeys(c.label for c in network.classes))
    note = f"{network.name} · {laws} · fluid model, {watched_s:.0f} s from each start, no delay of feedback"
    return plot.phase_portrait(
        seen.curves, seen.rest, labels=seen.labels, note=note, **looks.options()
    )


def show(out: Console, what: Dynamics) -> None:
    """Prints eigenvalues, verdicts and times to settle."""
    found, name = what.stability, what.fluid.network.name
    out.print(
        _eigenvalues(
            "Eigenvalues at the equilibrium, feedback without delay", found.eigenvalues, found.moves
        )
    )
    out.print(
        _eigenvalues("Rightmost eigenvalues, feedback one round trip late", found.delayed, None)
    )
    out.print(
        f"{name}: without delay {found.verdict}, with delay {found.delayed_verdict}", markup=False
    )
    if what.fluid.mesh:
        jumping = dict.fromkeys(law.label for law in what.fluid.laws if law.mesh)
        out.print(
            f"{', '.join(jumping)} jumps where paths tie; its eigenvalues are those of an average over states "
            f"within {100 * what.fluid.mesh:g} %. A fast growing pair is chatter of that size about the jump.",
            style="dim",
            markup=False,
        )
    if what.convergence:
        rows = [[named(each.name), _settles(each)] for each in what.convergence]
        head = ["start, with empty queues", "all classes within 5 % of equilibrium after"]
        out.print(table("Convergence, feedback without delay", head, rows))


def as_data(what: Dynamics) -> dict[str, Any]:
    """The numbers for a result file."""
    found = what.stability
    return {
        "mesh": what.fluid.mesh,
        "without_delay": found.verdict,
        "with_delay": found.delayed_verdict,
        "eigenvalues_per_s": _pairs(found.eigenvalues),
        "moves": list(found.moves),
        "delayed_eigenvalues_per_s": _pairs(found.delayed),
        "time_constant_s": found.time_constant_s,
        "settles_s": {each.name: each.settles_s for each in what.convergence},
        "watched_s": {each.name: each.watched_s for each in what.convergence},
    }


def _pairs(values: NDArray[np.complex128]) -> list[list[float]]:
    return [[float(value.real), float(value.imag)] for value in values]


def _settles(each: theory.Convergence) -> str:
    if math.isinf(each.settles_s):
        return f"not within {each.watched_s:.3g} s"
    return f"{each.settles_s:.3g} s"


def _eigenvalues(title: str, values: NDArray[np.complex128], moves: tuple[str, ...] | None) -> Any:
    """One row for each real eigenvalue or pair, rightmost first."""
    rows = []
    for index, value in enumerate(values):
        if value.imag < 0.0:
            continue  # the other one of a pair
        turning = value.imag > 1e-9 * abs(value)
        row = [
            f"{value.real:.4g}",
            f"± {value.imag:.4g}" if turning else "",
            _grows(float(value.real)),
            f"{2.0 * math.pi / value.imag:.3g} s" if turning else "",
        ]
        rows.append(([named(moves[index])] if moves else []) + row)
    more = len(rows) - MOST_ROWS
    title += f" ({MOST_ROWS} of {len(rows)})" if more > 0 else ""
    head = ["real 1/s", "imaginary 1/s", "e-fold", "period"]
    return table(
        title, (["moves most"] if moves else []) + head, rows[:MOST_ROWS], left=1 if moves else 0
    )


def _grows(real: float) -> str:
    """The time in which a mode decays to 1/e, or grows e-fold."""
    if abs(real) < 1e-9:
        return "neither"
    return f"{'grows' if real > 0.0 else 'decays'} in {1.0 / abs(real):.3g} s"

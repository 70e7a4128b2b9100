"""Solves a `Problem`: implicit steps along the fluid dynamics that lengthen into Newton steps.

The dynamics d(log window)/dt = balance, d(log loss)/dt = log(load/capacity) settle where the
complementarity conditions hold, and keep away from roots that are unstable in reality. Each step
solves (1/dt + F') d = -F over the unknowns that are free to move, so that a short dt follows the
dynamics and a long one is a semismooth Newton step; dt grows as the residual falls (pseudo-
transient continuation with switched evolution relaxation, Kelley & Keyes 1998). Where that stalls,
the Fischer-Burmeister form of the problem is minimised from the best point seen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .complementarity import Problem
from .network import Floats

MESHES = (0.3, 0.1, 0.03, 0.01, 0.005)
"""Coarse to fine: the interpolation meshes a set-valued law is solved on before the last one."""

LONGEST_STEP = 2.0
"""No unknown moves further than this in one step: a factor e² in a window or loss."""

LONGEST_TIME = 1e7
"""Bound on dt. Newton steps need no more, and the split that COUPLED leaves open stays put."""

PATIENCE = 25
"""Steps without progress after which dt is held down, so that jumps from cell to cell die out."""

FURTHER_STEPS = 100
"""Steps from a start that looks for further solutions."""

MOST_STARTS = 16
"""Starts that look for further solutions."""

AHEAD = 1.5
"""Log of the factor by which a window is ahead of where it was, in those starts."""

BISECTIONS = 10
"""Bisections between two solutions, which leave a thousandth of the distance."""

SAME = 1e-4
"""Difference of windows, as a part of the largest, within which two solutions are one."""


@dataclass(frozen=True, slots=True)
class Solution:
    """Where the solver ended: unknowns, their residual (largest component), steps taken."""

    z: Floats
    residual: float
    steps: int


def solve(problem: Problem, tolerance: float) -> Solution:
    """The best solution found; where a set-valued law resists, the finest mesh that gives one.

    That mesh is left in `problem.mesh`.
    """
    wanted = problem.mesh
    best = _multi_start(problem, tolerance, 2 if problem.set_valued else 4)
    coarser = [mesh for mesh in reversed(MESHES) if mesh > wanted] if problem.set_valued else []
    for mesh in coarser:
        if best.residual <= tolerance:
            break
        problem.refine(mesh)
        best = _multi_start(problem, tolerance, 1)
    return best


def others(problem: Problem, first: Solution, tolerance: float) -> list[Solution]:
    """Further solutions, from starts at which a class has most of its window on one path.

    They differ from `first` and from each other, beyond `alike`; there may be more.
    """
    found = [first]
    for start in _one_path_ahead(problem, first.z):
        _keep(problem, found, _from(problem, start, tolerance, FURTHER_STEPS), tolerance)
    return found[1:]


def between(problem: Problem, one: Solution, other: Solution, tolerance: float) -> Solution | None:
    """A solution on the border of the regions from which `one` and `other` are reached, if any.

    The way between them is bisected until a start ends at neither, for on the border the solver
    follows the dynamics to a point that is unstable across it; else Newton's steps go on from the
    border.
    """
    near, far = 0.0, 1.0
    for _ in range(BISECTIONS):
        part = (near + far) / 2.0
        end = _from(problem, _along(one, other, part), tolerance, FURTHER_STEPS)
        if end.residual > tolerance:
            break
        if alike(problem, end, one):
            near = part
        elif alike(problem, end, other):
            far = part
        else:
            return end
    border = _along(one, other, (near + far) / 2.0)
    end = _follow(problem, border, tolerance, FURTHER_STEPS, LONGEST_TIME)
    fits = end.residual <= tolerance
    return end if fits and not any(alike(problem, end, old) for old in (one, other)) else None


def alike(problem: Problem, one: Solution, other: Solution) -> bool:
    """Whether two solutions are the same: their windows agree, or a line of solutions joins them,
    as under COUPLED, where any split of a window over equal paths is a solution."""
    a, b = problem.state(one.z), problem.state(other.z)
    tolerance = max(SAME, 10.0 * problem.mesh if problem.set_valued else 0.0)
    scale = max(float(a.windows.max()), float(b.windows.max()))
    if float(np.abs(a.windows - b.windows).max()) <= tolerance * scale:
        return True
    # Not the middle, where solutions that mirror each other have a third one between them.
    on_the_way = 0.7 * one.z + 0.3 * other.z
    on_the_way[: problem.path_count] = np.log(0.7 * a.windows + 0.3 * b.windows)
    return _Point(problem, on_the_way).size <= SAME


def _along(one: Solution, other: Solution, part: float) -> Floats:
    """A point on the way from `one` to `other`."""
    point: Floats = (1.0 - part) * one.z + part * other.z
    return point


def _keep(problem: Problem, found: list[Solution], new: Solution, tolerance: float) -> None:
    """Adds a solution that is not there yet."""
    if new.residual <= tolerance and not any(alike(problem, new, old) for old in found):
        found.append(new)


def _one_path_ahead(problem: Problem, z: Floats) -> list[Floats]:
    """Starts around the solution `z`: all classes with path 0 ahead, path 1, and so on, then each
    class by itself. At most `MOST_STARTS`."""
    parts = [part for part in problem.network.slices if part.stop - part.start > 1]
    most = max((part.stop - part.start for part in parts), default=0)
    groups = [(parts, path) for path in range(most)]
    if len(parts) > 1:
        groups += [([part], path) for part in parts for path in range(part.stop - part.start)]
    begin = z.copy()
    paths = slice(0, problem.path_count)
    begin[paths] = np.maximum(z[paths], problem.guess[paths] - AHEAD)
    starts = []
    for together, path in groups[:MOST_STARTS]:
        start = begin.copy()
        for part in together:
            ahead = part.start + min(path, part.stop - part.start - 1)
            start[part] -= AHEAD / 2.0
            start[ahead] += AHEAD
        starts.append(np.clip(start, problem.lower, problem.upper))
    return starts


def _multi_start(problem: Problem, tolerance: float, starts: int, steps: int = 400) -> Solution:
    """The best of up to `starts` starting points; the first within `tolerance` wins."""
    best: Solution | None = None
    taken = 0
    for start in range(starts):
        solution = _from(problem, _start(problem, start), tolerance, steps)
        taken += solution.steps
        if best is None or solution.residual < best.residual:
            best = solution
        if best.residual <= tolerance:
            break
        best = min(best, _least_squares(problem, best.z), key=_residual)
        if best.residual > tolerance:
            best = min(best, _emptied(problem, best.z, tolerance, steps), key=_residual)
        if best.residual <= tolerance:
            break
    assert best is not None
    return Solution(best.z, best.residual, taken)


def _residual(solution: Solution) -> float:
    return solution.residual


def _start(problem: Problem, number: int) -> Floats:
    """The first guess, then guesses spread around it by a fixed pattern without randomness."""
    z = problem.guess.copy()
    if number:
        spread = np.sin(2.4 * number * (1.0 + np.arange(len(z))))
        z += 1.5 * spread
    return np.clip(z, problem.lower, problem.upper)


def _from(problem: Problem, z: Floats, tolerance: float, steps: int) -> Solution:
    """Solve from `z`; set-valued laws on one mesh after another, ending on the problem's own."""
    taken = 0
    if problem.set_valued:
        last = problem.mesh
        for mesh in (m for m in MESHES if m > last):
            problem.refine(mesh)
            rough = _follow(problem, z, 1e-3, steps // 4)
            z, taken = rough.z, taken + rough.steps
        problem.refine(last)
    end = _follow(problem, z, tolerance, steps)
    return Solution(end.z, end.residual, taken + end.steps)


def _follow(problem: Problem, z: Floats, tolerance: float, steps: int, dt: float = 1.0) -> Solution:
    """Pseudo-transient continuation from `z` on one mesh; returns the best point on the way."""
    point = _Point(problem, z)
    best, longest, since = point, LONGEST_TIME, 0
    for step in range(steps):
        if best.size <= tolerance:
            return Solution(best.z, best.size, step)
        size = point.size
        point = _Point(problem, _step(problem, point, dt))
        since += 1
        if point.size < best.size:
            longest = min(longest * 3.0, LONGEST_TIME)
            best, since = point, 0
        elif since >= PATIENCE:
            longest, since = max(min(longest, 1e3) * 0.2, 1.0), 0
        # Switched evolution relaxation, with its growth and shrinking per step bounded.
        change = np.clip(1.25 * size / max(point.size, 1e-300), 0.3, 3.0)
        dt = float(np.clip(dt * change, 1e-2, longest))
    return Solution(best.z, best.size, steps)


class _Point:
    """A trial point with the data for the next step."""

    def __init__(self, problem: Problem, z: Floats) -> None:
        self.z = z
        self.f = problem.residual(z)
        self.slopes = problem.jacobian(z)
        self.size = float(np.abs(problem.distance(z, self.f, self.slopes)).max())


def _step(problem: Problem, point: _Point, dt: float) -> Floats:
    z, f = point.z, point.f
    held = ((z <= problem.lower) & (f > 0.0)) | ((z >= problem.upper) & (f < 0.0))
    free = np.flatnonzero(~held)
    if not len(free):
        return z
    matrix = point.slopes[np.ix_(free, free)] + np.eye(len(free)) / dt
    try:
        move = np.linalg.solve(matrix, -f[free])
    except np.linalg.LinAlgError:
        move = np.linalg.lstsq(matrix, -f[free], rcond=None)[0]
    if not np.isfinite(move).all():
        move = -f[free]
    move *= min(1.0, LONGEST_STEP / max(float(np.abs(move).max()), 1e-300))
    out = z.copy()
    out[free] += move
    return np.clip(out, problem.lower, problem.upper)


def _emptied(problem: Problem, z: Floats, tolerance: float, steps: int) -> Solution:
    """From `z`, with the windows that still fall there at zero: those of a path that is hardly
    worse than its sibling take forever to fall. A window that should not be zero grows again."""
    falling = problem.residual(z) > tolerance
    falling[problem.path_count :] = False
    return _follow(problem, np.where(falling, problem.lower, z), tolerance, steps)


def _least_squares(problem: Problem, z: Floats) -> Solution:
    """Minimise the Fischer-Burmeister form hypot(a, b) - a - b, a = z - lower, b = F."""
    from scipy.optimize import least_squares

    def merit(x: Floats) -> Floats:
        a, b = x - problem.lower, problem.residual(x)
        value: Floats = np.hypot(a, b) - a - b
        return value

    def slope(x: Floats) -> Floats:
        a, b = x - problem.lower, problem.residual(x)
        length = np.maximum(np.hypot(a, b), 1e-300)
        by_b: Floats = (b / length - 1.0)[:, None] * problem.jacobian(x)
        return np.diag(a / length - 1.0) + by_b

    edge = 1e-12
    inside = np.clip(z, problem.lower + edge, problem.upper - edge)
    bounds = (problem.lower, problem.upper)
    found = least_squares(
        merit, inside, slope, bounds=bounds, xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=200
    )
    # A point a hair above its bound is at it.
    x = np.where(found.x - problem.lower < 1e-9, problem.lower, found.x)
    return Solution(x, _Point(problem, x).size, int(found.nfev))

"""Stability of the fluid model's rest point: eigenvalues there.

**Without delay** they are those of the Jacobian of `anabranch.theory.fluid`: exponents s of
solutions `e^(st)`, in 1/s, where every rate feels losses and queues at once.

**With delay** a sender sees the losses and the queueing delays that its packets met one round trip
ago: drift_r at time t has p_s and rtt_s of time t - rtt_s (of the rest point) for each path s of
the connection, and its own windows of time t. The whole delay is put on the way back. The exponents
are the roots of

    det(s I - A_0 - sum over paths of A_r e^(-s rtt_r)) = 0.

For Reno users on one link without averaging this is Hollot, Misra, Towsley & Gong (INFOCOM 2001),
`(s + 2N/(R²C)) (s + 1/R) + C²/(2N) L e^(-sR) = 0` with L the slope of RED's curve. There are
infinitely many roots; the rightmost are found on Chebyshev points of the last round trip (Breda,
Maset & Vermiglio 2005) and then refined by Newton steps on the equation itself.

Queues that are empty at rest and windows at their floor do not move and have no eigenvalue. If a
law has a kink at the rest point (a maximum over equal paths, a cap that just binds), slopes are the
mean of both sides. If it jumps (OLIA), slopes are those of the interpolation: the finer its mesh,
the steeper they are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .errors import TheoryError
from .fluid import Fluid
from .motion import NEUTRAL, Complexes, verdict
from .network import Floats

DIFFERENCE = 1e-6
"""Relative step of central differences."""

NEAR = 0.02
"""Relative distance that the refinement of a delayed root may go."""

MOST_UNKNOWNS = 700
"""Size of the eigenvalue problem that approximates the delayed one: a few seconds of work."""


@dataclass(frozen=True)
class Stability:
    """Eigenvalues at the rest point, in 1/s, rightmost first.

    `eigenvalues` (S,) are without delay, `delayed` at most S of the rightmost with it; both of a
    conjugate pair are listed. `moves` names the unknown that each of `eigenvalues` moves most, by
    its participation. `accuracy` is the largest relative error with which the delayed roots satisfy
    their equation, and modes with rates below `neutral_per_s` are called neutral.
    """

    eigenvalues: Complexes
    delayed: Complexes
    moves: tuple[str, ...]
    accuracy: float
    neutral_per_s: float

    @property
    def verdict(self) -> str:
        """`stable`, `unstable`, or `neutral` where something neither grows nor decays: without
        delay.
        """
        return verdict(self.eigenvalues, self.neutral_per_s)

    @property
    def delayed_verdict(self) -> str:
        """The same with delay."""
        return verdict(self.delayed, self.neutral_per_s)

    @property
    def time_constant_s(self) -> float:
        """Seconds in which the slowest decaying mode falls to 1/e, without delay; `inf` if none
        decays.
        """
        falling = -self.eigenvalues.real[self.eigenvalues.real < -self.neutral_per_s]
        return 1.0 / float(falling.min()) if len(falling) else math.inf

    @property
    def neutral(self) -> bool:
        """Whether some mode neither grows nor decays, without delay."""
        return bool((np.abs(self.eigenvalues.real) <= self.neutral_per_s).any())


@dataclass(frozen=True)
class Linearised:
    """d z/dt = now z(t) + sum of `later[k] z(t - delays_s[k])` around the rest point, S unknowns
    moving.

    `now` is (S, S), `later` (D, S, S), `delays_s` (D,) ascending, `names` the names of the
    unknowns.
    """

    now: Floats
    later: Floats
    delays_s: Floats
    names: tuple[str, ...]

    @property
    def undelayed(self) -> Floats:
        """(S, S) the Jacobian without delay."""
        matrix: Floats = self.now + self.later.sum(axis=0)
        return matrix


def stability(fluid: Fluid) -> Stability:
    """Eigenvalues of `fluid` at its rest point, without and with delay.

    Raises TheoryError when nothing can move there.
    """
    longest_rtt_s = float(fluid.rtts_s(fluid.rest.queues).max())
    values, moves, later = _emptying(fluid)
    roots, accuracy = later, 0.0
    if fluid.moving.any() or not len(values):
        system = linearised(fluid)
        inner, names = _undelayed(system)
        found, accuracy = delayed_roots(system, len(inner))
        values, moves = np.concatenate([inner, values]), (*names, *moves)
        roots = np.concatenate([found, later])
    order = _rightmost_first(values)
    return Stability(
        values[order],
        roots[_rightmost_first(roots)],
        tuple(moves[i] for i in order),
        accuracy,
        NEUTRAL / longest_rtt_s,
    )


def linearised(fluid: Fluid) -> Linearised:
    """The model around its rest point; slopes of laws and curves by central differences.

    Raises TheoryError when nothing can move there.
    """
    moving = np.flatnonzero(fluid.moving)
    if not len(moving):
        raise TheoryError(
            f"nothing in {fluid.network.name!r} can move at its rest point: every window is at its least"
        )
    rtts_s = fluid.rtts_s(fluid.rest.queues)
    now, by_path = _matrices(fluid, rtts_s)
    keep = np.ix_(moving, moving)
    # Paths whose RTTs agree to a millionth share one delay.
    delays_s, which = np.unique(np.round(rtts_s / rtts_s.max(), 6), return_inverse=True)
    later = np.zeros((len(delays_s), len(moving), len(moving)))
    for path, delay in enumerate(which):
        later[delay] += by_path[path][keep]
    names = fluid.names()
    return Linearised(
        now[keep], later, delays_s * float(rtts_s.max()), tuple(names[i] for i in moving)
    )


def delayed_roots(system: Linearised, count: int) -> tuple[Complexes, float]:
    """At most `count` of the rightmost roots with delay, and the largest relative error left in
    them.

    Far to the left fewer are found, for there the approximation resolves nothing. Raises
    TheoryError when none is.
    """
    size, longest_s = len(system.now), float(system.delays_s[-1])
    points = int(np.clip(MOST_UNKNOWNS // size - 1, 6, 24))
    matrix = _on_chebyshev_points(system, points, longest_s)
    guesses = np.linalg.eigvals(matrix)
    guesses = guesses[np.argsort(-guesses.real, kind="stable")]
    roots = []
    for guess in guesses[: 6 * count + 6]:
        root = _refined(system, complex(guess))
        # A guess that moves far was an artefact of the few points. No root is taken twice.
        if abs(root - guess) <= NEAR * (1.0 + abs(guess)):
            roots.append(root)
        if len(roots) == count:
            break
    if not roots:
        raise TheoryError(
            "no root of the delayed system was found; every guess moved away from its place"
        )
    found = np.array(roots, dtype=np.complex128)
    return found[_rightmost_first(found)], max(_error(system, complex(root)) for root in found)


def _rightmost_first(values: Complexes) -> NDArray[np.intp]:
    return np.lexsort((-values.imag, -values.real.round(9)))


def _emptying(fluid: Fluid) -> tuple[Complexes, tuple[str, ...], Complexes]:
    """Exponents of the windows that are zero at rest, their names, and the exponents with delay.

    Near zero `dw/dt = w drift/rtt` with the drift of an empty path: it acts on nothing else, and is
    an eigenvalue by itself. With delay `s = (drift/rtt) e^(-s rtt)`, solved by Lambert's W.
    """
    from scipy.special import lambertw

    rest, paths = fluid.rest, len(fluid.network.counts)
    held = np.zeros(paths, dtype=bool) if fluid.floored else ~fluid.moving[:paths]
    rtts_s = fluid.rtts_s(rest.queues)
    losses = fluid.path_losses(fluid.link_losses(rest.averages))
    drift = fluid.drift(np.exp(rest.log_windows), rtts_s, losses)[held]
    names = np.array(fluid.names())[:paths][held]
    at_once: Complexes = (drift / rtts_s[held]).astype(np.complex128)
    later: Complexes = np.asarray(lambertw(drift) / rtts_s[held], dtype=np.complex128)
    return at_once, tuple(f"{name}, empty" for name in names), later


def _matrices(fluid: Fluid, rtts_s: Floats) -> tuple[Floats, Floats]:
    """Matrices of the effects at once, shape (S, S), and of the effects one RTT of each path later,
    shape (P, S, S); S = P + 2K.
    """
    rest, paths, links = fluid.rest, len(rtts_s), len(fluid.links)
    windows = np.exp(rest.log_windows)
    losses = fluid.path_losses(fluid.link_losses(rest.averages))
    by_window, by_rtt, by_loss = _slopes_of_drift(fluid, windows, rtts_s, losses)
    shares = fluid.packets_per_segment * (windows / rtts_s)
    rtt_by_queue = fluid.incidence.T / fluid.capacities
    curve = _slopes_of_curves(fluid)
    direct = np.isinf(fluid.averaging)
    queue, average = slice(paths, paths + links), slice(paths + links, paths + 2 * links)
    now = np.zeros((paths + 2 * links, paths + 2 * links))
    now[:paths, :paths] = by_window / rtts_s[:, None]
    now[queue, :paths] = shares
    now[queue, queue] = -(shares / rtts_s) @ rtt_by_queue
    followed = np.where(direct, 0.0, fluid.averaging)
    now[average, queue] = np.diag(np.where(direct, 0.0, followed))
    now[average, average] = -now[average, queue]
    later = np.zeros((paths, *now.shape))
    for path in range(paths):
        of_loss = by_loss[:, path : path + 1] / rtts_s[:, None] * (fluid.incidence[:, path] * curve)
        later[path][:paths, queue] = (
            by_rtt[:, path : path + 1] / rtts_s[:, None] * rtt_by_queue[path]
        )
        later[path][:paths, queue] += np.where(direct, of_loss, 0.0)
        later[path][:paths, average] = np.where(direct, 0.0, of_loss)
    return now, later


def _slopes_of_drift(
    fluid: Fluid, windows: Floats, rtts_s: Floats, losses: Floats
) -> tuple[Floats, Floats, Floats]:
    """(P, P) each: derivatives of drift by log windows, RTTs (1/s) and losses; exact where a law is
    written as text and does not jump, else by differences.
    """
    place = (windows, rtts_s, losses)
    slopes = []
    for which in range(3):
        matrix = np.zeros((len(windows), len(windows)))
        for path in range(len(windows)):
            sides = []
            for sign in (1.0, -1.0):
                moved = [values.copy() for values in place]
                moved[which][path] *= math.exp(sign * DIFFERENCE)
                sides.append(fluid.drift(*moved))
            matrix[:, path] = (sides[0] - sides[1]) / (2.0 * DIFFERENCE)
        slopes.append(matrix)
    for law, part in zip(fluid.laws, fluid.network.slices, strict=True):
        if (exact := law.exact(windows[part], rtts_s[part], losses[part])) is not None:
            by_window, by_loss, by_rtt = np.hsplit(exact[0], 3)
            for matrix, own in zip(slopes, (by_window, by_rtt, by_loss), strict=True):
                matrix[part, part] = own
    return slopes[0], slopes[1] / rtts_s, slopes[2] / losses


def _slopes_of_curves(fluid: Fluid) -> Floats:
    """(K,) derivative of each link's drop probability by its average queue, 1/packet."""
    at = fluid.rest.averages
    step = DIFFERENCE * np.maximum(at, 1.0)
    slopes: Floats = (fluid.link_losses(at + step) - fluid.link_losses(at - step)) / (2.0 * step)
    return slopes


def _undelayed(system: Linearised) -> tuple[Complexes, tuple[str, ...]]:
    """Eigenvalues, and the unknown with the largest participation in each."""
    values, right = np.linalg.eig(system.undelayed)
    # Participation |left_i right_i| has no unit; rows of the inverse are the left eigenvectors.
    left = np.linalg.pinv(right)
    moved = np.abs(left.T * right).argmax(axis=0)
    return values.astype(np.complex128), tuple(system.names[i] for i in moved)


def _on_chebyshev_points(system: Linearised, points: int, longest_s: float) -> Floats:
    """The solution operator's generator on `points` + 1 Chebyshev points of [-longest_s, 0]."""
    size = len(system.now)
    nodes = np.cos(np.pi * np.arange(points + 1) / points)  # 1 is now, -1 the longest delay ago
    ends = np.where(np.isin(np.arange(points + 1), (0, points)), 2.0, 1.0)
    weights = ends * (-1.0) ** np.arange(points + 1)
    apart = nodes[:, None] - nodes[None, :] + np.eye(points + 1)
    by_node = weights[:, None] / weights[None, :] / apart
    by_node -= np.diag(by_node.sum(axis=1))  # rows of a differentiation matrix sum to zero
    matrix: Floats = np.kron(by_node * 2.0 / longest_s, np.eye(size))
    matrix[:size] = 0.0
    matrix[:size, :size] = system.now
    for delay_s, part in zip(system.delays_s, system.later, strict=True):
        row = _lagrange(nodes, weights, 1.0 - 2.0 * float(delay_s) / longest_s)
        matrix[:size] += np.kron(row[None, :], part)
    return matrix


def _lagrange(nodes: Floats, weights: Floats, at: float) -> Floats:
    """Values at `at` of the polynomials that are 1 at one node and 0 at the others."""
    gaps = at - nodes
    if np.abs(gaps).min() < 1e-12:
        return (np.abs(gaps) < 1e-12).astype(np.float64)
    row = 1.0 / (weights * gaps)
    normed: Floats = row / row.sum()
    return normed


def _refined(system: Linearised, s: complex) -> complex:
    """Newton steps: s loses the smallest eigenvalue of T(s) v = m T'(s) v, until nothing
    is left.
    """
    for _ in range(12):
        matrix, slope = _characteristic(system, s)
        try:
            steps = np.linalg.eigvals(np.linalg.solve(slope, matrix))
        except np.linalg.LinAlgError:
            return s
        step = complex(steps[np.abs(steps).argmin()])
        s -= step
        if abs(step) < 1e-13 * (1.0 + abs(s)):
            break
    return s


def _characteristic(system: Linearised, s: complex) -> tuple[Complexes, Complexes]:
    """T(s) = s I - A_0 - sum A_k e^(-s t_k), and its derivative by s."""
    unit = np.eye(len(system.now))
    factors = np.exp(-s * system.delays_s)
    matrix = s * unit - system.now - np.tensordot(factors, system.later, 1)
    slope = unit + np.tensordot(factors * system.delays_s, system.later, 1)
    return matrix.astype(np.complex128), slope.astype(np.complex128)


def _error(system: Linearised, s: complex) -> float:
    """Distance of T(s) from a zero, relative to the sizes of its terms."""
    sizes = np.linalg.svd(_characteristic(system, s)[0], compute_uv=False)
    terms = abs(s) + float(np.abs(system.now).max() + np.abs(system.later).sum(axis=0).max())
    return float(sizes[-1]) / terms

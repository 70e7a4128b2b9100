"""How far a law is from balance at given windows, RTTs and losses. The law itself is never copied.

**Regularisation of set-valued laws.** OLIA's growth jumps where two paths are equally good or have
equally large windows (its sets B and M), and equilibria lie exactly on such
jumps: there the fixed point is one of the differential inclusion, with any value between the two
sides. So the shipped law is evaluated, unchanged, at the corners of a lattice in (log windows, log
losses, and log RTTs where those vary) whose spacing is `mesh`, and interpolated linearly inside
each simplex of it (Freudenthal's triangulation, 2n + 1 or 3n + 1 corners for n paths). This is an
average of the law over states that differ by at most a factor `exp(mesh)`, with weights that depend
continuously on the state; on a jump it takes the values between both sides, as the convex hull of
the inclusion does. A path then counts as "best" in part when its loss is within `mesh` (relative)
of the best one's, so losses that are equal in the limit come out equal to within that, and class
rates within about as much.

The mesh cannot resolve small losses: a link whose loss is less than `mesh` times the other losses
on its paths does not keep OLIA off it. The users of that link then get less than in the limit. Only
a finer mesh helps there.

Laws without jumps are evaluated as they are. COUPLED (`fully-coupled`) has none, but leaves the
split among equally good paths open: class rates are determined, path rates need not be.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .. import _core
from .errors import TheoryError
from .network import Floats

DIFFERENCE = 1e-6
"""Step in log variables of the central differences that give slopes of smooth laws."""


def is_set_valued(controller: str) -> bool:
    """Whether the law has jumps, so that its drift must be interpolated; the law's file says so."""
    return _core.controller(controller)["set_valued"]


def check_law(class_name: str, controller: str, *, moving: bool = False) -> None:
    """Raises TheoryError, naming class and controller, if theory has no equilibrium of the
    controller, or with `moving` no motion.

    Some controllers have no drift because they are not a pair of growth and backoff: the window of
    CUBIC is a function of the time since the last loss, and BBR sets a rate. Of CUBIC the mean
    window at a loss is known (RFC 9438 §5), which is enough for an equilibrium. BBR has none: its
    share beside others depends on their queue and not on loss (Ware et al. 2019). The extension
    module knows which they are.
    """
    one = np.array([10.0]), np.array([0.1]), np.array([0.01])
    label = controller
    try:
        named = _core.controller(controller)
        label = named["text"]
        known = named["law"] if moving else named["steady"]
        if known and np.isfinite(_core.drift(controller, *one)).all():
            return
        why = "its drift is no number" if named["law"] else f"its rule is {named['formula']}"
        if named["linux"]:
            why = "it is the running kernel's own"
    except ValueError as unknown:
        why = "it is a Python class" if controller.startswith("py:") else str(unknown)
    lacks = "fluid model or stability" if moving else "equilibrium, fluid model or stability"
    raise TheoryError(
        f"class {class_name!r}: the controller {label!r} has no drift, so theory has no {lacks} of it; "
        "choose one that is a law, growth per segment and backoff, such as "
        f"reno or lia ({why})"
    )


class Law:
    """A shipped law as a function of log windows, log losses and log RTTs, for `n` paths.

    `mesh` > 0 interpolates its growth as described above; the loss term is exact either way.
    """

    def __init__(
        self, controller: str, paths: int, mesh: float = 0.0, rtts_vary: bool = False
    ) -> None:
        """`rtts_vary`: RTTs are unknowns too (queueing), and not just parameters."""
        self.controller = controller
        self.label = _core.controller_name(controller)
        self.paths = paths
        self.mesh = mesh if paths > 1 and is_set_valued(controller) else 0.0
        self.unknowns = (3 if rtts_vary else 2) * paths

    def imbalance(self, place: Floats) -> Floats:
        """(n,) loss minus growth: 0 in balance, positive where the window shrinks.

        `place` is (3n,): log windows (segments), log losses, log RTTs (s). Smooth laws give
        `-drift / hypot(drift, loss term)`, within [-1, 1]; interpolated ones `-drift / loss term`,
        which stays linear where the interpolation is. Neither changes a root or a sign.
        """
        w, p, rtt = np.exp(place).reshape(3, self.paths)
        loss_term = self.loss_term(w, rtt, p)
        if self.mesh > 0.0:
            growth, _ = self._interpolated(place)
            return (loss_term - growth) / loss_term
        drift = self._drift(w, rtt, p)
        return -drift / np.hypot(drift, loss_term)

    def drift(self, w: Floats, rtt: Floats, p: Floats) -> Floats:
        """(n,) segments gained per segment sent, with growth interpolated where the law jumps.

        `w` in segments, `rtt` in seconds, `p` above 0, each (n,).
        """
        if self.mesh <= 0.0:
            return self._drift(w, rtt, p)
        growth, _ = self._interpolated(np.log(np.concatenate([w, p, rtt])))
        expected: Floats = growth - p * (w - self._backoff(w, rtt, p))
        return expected

    def loss_term(self, w: Floats, rtt: Floats, p: Floats) -> Floats:
        """(n,) segments that losses take from each window per segment sent, above 0."""
        return np.maximum(p * (w - self._backoff(w, rtt, p)), 1e-300)

    def slopes(self, place: Floats) -> Floats:
        """(n, 3n) derivatives of `imbalance`: exact in the interpolation, else by differences.

        The last n columns stay 0 unless RTTs vary.
        """
        if self.mesh <= 0.0:
            exact = self._exact(place)
            return self._differences(self.imbalance, place) if exact is None else exact
        w, p, rtt = np.exp(place).reshape(3, self.paths)
        loss_term = self.loss_term(w, rtt, p)
        growth, by_corner = self._interpolated(place)
        by_loss_term = self._differences(self._log_loss_term, place) * growth[:, None]
        return (by_loss_term - by_corner) / loss_term[:, None]

    def exact(self, w: Floats, rtt: Floats, p: Floats) -> tuple[Floats, Floats] | None:
        """(n, 3n) exact derivatives of drift and of the loss term by log windows, log losses and
        log RTTs; None of a law that is not written as text, and of one that is interpolated.
        """
        found = _core.slopes(self.controller, w, rtt, p) if self.mesh <= 0.0 else None
        if found is None:
            return None
        n = self.paths
        _, backoff, by_growth, by_backoff = found
        # From derivatives by (w, rtt, p) to those by (log w, log p, log rtt).
        order = np.r_[0:n, 2 * n : 3 * n, n : 2 * n]
        scale = np.concatenate([w, p, rtt])
        by_lost = -p[:, None] * by_backoff[:, order] * scale
        by_lost[:, :n] += np.diag(p * w)
        by_lost[:, n : 2 * n] += np.diag(p * (w - backoff))
        return by_growth[:, order] * scale - by_lost, by_lost

    def _exact(self, place: Floats) -> Floats | None:
        """Exact derivatives of `imbalance`, shape (n, 3n); None if the law gives none."""
        w, p, rtt = np.exp(place).reshape(3, self.paths)
        found = self.exact(w, rtt, p)
        if found is None:
            return None
        by_drift, by_lost = found
        drift, loss_term = self._drift(w, rtt, p), self.loss_term(w, rtt, p)
        # -D/h with h² = D² + T² has the derivative T (D T' - T D') / h³
        size = np.maximum(np.hypot(drift, loss_term), 1e-100)  # its cube is not zero
        weight = loss_term / size**3
        slopes = (drift[:, None] * by_lost - loss_term[:, None] * by_drift) * weight[:, None]
        slopes[:, self.unknowns :] = 0.0
        return np.asarray(slopes)

    def _drift(self, w: Floats, rtt: Floats, p: Floats) -> Floats:
        return np.asarray(_core.drift(self.controller, w, rtt, p))

    def _backoff(self, w: Floats, rtt: Floats, p: Floats) -> Floats:
        return np.asarray(_core.backoff(self.controller, w, rtt, p))

    def _log_loss_term(self, place: Floats) -> Floats:
        w, p, rtt = np.exp(place).reshape(3, self.paths)
        return np.log(self.loss_term(w, rtt, p))

    def _growth(self, w: Floats, rtt: Floats, p: Floats) -> Floats:
        """The growth in the law's drift: the drift with its loss term added back."""
        return self._drift(w, rtt, p) + p * (w - self._backoff(w, rtt, p))

    def _interpolated(self, place: Floats) -> tuple[Floats, Floats]:
        """Growth (n,) between the lattice corners around `place`, and its (n, 3n) slopes."""
        n, moving = self.paths, self.unknowns
        scaled = place[:moving] / self.mesh
        corner = np.floor(scaled)
        fraction = scaled - corner
        order = np.argsort(-fraction, kind="stable")
        levels = np.concatenate([[1.0], fraction[order], [0.0]])
        growth = np.zeros(n)
        slopes = np.zeros((n, 3 * n))
        state = np.exp(place)
        before = growth
        for step, weight in enumerate(levels[:-1] - levels[1:]):
            if step:
                corner[order[step - 1]] += 1.0
            state[:moving] = np.exp(corner * self.mesh)
            w, p, rtt = state.reshape(3, n)
            here = self._growth(w, rtt, p)
            growth = growth + weight * here
            if step:
                slopes[:, order[step - 1]] = (here - before) / self.mesh
            before = here
        return growth, slopes

    def _differences(self, function: Callable[[Floats], Floats], place: Floats) -> Floats:
        """(n, 3n) central differences of `function` at `place`."""
        slopes = np.zeros((self.paths, 3 * self.paths))
        for i in range(self.unknowns):
            up, down = place.copy(), place.copy()
            up[i] += DIFFERENCE
            down[i] -= DIFFERENCE
            slopes[:, i] = (function(up) - function(down)) / (2.0 * DIFFERENCE)
        return slopes

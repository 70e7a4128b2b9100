"""The equilibrium of a network as a complementarity problem, in log variables.

Unknowns z: log window of each of P paths (segments), then log loss of each of K links that can
fill. With F = (-balance of each path, log capacity/load of each link), the equilibrium is

    z at its lower bound and F >= 0,   or   z above it and F = 0,

that is, each window at its floor or balanced, each link's loss zero or the link full. Zero has no
logarithm: windows without a floor are bounded by a millionth of a first guess and count as zero
there; a link's loss is exp(z) minus a bound of a ten-millionth of a first guess.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .balance import Law
from .errors import TheoryError
from .network import Floats, Network
from .queueing import BUSY_LOSS

TINY_WINDOW = 1e-6
TINY_LOSS = 1e-7
HIGHEST_LOSS = 1e4
"""Formulas know no bound on p (w = sqrt(2/p) holds below one segment too), a search needs one."""
DIFFERENCE = 1e-6


@dataclass(frozen=True, slots=True)
class State:
    """The unknowns by meaning: windows (P,), link losses (L,), path losses (P,), RTTs (P,)."""

    windows: Floats
    link_losses: Floats
    losses: Floats
    rtts_s: Floats


class Problem:
    """Residual F, its Jacobian and the bounds for one network."""

    def __init__(
        self, network: Network, fixed_rtts_s: Floats | None, floor: float, mesh: float
    ) -> None:
        """`fixed_rtts_s` is (P,), or None to add the queueing delay to the base RTTs."""
        self.network = network
        self.fixed_rtts_s = fixed_rtts_s
        self.refine(mesh)
        capacities = network.capacities_bps
        used = network.incidence.any(axis=1)
        self.finite = np.flatnonzero(np.isfinite(capacities) & used)
        self.capacities_bps = capacities[self.finite]
        self.incidence = network.incidence[self.finite]
        self.path_count = len(network.counts)
        self._check_limited()
        self.guess = self._first_guess(floor)
        tiny_w = np.exp(self.guess[: self.path_count]) * TINY_WINDOW
        lowest_w = np.maximum(tiny_w, floor)
        guessed = np.exp(self.guess[self.path_count :])
        self.zero_loss = min(TINY_LOSS * float(guessed.min(initial=1.0)), 1e-3 * BUSY_LOSS)
        lowest_p = np.full(len(self.finite), self.zero_loss)
        self.lower = np.log(np.concatenate([lowest_w, lowest_p]))
        highest_p = np.full(len(self.finite), np.log(HIGHEST_LOSS))
        self.upper = np.concatenate([np.full(self.path_count, np.inf), highest_p])
        self.floored = floor > 0.0

    @property
    def set_valued(self) -> bool:
        """Whether some class has several paths and a law that jumps between them."""
        return any(law.mesh > 0.0 for law in self.laws)

    def refine(self, mesh: float) -> None:
        """Interpolate set-valued laws on a lattice of spacing `mesh` from now on."""
        self.mesh = mesh
        vary = self.fixed_rtts_s is None
        self.laws = [Law(c.controller, len(c.paths), mesh, vary) for c in self.network.classes]

    def state(self, z: Floats) -> State:
        """The quantities at `z`; losses of paths are sums along them (small-loss convention)."""
        n = self.path_count
        link_losses = np.zeros(len(self.network.links))
        # The bound is taken off, so that losses grow from zero; at the bound itself the difference
        # would be a rounding error and the link's queue would not count as empty.
        above = z[n:] > self.lower[n:]
        link_losses[self.finite] = np.where(above, np.exp(z[n:]) - self.zero_loss, 0.0)
        losses = self.network.random_losses + self.network.incidence.T @ link_losses
        losses = np.maximum(losses, self.zero_loss)
        return State(np.exp(z[:n]), link_losses, losses, self._rtts_s(link_losses))

    def loads_bps(self, state: State) -> Floats:
        """(K,) wire bits per second that all users offer to each link that can fill."""
        return self.incidence @ self._path_loads_bps(state)

    def residual(self, z: Floats) -> Floats:
        """(P + K,) F at `z`: dimensionless."""
        state = self.state(z)
        out = np.empty_like(z)
        for law, part in zip(self.laws, self.network.slices, strict=True):
            out[part] = law.imbalance(_place(state, part))
        out[self.path_count :] = np.log(self.capacities_bps / self.loads_bps(state))
        return out

    def distance(self, z: Floats, f: Floats, slopes: Floats) -> Floats:
        """(P + K,) natural residual: 0 exactly where the complementarity conditions hold.

        Where a row of `slopes` (the Jacobian) is steep, as on the ramp that replaces a jump, the
        residual is divided by that slope: it then tells how far off the unknowns are, relatively.
        """
        natural = z - np.clip(z - f, self.lower, self.upper)
        steepness: Floats = np.maximum(1.0, np.abs(slopes).max(axis=1))
        return natural / steepness

    def jacobian(self, z: Floats) -> Floats:
        """(P + K, P + K) dF/dz: the laws class by class, the network around them exactly."""
        n, state = self.path_count, self.state(z)
        # d log path loss / d log link loss and d log rtt / d log link loss, both (P, K).
        loss_by_link = self.incidence.T * np.exp(z[n:]) / state.losses[:, None]
        rtt_by_link = self._rtt_slopes(state)
        out = np.zeros((len(z), len(z)))
        for law, part in zip(self.laws, self.network.slices, strict=True):
            by_w, by_p, by_rtt = np.split(law.slopes(_place(state, part)), 3, axis=1)
            out[part, part] = by_w
            out[part, n:] = by_p @ loss_by_link[part] + by_rtt @ rtt_by_link[part]
        shares = self.incidence * self._path_loads_bps(state)
        shares /= shares.sum(axis=1, keepdims=True)
        out[n:, :n] = -shares
        out[n:, n:] = shares @ rtt_by_link
        return out

    def _path_loads_bps(self, state: State) -> Floats:
        net = self.network
        return net.counts * net.packet_bits * state.windows / state.rtts_s

    def _rtts_s(self, link_losses: Floats) -> Floats:
        if self.fixed_rtts_s is not None:
            return self.fixed_rtts_s
        links = self.network.links
        delays = np.array(
            [link.queue_delay_s(p) for link, p in zip(links, link_losses, strict=True)]
        )
        rtts_s: Floats = self.network.base_rtts_s + self.network.incidence.T @ delays
        return rtts_s

    def _rtt_slopes(self, state: State) -> Floats:
        if self.fixed_rtts_s is not None:
            return np.zeros((self.path_count, len(self.finite)))
        slopes = np.empty(len(self.finite))
        for k, index in enumerate(self.finite):
            link, p = self.network.links[index], state.link_losses[index]
            step = (p + self.zero_loss) * DIFFERENCE
            up, down = link.queue_delay_s(p + step), link.queue_delay_s(p - step)
            slopes[k] = (up - down) / (2.0 * DIFFERENCE)
        return self.incidence.T * slopes / state.rtts_s[:, None]

    def _first_guess(self, floor: float) -> Floats:
        """Equal shares of the tightest link on each path, and the loss at which Reno has them."""
        net = self.network
        rtts_s = net.base_rtts_s if self.fixed_rtts_s is None else self.fixed_rtts_s
        share = self.capacities_bps / (self.incidence @ net.counts)
        rates = np.where(self.incidence > 0, share[:, None], np.inf).min(axis=0, initial=np.inf)
        with np.errstate(divide="ignore"):
            by_random_loss = np.sqrt(2.0 / net.random_losses)
        windows = np.minimum(rates * rtts_s / net.packet_bits, by_random_loss)
        windows = np.maximum(windows, max(floor, 1e-3))
        losses = np.minimum(2.0 / windows**2, 0.5)
        per_link = np.where(self.incidence > 0, losses, np.inf).min(axis=1, initial=np.inf)
        guess: Floats = np.log(np.concatenate([windows, per_link]))
        return guess

    def _check_limited(self) -> None:
        """Every path needs something that limits it, or its window has no equilibrium."""
        limited = self.incidence.any(axis=0) | (self.network.random_losses > 0.0)
        for c, part in zip(self.network.classes, self.network.slices, strict=True):
            for i, ok in enumerate(limited[part]):
                if not ok:
                    raise TheoryError(
                        f"class {c.name!r}, path {i}: no link of finite rate and no random loss "
                        "limits it, so its window grows without bound"
                    )


def _place(state: State, part: slice) -> Floats:
    """(3n,) log windows, log losses and log RTTs of one class's paths."""
    place = np.concatenate([state.windows[part], state.losses[part], state.rtts_s[part]])
    logs: Floats = np.log(place)
    return logs

"""Properties that shipped laws have, and the smallest example where a law breaks one.

States are tried in the order of their size: few paths and round numbers first.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from .. import _core
from .network import Floats

WINDOWS = (1.0, 2.0, 10.0, 100.0, 1000.0)
"""Segments."""

RTTS_S = (0.1, 0.01, 0.5)
LOSSES = (0.01, 0.1, 0.001)
"""Probabilities, from which laws that count segments between losses have them."""

MOST_PATHS = 4
RANDOM_STATES = 2000
"""Beyond the round numbers, with a fixed seed."""

CLOSE = 1e-9

MOST_GROWTH = 2.0
"""Segments per acknowledged segment that no shipped law reaches, even at a window of 1."""


@dataclass(frozen=True)
class State:
    """Windows in segments, round trips in seconds and loss probabilities of the paths."""

    windows: Floats
    rtts_s: Floats
    losses: Floats

    def __str__(self) -> str:
        """The state in words."""
        paths = zip(self.windows, self.rtts_s * 1e3, self.losses, strict=True)
        return "; ".join(f"w {w:g}, rtt {rtt:g} ms, p {p:g}" for w, rtt, p in paths)


@dataclass(frozen=True)
class Broken:
    """A property that does not hold, and the smallest state at which it does not."""

    name: str
    what: str
    """Description of the breach."""
    state: State
    grave: bool
    """Whether no shipped law breaks this property."""


@dataclass(frozen=True)
class Checked:
    """The outcome for one property."""

    name: str
    meaning: str
    broken: Broken | None


def growth(controller: str, state: State) -> Floats:
    """(n,) segments that each window gains for an acknowledged segment."""
    return np.asarray(_core.growth(controller, state.windows, state.rtts_s, state.losses))


def backoff(controller: str, state: State) -> Floats:
    """(n,) windows after a congestion event, without floors."""
    return np.asarray(_core.backoff(controller, state.windows, state.rtts_s, state.losses))


def states(least: int, most: int) -> Iterator[State]:
    """States of a given number of paths, by increasing size: round numbers, then random ones."""
    for n in range(least, most + 1):
        values = itertools.product(WINDOWS, repeat=n)
        for windows in sorted(values, key=lambda w: (sum(w), w))[:200]:
            for rtts, losses in (
                (RTTS_S[:1] * n, LOSSES[:1] * n),
                (RTTS_S, LOSSES[:1] * n),
                (RTTS_S[:1] * n, LOSSES),
            ):
                yield State(np.array(windows), np.resize(rtts, n), np.resize(losses, n))
    random = np.random.default_rng(1)
    for _ in range(RANDOM_STATES):
        n = int(random.integers(least, most + 1))
        yield State(
            np.exp(random.uniform(0.0, np.log(1e4), n)),
            np.exp(random.uniform(np.log(1e-3), np.log(1.0), n)),
            np.exp(random.uniform(np.log(1e-5), np.log(0.2), n)),
        )


def one_path_is_tcp(controller: str, state: State) -> str | None:
    """How the law differs from TCP on one path; None if it does not."""
    w = state.windows[0]
    grows = growth(controller, state)[0] * w
    after = backoff(controller, state)[0] / w
    if abs(grows - 1.0) > CLOSE:
        return f"growth is {grows:.6g} segments for a window of ACKs, and that of TCP is 1"
    if abs(after - 0.5) > CLOSE:
        return f"a loss leaves {after:.6g} of the window, and TCP leaves 0.5"
    return None


def no_more_than_tcp(controller: str, state: State) -> str | None:
    """Where a path grows faster than a TCP; None if no path does."""
    grows = growth(controller, state) * state.windows
    worst = int(np.argmax(grows))
    if grows[worst] > 1.0 + 1e-6:
        return f"path {worst} grows by {grows[worst]:.6g} segments for a window of ACKs, and a TCP by 1"
    return None


def order_is_nothing(controller: str, state: State) -> str | None:
    """How the law changes with the paths in the opposite order; None if it does not."""
    order = np.arange(len(state.windows))[::-1]
    turned = State(state.windows[order], state.rtts_s[order], state.losses[order])
    for name, of in (("growth", growth), ("backoff", backoff)):
        here, there = of(controller, state), of(controller, turned)[order]
        if differ(here, there):
            path = int(np.argmax(np.abs(here - there)))
            return (
                f"{name} of path {path} is {here[path]:.9g}, and {there[path]:.9g} in another order"
            )
    return None


def time_is_no_matter(controller: str, state: State) -> str | None:
    """How the law changes when all RTTs are ten times as long; None if it does not."""
    slow = State(state.windows, state.rtts_s * 10.0, state.losses)
    for name, of in (("growth", growth), ("backoff", backoff)):
        here, there = of(controller, state), of(controller, slow)
        if differ(here, there):
            path = int(np.argmax(np.abs(here - there)))
            return (
                f"{name} of path {path} is {here[path]:.6g}, and {there[path]:.6g} where all round trips are "
                "ten times as long"
            )
    return None


def somebody_grows(controller: str, state: State) -> str | None:
    """Reports that every path shrinks; None if some path grows or stays."""
    grows = growth(controller, state)
    if (grows < 0.0).all():
        return f"every path shrinks, the first one by {-grows[0]:.6g} segments for an ACK"
    return None


def losses_reduce(controller: str, state: State) -> str | None:
    """Where a loss does not reduce the window; None if it always does."""
    after = backoff(controller, state)
    path = int(np.argmax(after / state.windows))
    if after[path] >= state.windows[path]:
        return f"a loss on path {path} leaves {after[path]:.6g} of {state.windows[path]:g} segments"
    return None


def windows_stay_finite(controller: str, state: State) -> str | None:
    """Where a window diverges; None if windows stay finite."""
    grows, after = growth(controller, state), backoff(controller, state)
    if not (np.isfinite(grows).all() and np.isfinite(after).all()):
        return f"growth is {grows}, and the window after a loss {after}"
    path = int(np.argmax(grows))
    if grows[path] > MOST_GROWTH:
        return f"path {path} gains {grows[path]:.6g} segments for one that is acknowledged; slow start gains 1"
    return None


def differ(a: Floats, b: Floats) -> bool:
    """Whether numbers differ by more than rounding errors."""
    size = np.maximum(np.abs(a), np.abs(b)).max()
    return bool(np.abs(a - b).max() > 1e-9 * max(size, 1e-12))


Property = tuple[str, str, Callable[[str, State], str | None], tuple[int, int], bool]

PROPERTIES: tuple[Property, ...] = (
    (
        "one path is TCP",
        "on one path the formulas are those of NewReno",
        one_path_is_tcp,
        (1, 1),
        True,
    ),
    (
        "no more than TCP",
        "no path grows faster than a TCP in its place",
        no_more_than_tcp,
        (1, MOST_PATHS),
        False,
    ),
    (
        "order is nothing",
        "the order of paths does not matter",
        order_is_nothing,
        (2, MOST_PATHS),
        True,
    ),
    (
        "scale-free in time",
        "slowing all round trips alike changes nothing",
        time_is_no_matter,
        (1, MOST_PATHS),
        True,
    ),
    ("somebody grows", "not all paths shrink at an ACK", somebody_grows, (1, MOST_PATHS), True),
    ("losses reduce", "a loss makes the window smaller", losses_reduce, (1, MOST_PATHS), True),
    (
        "windows stay finite",
        "no number is infinite, and no window grows twice as fast as in slow start",
        windows_stay_finite,
        (1, MOST_PATHS),
        True,
    ),
)
"""Name, meaning, test, number of paths, and whether no shipped law breaks the property."""


def checked(controller: str) -> list[Checked]:
    """Every property with the smallest state that breaks it, if one does.

    Raises ValueError if `controller` is not a law.
    """
    found = []
    for name, meaning, breach, (least, most), grave in PROPERTIES:
        broken = None
        for state in states(least, most):
            what = breach(controller, state)
            if what is not None:
                broken = Broken(name, what, state, grave)
                break
        found.append(Checked(name, meaning, broken))
    return found

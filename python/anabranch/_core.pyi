"""The Rust extension module."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from numpy import float64
from numpy.typing import NDArray

__version__: str

class ScenarioError(ValueError):
    """A scenario or its overrides are wrong; the text names the field, shows the line and helps."""

def plan(
    text: str, name: str = ..., *, overrides: Sequence[str] = ..., controller: str | None = ...
) -> str:
    """The validated scenario with every default filled in, as JSON in SI units.

    Raises ScenarioError.
    """

def schema() -> str:
    """The JSON Schema of a scenario file."""

def simulate(
    text: str,
    seeds: Iterable[int],
    *,
    name: str = ...,
    overrides: Sequence[str] = ...,
    controller: str | None = ...,
    threads: int = ...,
    series: bool = ...,
    events: bool = ...,
    progress: Callable[[float, float], object] | None = ...,
) -> list[dict[str, Any]]:
    """One dictionary for each seed, in their order.

    `threads` 0 takes every core. `progress` is told simulated seconds done and in all. After an
    interrupt the replications that had finished are returned, if any.
    Raises ScenarioError.
    """

def controllers() -> list[dict[str, Any]]:
    """Name, aliases, options, summary, formula and source of every law."""

def drift(
    controller: str, windows: NDArray[float64], rtts_s: NDArray[float64], losses: NDArray[float64]
) -> NDArray[float64]:
    """Expected change of each window in segments per segment sent: growth - p (w - backoff).

    All arrays have one entry for each path. Raises ValueError for an unknown controller.
    """

def growth(
    controller: str, windows: NDArray[float64], rtts_s: NDArray[float64], losses: NDArray[float64]
) -> NDArray[float64]:
    """Growth of each window in segments per acknowledged segment."""

def backoff(
    controller: str, windows: NDArray[float64], rtts_s: NDArray[float64], losses: NDArray[float64]
) -> NDArray[float64]:
    """Window in segments after a congestion event on each path, not floored."""

def window_after_loss(controller: str, cwnd: float, paths: int) -> float:
    """Window in segments after a loss on one of `paths` paths that all have a window of `cwnd` and one
    round-trip time, mended by fast recovery: the law in its shell, with floors.
    """

def red_drop_probability(
    average_packets: float, *, min_th: float, max_th: float, max_p: float, gentle: bool
) -> float:
    """The drop probability of a RED queue at an average length, before any spacing of drops."""

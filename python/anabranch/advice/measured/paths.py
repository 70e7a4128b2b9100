"""Paths of one measurement: which of them share a bottleneck, and what each bottleneck is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ...capture import Delays
from ...sharing.finding import Samples, find
from ..candidates import Situation
from ..fitting import MIDDLE, Fitted, Packets, fit


@dataclass(frozen=True)
class Measured:
    """Bottlenecks that were measured."""

    fitted: list[Fitted]
    shared: bool | None
    """Whether all paths lead over one bottleneck; None if that is not known."""
    notes: list[str] = field(default_factory=list)
    """What the measurement does not tell."""
    diseases: list[str] = field(default_factory=list)
    """What is wrong with the paths."""

    def named(self, name: str) -> Measured:
        """The same with another name of its only path. Raises ValueError if there are more."""
        names = [name for one in self.fitted for name in one.names]
        if len(names) != 1:
            raise ValueError(
                f"{name!r} names one link; the file has {len(names)}: {', '.join(names)}"
            )
        return replace(self, fitted=[replace(self.fitted[0], names=(name,))])

    def middle(self, given: Situation, shared: bool | None) -> Situation:
        """The links beside those that were given, at the middle of their intervals. If all share a
        bottleneck, its rate is the measured one.
        """
        return self._beside(given, shared, [MIDDLE] * len(self.fitted))

    def drawn(self, given: Situation, shared: bool | None, number: int) -> Situation:
        """The same at random places of the intervals, others for each number."""
        random = np.random.default_rng((DRAWS, number))
        parts = [tuple(random.random(len(MIDDLE)).tolist()) for _ in self.fitted]
        return self._beside(given, shared, parts)

    def _beside(
        self, given: Situation, shared: bool | None, parts: Sequence[Sequence[float]]
    ) -> Situation:
        links, shared_bps = list(given.links), given.shared_bps
        for one, places in zip(self.fitted, parts, strict=True):
            links += one.links(places)
        if shared and shared_bps is None and len(self.fitted) == 1:
            shared_bps = round(self.fitted[0].rate_bps.at(parts[0][0]))
        return replace(given, links=tuple(links), shared_bps=shared_bps)


DRAWS = 29
"""Seed of the random places."""


def measured(names: Sequence[str], paths: Sequence[Packets]) -> Measured:
    """The bottlenecks of paths that carried data at the same time.

    Raises ValueError if a path has too few packets to tell.
    """
    found = find([_samples(path) for path in paths])
    known = all(found.known(a, b) for b in range(len(paths)) for a in range(b))
    groups = found.last
    fitted = [fit([names[i] for i in group], [paths[i] for i in group]) for group in groups]
    if known and len(groups) in (1, len(paths)):
        return Measured(fitted, len(groups) == 1 and len(paths) > 1)
    note = "of some paths it is not known whether they share a bottleneck"
    if known:
        together = [" and ".join(names[i] for i in group) for group in groups if len(group) > 1]
        note = f"{'; '.join(together)} share a bottleneck, others do not: all or none was simulated"
    return Measured(fitted, None, [note])


def _samples(path: Packets) -> Samples:
    order = np.argsort(path.sent_s)
    return Samples.of(Delays(path.sent_s[order], path.rtt_s[order], np.sort(path.lost_s)))

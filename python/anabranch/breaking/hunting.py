"""A hunt: search, shrink, and confirm on seeds that neither has seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from .bench import Bench
from .kind import Judged, judged, leaning
from .network import Network
from .ranges import Ranges
from .searching import Found, Search, seeds_of
from .shrinking import Step, shrink
from .timing import round_up

CASES = 3
"""Broken networks that a search finds before they are shrunk; the smallest outcome counts."""

SHRINKING = (2, 6, 16, 48)
"""Replications of a step of the shrinking: first two, and more as long as their means are beyond
the limit and their interval leaves it open."""

FEWEST = 5
"""Replications whose interval can decide."""

CONFIRMING = (20, 60)
"""Fresh replications that confirm a finding; the larger number where the smaller one leaves it
open."""

LONGER, LONGER_SEEDS = 4.0, (5, 15)
"""Times the duration, and replications, that have to show the same."""

MOST_CONFIRMED = 10
"""Networks of a shrinking, from the smallest up, on which confirmation is tried."""

Tell = Callable[[float, float, str], object]


@dataclass(frozen=True)
class Finding:
    """The smallest network that was found on which the goal is broken."""

    network: Network
    judged: Judged
    """On fresh seeds."""
    longer: Judged | None
    """In a longer run, on further seeds; None for goals that end."""
    trial: int
    """The number of the trial from which it was shrunk."""
    start: Network
    """The network of that trial."""
    steps: int
    """Steps of the shrinking up to it."""
    refuted: int
    """Smaller networks that fresh seeds did not confirm."""


@dataclass
class Outcome:
    """What a hunt came to."""

    search: Search
    finding: Finding | None = None
    broken: list[Found] = field(default_factory=list)
    """The networks that the search found broken, before shrinking."""


@dataclass
class Hunt:
    """A search whose findings are shrunk and confirmed."""

    search: Search
    tell: Tell = lambda done, total, what: None
    tried: int = 0

    def run(self) -> Outcome:
        """Hunts until a finding is confirmed, or the trials or the time are used up."""
        outcome = Outcome(self.search)
        waiting: list[Found] = []
        for found in self.search.found(self.tell):
            outcome.broken.append(found)
            waiting.append(found)
            if len(waiting) == CASES:
                outcome.finding = self._smallest(waiting)
                waiting = []
                if outcome.finding:
                    return outcome
        outcome.finding = self._smallest(waiting)
        return outcome

    def _smallest(self, cases: list[Found]) -> Finding | None:
        """The smallest confirmed network of the shrinkings of several cases; None if none is."""
        findings = [finding for case in cases if (finding := self._shrunk(case))]
        return min(findings, key=lambda one: one.network.size, default=None)

    def _shrunk(self, case: Found) -> Finding | None:
        """The smallest confirmed network of a case."""
        start = self._broken(case.network)
        if start is None:
            return None
        chain = shrink(
            Step(case.network, start), self._broken, self.ranges, self.bench.goal.needs, self._told
        )
        for refuted, step in enumerate(reversed(chain[-MOST_CONFIRMED:])):
            first = refuted * CONFIRMING[-1]
            verdict = self._decided(step.network, "confirm", CONFIRMING, first)
            longer = self._longer(step.network) if verdict else None
            if verdict is None or (self.bench.goal.lasting and longer is None):
                continue
            steps = len(chain) - 1 - refuted
            network = step.network
            return Finding(network, verdict, longer, case.trial, case.network, steps, refuted)
        return None

    def _longer(self, network: Network) -> Judged | None:
        """The verdict on a longer run, if it shows the same; None for goals that need none."""
        if not self.bench.goal.lasting:
            return None
        stretched = replace(network, duration_s=round_up(LONGER * network.duration_s))
        return self._decided(stretched, "longer", LONGER_SEEDS)

    def _broken(self, network: Network) -> Judged | None:
        """The verdict of the shrinking's seeds on a network, if it is broken."""
        return self._decided(network, "shrink", SHRINKING)

    def _decided(
        self, network: Network, stage: str, counts: Sequence[int], first: int = 0
    ) -> Judged | None:
        """The verdict on a network, if it is broken: of as few replications as decide it."""
        for count in counts:
            seeds = seeds_of(self.search.seed, stage, count, first)
            aspects = self.bench.score(network, seeds, stage)
            if leaning(aspects, self.search.limit) <= 0.0:
                return None
            verdict = judged(aspects, self.search.limit)
            if count >= FEWEST and verdict and verdict.broken:
                return verdict
        return None

    @property
    def bench(self) -> Bench:
        """Where networks are scored."""
        return self.search.bench

    @property
    def ranges(self) -> Ranges:
        """Those of the search."""
        return self.search.ranges

    def _told(self, tried: int, network: Network) -> None:
        self.tell(
            self.search.done,
            self.search.trials,
            f"{self.bench.goal.name}: shrinking, {len(network.links)} links, "
            f"{sum(user.count for user in network.users)} users, {tried} tried",
        )

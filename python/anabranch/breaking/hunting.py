"""A hunt: search, shrink, and confirm on seeds that neither has seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from .bench import Bench
from .kind import RISK, Aspects, Judged, judged, leaning
from .network import Network
from .ranges import Ranges
from .searching import Found, Search, Tell, seeds_of
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
open. Each look has seeds of its own."""

LONGER, LONGER_SEEDS = 4.0, (5, 15)
"""Times the duration, and fresh replications, that have to show the same."""

MOST_CONFIRMED = 10
"""Networks of a shrinking, from the smallest up, on which confirmation is tried."""


@dataclass(frozen=True)
class Finding:
    """The smallest network that was found on which the goal is broken."""

    network: Network
    judged: Judged
    """On fresh seeds that decided nothing."""
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
    provisional: Step | None = None
    """The smallest broken network so far that fresh seeds have neither confirmed nor refuted."""


class Interrupted(KeyboardInterrupt):
    """An interrupt of a hunt, with what it had come to."""

    def __init__(self, bench: Bench, outcome: Outcome) -> None:
        """`outcome` has what was found by then."""
        super().__init__()
        self.bench, self.outcome = bench, outcome


@dataclass
class Hunt:
    """A search whose findings are shrunk and confirmed."""

    search: Search
    tell: Tell = lambda done, total, what: None
    outcome: Outcome = field(init=False)
    looks: int = 0
    """How often fresh seeds were asked whether they confirm a finding."""
    fresh: int = 0
    """How many fresh seeds were used."""

    def __post_init__(self) -> None:
        self.outcome = Outcome(self.search)

    def run(self) -> Outcome:
        """Hunts until a finding is confirmed, or the trials or the time are used up.

        Raises Interrupted.
        """
        try:
            return self._run()
        except KeyboardInterrupt:
            raise Interrupted(self.bench, self.outcome) from None

    def _run(self) -> Outcome:
        outcome = self.outcome
        waiting: list[Found] = []
        for found in self.search.found(self.tell):
            outcome.broken.append(found)
            self._provisional(Step(found.network, found.judged))
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
        findings: list[Finding] = []
        for case in sorted(cases, key=lambda one: one.network.size):
            if findings and self.search.ended():
                break
            if finding := self._shrunk(case):
                findings.append(finding)
        self.outcome.provisional = None
        self.search.unshrunk = 0
        return min(findings, key=lambda one: one.network.size, default=None)

    def _provisional(self, step: Step) -> None:
        known = self.outcome.provisional
        if known is None or step.network.size < known.network.size:
            self.outcome.provisional = step

    def _shrunk(self, case: Found) -> Finding | None:
        """The smallest confirmed network of a case."""
        start = self._broken(case.network)
        if start is None:
            return None
        chain = shrink(
            Step(case.network, start),
            self._broken,
            self.ranges,
            self.bench.goal.needs,
            self._told,
            self.search.ended,
        )
        for refuted, step in enumerate(self._candidates(chain)):
            confirmed = self._confirmed(step.network)
            if confirmed is None:
                continue
            steps = chain.index(step)
            return Finding(step.network, *confirmed, case.trial, case.network, steps, refuted)
        return None

    def _candidates(self, chain: list[Step]) -> Iterator[Step]:
        """The networks of a shrinking on which confirmation is tried, the smallest first; when time
        is up, the smallest and the first one.
        """
        for place, step in enumerate(reversed(chain[-MOST_CONFIRMED:])):
            if place and self.search.ended():
                yield chain[0]
                return
            yield step

    def _confirmed(self, network: Network) -> tuple[Judged, Judged | None] | None:
        """The verdicts on a network and on its longer run, if fresh seeds confirm it."""
        seen = self._seen(network, CONFIRMING, spend=True)
        if seen is None:
            return None
        aspect, count = seen
        longer = None
        if self.bench.goal.lasting:
            stretched = replace(network, duration_s=round_up(LONGER * network.duration_s))
            if self._seen(stretched, LONGER_SEEDS, aspect) is None:
                return None
            longer = self._reported(stretched, aspect, LONGER_SEEDS[0])
        # An interval that had to be beyond a limit is too far beyond it on average: another one, of
        # as many replications, is told.
        reported = self._reported(network, aspect, count)
        if reported is None or (self.bench.goal.lasting and longer is None):
            return None
        return reported, longer

    def _seen(
        self,
        network: Network,
        counts: Sequence[int],
        only: str | None = None,
        *,
        spend: bool = False,
    ) -> tuple[str, int] | None:
        """The aspect that is beyond the limit on fresh seeds, and how many of them decided it.

        With `spend` the k-th look of the hunt may err with a chance of 0.05/(k(k + 1)), so that all
        looks together err with one of 0.05 at most.
        """
        for count in counts if self.bench.goal.simulated else counts[:1]:
            risk = RISK
            if spend:
                self.looks += 1
                risk = RISK / (self.looks * (self.looks + 1))
            aspects = self._fresh(network, count, only)
            verdict = judged(aspects, self.search.limit, risk)
            if verdict and verdict.broken:
                return verdict.aspect, count
            if leaning(aspects, self.search.limit) <= 0.0:
                return None
        return None

    def _reported(self, network: Network, aspect: str, count: int) -> Judged | None:
        """The interval of further fresh seeds, of an aspect."""
        return judged(self._fresh(network, count, aspect), self.search.limit)

    def _fresh(self, network: Network, count: int, only: str | None) -> Aspects:
        """The score of a network on seeds that nothing before has used, of all or one aspect."""
        seeds = seeds_of(self.search.seed, "confirm", count, self.fresh)
        self.fresh += count
        aspects = self.bench.score(network, seeds, "confirm")
        return {name: parts for name, parts in aspects.items() if only in (None, name)}

    def _broken(self, network: Network) -> Judged | None:
        """The verdict of the shrinking's seeds on a network, if it is broken: of as few of them as
        decide it.
        """
        # Replications of theory hardly differ, and are slow.
        for count in SHRINKING if self.bench.goal.simulated else SHRINKING[:2]:
            aspects = self.bench.score(
                network, seeds_of(self.search.seed, "shrink", count), "shrink"
            )
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

    def _told(self, tried: int, step: Step) -> None:
        self._provisional(step)
        network = step.network
        self.tell(
            self.search.done,
            self.search.trials,
            f"{self.bench.goal.name}: shrinking, {len(network.links)} links, "
            f"{sum(user.count for user in network.users)} users, {tried} tried",
        )

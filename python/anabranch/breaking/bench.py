"""Runs networks and their twins, and scores them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache

from .. import _core
from .._core import ScenarioError
from ..controller import ControllerLike, outside
from ..result import Result
from ..scenario import Scenario
from .journal import Journal
from .kind import Aspects, Goal
from .network import Network
from .rendering import SUBJECT, document
from .trial import ITSELF, Trial
from .variants import Document, shaken, subject_of, under_test
from .worlds import Replication, Threads, World

MOST_RECENT = 4 * 48
"""Replications that are kept, for a score over more seeds that follows one over a few of them: the
most of the shrinking, with three twins."""


@dataclass(frozen=True)
class UnderTest:
    """The controller under test."""

    given: ControllerLike
    text: str | None
    """What a scenario's flow has for it: its name, or the text of its law; None for a class."""
    label: str
    """As results call it."""

    @classmethod
    def of(cls, controller: ControllerLike) -> UnderTest:
        """Raises ScenarioError for an unknown controller."""
        if own := outside(controller):
            return cls(controller, None, own.name)
        found = _core.controller(str(controller))
        return cls(controller, found["source"], found["text"])

    @property
    def jumps(self) -> bool:
        """Whether it is a law whose growth jumps, as OLIA's does."""
        return self.text is not None and bool(_core.controller(self.text)["set_valued"])

    @property
    def has_law(self) -> bool:
        """Whether theory knows it."""
        return self.text is not None and bool(_core.controller(self.text)["law"])


@dataclass(frozen=True)
class Wish:
    """A network to score, with the seeds of its replications."""

    network: Network
    seeds: tuple[int, ...]


@dataclass
class Bench:
    """Scores networks by a goal; a journal remembers what was scored.

    What it returns does not depend on where replications run.
    """

    tested: UnderTest
    goal: Goal
    world: World = field(default_factory=Threads)
    journal: Journal = field(default_factory=Journal)
    _recent: dict[tuple[str, int], Callable[[], Result | None]] = field(default_factory=dict)

    @contextmanager
    def working(self) -> Iterator[Bench]:
        """Replications run in this context; work that an interrupt leaves is dropped."""
        with self.world:
            yield self

    def score(self, network: Network, seeds: Sequence[int], stage: str) -> Aspects:
        """The score of one network."""
        return self.scores([Wish(network, tuple(seeds))], stage)[0]

    def scores(self, wishes: Sequence[Wish], stage: str) -> list[Aspects]:
        """The score of each network, from the journal where it is there."""
        return self.started(wishes, stage)()

    def started(self, wishes: Sequence[Wish], stage: str) -> Callable[[], list[Aspects]]:
        """Starts what `scores` needs; the function that is returned waits for it."""
        for key in list(self._recent)[:-MOST_RECENT]:
            del self._recent[key]
        known = [self.journal.find(wish.network, wish.seeds) for wish in wishes]
        started = [
            None if found is not None else self._start(self._document(wish.network), wish.seeds)
            for wish, found in zip(wishes, known, strict=True)
        ]

        def done() -> list[Aspects]:
            scored: list[Aspects] = []
            for wish, found, work in zip(wishes, known, started, strict=True):
                if found is None:
                    assert work is not None
                    found = self.goal(work())
                    self.journal.add(wish.network, wish.seeds, found, stage)
                scored.append(found)
            return scored

        return done

    def trial(self, scenario: Document, seeds: Sequence[int]) -> Trial:
        """The runs of a scenario, given as nested data, and of its twins."""
        return self._start(self.under(scenario), tuple(seeds))()

    def under(self, scenario: Document) -> Document:
        """The scenario with the controller written into the flows that are the subject."""
        flows = [
            flow | ({"controller": self.tested.text} if self.tested.text else {})
            if flow.get("subject")
            else flow
            for flow in scenario["flow"]
        ]
        return scenario | {"flow": flows}

    def _document(self, network: Network) -> Document:
        return document(network, self.tested.text)

    def _start(self, scenario: Document, seeds: tuple[int, ...]) -> Callable[[], Trial]:
        """Starts the runs; the function that is returned waits for them."""
        subject_of(scenario)
        if not under_test(scenario):
            raise ScenarioError(f"the flow {SUBJECT!r} needs subject = true")
        variants, first = self._variants(scenario)
        seconds = _delays(scenario)
        jobs = {
            name: [self._one(one, seed, seconds) for seed in seeds]
            for name, one in variants.items()
            if first[name] == name
        }

        def done() -> Trial:
            made = {name: [(one, wait()) for one, wait in jobs[first[name]]] for name in variants}
            plan = Scenario.written(scenario).plan()
            scenarios = {name: [one for one, _ in pairs] for name, pairs in made.items()}
            if not self.goal.simulated:
                return Trial(plan, seeds, {}, scenarios)
            results = {name: [result for _, result in pairs] for name, pairs in made.items()}
            # A seed counts if every variant has a valid replication.
            rows = [n for n in range(len(seeds)) if all(r[n] is not None for r in results.values())]
            return Trial(
                plan,
                tuple(seeds[n] for n in rows),
                {
                    name: [r for n in rows if (r := of[n]) is not None]
                    for name, of in results.items()
                },
                {name: [ones[n] for n in rows] for name, ones in scenarios.items()},
            )

        return done

    def _variants(self, scenario: Document) -> tuple[dict[str, Document], dict[str, str]]:
        """The scenario and its twins, and for each the first equal one, which is run for both."""
        variants = {ITSELF: scenario, **self.goal.twins_of(scenario)}
        first: dict[str, str] = {}
        for name, one in variants.items():
            first[name] = next((k for k in first if variants[k] == one), name)
        return variants, first

    def run_time_s(self, scenario: Document, seeds: int) -> float:
        """The simulated seconds of so many replications of a scenario and of its twins."""
        variants, first = self._variants(self.under(scenario))
        plans = [Scenario.written(variants[name]).plan() for name in dict.fromkeys(first.values())]
        return seeds * sum(plan.duration_s for plan in plans)

    def _one(
        self, variant: Document, seed: int, seconds: Mapping[str, float]
    ) -> tuple[Scenario, Callable[[], Result | None]]:
        """Starts a replication of a variant, unless it was made a moment ago."""
        # Theory has classes of equal users; its time grows with their number.
        apart = not self.goal.needs.lawful
        scenario = Scenario.written(shaken(variant, seed, seconds, apart=apart))
        if not self.goal.simulated:
            return scenario, lambda: None
        key = scenario.text, seed
        if key not in self._recent:
            own = self.tested.given if self.tested.text is None and under_test(variant) else None
            wanted = Replication(scenario, seed, self.goal.series, own)
            self._recent[key] = cache(self.world.start(wanted))
        return scenario, self._recent[key]


def _delays(scenario: Document) -> dict[str, float]:
    """Delays of the links in seconds, by name."""
    return {link.name: link.delay_s for link in Scenario.written(scenario).plan().links}

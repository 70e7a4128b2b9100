"""Candidates on links, judged by what the connection gets and what it leaves to others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..makers import Core, Maker
from ..scenario import Scenario
from ..statistics import Interval, foreseen, interval, ratio_of_means
from ..theory import Network, TheoryError, equilibrium
from .candidates import (
    ALONE,
    CANDIDATES,
    MINE,
    OTHER,
    SIMULATED,
    SPAN,
    Candidate,
    Situation,
    Span,
    document,
)
from .links import Link, distinct
from .measured import Measured
from .settings import Setting, variants

KEPT = 0.9
"""Part of their rate that others keep at least: 0.1 is beyond what queues and chance do to a TCP."""

NEAR = 0.05
"""Candidates whose rates differ by less than this part are equally fast."""

SEEDS = 8

Tell = Callable[[float, float], object]


@dataclass(frozen=True)
class Case:
    """What a candidate comes to, where paths share a link behind the given ones or where not."""

    rate_bps: Interval
    """Of the connection."""
    between_bps: tuple[float, float]
    """Where the rate of one more replication is, with a probability of 95 %."""
    kept: Interval
    """What others keep of the least that they have beside one TCP in place of the connection,
    whichever link that takes; on the link where they lose most.
    """
    delay_s: float
    """95th percentile of the round trips over all paths."""
    theory_bps: float | None = None
    """The connection's rate at the equilibrium; None where theory has no answer."""

    @property
    def harms(self) -> bool:
        """Whether others certainly lose, and more than they may."""
        return self.kept.mean < KEPT and self.kept.high < 1.0


@dataclass(frozen=True)
class Outcome:
    """What a candidate comes to; a case that was ruled out is None."""

    candidate: Candidate
    apart: Case | None
    joint: Case | None

    def cases(self, shared: bool | None) -> list[Case]:
        """Where paths share, where they do not, or both if that is not known."""
        wanted = {None: (self.apart, self.joint), True: (self.joint,), False: (self.apart,)}
        return [case for case in wanted[shared] if case]

    def case(self, shared: bool | None) -> Case:
        """The case for what is known of the links; if it is not known, where they share nothing."""
        return self.cases(shared)[0]

    def harms(self, shared: bool | None) -> bool:
        """Whether others lose in a case that can be."""
        return any(case.harms for case in self.cases(shared))

    def to_json(self) -> dict[str, Any]:
        """The numbers."""
        row: dict[str, Any] = {"controller": self.candidate.controller}
        for case, end in ((self.apart, ""), (self.joint, "_shared")):
            row |= {
                f"rate{end}_bps": case and case.rate_bps.to_json(),
                f"between{end}_bps": case and list(case.between_bps),
                f"kept{end}": case and case.kept.to_json(),
                f"delay_p95{end}_s": case and case.delay_s,
                f"theory{end}_bps": case and case.theory_bps,
            }
        return row | {"harms": self.harms(None)}


@dataclass(frozen=True)
class Advice:
    """The outcomes, and the candidate that is advised."""

    situation: Situation
    shared: bool | None
    """Whether the paths share a link behind the given ones; None if that is not known."""
    outcomes: tuple[Outcome, ...]
    single_bps: Interval
    """What one TCP on the best link has."""
    measured: Measured | None = None
    """Links that were measured; they are among the situation's, at the middle of intervals."""
    settings: tuple[Setting, ...] = ()
    """The advised candidate with other schedulers and receive buffers, for what is known of the
    links; the first is what was given.
    """

    @property
    def best(self) -> Outcome:
        """The candidate for what is known of the links."""
        return self.best_if(self.shared)

    def best_if(self, shared: bool | None) -> Outcome:
        """Of the candidates that do not harm, the fastest; of those nearly as fast, the one with
        the shortest delay, then the first. If it is not known whether the paths share, it is
        harmless both ways, and fastest where they share nothing.
        """
        fair = [one for one in self.outcomes if not one.harms(shared)] or list(self.outcomes)
        most = max(one.case(shared).rate_bps.mean for one in fair)
        fast = [one for one in fair if one.case(shared).rate_bps.mean >= (1.0 - NEAR) * most]
        return min(fast, key=lambda one: round(one.case(shared).delay_s, 2))


def advise(
    links: Sequence[Link],
    *,
    up: bool = False,
    buffer_bytes: int = 6 * 1024 * 1024,
    shared: bool | None = None,
    shared_bps: int | None = None,
    seeds: int = SEEDS,
    candidates: Sequence[Candidate] = CANDIDATES,
    span: Span = SPAN,
    measured: Measured | None = None,
    maker: Maker | None = None,
    progress: Tell | None = None,
) -> Advice:
    """Simulates the links under each candidate.

    `up`: data is sent rather than received. `buffer_bytes` is the receive buffer, by default the
    most that Linux lets it grow to (`tcp_rmem`). `shared` says whether all paths share a link
    behind the given ones, of `shared_bps`, by default as fast as the fastest of them; both ways are
    looked at if it is None. Links of `measured` come after those that were given; each replication
    has them at other places of their intervals. If there are no others, `measured` says whether
    they share, unless `shared` does.

    Raises ValueError if there are fewer than two links, or two with one name.
    """
    if measured and shared is None and not links:
        shared = measured.shared
    given = Situation(tuple(links), up, buffer_bytes, shared_bps)
    middle, *drawn = _situations(given, shared, measured, seeds)
    count = len(middle.links) + len(candidates)
    steps = Steps((2 if shared is None else 1) * count, progress)
    apart = joint = None
    if shared is not True:
        alone, *each = (replace(one, shared_bps=None) for one in (middle, *drawn))
        apart = Bench(alone, each, span, maker or Core(), steps)
    if shared is not False:
        joint = Bench(middle, drawn, span, maker or Core(), steps)
    known = apart or joint
    assert known, "one of the cases can be"
    steps.of += len(list(variants(known.middle)))
    outcomes = [
        Outcome(
            candidate,
            apart.case(candidate.controller) if apart else None,
            joint.case(candidate.controller) if joint else None,
        )
        for candidate in candidates
    ]
    singles = [single for bench in (apart, joint) if bench for single in bench.beside][
        : len(middle.links)
    ]
    best = max((interval(single.rates[MINE]) for single in singles), key=lambda one: one.mean)
    situation = middle if shared else replace(middle, shared_bps=None)
    advice = Advice(situation, shared, tuple(outcomes), best, measured)
    return replace(advice, settings=tuple(known.settings(advice.best.candidate.controller)))


def _situations(
    given: Situation, shared: bool | None, measured: Measured | None, seeds: int
) -> list[Situation]:
    """First the one of which is told, then that of each replication; all with a shared rate."""
    middle = measured.middle(given, shared) if measured else given
    distinct(middle.links)
    fastest = max(link.rate_bps(given.up) for link in middle.links)
    drawn = [measured.drawn(given, shared, one) if measured else given for one in range(seeds)]
    return [replace(one, shared_bps=one.shared_bps or fastest) for one in (middle, *drawn)]


@dataclass
class Steps:
    """Counts the runs that are made."""

    of: int
    tell: Tell | None
    made: int = 0

    def step(self) -> None:
        """One more."""
        self.made += 1
        if self.tell:
            self.tell(self.made, self.of)


@dataclass(frozen=True)
class Gathered:
    """Replications of one controller."""

    rates: dict[str, NDArray[np.float64]]
    """In bit/s, by class, shape (replications,)."""
    delay_s: float
    """95th percentile of the connection's round trips over all paths, mean over replications."""
    goodput_bps: NDArray[np.float64]
    """Of the connection, shape (replications,)."""
    held_bytes: float
    """The most that its receiver held, mean over replications."""


@dataclass(frozen=True)
class Bench:
    """Makes the runs of a case."""

    middle: Situation
    """The situation that is most likely."""
    situations: Sequence[Situation]
    """One for each replication."""
    span: Span
    maker: Maker
    steps: Steps

    def case(self, controller: str) -> Case:
        """A candidate on all links."""
        found = self.gather(controller)
        rates = found.rates[MINE]
        return Case(
            interval(rates),
            foreseen(rates),
            self.kept(found),
            found.delay_s,
            self.equilibrium_bps(controller),
        )

    def settings(self, controller: str) -> Iterator[Setting]:
        """A candidate on all links with other schedulers and receive buffers."""
        for scheduler, buffer_bytes in variants(self.middle):
            situations = [
                replace(one, scheduler=scheduler, buffer_bytes=buffer_bytes)
                for one in self.situations
            ]
            found = self.gather(controller, situations=situations)
            yield Setting(
                scheduler,
                buffer_bytes,
                interval(found.goodput_bps),
                self.kept(found),
                found.held_bytes,
            )

    def equilibrium_bps(self, controller: str) -> float | None:
        """Theory's rate of the connection, for the situation that is most likely. A law with
        `+sbd` is the law where the paths share, and on each what it is alone where not.
        """
        situation = self.middle
        law, sbd, _ = controller.partition("+sbd")
        if sbd and situation.shared_bps is None:
            law = ALONE.get(law, "reno")
        every = list(range(len(situation.links)))
        try:
            plan = Scenario.written(document(situation, law, every, self.span)).plan()
            return equilibrium(Network.from_plan(plan)).class_rates_bps[MINE]
        except TheoryError:
            return None

    @cached_property
    def beside(self) -> list[Gathered]:
        """One TCP in place of the connection, on each link in turn."""
        return [self.gather(OTHER, [number]) for number in range(len(self.middle.links))]

    def gather(
        self,
        controller: str,
        paths: Sequence[int] | None = None,
        situations: Sequence[Situation] | None = None,
    ) -> Gathered:
        """The replications of a controller on all links, or on some; with other situations than
        the bench's, if they are given. Situations that are equal are one scenario with several
        seeds.
        """
        situations = situations or self.situations
        first = situations[0]
        every = range(len(first.links)) if paths is None else paths
        controller = SIMULATED.get(controller, controller)

        def scenario(situation: Situation) -> Scenario:
            return Scenario.written(document(situation, controller, list(every), self.span))

        if all(one == first for one in situations):
            results = [self.maker.run(scenario(first), len(situations))]
        else:
            with ThreadPoolExecutor() as pool:
                numbered = enumerate(situations, 1)
                results = list(
                    pool.map(lambda one: self.maker.run(scenario(one[1]), (one[0],)), numbered)
                )
        self.steps.step()
        names = [planned.name for planned in results[0].plan.classes]
        rates = {name: np.concatenate([one.rate(name) for one in results]) for name in names}
        runs = [run for result in results for run in result.runs]
        delays = [run.classes.rtt_p95_s[names.index(MINE)] for run in runs]
        goodput = np.concatenate([one.rate(MINE, "goodput_bps") for one in results])
        held = [one.rate(MINE, "held_max_bytes").mean() for one in results]
        return Gathered(rates, float(np.mean(delays)), goodput, float(np.mean(held)))

    def kept(self, found: Gathered) -> Interval:
        """The part that others keep of the least that they have beside one TCP, whichever link that
        takes, on the link where it is least.
        """
        parts = []
        for name in found.rates.keys() - {MINE}:
            least = min((single.rates[name] for single in self.beside), key=np.mean)
            if least.mean() > 0.0:  # else there is nothing to keep
                parts.append(ratio_of_means(found.rates[name], least))
        return min(
            parts, key=lambda part: part.mean, default=interval(np.ones(len(found.rates[MINE])))
        )

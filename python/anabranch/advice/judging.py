"""Candidates on links, judged by what the connection gets and what it leaves to others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..makers import Core, Maker
from ..result import Result
from ..scenario import Scenario
from ..statistics import Interval, interval, ratio_of_means
from .candidates import CANDIDATES, MINE, OTHER, OTHERS, Candidate, Situation, document
from .links import Link

KEPT = 0.9
"""Part of their rate that others keep at least: 0.1 is beyond what queues and chance do to a TCP."""

NEAR = 0.05
"""Candidates whose rates differ by less than this part are equally fast."""

SEEDS = 8

Tell = Callable[[float, float], object]


@dataclass(frozen=True)
class Outcome:
    """What a candidate comes to."""

    candidate: Candidate
    rate_bps: Interval
    """Of the connection, where the paths share nothing behind the links."""
    kept: Interval
    """What others keep of the least that they have beside one TCP in place of the connection,
    whichever link that takes; on the link where they lose most.
    """
    delay_s: float
    """95th percentile of the round trips over all paths."""
    rate_shared_bps: Interval | None
    kept_shared: Interval | None
    """The same where all paths share a link; None if that was ruled out."""

    def harms(self, shared: bool | None) -> bool:
        """Whether others certainly lose, and more than they may: where paths share, where they do
        not, or in any case that was looked at.
        """
        return any(one.mean < KEPT and one.high < 1.0 for one in self.kept_if(shared))

    def kept_if(self, shared: bool | None) -> list[Interval]:
        """What others keep where paths share, where they do not, or both if that is not known."""
        both = [] if shared is True else [self.kept]
        joint = [] if shared is False or self.kept_shared is None else [self.kept_shared]
        return both + joint

    def to_json(self) -> dict[str, Any]:
        """The numbers."""
        shared = self.rate_shared_bps, self.kept_shared
        return {
            "controller": self.candidate.controller,
            "rate_bps": self.rate_bps.to_json(),
            "kept": self.kept.to_json(),
            "delay_p95_s": self.delay_s,
            "rate_shared_bps": shared[0] and shared[0].to_json(),
            "kept_shared": shared[1] and shared[1].to_json(),
            "harms": self.harms(None),
        }


@dataclass(frozen=True)
class Advice:
    """The outcomes, and the candidate that is advised."""

    situation: Situation
    shared: bool | None
    """Whether the paths share a link behind the given ones; None if that is not known."""
    outcomes: tuple[Outcome, ...]
    single_bps: Interval
    """What one TCP on the best link has."""

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
        most = max(self.rate(one, shared) for one in fair)
        fast = [one for one in fair if self.rate(one, shared) >= (1.0 - NEAR) * most]
        return min(fast, key=lambda one: round(one.delay_s, 2))

    def rate(self, outcome: Outcome, shared: bool | None) -> float:
        """The rate of the connection in bit/s."""
        known = outcome.rate_shared_bps if shared else outcome.rate_bps
        return (known or outcome.rate_bps).mean


def advise(
    links: Sequence[Link],
    *,
    up: bool = False,
    buffer_bytes: int = 6 * 1024 * 1024,
    shared: bool | None = None,
    shared_bps: int | None = None,
    seeds: int = SEEDS,
    candidates: Sequence[Candidate] = CANDIDATES,
    maker: Maker | None = None,
    progress: Tell | None = None,
) -> Advice:
    """Simulates the links under each candidate.

    `up`: data is sent rather than received. `buffer_bytes` is the receive buffer, by default the
    most that Linux lets it grow to (`tcp_rmem`). `shared` says whether all paths share a link
    behind the given ones, of `shared_bps`, by default as fast as the fastest of them; both ways are
    looked at if it is None.
    """
    plain = Situation(tuple(links), up, buffer_bytes)
    fastest = max(link.rate_bps(up) for link in links)
    common = replace(plain, shared_bps=shared_bps or fastest)
    bench = Bench(maker or Core(), seeds, progress, len(links), len(candidates), shared)
    apart = bench.beside(plain)
    joint = bench.beside(common) if shared is not False else None
    outcomes = []
    for candidate in candidates:
        result = bench.run(plain, candidate.controller)
        both = bench.run(common, candidate.controller) if joint else None
        outcomes.append(
            Outcome(
                candidate,
                interval(result.rate(MINE)),
                kept(result, apart, plain),
                _delay(result),
                interval(both.rate(MINE)) if both else None,
                kept(both, joint, common) if both and joint else None,
            )
        )
    best = max(apart, key=lambda result: float(result.rate(MINE).mean()))
    return Advice(plain, shared, tuple(outcomes), interval(best.rate(MINE)))


@dataclass
class Bench:
    """Makes runs, and says how far it is."""

    maker: Maker
    seeds: int
    progress: Tell | None
    links: int
    candidates: int
    shared: bool | None
    made: int = 0

    def run(
        self, situation: Situation, controller: str, paths: Sequence[int] | None = None
    ) -> Result:
        """The replications of a candidate on all links, or on some."""
        every = range(self.links) if paths is None else paths
        scenario = Scenario.written(document(situation, controller, list(every)))
        result = self.maker.run(scenario, self.seeds)
        self.made += 1
        if self.progress:
            situations = 1 if self.shared is False else 2
            self.progress(self.made, situations * (self.links + self.candidates))
        return result

    def beside(self, situation: Situation) -> list[Result]:
        """One TCP in place of the connection, on each link in turn."""
        return [self.run(situation, OTHER, [number]) for number in range(self.links)]


def kept(result: Result, beside: Sequence[Result], situation: Situation) -> Interval:
    """The part that others keep, on the link where it is least."""
    parts = list(_parts(result, beside, situation))
    return min(parts, key=lambda part: part.mean) if parts else interval(np.ones(len(result.runs)))


def _parts(result: Result, beside: Sequence[Result], situation: Situation) -> Iterator[Interval]:
    """For each link with others, their rate over the least that they have beside one TCP, whichever
    link that takes.
    """
    names = [one.name for one in result.plan.classes]
    for name in (f"{OTHERS}-{link.name}" for link in situation.links):
        if name in names:
            least = min(beside, key=lambda single: float(single.rate(name).mean()))
            if least.rate(name).mean() > 0.0:  # else there is nothing to keep
                yield ratio_of_means(result.rate(name), least.rate(name))


def _delay(result: Result) -> float:
    """The 95th percentile of the round trips over all paths, mean over replications."""
    (place,) = [n for n, one in enumerate(result.plan.classes) if one.name == MINE]
    return float(np.mean([run.classes.rtt_p95_s[place] for run in result.runs]))

"""The search: an optimiser asks for networks, and hears how far each is beyond the goal's limit.

Optuna's TPE asks for batches of a fixed size, so that the networks do not depend on the number of
threads. Two replications score a network; one that is beyond the limit in both gets other ones,
whose interval decides.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from .bench import Bench, Wish
from .drawing import Unfit, draw
from .kind import Aspects, Judged, guide, judged, leaning
from .network import Network
from .ranges import Ranges

BATCH = 8
"""Networks that are asked for together. Fixed: it decides which networks the optimiser asks for."""

CHEAP = 2
"""Replications of every network."""

CHECKED = (5, 15, 45)
"""Further replications of a network that the cheap ones put beyond the limit; a larger number where
the smaller one leaves it open."""

STARTUP = 64
"""Networks drawn by chance before the optimiser learns."""

MOST_KEPT, BEST_KEPT, NEWEST_KEPT = 300, 60, 140
"""Trials that the optimiser remembers at most, and which of them it keeps then."""

MOST_REFUSED = 50
"""Draws for each scored network that may be outside the ranges or lack what the goal needs."""

WORST, BEST = -10.0, 10.0
"""Ends of what the optimiser hears; a network without a score counts as the worst."""

SEARCHING = 0.6
"""The part of the time after which a search that has found something leaves the rest to shrinking."""

SEEDS_APART = 1_000_000
"""Between the first seeds of two searches: the seeds of a search are its own."""

FIRST = {"search": 0, "check": 100, "shrink": 200, "confirm": 1_000}
"""Offset of the first seed of each stage; no two stages share one."""

Tell = Callable[[float, float, str], object]
"""Called with the trials done, all of them, and the state in words."""


def seeds_of(search: int, stage: str, count: int, first: int = 0) -> tuple[int, ...]:
    """The seeds of a stage of the search with the seed `search`."""
    start = search * SEEDS_APART + FIRST[stage] + first
    return tuple(range(start, start + count))


@dataclass
class Found:
    """A network on which the goal is broken, by the interval over five replications."""

    trial: int
    """Its number in the search, from 1."""
    network: Network
    judged: Judged


@dataclass
class Search:
    """A search that goes on wherever it is asked to.

    `ranges` and `limit` are those of the finding; `seed` decides everything that is drawn.
    """

    bench: Bench
    ranges: Ranges
    limit: float
    trials: int
    seed: int = 1
    done: int = 0
    refused: int = 0
    best: float = -math.inf
    """How far every replication of the best network is beyond the limit."""
    best_network: Network | None = None
    passed: Callable[[], float] = lambda: 0.0
    """The part of the time that has passed; 0 without a limit."""
    unshrunk: int = 0
    """Broken networks that wait to be shrunk."""
    _study: Any = field(default=None, repr=False)
    _waiting: list[tuple[int, Network]] = field(default_factory=list)
    """Networks that were asked for and are not scored, with the numbers of their trials."""

    def found(self, tell: Tell) -> Iterator[Found]:
        """The broken networks, as they are found.

        Raises ValueError if the ranges hold no network that the goal can be tried on.
        """
        self._study = self._study or study(self.seed)
        while self.done < self.trials and not self.ended():
            if self.unshrunk and self.passed() >= SEARCHING:
                return
            found = self._batch(tell)
            self.unshrunk += len(found)
            yield from found

    def ended(self) -> bool:
        """Whether time is up."""
        return self.passed() >= 1.0

    def _batch(self, tell: Tell) -> list[Found]:
        """Scores the networks that wait, while the optimiser thinks about the next ones."""
        asked = self._waiting or self._asked(self._left(0))
        networks = [network for _, network in asked]
        work = self._started(networks, "search", CHEAP)
        self._waiting = self._asked(self._left(len(asked)))
        guides = [guide(aspects, self.limit) for aspects in work()]
        found = self._checked(networks, [n for n, value in enumerate(guides) if value > 0.0])
        for (number, network), value in zip(asked, guides, strict=True):
            clipped = min(max(value, WORST), BEST)
            self._study.tell(number, clipped)
            if value > self.best:
                self.best, self.best_network = value, network
        self.done += len(asked)
        self._forget()
        tell(self.done, self.trials, self.words())
        return found

    def _left(self, asked: int) -> int:
        """How many networks the next batch has, beside those that were asked for."""
        return min(BATCH, self.trials - self.done - asked)

    def _checked(self, networks: Sequence[Network], promising: list[int]) -> list[Found]:
        """The networks of a batch that are broken beyond the interval."""
        found = []
        for count in CHECKED:
            scores = self._started([networks[n] for n in promising], "check", count)()
            undecided = []
            for n, aspects in zip(promising, scores, strict=True):
                verdict = judged(aspects, self.limit)
                if verdict and verdict.broken:
                    found.append(Found(self.done + n + 1, networks[n], verdict))
                elif leaning(aspects, self.limit) > 0.0:
                    undecided.append(n)
            promising = undecided
        return sorted(found, key=lambda one: one.trial)

    def _forget(self) -> None:
        """Leaves the optimiser the best and the newest trials: its time grows with their number."""
        from optuna.trial import TrialState

        complete = self._study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        if len(complete) <= MOST_KEPT:
            return
        best = sorted(complete, key=lambda one: (-one.value, one.number))[:BEST_KEPT]
        kept = {one.number: one for one in (*best, *complete[-NEWEST_KEPT:])}
        running = [self._study.trials[number] for number, _ in self._waiting]
        self._study = study(self.seed, self._study.sampler)
        self._study.add_trials([kept[number] for number in sorted(kept)])
        self._study.add_trials(running)
        self._waiting = [
            (len(kept) + place, network) for place, (_, network) in enumerate(self._waiting)
        ]

    def _started(
        self, networks: Sequence[Network], stage: str, count: int
    ) -> Callable[[], list[Aspects]]:
        seeds = seeds_of(self.seed, stage, count)
        return self.bench.started([Wish(network, seeds) for network in networks], stage)

    def words(self) -> str:
        """The state of the search in a few words."""
        goal = self.bench.goal
        best = goal.shown(self.best + self.limit) if self.best_network else "none"
        return f"{goal.name}: best {best} of {goal.shown(self.limit)}"

    def _asked(self, count: int) -> list[tuple[int, Network]]:
        """Networks to score, each with the number of the optimiser's trial."""
        from optuna.trial import TrialState

        asked: list[tuple[int, Network]] = []
        refused = 0
        while len(asked) < count:
            trial = self._study.ask()
            try:
                network = draw(Asked(trial), self.ranges, self.bench.goal.needs)
                asked.append((trial.number, network))
            except Unfit as why:
                self._study.tell(trial, state=TrialState.FAIL)
                refused += 1
                if refused > MOST_REFUSED * count:
                    raise ValueError(
                        f"of {refused} networks drawn none fits the ranges and the goal "
                        f"{self.bench.goal.name}: {why}; widen the ranges"
                    ) from None
        self.refused += refused
        return asked


@dataclass(frozen=True)
class Asked:
    """Numbers from the optimiser."""

    trial: Any

    def unit(self, name: str) -> float:
        """A number from 0 to 1."""
        return float(self.trial.suggest_float(name, 0.0, 1.0))

    def pick(self, name: str, options: Sequence[str]) -> str:
        """One of the options."""
        return str(self.trial.suggest_categorical(name, list(options)))


def study(seed: int, sampler: Any = None) -> Any:
    """The optimiser; `sampler` is that of another study to go on with.

    Raises ModuleNotFoundError, with the remedy, without Optuna.
    """
    try:
        import optuna
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "`anabranch break` searches with Optuna, which is not installed: "
            "pip install 'anabranch[search]'"
        ) from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # `multivariate` and its companions are called experimental
        sampler = sampler or optuna.samplers.TPESampler(
            seed=seed,
            n_startup_trials=STARTUP,
            multivariate=True,
            group=True,
            constant_liar=True,
        )
    return optuna.create_study(direction="maximize", sampler=sampler)

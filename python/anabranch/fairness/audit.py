"""Audits which controllers are TCP-fair: runs each as the ensemble in a few small networks and
applies both definitions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import _core
from .._core import ScenarioError
from ..controller import given_name, label
from ..makers import Core, Maker, Wanted
from ..result import Result
from ..scenario import Scenario, load
from ..seeds import Seeds, checked_seeds
from ..statistics import Interval, interval
from .ensemble import Fairness
from .references import Reference, reference, tcp_fairness, twins, ways

ENSEMBLE = "ensemble"
"""Name of the flow that is audited."""

Progress = Callable[[float, float, str], object]
"""Called with the runs done, the runs in all, and the current run."""


@dataclass(frozen=True)
class Network:
    """A shipped scenario with overrides, in which `ENSEMBLE` is audited."""

    name: str
    meaning: str
    source: str
    overrides: tuple[str, ...] = ()


def _over_one(paths: int) -> str:
    """An override that sets the number of paths over the common bottleneck."""
    path = '{ links = ["bottleneck"] }'
    return f"flow.{ENSEMBLE}.path=[{', '.join([path] * paths)}]"


_DROP_TAIL = 'link.bottleneck.queue={ droptail = { packets = "42 packets" } }'
_EMPTY = ("flow.tcp-on-first.count=0", "flow.tcp-on-second.count=0")
_ONE_EMPTY = ("flow.tcp-on-first.count=0", "flow.tcp-on-second.count=2")
_UNEQUAL = ("link.second.rate=2 Mb/s", "link.second.delay=75 ms")

NETWORKS = (
    Network("one path", "one path, and a TCP on it", "tse/shared", (_over_one(1),)),
    Network(
        "shared", "four paths over one bottleneck, and a TCP on it", "tse/shared", (_over_one(4),)
    ),
    Network(
        "drop-tail",
        "as before, with drop-tail instead of RED",
        "tse/shared",
        (_over_one(4), _DROP_TAIL),
    ),
    Network("two paths", "two paths, and a TCP on each", "tse/two-paths"),
    Network("empty", "two paths that nobody else uses", "tse/two-paths", _EMPTY),
    Network(
        "one empty", "two paths, two TCPs on one and none on the other", "tse/two-paths", _ONE_EMPTY
    ),
    Network(
        "unequal",
        "two paths, of 5 Mb/s and 50 ms and of 2 Mb/s and 150 ms, and a TCP on each",
        "tse/two-paths",
        _UNEQUAL,
    ),
)


@dataclass(frozen=True)
class Entry:
    """The judgement of one controller in one network."""

    controller: str
    network: str
    fairness: Fairness
    """Judged with all capacity left unused as spare; `word` rests on this reading."""
    elsewhere: Fairness
    """Judged with only the capacity that other flows leave because they are limited elsewhere."""
    total_bps: Interval
    """Rate of the ensemble."""
    utilisation: Interval
    """The part of the capacity of the ensemble's links that all flows use."""

    @property
    def of_bound(self) -> float:
        """The ensemble's total relative to the bound of the stringent definition."""
        return 1 + self.fairness.excess

    @property
    def word(self) -> str:
        """The strictest definition that holds: stringent, lenient or neither."""
        return strictest(self.fairness)

    def to_json(self) -> dict[str, Any]:
        """The entry as plain data."""
        return {
            "controller": self.controller,
            "network": self.network,
            "margin": self.fairness.margin,
            **self.fairness.to_json(),
            "elsewhere": self.elsewhere.to_json(),
            "total": self.total_bps.to_json(),
            "utilisation": self.utilisation.to_json(),
        }


def strictest(fairness: Fairness) -> str:
    """The strictest definition that holds: stringent, lenient or neither."""
    if fairness.stringent:
        return "stringent"
    return "lenient" if fairness.lenient else "neither"


def registered() -> list[str]:
    """Every controller that there is; of a family that needs a parameter, the example that is
    listed.
    """
    return [law["examples"][0] for law in _core.controllers()]


def judged(result: Result, twin: Reference, controller: str, network: str) -> Entry:
    """The judgement of a controller, from its result."""
    links = list(dict.fromkeys(link for way in ways(result.plan, twin.flow) for link in way))
    rates = result.rates_bps
    limited = [link for link in links if link in rates]
    carried = sum((result.link(link, "throughput_bps") for link in limited), np.zeros(1))
    return Entry(
        controller,
        network,
        tcp_fairness(result, twin),
        tcp_fairness(result, twin, spare="elsewhere"),
        interval(result.rate(twin.flow)),
        interval(carried / sum(rates[link] for link in limited)),
    )


@dataclass
class _Work:
    """Runs, and how many of them are done."""

    whole: int
    maker: Maker
    progress: Progress | None
    done: int = 0

    def run(self, what: str, scenario: Scenario, seeds: list[int], **options: Any) -> Result:
        """Simulates. Raises KeyboardInterrupt if any replication is left out."""

        def tell(part: float, of_it: float) -> None:
            if self.progress:
                self.progress(self.done + part / of_it, self.whole, what)

        tell(0, 1)
        result = self.maker.run(scenario, seeds, progress=tell, **options)
        if not result.provenance["complete"]:
            raise KeyboardInterrupt
        tell(1, 1)
        self.done += 1
        return result


@dataclass
class Audit:
    """Controllers in networks. References are made once for each network and serve all
    controllers.
    """

    controllers: Sequence[str] = field(default_factory=registered)
    seeds: Seeds = range(1, 11)
    """Distinct seeds, or how many."""
    networks: Sequence[Network] = NETWORKS
    maker: Maker = field(default_factory=Core)
    """Makes the runs."""
    entries: list[Entry] = field(default_factory=list)
    interrupted: bool = False
    """Whether an interrupt left controllers or networks out."""
    seed_list: list[int] = field(init=False)
    """The seeds, one by one."""
    given: dict[str, str] = field(init=False)
    """How to name each controller again: its name, or a law as it was given."""

    def __post_init__(self) -> None:
        """Takes controllers by the names that results have. Raises ScenarioError for an unknown
        controller, ValueError for wrong seeds.
        """
        self.given = {}
        for one in self.controllers:
            name, given = label(one), given_name(one)
            if self.given.setdefault(name, given) != given:
                raise ScenarioError(
                    f"two controllers are called {name}: {self.given[name]}, {given}"
                )
        self.controllers = list(self.given)
        self.seed_list = checked_seeds(self.seeds)
        for network in self.networks:
            for controller in self.given.values():
                overrides = list(network.overrides)
                load(network.source).plan(controller=controller, overrides=overrides)

    def run(self, progress: Progress | None = None) -> None:
        """Fills `entries`, network by network; after an interrupt, with the finished ones."""
        self.entries, self.interrupted = [], False
        work = _Work(sum(self._runs(network) for network in self.networks), self.maker, progress)
        try:
            self.maker.announce(self._wanted())
            for network in self.networks:
                self._judge(network, work)
        except KeyboardInterrupt:
            self.interrupted = True

    def _wanted(self) -> Iterator[Wanted]:
        """All runs, in the order in which they are judged."""
        seeds = tuple(self.seed_list)
        for network in self.networks:
            scenario, overrides = load(network.source), tuple(network.overrides)
            with_tcp, without = twins(scenario, ENSEMBLE, overrides=overrides)
            for twin in [*with_tcp, *([without] if without else [])]:
                yield Wanted(twin, seeds)
            for given in self.given.values():
                yield Wanted(scenario, seeds, given, overrides)

    def _judge(self, network: Network, work: _Work) -> None:
        """Judges every controller in a network. Raises KeyboardInterrupt."""
        scenario = load(network.source)
        seeds, overrides = self.seed_list, network.overrides

        def beside(twin: Scenario, seeds: list[int]) -> Result:
            return work.run(f"{network.name}: TCP", twin, seeds)

        twin = reference(scenario, ENSEMBLE, seeds, overrides=overrides, runs=beside)
        for controller, given in self.given.items():
            what = f"{network.name}: {controller}"
            result = work.run(what, scenario, seeds, controller=given, overrides=overrides)
            self.entries.append(judged(result, twin, controller, network.name))

    def _runs(self, network: Network) -> int:
        """The number of runs for a network, including its reference."""
        with_tcp, without = twins(load(network.source), ENSEMBLE, overrides=network.overrides)
        return len({one.text for one in with_tcp}) + bool(without) + len(self.controllers)

    def of(self, controller: str) -> dict[str, Entry]:
        """The entries of a controller by network."""
        return {one.network: one for one in self.entries if one.controller == controller}

    def to_json(self) -> dict[str, Any]:
        """The audit as plain data."""
        return {
            "kind": "anabranch audit",
            "anabranch": _core.__version__,
            "seeds": self.seed_list,
            "complete": not self.interrupted,
            "networks": [
                {
                    "name": network.name,
                    "meaning": network.meaning,
                    "scenario": network.source,
                    "overrides": list(network.overrides),
                }
                for network in self.networks
            ],
            "entries": [entry.to_json() for entry in self.entries],
        }

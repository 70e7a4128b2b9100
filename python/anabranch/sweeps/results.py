"""Results of `run`, `compare`, `audit` and `reproduce`, made on an engine and kept in a store."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

from ..controller import FILE, ControllerLike, given_name
from ..makers import Core, Maker, Options, Wanted
from ..result import Result, cell_of, provenance
from ..runs import Run
from ..scenario import Scenario
from ..seeds import Seeds, checked_seeds
from .configuration import Configuration, resolved, source
from .engines import engine
from .keeper import Keeper
from .rows import whole_with
from .store import Store
from .wholes import RunFailed, Wholes


@contextmanager
def maker(
    on: str = "threads", store: str | Path | None = None, workers: int = 0
) -> Iterator[Maker]:
    """A maker on the engine `on` with `workers`, as in `sweep`. It reads runs from `store`, and
    writes new runs to it.

    Without a store, threads are the simulator's own. Raises what `engine` raises, StoreError, and
    OSError where the store cannot be written.
    """
    if on == "threads" and store is None:
        yield Core(workers)
        return
    place = None if store is None else Store.make(store)
    with engine(on, workers) as engaged, Keeper(place) as keeper:
        wholes = Wholes(engaged, keeper)
        try:
            yield Engaged(wholes)
        finally:
            wholes.end()


@dataclass(frozen=True)
class Engaged:
    """Makes results on an engine."""

    wholes: Wholes

    def announce(self, wanted: Iterable[Wanted]) -> None:
        """Puts what is missing into the queue. Raises ScenarioError, OSError."""
        self.wholes.ask(
            (
                configuration(one.scenario, one.controller, one.overrides),
                one.seeds,
                whole_with(one.series, one.events),
            )
            for one in wanted
        )

    def run(self, scenario: Scenario, seeds: Seeds, **options: Unpack[Options]) -> Result:
        """What `anabranch.run` gives. After an interrupt it has the replications that are there.

        Raises ValueError for a recording, which only this process could make, RunFailed,
        ScenarioError, StoreError, OSError, and KeyboardInterrupt if no replication is there.
        """
        recording, progress = options.get("recording"), options.get("progress")
        controller, overrides = options.get("controller"), options.get("overrides", ())
        if recording and recording.wanted:
            raise ValueError(
                "a recording is made by the process that asks for it: leave out --on and --store"
            )
        wanted = checked_seeds(seeds)
        of = configuration(scenario, controller, overrides)
        table = whole_with(options.get("series", False), options.get("events", False))
        self.wholes.ask([(of, wanted, table)], first=True)
        keys = [(of.key, seed, table) for seed in wanted]
        try:
            there = self.wholes.make(
                keys, (lambda made: progress(made, len(keys))) if progress else None
            )
        except RunFailed as why:
            raise RunFailed(f"{scenario.name}, {why}") from None
        runs = [Run.from_json(json.loads(text)) for text in self.wholes.texts(there)]
        origin = provenance(
            controller, overrides, wanted, len(runs) == len(wanted), **cell_of(scenario)
        )
        return Result(scenario, of.plan, runs, provenance=origin)


def configuration(
    scenario: Scenario, controller: ControllerLike | None, overrides: Sequence[str]
) -> Configuration:
    """The configuration of a result, complete in itself, so that any worker can run it. Raises
    ScenarioError, and ValueError for a class that only this process has.
    """
    given = "" if controller is None else given_name(controller)
    if given and callable(controller) and not FILE.match(given):
        raise ValueError(
            f"the controller {given} is a class of this process, which workers do not have; write "
            "it to a file and give FILE.py:CLASS"
        )
    texts = tuple(resolved(one) for one in overrides)
    return Configuration(scenario.text, scenario.name, {}, source(given) if given else "", texts)

"""`anabranch compare --controllers`: controllers over the same scenario, seed by seed."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import typer

from ..controller import label
from ..files import check_writable, write_json
from ..makers import Wanted
from ..result import FORMAT, Result
from ..scenario import Scenario
from ..statistics import RATE, Interval, column, paired, percent, relative
from ..written import several
from .keeping import show_and_write
from .simulate import simulated, tell_short
from .tables import Table
from .terminal import columns, console, named, stopped


@dataclass(frozen=True)
class Change:
    """Rate of a class under a controller minus its rate under the first one."""

    users: str
    controller: str
    bps: Interval
    """Interval of the differences, seed by seed."""
    relative: float | None
    """Relative to the first controller's rate; None if that is zero."""

    @property
    def word(self) -> str:
        """Whether the interval decides which of the two gives more."""
        if self.bps.low > 0:
            return "more"
        return "less" if self.bps.high < 0 else "undecided"

    def to_json(self) -> dict[str, Any]:
        """The change as plain data."""
        return {
            "class": self.users,
            "controller": self.controller,
            "difference_bps": self.bps.to_json(),
            "relative": self.relative,
            "word": self.word,
        }


def controllers_from(text: str) -> dict[str, str]:
    """The controllers of `--controllers` by the names that results have. Raises ValueError unless
    there are two different ones, ScenarioError for one that is unknown.
    """
    given = several(text)
    names = [label(one) for one in given]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice or len(names) < 2:
        fault = f", which names {twice} more than once" if twice else ""
        raise ValueError(
            f"--controllers is {text!r}{fault}; write two or more names, such as lia,olia "
            "or my.law:beta={0.2,0.5}"
        )
    return dict(zip(names, given, strict=True))


def paired_command(scenario: Scenario, given: dict[str, str], seeds: range, asked: Any) -> None:
    """Simulates a scenario under each controller with the same seeds, and prints what changes.

    After an interrupt the finished controllers are shown and written if there are two or more.
    Raises ScenarioError before the first run if one of the controllers is wrong.
    """
    for controller in given.values():
        scenario.plan(overrides=asked.overrides, controller=controller)
    if asked.json:
        check_writable(asked.json)
    results: dict[str, Result] = {}
    ended: typer.Exit | None = None
    with asked.making.maker() as maker:
        own = (tuple(seeds), tuple(asked.overrides))
        maker.announce(Wanted(scenario, own[0], one, own[1]) for one in given.values())
        for name, controller in given.items():
            options = {"controller": controller, "overrides": asked.overrides}
            try:
                result = simulated(scenario, seeds, maker, **options)
            except typer.Exit as interrupt:  # before any replication had finished
                ended = interrupt
                break
            if not result.provenance["complete"]:
                ended = stopped(len(result.runs), len(seeds))
                break
            results[name] = result
    if ended and len(results) < 2:
        raise ended
    found = changes(results)

    def show() -> None:
        out = console()
        out.print(table_of(results, found))
        tell_short(results)
        first = next(iter(results))
        out.print(
            f"{len(seeds)} replications of each; differences to {first} are means over pairs of the same seed, with "
            "95 % intervals",
            style="dim",
            highlight=False,
        )

    show_and_write(show, (asked.json, lambda file: write_json(file, as_data(results, found))))
    if ended:
        raise ended


def changes(results: dict[str, Result]) -> list[Change]:
    """For each class, the change under each controller against the first one."""
    (_, before), *others = results.items()
    return [
        Change(
            name,
            controller,
            paired(after.rate(name), before.rate(name)),
            relative(after.mean(name).mean, before.mean(name).mean),
        )
        for name in before.classes
        for controller, after in others
    ]


def table_of(results: dict[str, Result], found: list[Change]) -> Table:
    """A row for each class and controller."""
    classes = next(iter(results.values())).classes
    rows = [(users, name) for users in classes for name in results]
    of_row = {(change.users, change.controller): change for change in found}
    changed = [of_row.get(row) for row in rows]
    differences = column([change.bps if change else None for change in changed], RATE)
    new = [True, *(before[0] != after[0] for before, after in pairwise(rows))]
    return columns(
        "Per user, wire bytes",
        {
            "class": [
                named(users) if first else "" for (users, _), first in zip(rows, new, strict=True)
            ],
            "controller": [name for _, name in rows],
            "Mb/s": column([results[name].mean(users) for users, name in rows], RATE),
            "difference Mb/s": [
                cell if change else "" for cell, change in zip(differences, changed, strict=True)
            ],
            "relative": [percent(change.relative) if change else "" for change in changed],
            "which is": [change.word if change else "" for change in changed],
        },
        left=2,
    )


def as_data(results: dict[str, Result], found: list[Change]) -> dict[str, Any]:
    """All results and changes, as `write_json` takes them."""
    return {
        "format": FORMAT,
        "kind": "anabranch comparison of controllers",
        "differences": [change.to_json() for change in found],
        "controllers": results,
    }

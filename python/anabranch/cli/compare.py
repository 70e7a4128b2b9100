"""`anabranch compare`."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import typer

from .. import theory
from ..files import check_writable, write_json
from ..plan import Plan
from ..result import FORMAT, Result, provenance
from ..scenario import Scenario
from ..statistics import RATE, Interval, apart, column, difference
from .fair import tell_not_judged
from .options import scenario_from, seeds_from
from .predict import as_result, predicted, tell_left_out
from .simulate import simulated
from .terminal import columns, console, named, stopped, writing

THEORY, SIMULATION, LINUX = "theory", "simulation", "linux"
WORLDS = (THEORY, SIMULATION, LINUX)
REPEAT = {SIMULATION: 10, LINUX: 3}
"""Replications where nothing is said: those on the kernel take real time."""
TUN = Path("/dev/net/tun")

Agreement = Literal["agrees", "differs", "undecided"]
COLOURS = {"agrees": "green", "differs": "red", "undecided": "yellow"}


def agreement(simulated: Interval, expected: float, tolerance: float) -> Agreement:
    """Whether an interval and theory's value agree to within `tolerance`, relative to theory.

    They agree when the whole interval lies in the band around theory, or holds theory and is no
    wider than the band; they differ when all of it is outside. A wide interval decides nothing.
    """
    band = tolerance * abs(expected)
    around = abs(simulated.mean - expected)
    if around + simulated.half <= band or around <= simulated.half <= band:
        return "agrees"
    return "differs" if around - simulated.half > band else "undecided"


def explained(later: Interval, earlier: Interval, tolerance: float) -> Agreement:
    """Whether the intervals of two worlds with replications explain their difference.

    They differ when the interval of the difference does not hold zero, however small it is; they
    agree when it does and is no wider than `tolerance`, relative to the earlier one.
    """
    if apart(later, earlier):
        return "differs"
    narrow = difference(later, earlier).half <= tolerance * abs(earlier.mean)
    return "agrees" if narrow else "undecided"


@dataclass(frozen=True)
class Difference:
    """What two worlds give for a class."""

    users: str
    worlds: tuple[str, str]
    bps: Interval
    """The second less the first."""
    relative: float
    """Of the first."""
    word: Agreement

    def to_json(self) -> dict[str, Any]:
        """The difference as plain data."""
        return {
            "class": self.users,
            "worlds": list(self.worlds),
            "difference_bps": self.bps.to_json(),
            "relative": self.relative,
            "word": self.word,
        }


@dataclass(frozen=True, kw_only=True)
class CompareOptions:
    """The options of `anabranch compare`."""

    controller: str | None = None
    worlds: str | None = None
    first_seed: int = 1
    repeat: int | None = None
    """How many seeds; None is the number of each world."""
    overrides: Sequence[str] = ()
    tolerance: float = 0.1
    json: Path | None = None
    threads: int = 0


def compare_command(source: str, asked: CompareOptions) -> None:
    """Prints worlds side by side; exit status 1 when a class differs by more than it may.

    Raises LinuxError before anything is run if the kernel is asked for and cannot run the scenario.
    """
    controller, overrides, json = asked.controller, asked.overrides, asked.json
    wanted = None if asked.worlds is None else checked_worlds(asked.worlds)
    chosen = {
        world: seeds_from(asked.first_seed, asked.repeat or number)
        for world, number in REPEAT.items()
    }
    scenario = scenario_from(source)
    if json:
        check_writable(json)
    plan = scenario.plan(overrides=overrides, controller=controller)
    names = usual(plan) if wanted is None else wanted
    if LINUX in names:
        tell_time(plan, len(chosen[LINUX]))
    options: dict[str, Any] = {"controller": controller, "overrides": overrides}
    results: dict[str, Result] = {}
    ended: typer.Exit | None = None
    for world in names:
        try:
            if world == THEORY:
                origin = provenance(controller, overrides, rtt="queueing", utility="log")
                results[world] = as_result(scenario, predicted(plan, "queueing"), origin)
            elif world == SIMULATION:
                results[world] = simulated(
                    scenario, chosen[world], threads=asked.threads, **options
                )
            else:
                results[world] = measured(scenario, chosen[world], **options)
        except typer.Exit as interrupt:  # before any replication had finished
            ended = interrupt
            break
        if not results[world].provenance["complete"]:
            ended = stopped(len(results[world].runs), len(chosen[world]))
            break
    if ended and len(results) < 2:
        raise ended
    finish(results, asked.tolerance, json)
    if ended:
        raise ended
    if "differs" in words(results, asked.tolerance).values():
        raise typer.Exit(1)


def finish(results: dict[str, Result], tolerance: float, json: Path | None) -> None:
    """Writes and shows the worlds that there are; an interrupt may have left some out."""
    if json:
        with writing(json):
            write_json(json, comparison(results, tolerance))
    show(results, tolerance)
    if THEORY in results:
        tell_left_out(results[THEORY].plan)
    tell_not_judged(
        next(iter(results.values())).plan, "for worlds are compared; `anabranch run` judges it"
    )
    if LINUX in results:
        from .realtime import show_error

        show_error(results[LINUX])


def measured(scenario: Scenario, seeds: Sequence[int], **options: Any) -> Result:
    """The result on the real kernel, with a progress bar."""
    from .realtime import measured as on_linux

    return on_linux(scenario, seeds, **options)


def checked_worlds(worlds: str) -> list[str]:
    """The worlds that `--worlds` names, theory first. Raises ValueError unless there are two."""
    wanted = [world.strip() for world in worlds.split(",")]
    unknown = [world for world in wanted if world not in WORLDS]
    if unknown:
        raise ValueError(
            f"--worlds: there is no world {unknown[0]!r}; the worlds are {', '.join(WORLDS)}"
        )
    if len(set(wanted)) < 2:
        raise ValueError(f"--worlds is {worlds!r}; compare needs two of {', '.join(WORLDS)}")
    return [world for world in WORLDS if world in wanted]


def usual(plan: Plan, root: Callable[[], int] = os.geteuid) -> list[str]:
    """The worlds where none is asked for: the kernel among them where it can run the scenario.

    Says why where one is left out. Raises ValueError if fewer than two are left.
    """
    why_not = theory.refusal(plan)
    reasons = {THEORY: [why_not] if why_not else [], LINUX: hindrances(plan, root)}
    for world, whys in reasons.items():
        for why in whys:
            console().print(f"{world} is left out: {why}", style="yellow", markup=False)
    left = [world for world in WORLDS if not reasons.get(world)]
    if len(left) < 2:
        raise ValueError(f"compare needs two worlds, and only {left[0]} can run this scenario")
    return left


def hindrances(plan: Plan, root: Callable[[], int]) -> list[str]:
    """Why the kernel cannot run a scenario: root, a TUN device, its controllers, parts of the
    scenario.
    """
    from ..linux import controllers, fit

    if root() != 0:
        return ["that needs root: sudo .venv/bin/anabranch compare …"]
    if not TUN.exists():
        return [f"{TUN} is missing; `anabranch linux check` shows what to do"]
    if not controllers.built():
        return [controllers.NOT_BUILT]
    return fit.refusals(plan)


def tell_time(plan: Plan, replications: int) -> None:
    """Says how long the kernel takes if that is more than a minute. Raises LinuxError if it cannot."""
    from ..linux import LinuxError, fit

    if refused := fit.refusals(plan):
        raise LinuxError(f"{plan.name} cannot run on the kernel:\n  " + "\n  ".join(refused))
    seconds = replications * plan.duration_s
    if seconds > 60:
        runs = f"{replications} replication{'s' * (replications > 1)} of {plan.duration_s:g} s"
        console().print(f"linux runs in real time: {runs}, about {seconds / 60:.0f} min")


def differences(results: dict[str, Result], tolerance: float) -> list[Difference]:
    """Every class in every two worlds."""
    classes = next(iter(results.values())).classes
    return [
        between(users, (a, b), (results[a].mean(users), results[b].mean(users)), tolerance)
        for users in classes
        for a, b in combinations(results, 2)
    ]


def between(
    users: str, worlds: tuple[str, str], rates: tuple[Interval, Interval], tolerance: float
) -> Difference:
    """The difference of two worlds, the earlier of which may be theory."""
    earlier, later = rates
    if worlds[0] == THEORY:
        by = Interval(later.mean - earlier.mean, later.half, later.n)
        word = agreement(later, earlier.mean, tolerance)
    else:
        by, word = difference(later, earlier), explained(later, earlier, tolerance)
    return Difference(users, worlds, by, later.mean / earlier.mean - 1, word)


def words(results: dict[str, Result], tolerance: float) -> dict[str, Agreement]:
    """For each class the word that is worst: that it differs, or is undecided."""
    found: dict[str, Agreement] = {}
    order: tuple[Agreement, ...] = ("agrees", "undecided", "differs")
    for one in differences(results, tolerance):
        found[one.users] = max(found.get(one.users, "agrees"), one.word, key=order.index)
    return found


def show(results: dict[str, Result], tolerance: float) -> None:
    """Prints a row for each class: its rate in each world, and every two worlds with a word."""
    found = differences(results, tolerance)
    pairs = list(combinations(results, 2))
    one = next(iter(results.values()))
    classes = one.plan.classes
    cells = {
        "class": [named(c.name) for c in classes],
        "controller": [c.controller for c in classes],
    }
    for world, result in results.items():
        own = [result.mean(c.name) for c in classes]
        rates = [value.mean for value in own] if world == THEORY else own
        cells[f"{world} Mb/s"] = column(rates, RATE)
    for pair in pairs:
        of_pair = [difference for difference in found if difference.worlds == pair]
        within = f"within {tolerance:.0%}" if pair[0] == THEORY else "by intervals"
        name, word = (
            ("difference", within)
            if len(pairs) == 1
            else (f"{pair[1]} to {pair[0]}", f"{pair[1]} to {pair[0]}: {within}")
        )
        cells[name] = [f"{own.relative:+.1%}" for own in of_pair]
        cells[word] = [f"[{COLOURS[own.word]}]{own.word}[/]" for own in of_pair]
    console().print(
        columns("Per user, wire bytes; theory with queueing round trips", cells, left=2)
    )


def comparison(results: dict[str, Result], tolerance: float) -> dict[str, object]:
    """All results and what was said about each class, as plain data."""
    return {
        "format": FORMAT,
        "kind": "anabranch comparison",
        "tolerance": tolerance,
        "classes": words(results, tolerance),
        "differences": [one.to_json() for one in differences(results, tolerance)],
        "worlds": {world: result.to_json() for world, result in results.items()},
    }

"""`anabranch compare`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import typer

from .. import theory
from .._core import ScenarioError
from ..files import check_writable, write_json
from ..offers import chosen
from ..plan import Plan
from ..prediction import as_result, predicted
from ..quic import WORLD as QUIC
from ..quic import overrides_for
from ..result import FORMAT, Result, cell_of, provenance
from ..scenario import Scenario
from ..statistics import RATE, Interval, apart, column, difference, percent, relative
from . import INTERRUPTED, paired
from .fair import tell_not_judged
from .keeping import show_and_write
from .machine import check_machine
from .making import Making
from .options import scenario_from, seeds_from
from .predict import tell_left_out, tell_several_states
from .simulate import simulated, tell_short
from .terminal import columns, console, named, stopped

THEORY, SIMULATION, LINUX = "theory", "simulation", "linux"
WIRE = "wire"
REAL = (LINUX, WIRE)
"""Worlds in real time."""
WORLDS = (THEORY, SIMULATION, QUIC, *REAL)
USUAL = f"{THEORY},{SIMULATION}"
"""The worlds where none is asked for: the kernel takes real time."""
REPEAT = {SIMULATION: 10, QUIC: 3, LINUX: 3, WIRE: 3}
"""Replications where nothing is said: those of QUIC encrypt, those on the kernel take real time."""
TOLERANCE = 0.1
"""The relative difference that is agreement where nothing is said."""

EXACT_RATE = replace(RATE, always=True)
"""Theory's rates have no interval that would say how many decimals they support."""

Agreement = Literal["agrees", "differs", "undecided"]
COLOURS = {"agrees": "green", "differs": "red", "undecided": "yellow"}


def agreement(simulated: Interval, expected: float, tolerance: float) -> Agreement:
    """Whether an interval and theory's value agree to within `tolerance`, relative to theory.

    They agree when the whole interval lies in the band around theory, or contains theory's value
    and is at most as wide as the band; they differ when all of it is outside. A wide interval
    decides nothing.
    """
    band = tolerance * abs(expected)
    around = abs(simulated.mean - expected)
    if around + simulated.half <= band or around <= simulated.half <= band:
        return "agrees"
    return "differs" if around - simulated.half > band else "undecided"


def explained(later: Interval, earlier: Interval, tolerance: float) -> Agreement:
    """Whether the intervals of two worlds with replications explain their difference.

    They differ when the interval of the difference does not contain zero, however small the
    difference is; they agree when it does and is at most as wide as `tolerance`, relative to the
    earlier one.
    """
    if apart(later, earlier):
        return "differs"
    narrow = difference(later, earlier).half <= tolerance * abs(earlier.mean)
    return "agrees" if narrow else "undecided"


@dataclass(frozen=True)
class Difference:
    """Difference of two worlds for a class."""

    users: str
    worlds: tuple[str, str]
    bps: Interval
    """The second less the first."""
    relative: float | None
    """Relative to the first world; None if its rate is zero."""
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
    controllers: str | None = None
    """Controllers to compare instead of worlds."""
    worlds: str | None = None
    """None is USUAL."""
    first_seed: int = 1
    repeat: int | None = None
    """Number of seeds; None for the default of each world."""
    overrides: Sequence[str] = ()
    tolerance: float | None = None
    """None is TOLERANCE."""
    json: Path | None = None
    making: Making = field(default_factory=Making)


class Unmeasured(Exception):
    """The kernel was to be measured and gave no valid result."""


class NotQuic(Exception):
    """The QUIC stack cannot run the scenario."""


def compare_command(source: str, asked: CompareOptions) -> None:
    """Prints worlds side by side; exit status 1 when a class differs by more than it may.

    A world that has no answer for the scenario is named, and the others are shown; status 2 where
    the kernel was tried and failed. Raises LinuxError before anything is run if the kernel is asked
    for and this machine cannot.
    """
    if asked.controllers is not None:
        names = paired.controllers_from(asked.controllers)
        others = {
            "--controller": asked.controller,
            "--worlds": asked.worlds,
            "--tolerance": asked.tolerance,
        }
        if given := [option for option, value in others.items() if value is not None]:
            raise ValueError(
                "--controllers compares controllers in simulation and by intervals: "
                f"leave {' and '.join(given)} out"
            )
        seeds = seeds_from(asked.first_seed, asked.repeat or REPEAT[SIMULATION])
        paired.paired_command(scenario_from(source), names, seeds, asked)
        return
    wanted = checked_worlds(asked.worlds or USUAL)
    if not {SIMULATION, QUIC} & set(wanted) and asked.making != Making():
        raise ValueError(
            f"--on, --store and --threads are of simulations, and --worlds is {asked.worlds}: leave them out"
        )
    tolerance = TOLERANCE if asked.tolerance is None else asked.tolerance
    seeds_of = {
        world: seeds_from(asked.first_seed, asked.repeat or number)
        for world, number in REPEAT.items()
    }
    scenario = scenario_from(source)
    if asked.json:
        check_writable(asked.json)
    plan = scenario.plan(overrides=asked.overrides, controller=asked.controller)
    wanted = [world for world in wanted if world not in REAL or kernel_answers(world, plan)]
    if real := [world for world in wanted if world in REAL]:
        check_machine(asked=f"--worlds with {real[0]}")
        tell_time(plan, real, len(seeds_of[real[0]]))
    results: dict[str, Result] = {}
    ended: typer.Exit | None = None
    for world in wanted:
        try:
            results[world] = of_world(world, scenario, plan, seeds_of, asked)
        except (theory.TheoryError, NotQuic) as error:
            tell_no_answer(world, str(error))
            continue
        except Unmeasured as error:
            tell_no_answer(world, str(error))
            ended = typer.Exit(2)
            break
        except typer.Exit as interrupt:  # before any replication had finished
            ended = interrupt
            break
        if not results[world].provenance["complete"]:
            ended = stopped(len(results[world].runs), len(seeds_of[world]))
            break
    if not results or (ended and ended.exit_code == INTERRUPTED and len(results) < 2):
        raise ended or ValueError(f"none of these worlds has an answer: {', '.join(wanted)}")
    finish(results, tolerance, asked.json)
    if ended:
        raise ended
    if "differs" in words(results, tolerance).values():
        raise typer.Exit(1)


def of_world(
    world: str, scenario: Scenario, plan: Plan, seeds: dict[str, range], asked: CompareOptions
) -> Result:
    """The result of a world for a scenario. Raises TheoryError if theory has no answer, Unmeasured
    if the kernel has none, and NotQuic if the QUIC stack has none.
    """
    options: dict[str, Any] = {"controller": asked.controller, "overrides": asked.overrides}
    if world == THEORY:
        origin = provenance(**options, rtt="queueing", utility="log") | cell_of(scenario)
        return as_result(scenario, predicted(plan, "queueing"), origin)
    if world == SIMULATION:
        with asked.making.maker() as maker:
            return simulated(scenario, seeds[world], maker, **options)
    if world == QUIC:
        try:
            options["overrides"] = overrides_for(scenario, **options)
        except ScenarioError as error:
            raise NotQuic(str(error)) from error
        with asked.making.maker() as maker:
            return replace(simulated(scenario, seeds[world], maker, **options), world=QUIC)
    return measured(scenario, seeds[world], world=world, **options)


def tell_no_answer(world: str, why: str) -> None:
    """Says that a world has no answer for the scenario."""
    console().print(f"{world} has no answer: {why}", style="yellow", markup=False, highlight=False)


def finish(results: dict[str, Result], tolerance: float, json: Path | None) -> None:
    """Shows and writes the worlds that there are; an interrupt may have left some out."""

    def write(file: Path) -> None:
        write_json(file, comparison(results, tolerance))

    show_and_write(partial(show_all, results, tolerance), (json, write))


def show_all(results: dict[str, Result], tolerance: float) -> None:
    """Prints the comparison, and the remarks on each world."""
    show(results, tolerance)
    tell_short(results)
    if THEORY in results:
        tell_several_states(results[THEORY])
        tell_left_out(results[THEORY].plan)
    tell_not_judged(
        next(iter(results.values())).plan,
        "because `compare` does not judge fairness; `anabranch run` does",
    )
    for world in REAL:
        if world in results:
            from .realtime import show_error

            show_error(results[world])


def measured(scenario: Scenario, seeds: Sequence[int], **options: Any) -> Result:
    """The result on the real kernel, with a progress bar. Raises Unmeasured."""
    from ..linux import LinuxError
    from .realtime import measured as on_linux

    try:
        return on_linux(scenario, seeds, **options)
    except LinuxError as error:
        raise Unmeasured(str(error)) from error


def checked_worlds(worlds: str) -> list[str]:
    """The worlds that `--worlds` names, theory first. Raises ValueError unless there are two."""
    wanted = [chosen("a world of --worlds", world.strip(), WORLDS) for world in worlds.split(",")]
    if len(set(wanted)) < 2:
        raise ValueError(f"--worlds is {worlds!r}; compare needs two of {', '.join(WORLDS)}")
    return [world for world in WORLDS if world in wanted]


def kernel_answers(world: str, plan: Plan) -> bool:
    """Whether a world in real time can run a scenario; prints why not."""
    from ..linux import fit

    refused = fit.refusals(plan, fit.WIRE if world == WIRE else fit.LINUX)
    for why in refused:
        tell_no_answer(world, why)
    return not refused


def tell_time(plan: Plan, worlds: Sequence[str], replications: int) -> None:
    """Says how long the worlds in real time take, if that is more than a minute."""
    seconds = len(worlds) * replications * plan.duration_s
    if seconds > 60:
        runs = f"{replications} replication{'s' * (replications > 1)} of {plan.duration_s:g} s"
        run, each = ("runs", "") if len(worlds) == 1 else ("run", " each")
        console().print(
            f"{' and '.join(worlds)} {run} in real time: {runs}{each}, about {seconds / 60:.0f} min"
        )


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
    return Difference(users, worlds, by, relative(later.mean, earlier.mean), word)


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
        cells[f"{world} Mb/s"] = column(own, EXACT_RATE if world == THEORY else RATE)
    for pair in pairs:
        of_pair = [difference for difference in found if difference.worlds == pair]
        within = f"within {tolerance:.0%}" if pair[0] == THEORY else "by intervals"
        name, word = (
            ("difference", within)
            if len(pairs) == 1
            else (f"{pair[1]} to {pair[0]}", f"{pair[1]} to {pair[0]}: {within}")
        )
        cells[name] = [percent(own.relative) for own in of_pair]
        cells[word] = [f"[{COLOURS[own.word]}]{own.word}[/]" for own in of_pair]
    console().print(
        columns("Per user, wire bytes; theory with queueing round trips", cells, left=2)
    )


def comparison(results: dict[str, Result], tolerance: float) -> dict[str, object]:
    """All results and the verdict on each class, as `write_json` takes them."""
    return {
        "format": FORMAT,
        "kind": "anabranch comparison",
        "tolerance": tolerance,
        "classes": words(results, tolerance),
        "differences": [one.to_json() for one in differences(results, tolerance)],
        "worlds": results,
    }

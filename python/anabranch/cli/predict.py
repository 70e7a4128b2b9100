"""`anabranch theory`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np

from .. import plot, theory
from ..files import check_writable
from ..offers import chosen, find
from ..plan import Plan
from ..prediction import Prediction, as_result, predicted
from ..result import Result, cell_of, provenance
from ..statistics import significant
from ..theory.equilibrium import ROUND_TRIPS
from ..theory.network import Floats
from ..theory.whatif import QUANTITIES
from . import dynamics, maps
from .draw import PLAIN, Looks
from .dynamics import axes_from
from .fair import tell_not_judged
from .keeping import Write, show_and_write
from .making import Making
from .options import scenario_from, time_from
from .tables import Table
from .terminal import console, named, table

OPTIMA = {"log": "proportional fairness", "tcp": "minimum potential delay, TCP's utility"}
STABILITY = {
    "stable": "small deviations of windows decay",
    "neutral": "some deviations of windows neither decay nor grow",
    "unstable": "small deviations of windows grow",
}
PRICES_SHOWN = {"log": (1e6, "s/Mbit"), "tcp": (1.0, "loss")}
"""In tables: from the unit of `prediction.PRICE_UNITS` to the one that is shown."""


def round_trip(text: str) -> str | float:
    """`base`, `queueing`, or seconds from a time with its unit. Raises ValueError."""
    if text in ROUND_TRIPS:
        return text
    seconds = time_from("--rtt", text, 'base, queueing, or a time such as "150 ms"')
    if seconds <= 0:
        raise ValueError(f"--rtt is {text!r}; it is above zero")
    return seconds


@dataclass(frozen=True, kw_only=True)
class TheoryOptions:
    """The options of `anabranch theory`, as they were given."""

    controller: str | None = None
    overrides: Sequence[str] = ()
    rtt: str = "queueing"
    all: bool = False
    utility: str = "log"
    alpha: float | None = None
    maxmin: bool = False
    pareto: bool = False
    fluid: bool = False
    portrait: Path | None = None
    axes: str | None = None
    map: tuple[str, ...] = ()
    of: str = "rate"
    out: Path | None = None
    looks: Looks = PLAIN
    json: Path | None = None
    making: Making = field(default_factory=Making)


def theory_command(source: str, asked: TheoryOptions) -> None:
    """Prints the equilibrium, the optima and other requested results, and writes them."""
    asked = replace(
        asked,
        utility=chosen("--utility", asked.utility, OPTIMA),
        of=chosen("--of", asked.of, QUANTITIES),
        rtt=find(asked.rtt, ROUND_TRIPS) or asked.rtt,
    )
    controller, overrides, json = asked.controller, asked.overrides, asked.json
    round_trips = _checked(asked)
    axes, grid_axes = axes_from(asked.axes), maps.axes_of([*asked.map], asked.out)
    scenario = scenario_from(source)
    plan = scenario.plan(overrides=overrides, controller=controller)
    for file in filter(None, (json, asked.portrait, asked.out)):
        check_writable(file)
    what = predicted(
        plan,
        round_trips,
        asked.utility,
        alpha=asked.alpha,
        maxmin=asked.maxmin,
        pareto=asked.pareto,
    )
    moving = dynamics.dynamics(plan, follow=asked.fluid) if asked.fluid or asked.portrait else None
    grid = (
        maps.grid(scenario, grid_axes, controller, overrides, round_trips, asked.making)
        if grid_axes
        else None
    )
    files: list[tuple[Path | None, Write]] = []
    if json:
        origin = provenance(controller, overrides, rtt=round_trips, utility=asked.utility)
        origin |= cell_of(scenario)
        result = as_result(scenario, what, origin)
        if moving:
            result.theory["fluid"] = dynamics.as_data(moving)
        if grid:
            result.theory["what_if"] = maps.as_data(grid)
        files.append((json, result.save))
    if moving and asked.portrait:
        portrait = dynamics.portrait(moving, axes, asked.looks)
        files.append((asked.portrait, partial(plot.save, portrait)))
    if grid and asked.out:
        drawn = maps.figure(grid, asked.of, plan, asked.looks)
        files.append((asked.out, partial(plot.save, drawn)))

    def show() -> None:
        _show(what, asked)
        if moving and asked.fluid:
            dynamics.show(console(), moving)
        if grid:
            maps.show(console(), grid, asked.of)
        tell_left_out(plan)
        tell_not_judged(
            plan, "because theory has no reference TCP; `anabranch run` judges it in simulation"
        )

    show_and_write(show, *files)


def _checked(asked: TheoryOptions) -> str | float:
    """The round trips of `--rtt`. Raises ValueError for options that are wrong or do not go
    together.
    """
    if asked.axes and not asked.portrait:
        raise ValueError(
            f"--axes is {asked.axes!r}, of a portrait; say where to draw it with --portrait"
        )
    for file in filter(None, (asked.portrait, asked.out)):
        plot.check_format(file)
    if asked.looks != PLAIN and not (asked.portrait or asked.out):
        raise ValueError(
            "--width and --title are of a figure; say where to draw it with --portrait or --out"
        )
    if asked.making != Making() and not asked.map:
        raise ValueError("--on, --store and --threads are of a map; say of what with --map")
    asked.looks.options()
    if (asked.fluid or asked.portrait) and asked.rtt != "queueing":
        raise ValueError(
            f"--rtt is {asked.rtt!r}; the fluid model has queues, whose delays are in its round trips: "
            "leave --rtt out with --fluid and --portrait"
        )
    return round_trip(asked.rtt)


def _show(what: Prediction, asked: TheoryOptions) -> None:
    """Prints the equilibrium and the allocations to compare with it."""
    out = console()
    out.print(_classes(what))
    out.print(_links(what))
    if asked.all:
        out.print(_steady_states(what))
    verdicts = [state.stability for state in what.states]
    out.print(found_states(verdicts, "" if asked.all else "; --all shows each"), markup=False)
    rtts = np.concatenate(list(what.equilibrium.rtts_s.values())) * 1e3
    out.print(
        f"round trips: {asked.rtt} ({rtts.min():.0f} to {rtts.max():.0f} ms); optimum: {OPTIMA[asked.utility]}",
        style="dim",
    )
    out.print(
        "with probing cost: the optimum where every path carries at least one segment per round trip",
        style="dim",
    )
    for each in what.fair:
        limits = [f"{name} at {' and '.join(links)}" for name, links in each.bottlenecks.items()]
        if limits:
            text = f"{each.criterion}, limited by: {', '.join(limits)}"
            out.print(text, style="dim", markup=False)
    if what.pareto:
        out.print(_pareto(what.pareto[0]), markup=False)


def found_states(verdicts: Sequence[str], see: str = "") -> str:
    """The number of steady states found, and which of them is the answer, in words.

    `verdicts` are those of the states in their order; `see` says how to see them all.
    """
    answer, count = verdicts[0], len(verdicts)
    if count == 1:
        return f"one steady state found; it is {answer}: {STABILITY[answer]}"
    numbers = Counter(verdicts)
    parts = ", ".join(f"{number} {word}" for word, number in numbers.items())
    which = f"the {answer} one" + (" whose traffic loses least" if numbers[answer] > 1 else "")
    return f"{count} steady states found, {parts}; the rates are those of {which}{see}"


def tell_several_states(result: Result) -> None:
    """Prints that a prediction is one of several."""
    verdicts = [state["stability"] for state in result.theory["steady_states"]]
    if len(verdicts) > 1:
        text = found_states(verdicts, "; anabranch theory --all shows each")
        console().print(f"theory: {text}", style="dim", markup=False, highlight=False)


def _steady_states(what: Prediction) -> Table:
    """Every steady state, class by class."""
    rows = [
        [
            str(number),
            state.stability,
            f"{state.rightmost_per_s:.3g}" if np.isfinite(state.rightmost_per_s) else "–",
            named(c.name),
            f"{state.class_rates_bps[c.name] / 1e6:.4f}",
            _split(state.rates_bps[c.name]),
            _windows(state.windows[c.name]),
        ]
        for number, state in enumerate(what.states, start=1)
        for c in what.plan.classes
    ]
    head = ["state", "deviations", "exponent 1/s", "class", "Mb/s", "by path Mb/s"]
    return table("Steady states, per user", [*head, "windows, segments"], rows, left=2)


def _split(rates_bps: Floats) -> str:
    """Rates of several paths in Mb/s."""
    return " + ".join(f"{rate / 1e6:.3f}" for rate in rates_bps) if len(rates_bps) > 1 else ""


def _windows(windows: Floats) -> str:
    """Windows of the paths in segments."""
    return ", ".join(f"{w:.2f}" for w in windows)


def _pareto(check: theory.ParetoCheck) -> str:
    """The verdict on the equilibrium in words."""
    if check.optimal:
        return (
            "the equilibrium is Pareto-optimal: no class can get more without another getting less"
        )
    return (
        f"the equilibrium is not Pareto-optimal: {check.class_name} could get {100 * check.headroom:.1f} % more "
        "at no cost to another class"
    )


def tell_left_out(plan: Plan) -> None:
    """Prints the parts of a plan that theory ignores."""
    for part in theory.left_out(plan):
        console().print(f"theory leaves out {part}", style="yellow", markup=False)


def _classes(what: Prediction) -> Table:
    """Rates and windows of each class."""
    found, best, probing = what.equilibrium, what.optimum, what.probing
    rows = []
    for c in what.plan.classes:
        name = c.name
        rows.append(
            [
                named(name),
                c.controller,
                str(c.count),
                f"{found.class_rates_bps[name] / 1e6:.4f}",
                _split(found.rates_bps[name]),
                _windows(found.windows[name]),
                f"{best.class_rates_bps[name] / 1e6:.4f}",
                f"{probing.class_rates_bps[name] / 1e6:.4f}" if probing else "–",
                *(f"{each.class_rates_bps[name] / 1e6:.4f}" for each in _beside(what)),
            ]
        )
    head = ["class", "controller", "users", "equilibrium Mb/s", "by path Mb/s"]
    head += ["windows, segments", "optimum Mb/s", "with probing cost Mb/s"]
    more = [
        ("dominating" if each.criterion == "Pareto" else each.criterion) + " Mb/s"
        for each in _beside(what)
    ]
    return table("Per user, wire bytes", [*head, *more], rows, left=2)


def _beside(what: Prediction) -> list[theory.Allocation]:
    """The requested allocations, and one that dominates the equilibrium, if there is one."""
    dominating = what.pareto[1] if what.pareto else None
    return [*what.fair, dominating] if dominating else [*what.fair]


def _links(what: Prediction) -> Table:
    """Loads, losses and prices of the links that have a rate."""
    found, best, probing = what.equilibrium, what.optimum, what.probing
    scale, unit = PRICES_SHOWN[best.utility]
    limited = {link.name for link in what.plan.links if link.rate_bps}
    limited |= {f"{link}[{c.name}]" for link in limited for c in what.plan.classes}  # copies
    rows = [
        [
            named(name),
            f"{load_bps / 1e6:.3f}",
            f"{found.link_losses[name]:.5f}" if found.link_losses[name] else "0",
            significant(scale * best.link_prices[name]),
            significant(scale * probing.link_prices[name]) if probing else "–",
        ]
        for name, load_bps in found.link_loads_bps.items()
        if name in limited
    ]
    head = ["link", "load Mb/s", "loss at equilibrium"]
    prices = [f"price at the optimum, {unit}", f"with probing cost, {unit}"]
    return table("Links", [*head, *prices], rows)

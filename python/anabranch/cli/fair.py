"""Flows that a scenario wants to be TCP-fair: how they are judged after `anabranch run`,
and shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rich.markup import escape

from ..fairness import demands, judgements
from ..makers import Maker
from ..plan import Plan
from ..result import Result
from ..runs import JudgedFlow
from ..scenario import Scenario
from .terminal import console, named, progress, table

STYLES = {True: "[green]met[/]", False: "[red]violated[/]"}


def judged(result: Result, maker: Maker) -> Result:
    """A result with judgements on its flows that are to be TCP-fair; without them after an
    interrupt.
    """

    def runs(twin: Scenario, seeds: list[int]) -> Result:
        with progress(f"simulating {escape(twin.name)}") as tell:
            return maker.run(twin, seeds, progress=tell)

    try:
        found = judgements(result, runs=runs)
    except KeyboardInterrupt:
        return result
    return replace(result, fairness=[one.record() for one in found])


def tell_not_judged(plan: Plan, why: str) -> None:
    """Prints, for each flow that must be TCP-fair, that it was not judged, and why."""
    for demand in demands(plan):
        console().print(
            f"flow {demand.flow} is to be TCP-fair by the {demand.definition} definition: not judged, {why}",
            style="bold yellow",
            markup=False,
            highlight=False,
        )


def show_fairness(found: Sequence[JudgedFlow]) -> None:
    """Judgements as a table, with a line for each."""
    out = console()
    head = [
        "flow",
        "definition",
        "on",
        "takes Mb/s",
        "bound Mb/s",
        "excess %",
        "margin %",
        "verdict",
    ]
    rows = [
        [named(one.flow), one.definition, *cells, f"{one.margin * 100:g}", STYLES[met]]
        for one in found
        for cells, met in bounds(one)
    ]
    out.print(table("TCP-fairness, compared with one TCP in the flow's place", head, rows, left=3))
    out.print(
        "excess is relative to the bound, on a link to its capacity; spare capacity is all capacity that is unused without "
        "the flow",
        style="dim",
    )
    for one in found:
        word = "meets" if one.met else "violates"
        where = f" on {', '.join(one.violated)}" if one.violated else ""
        out.print(
            f"{one.flow} {word} the {one.definition} definition of TCP-fairness{where}",
            style="green" if one.met else "bold red",
            markup=False,
            highlight=False,
        )
        if (other := one.elsewhere) and one.definition == "stringent":
            kept = "meets" if other.stringent else "violates"
            out.print(
                f"if spare capacity is only what flows limited elsewhere leave, {one.flow} {kept} the definition: the "
                f"bound is {other.bound_bps / 1e6:.3f} Mb/s, the excess {other.excess * 100:+.1f} %",
                style="dim",
                markup=False,
                highlight=False,
            )


def bounds(one: JudgedFlow) -> list[tuple[list[str], bool]]:
    """The bounded quantities, with rates and excess as text, and whether the bound is kept.

    All paths together by the stringent definition; the links that violate the lenient one, or else
    the link nearest to a violation.
    """
    kept, found = one.margin, []
    if one.definition == "stringent":
        found.append(("all paths", one.total_bps, one.bound_bps, one.excess))
    worst = max(one.links, key=lambda link: link.excess)
    for link in one.links:
        if link.link in one.violated or (link is worst and not one.violated):
            found.append((link.link, link.ensemble_bps, link.tcp_bps, link.excess))
    return [
        (
            [named(what), f"{rate / 1e6:.3f}", f"{bound / 1e6:.3f}", f"{excess * 100:+.1f}"],
            excess <= kept,
        )
        for what, rate, bound, excess in found
    ]

"""`anabranch compare`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import typer

from ..files import check_writable, write_json
from ..result import FORMAT, Result, provenance, scaled
from ..statistics import Interval
from .options import scenario_from
from .predict import as_result, predicted, tell_left_out
from .simulate import simulated
from .terminal import console, named, stopped, table, writing

WORLDS = ("theory", "simulation")

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


def compare_command(
    source: str,
    controller: str | None,
    worlds: str,
    seeds: Sequence[int],
    overrides: list[str],
    tolerance: float,
    json: Path | None,
    threads: int,
) -> None:
    """Prints both worlds side by side; exit status 1 when a class differs by more than it may."""
    check_worlds(worlds)
    scenario = scenario_from(source)
    if json:
        check_writable(json)
    plan = scenario.plan(overrides=overrides, controller=controller)
    origin = provenance(controller, overrides, rtt="queueing", utility="log")
    expected = as_result(scenario, predicted(plan, "queueing"), origin)
    result = simulated(scenario, seeds, controller=controller, overrides=overrides, threads=threads)
    words = {
        name: agreement(result.mean(name), expected.mean(name).mean, tolerance)
        for name in result.classes
    }
    if json:
        with writing(json):
            write_json(json, comparison(expected, result, tolerance, words))
    show(expected, result, tolerance, words)
    tell_left_out(plan)
    if not result.provenance["complete"]:
        raise stopped(len(result.runs), len(seeds))
    if "differs" in words.values():
        raise typer.Exit(1)


def check_worlds(worlds: str) -> None:
    """Raises ValueError unless `worlds` names two worlds that there are."""
    wanted = [world.strip() for world in worlds.split(",")]
    unknown = [world for world in wanted if world not in WORLDS]
    if unknown:
        raise ValueError(
            f"--worlds: there is no world {unknown[0]!r}; the worlds are {', '.join(WORLDS)}"
        )
    if len(set(wanted)) < 2:
        raise ValueError(f"--worlds is {worlds!r}; compare needs two of {', '.join(WORLDS)}")


def show(
    expected: Result, simulated: Result, tolerance: float, words: dict[str, Agreement]
) -> None:
    """Prints a row for each class with the word that was said about it."""
    rows = []
    for c in simulated.plan["classes"]:
        name = c["name"]
        theory_bps, value, word = expected.mean(name).mean, simulated.mean(name), words[name]
        rows.append(
            [
                named(name),
                c["controller"],
                f"{theory_bps / 1e6:.3f}",
                scaled(value, 1e-6),
                f"{value.mean / theory_bps - 1:+.1%}",
                f"[{COLOURS[word]}]{word}[/]",
            ]
        )
    head = ["class", "controller", "theory Mb/s", "simulation Mb/s", "difference"]
    title = "Per user, wire bytes; theory with queueing round trips"
    console().print(table(title, [*head, f"within {tolerance:.0%}"], rows, left=2))


def comparison(
    expected: Result, simulated: Result, tolerance: float, words: dict[str, Agreement]
) -> dict[str, object]:
    """Both results and what was said about each class, as plain data."""
    return {
        "format": FORMAT,
        "kind": "anabranch comparison",
        "tolerance": tolerance,
        "classes": words,
        "worlds": {"theory": expected.to_json(), "simulation": simulated.to_json()},
    }

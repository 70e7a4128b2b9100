"""`anabranch theory` and `anabranch compare`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from .. import theory
from ..files import check_writable, write_json
from ..result import run
from ..scenario import load
from ..statistics import Interval
from .terminal import console, progress, table

WORLDS = ("theory", "simulation")
UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6}


def round_trip(text: str) -> str | float:
    """`base`, `queueing`, or seconds from a time with its unit. Raises ValueError."""
    if text in ("base", "queueing"):
        return text
    number = text.strip().rstrip("mus").strip()
    unit = text.strip()[len(number) :].strip()
    try:
        seconds = float(number) * UNITS[unit]
    except (ValueError, KeyError):
        raise ValueError(
            f'--rtt is {text!r}; write base, queueing, or a time such as "150 ms"'
        ) from None
    if seconds <= 0:
        raise ValueError(f"--rtt is {text!r}; it is above zero")
    return seconds


OPTIMA = {"log": "proportional fairness", "tcp": "minimum potential delay, TCP's utility"}


def predicted(plan: dict[str, Any], rtt: str | float, utility: str = "log") -> dict[str, Any]:
    """Equilibrium and optima of a plan; optima with a floor take the equilibrium's round trips."""
    network = theory.Network.from_plan(plan)
    found = theory.equilibrium(network, rtt=rtt, floor=0.0)
    rtts = [rtt for rows in found.rtts_s.values() for rtt in rows]
    mean_rtt = sum(rtts) / len(rtts)
    best = theory.optimum(network, utility=utility, rtt=mean_rtt)
    try:
        probing = theory.optimum(network, utility=utility, rtt=mean_rtt, floor=1.0)
    except theory.TheoryError:
        probing = None  # one segment per round trip on every path is more than the links carry
    return {"equilibrium": found, "optimum": best, "probing": probing, "rtt_s": mean_rtt}


def theory_command(
    source: str,
    controller: str | None,
    overrides: list[str],
    rtt: str,
    utility: str,
    json: Path | None,
) -> None:
    """Prints the equilibrium and the optima, and writes them if asked."""
    if utility not in OPTIMA:
        raise ValueError(f"--utility is {utility!r}; it is one of {', '.join(OPTIMA)}")
    plan = load(source).plan(overrides=overrides, controller=controller)
    if json:
        check_writable(json)
    what = predicted(plan, round_trip(rtt), utility)
    found, best, probing = what["equilibrium"], what["optimum"], what["probing"]
    rows = []
    for c in plan["classes"]:
        name = c["name"]
        split = " + ".join(f"{rate / 1e6:.3f}" for rate in found.rates_bps[name])
        windows = ", ".join(f"{w:.2f}" for w in found.windows[name])
        rows.append(
            [
                name,
                c["controller"],
                str(c["count"]),
                f"{found.class_rates_bps[name] / 1e6:.4f}",
                split if len(c["paths"]) > 1 else "",
                windows,
                f"{best.class_rates_bps[name] / 1e6:.4f}",
                f"{probing.class_rates_bps[name] / 1e6:.4f}" if probing else "–",
            ]
        )
    head = [
        "class",
        "controller",
        "users",
        "equilibrium Mb/s",
        "by path",
        "windows",
        "optimum",
        "with probing cost",
    ]
    limited = {link["name"] for link in plan["links"] if link["rate_bps"]}
    limited |= {
        f"{link}[{c['name']}]" for link in limited for c in plan["classes"]
    }  # private copies
    out = console()
    out.print(table("Per user, wire bytes", head, rows, left=2))
    unit = "loss" if utility == "tcp" else "s/bit"
    prices = [
        [
            name,
            f"{load_ / 1e6:.3f}",
            f"{found.link_losses[name]:.5f}",
            f"{best.link_prices.get(name, 0.0):.3g}",
        ]
        for name, load_ in found.link_loads_bps.items()
        if name in limited
    ]
    out.print(
        table(
            "Links",
            ["link", "load Mb/s", "loss at equilibrium", f"price at the optimum ({unit})"],
            prices,
        )
    )
    out.print(
        f"round trips: {rtt} (mean {what['rtt_s'] * 1e3:.0f} ms); optimum: {OPTIMA[utility]}",
        style="dim",
    )
    for part in theory.left_out(plan):
        out.print(f"theory leaves out {part}", style="yellow")
    if json:
        write_json(json, plain(plan, what))


def plain(plan: dict[str, Any], what: dict[str, Any]) -> dict[str, Any]:
    """The prediction as plain data."""
    found, best, probing = what["equilibrium"], what["optimum"], what["probing"]
    return {
        "kind": "anabranch theory",
        "plan": plan,
        "rtt_s": what["rtt_s"],
        "equilibrium": {
            "class_rates_bps": found.class_rates_bps,
            "rates_bps": {k: list(map(float, v)) for k, v in found.rates_bps.items()},
            "windows_segments": {k: list(map(float, v)) for k, v in found.windows.items()},
            "link_losses": found.link_losses,
            "residual": found.residual,
        },
        "optimum": {
            "utility": best.utility,
            "class_rates_bps": best.class_rates_bps,
            "link_prices": best.link_prices,
        },
        "optimum_with_probing": probing and {"class_rates_bps": probing.class_rates_bps},
    }


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
    wanted = [world.strip() for world in worlds.split(",")]
    unknown = [world for world in wanted if world not in WORLDS]
    if unknown:
        raise ValueError(
            f"--worlds: there is no world {unknown[0]!r}; the worlds are {', '.join(WORLDS)}"
        )
    if len(wanted) < 2:
        raise ValueError(f"--worlds is {worlds!r}; compare needs two of {', '.join(WORLDS)}")
    scenario = load(source)
    if json:
        check_writable(json)
    plan = scenario.plan(overrides=overrides, controller=controller)
    what = predicted(plan, "queueing")
    with progress("simulating") as tell:
        result = run(
            scenario,
            seeds,
            controller=controller,
            overrides=overrides,
            threads=threads,
            progress=tell,
        )
    rows, differing = [], []
    for c in plan["classes"]:
        name = c["name"]
        expected = what["equilibrium"].class_rates_bps[name] / 1e6
        value = result.mean(name)
        simulated = Interval(value.mean / 1e6, value.half / 1e6, value.n)
        difference = simulated.mean / expected - 1
        # A single replication has no interval and explains nothing.
        explained = len(seeds) > 1 and simulated.low <= expected <= simulated.high
        agrees = explained or abs(difference) <= tolerance
        if not agrees:
            differing.append(name)
        word = (
            "agrees within its interval" if explained else "agrees" if agrees else "[red]differs[/]"
        )
        rows.append(
            [name, c["controller"], f"{expected:.3f}", str(simulated), f"{difference:+.1%}", word]
        )
    head = [
        "class",
        "controller",
        "theory Mb/s",
        "simulation Mb/s",
        "difference",
        f"within {tolerance:.0%}",
    ]
    console().print(
        table("Per user, wire bytes; theory with queueing round trips", head, rows, left=2)
    )
    for part in theory.left_out(plan):
        console().print(f"theory leaves out {part}", style="yellow")
    if json:
        content = {
            "kind": "anabranch comparison",
            "theory": plain(plan, what),
            "simulation": result.to_json(),
        }
        write_json(json, content)
    if differing:
        raise typer.Exit(1)

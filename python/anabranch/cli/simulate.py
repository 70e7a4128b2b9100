"""`anabranch run`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import typer

from ..fairness import check_demands, demands
from ..files import check_writable
from ..plan import Wifi
from ..result import Recording, Result, run, scaled
from ..scenario import Scenario
from . import INTERRUPTED
from .fair import judged, show_fairness, tell_not_judged
from .media import stations, unreachable, ways
from .options import scenario_from
from .terminal import console, named, progress, stopped, table, writing


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """The options of `anabranch run`."""

    controller: str | None = None
    seeds: Sequence[int] = (1,)
    overrides: Sequence[str] = ()
    json: Path | None = None
    series: bool = False
    events: bool = False
    recording: Recording = field(default_factory=Recording)
    threads: int = 0


def run_command(source: str, options: RunOptions) -> None:
    """Simulates, writes the result if asked, and prints it; status 1 if a flow is less fair than it
    is to be.
    """
    result = perform(partial(judged_too, options=options), source, options.json)
    for file in (options.recording.pcap, options.recording.qlog):
        if file:
            console().print(f"written to {file}", highlight=False, markup=False)
    if not result.fairness:
        tell_not_judged(result.plan, "for the command was interrupted")
    check_complete(result, options.seeds)
    if demands(result.plan) and not result.fairness:
        raise typer.Exit(INTERRUPTED)
    if not all(one.met for one in result.fairness):
        raise typer.Exit(1)


def judged_too(scenario: Scenario, options: RunOptions) -> Result:
    """The result of `simulated` with judgements on flows that are to be TCP-fair.

    Raises ValueError before anything is run if one of them cannot be judged.
    """
    wanted = check_demands(scenario, controller=options.controller, overrides=options.overrides)
    result = simulated(
        scenario,
        options.seeds,
        controller=options.controller,
        overrides=options.overrides,
        threads=options.threads,
        series=options.series,
        events=options.events,
        recording=options.recording,
    )
    if not wanted or not result.provenance["complete"]:
        return result
    return judged(result, options.threads)


def perform(produce: Callable[[Scenario], Result], source: str, json: Path | None) -> Result:
    """What a world gives for a scenario, written before it is shown: so it can no longer be lost."""
    scenario = scenario_from(source)
    if json:
        check_writable(json)
    result = produce(scenario)
    if json:
        with writing(json):
            result.save(json)
    show(result)
    return result


def check_complete(result: Result, seeds: Sequence[int]) -> None:
    """Ends the command with the status of an interrupt if one left replications out."""
    if not result.provenance["complete"]:
        raise stopped(len(result.runs), len(seeds))


def simulated(scenario: Scenario, seeds: Sequence[int], **options: Any) -> Result:
    """The result of `run`, with a progress bar."""
    return watched("simulating", run, scenario, seeds, **options)


def watched(
    label: str,
    produce: Callable[..., Result],
    scenario: Scenario,
    seeds: Sequence[int],
    **options: Any,
) -> Result:
    """A result, with a progress bar; an interrupt before any replication ends it all."""
    try:
        with progress(label) as tell:
            return produce(scenario, seeds, progress=tell, **options)
    except KeyboardInterrupt:
        raise stopped(0, len(seeds)) from None


def show(result: Result) -> None:
    """Classes and links of a result as tables."""
    plan, out = result.plan, console()
    if plan.title:
        out.print(plan.title, style="bold", highlight=False, markup=False)
    for warning in plan.warnings:
        out.print(f"warning: {warning}", style="yellow", highlight=False, markup=False)
    datagrams = [c.protocol == "udp" for c in plan.classes]
    head = [
        "class",
        "controller",
        "users",
        "throughput Mb/s",
        "goodput Mb/s",
        "RTT ms",
        "loss %",
        "timeouts",
        "Jain",
    ]
    rows = [
        [
            named(row.name),
            "–" if udp else row.controller,
            str(row.users),
            scaled(row.throughput_bps, 1e-6),
            scaled(row.goodput_bps, 1e-6),
            scaled(row.rtt_s, 1e3),
            scaled(row.loss, 1e2),
            scaled(row.timeouts, 1.0),
            scaled(row.jain, 1.0) if row.users > 1 else "",
        ]
        for row, udp in zip(result.summary(), datagrams, strict=True)
    ]
    out.print(
        table("Per user (throughput counts IP bytes, goodput payload in order)", head, rows, left=2)
    )
    if any(link.rate_bps is not None for link in plan.links):
        out.print(table("Links", *links(result)))
    if any(path.coding for c in plan.classes for path in c.paths) and result.runs[0].has("coding"):
        out.print(table("Coded paths", *coded(result), left=2))
    if plan.media:
        out.print(table("Stations", *stations(result), left=2))
    if any(run.has("ways") and run.ways.link for run in result.runs):
        if any(isinstance(medium, Wifi) and medium.routing for medium in plan.media):
            out.print(table("Links over media with routing, of all users together", *ways(result)))
        for what in unreachable(result):
            out.print(f"unreachable: {what}", style="yellow", highlight=False, markup=False)
    if result.fairness:
        show_fairness(result.fairness)
    measured = plan.duration_s - plan.warmup_s
    runs = f"{len(result.runs)} replication{'s' * (len(result.runs) > 1)}"
    out.print(
        f"{runs}, {measured:g} s measured after {plan.warmup_s:g} s; means with 95 % intervals",
        style="dim",
    )
    if not all(run.has("digest") for run in result.runs):  # only a simulation repeats exactly
        return
    digests = ", ".join(f"{run.seed}: {run.digest}" for run in result.runs[:3])
    out.print(f"digests {digests}{' …' * (len(result.runs) > 3)}", style="dim", highlight=False)


def links(result: Result) -> tuple[list[str], list[list[str]]]:
    """Head and rows of the table of links that have a rate."""
    from ..statistics import interval

    head = [
        "link",
        "rate Mb/s",
        "utilisation",
        "loss %",
        "queue packets",
        "queueing delay ms p50 / p95 / p99",
    ]
    rows = []
    for link in result.plan.links:
        if link.rate_bps is None:
            continue
        name = link.name
        delays = [
            interval(result.link(name, f"queue_delay_p{p}_s")).mean * 1e3 for p in (50, 95, 99)
        ]
        queue = interval(result.link(name, "queue_packets"))
        rows.append(
            [
                named(name) + (" (per user)" if link.per_user else ""),
                f"{link.rate_bps / 1e6:g}",
                f"{interval(result.link(name, 'utilisation')).mean:.4f}",
                scaled(interval(result.link(name, "loss")), 1e2),
                str(queue) if queue.mean == queue.mean else "–",
                " / ".join(f"{d:.1f}" for d in delays) if queue.mean == queue.mean else "–",
            ]
        )
    return head, rows


def coded(result: Result) -> tuple[list[str], list[list[str]]]:
    """Head and rows of the table of coded paths."""
    from ..statistics import interval

    head = [
        "class",
        "path",
        "R",
        "W",
        "goodput Mb/s",
        "redundant %",
        "decoding delay ms",
        "asked",
        "noise",
        "congestion",
    ]
    rows = []
    for c in result.plan.classes:
        for number, path in enumerate(c.paths):
            if path.coding is None:
                continue
            arrived, innovative = (
                result.coding(c.name, number, f"{kind}_packets").sum(axis=1)
                for kind in ("arrived", "innovative")
            )
            rows.append(
                [
                    named(c.name),
                    str(number),
                    f"{path.coding.redundancy:g}",
                    str(path.coding.window),
                    scaled(interval(result.path(c.name, number, "goodput_bps").mean(axis=1)), 1e-6),
                    scaled(interval(1 - innovative / np.maximum(arrived, 1)), 1e2),
                    *(
                        scaled(interval(result.coding(c.name, number, metric).mean(axis=1)), scale)
                        for metric, scale in [
                            ("decoding_delay_s", 1e3),
                            ("asked", 1.0),
                            ("noise", 1.0),
                            ("congestion", 1.0),
                        ]
                    ),
                ]
            )
    return head, rows

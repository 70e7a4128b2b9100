"""`anabranch run`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import typer

from ..fairness import check_demands, demands
from ..files import check_writable
from ..makers import Maker
from ..offers import chosen
from ..planned_network import DropTail, Link, Wifi
from ..quic import WORLD as QUIC
from ..quic import overrides_for
from ..result import NotRecorded, Recording, Result
from ..scenario import Scenario
from ..statistics import (
    COUNT,
    DELAY,
    INDEX,
    PERCENT,
    RATE,
    Interval,
    Quantity,
    column,
    interval,
)
from . import INTERRUPTED
from .fair import judged, show_fairness, tell_not_judged
from .keeping import show_and_write
from .making import Making
from .media import stations, unreachable, ways
from .options import flent_from, scenario_from
from .tables import Table
from .terminal import columns, console, named, progress, stopped

SIMULATION, WIRE = "simulation", "wire"
WORLDS = (SIMULATION, QUIC, WIRE)


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """The options of `anabranch run`."""

    world: str = SIMULATION
    controller: str | None = None
    seeds: Sequence[int] = (1,)
    overrides: Sequence[str] = ()
    json: Path | None = None
    series: bool = False
    events: bool = False
    recording: Recording = field(default_factory=Recording)
    flent: Path | None = None
    making: Making = field(default_factory=Making)


def run_command(source: str, options: RunOptions) -> None:
    """Simulates, writes the result if asked, and prints it; status 1 if a flow is less fair than it
    is to be.
    """

    def tell(result: Result) -> None:
        if not result.fairness:
            tell_not_judged(result.plan, "because the command was interrupted")

    produce = partial(judged_too, options=options)
    flent_from(options.flent, options.seeds)
    result = perform(produce, source, options.json, tell, options.recording, options.flent)
    check_complete(result, options.seeds)
    if demands(result.plan) and not result.fairness:
        raise typer.Exit(INTERRUPTED)
    if not all(one.met for one in result.fairness):
        raise typer.Exit(1)


def judged_too(scenario: Scenario, options: RunOptions) -> Result:
    """The result of `simulated` with judgements on flows that are to be TCP-fair.

    Raises ValueError before anything is run if one of them cannot be judged.
    """
    world = chosen("--world", options.world, WORLDS)
    overrides = options.overrides
    if world == QUIC:
        overrides = overrides_for(scenario, controller=options.controller, overrides=overrides)
    wanted = check_demands(scenario, controller=options.controller, overrides=overrides)

    def with_judgements(result: Result, maker: Maker) -> Result:
        if not wanted or not result.provenance["complete"]:
            return result
        return judged(result, maker)

    with options.making.maker() as maker:
        try:
            result = simulated(
                scenario,
                options.seeds,
                maker,
                controller=options.controller,
                overrides=overrides,
                series=options.series or options.flent is not None,
                events=options.events,
                recording=options.recording,
            )
        except NotRecorded as error:
            error.result = replace(with_judgements(error.result, maker), world=world)
            raise
        return replace(with_judgements(result, maker), world=world)


def perform(
    produce: Callable[[Scenario], Result],
    source: str,
    json: Path | None,
    tell: Callable[[Result], object],
    recording: Recording,
    flent: Path | None = None,
) -> Result:
    """Runs a scenario in a world, shows the result with the remarks of `tell`, and writes it.

    Raises OSError at the end if a file, or the recording, could not be written.
    """
    scenario = scenario_from(source)
    if json:
        check_writable(json)
    failure: NotRecorded | None = None
    try:
        result = produce(scenario)
    except NotRecorded as error:
        result, failure = error.result, error

    def told() -> None:
        show(result)
        for file in (recording.pcap, recording.qlog):
            if file and not (failure and file in failure.files):
                console().print(f"written to {file}", highlight=False, markup=False)
        tell(result)

    def as_flent(file: Path) -> None:
        from ..flent import write

        write(result, file)

    show_and_write(told, (json, result.save), (flent, as_flent), failure=failure)
    return result


def check_complete(result: Result, seeds: Sequence[int]) -> None:
    """Ends the command with the status of an interrupt if one left replications out."""
    if not result.provenance["complete"]:
        raise stopped(len(result.runs), len(seeds))


def simulated(scenario: Scenario, seeds: Sequence[int], maker: Maker, **options: Any) -> Result:
    """The result of a maker, with a progress bar."""
    return watched("simulating", maker.run, scenario, seeds, **options)


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
    out.print(classes(result))
    if any(link.rate_bps is not None for link in plan.links):
        out.print(links(result))
    if any(path.coding for c in plan.classes for path in c.paths) and result.runs[0].has("coding"):
        out.print(coded(result))
    if plan.media:
        out.print(stations(result))
    if any(run.has("ways") and run.ways.link for run in result.runs):
        if any(isinstance(medium, Wifi) and medium.routing for medium in plan.media):
            out.print(ways(result))
        for what in unreachable(result):
            out.print(f"unreachable: {what}", style="yellow", highlight=False, markup=False)
    if result.fairness:
        show_fairness(result.fairness)
    for remark in result.remarks():
        out.print(remark, style="yellow", highlight=False, markup=False)
    out.print(extent(result), style="dim", highlight=False)
    if not all(run.has("digest") for run in result.runs):  # only a simulation repeats exactly
        return
    digests = ", ".join(f"{run.seed}: {run.digest}" for run in result.runs[:3])
    out.print(f"digests {digests}{' …' * (len(result.runs) > 3)}", style="dim", highlight=False)


def tell_short(results: Mapping[str, Result]) -> None:
    """Says which of the results, by their names, are too short to judge."""
    for name, result in results.items():
        if short := result.too_short():
            console().print(f"{name}: {short}", style="yellow", markup=False, highlight=False)


def extent(result: Result) -> str:
    """Number of replications, the time they measure, and the kind of interval."""
    plan, number = result.plan, len(result.runs)
    measured = f"{plan.duration_s - plan.warmup_s:g} s measured after {plan.warmup_s:g} s"
    if number == 1:
        return f"1 replication, {measured}; without intervals, which need --repeat 2 or more"
    wide = "; those of two replications are wide, --repeat 5 narrows them" * (number == 2)
    return f"{number} replications, {measured}; means with 95 % intervals{wide}"


def classes(result: Result) -> Table:
    """Rates of the users of each class."""
    rows, kinds = result.summary(), result.plan.classes
    controllers = [
        "–" if kind.protocol == "udp" else row.controller
        for row, kind in zip(rows, kinds, strict=True)
    ]
    fairness = column([row.jain for row in rows], INDEX)
    return columns(
        "Per user (throughput counts IP bytes, goodput payload in order)",
        {
            "class": [named(row.name) for row in rows],
            "controller": controllers,
            "users": [str(row.users) for row in rows],
            "throughput Mb/s": column([row.throughput_bps for row in rows], RATE),
            "goodput Mb/s": column([row.goodput_bps for row in rows], RATE),
            "RTT ms": column([row.rtt_s for row in rows], DELAY),
            "loss %": column([row.loss for row in rows], PERCENT),
            "timeouts": column([row.timeouts for row in rows], COUNT),
            "Jain": [
                cell if row.users > 1 else "" for row, cell in zip(rows, fairness, strict=True)
            ],
        },
        left=2,
        spare=("timeouts", "Jain"),
    )


def links(result: Result) -> Table:
    """The links that have a rate."""
    limited = [link for link in result.plan.links if link.rate_bps is not None]
    names = [link.name for link in limited]

    def each(metric: str, quantity: Quantity) -> list[str]:
        return column([interval(result.link(name, metric)) for name in names], quantity)

    return columns(
        "Links",
        {
            "link": [named(link.name) + " (per user)" * link.per_user for link in limited],
            "queue, at most": [queue_of(link) for link in limited],
            "rate Mb/s": column([link.rate_bps for link in limited], RATE),
            "utilisation": each("utilisation", INDEX),
            "loss %": each("loss", PERCENT),
            "packets in queue": each("queue_packets", COUNT),
            **{f"delay p{p} ms": each(f"queue_delay_p{p}_s", DELAY) for p in (50, 95, 99)},
        },
        left=2,
        spare=("delay p99 ms", "delay p95 ms"),
    )


def queue_of(link: Link) -> str:
    """The kind of a link's queue, and how much it holds."""
    if link.queue is None:
        return "no limit"
    limits = [f"{link.queue.limit_packets} packets"] if link.queue.limit_packets else []
    if isinstance(link.queue, DropTail) and link.queue.limit_bytes:
        limits.append(f"{link.queue.limit_bytes} bytes")
    return ", ".join([link.queue.kind, *limits])


def coded(result: Result) -> Table:
    """The paths with network coding."""
    own = [
        (c.name, number, path.coding)
        for c in result.plan.classes
        for number, path in enumerate(c.paths)
        if path.coding is not None
    ]

    def each(metric: str, quantity: Quantity) -> list[str]:
        values = [result.coding(name, number, metric).mean(axis=1) for name, number, _ in own]
        return column([interval(of_path) for of_path in values], quantity)

    def redundant(name: str, number: int) -> Interval:
        arrived, innovative = (
            result.coding(name, number, f"{kind}_packets").sum(axis=1)
            for kind in ("arrived", "innovative")
        )
        return interval(1 - innovative / np.maximum(arrived, 1))

    goodputs = [result.path(name, number, "goodput_bps").mean(axis=1) for name, number, _ in own]
    return columns(
        "Coded paths",
        {
            "class": [named(name) for name, _, _ in own],
            "path": [str(number) for _, number, _ in own],
            "R": [f"{coding.redundancy:g}" for _, _, coding in own],
            "W": [str(coding.window) for _, _, coding in own],
            "goodput Mb/s": column([interval(values) for values in goodputs], RATE),
            "redundant %": column([redundant(name, number) for name, number, _ in own], PERCENT),
            "decoding delay ms": each("decoding_delay_s", DELAY),
            **{metric: each(metric, COUNT) for metric in ("asked", "noise", "congestion")},
        },
        left=2,
    )

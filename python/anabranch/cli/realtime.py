"""`anabranch linux run`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from ..result import Recording, Result
from ..scenario import Scenario
from .fair import tell_not_judged
from .machine import check_machine
from .making import Making
from .options import flent_from
from .simulate import RunOptions, check_complete, perform, watched
from .terminal import console


@dataclass(frozen=True, kw_only=True)
class KernelRunOptions:
    """The options of `anabranch linux run`."""

    world: str = "linux"
    controller: str | None = None
    seeds: Sequence[int] = (1,)
    overrides: Sequence[str] = ()
    json: Path | None = None
    series: bool = False
    keep_invalid: bool = False
    recording: Recording = field(default_factory=Recording)
    flent: Path | None = None


def run_command(source: str, options: KernelRunOptions) -> None:
    """Runs on the real kernel, prints the result with the emulator's error, and writes it
    if asked.
    """
    produce = partial(
        measured,
        seeds=options.seeds,
        world=options.world,
        controller=options.controller,
        overrides=options.overrides,
        series=options.series or options.flent is not None,
        keep_invalid=options.keep_invalid,
        recording=options.recording,
    )

    def tell(result: Result) -> None:
        show_error(result)
        tell_not_judged(
            result.plan,
            "because the kernel has no reference TCP; `anabranch run` judges it in simulation",
        )

    flent_from(options.flent, options.seeds)
    result = perform(produce, source, options.json, tell, options.recording, options.flent)
    check_complete(result, options.seeds)


def wire_command(source: str, asked: RunOptions) -> None:
    """Runs with our endpoints on the wire. Raises ValueError for options that only a simulation
    has, and LinuxError where this machine cannot.
    """
    if asked.events or asked.making != Making():
        raise ValueError(
            "--events, --on, --store and --threads are of simulations, and --world is wire: leave them out"
        )
    check_machine(command="run", asked="--world wire")
    options = KernelRunOptions(
        world="wire",
        controller=asked.controller,
        seeds=asked.seeds,
        overrides=asked.overrides,
        json=asked.json,
        series=asked.series,
        recording=asked.recording,
        flent=asked.flent,
    )
    run_command(source, options)


def measured(scenario: Scenario, seeds: Sequence[int], **options: Any) -> Result:
    """The result of `anabranch.linux.run`, with a progress bar."""
    from ..linux import run as run_on_linux

    return watched("running in real time", run_on_linux, scenario, seeds, **options)


def show_error(result: Result) -> None:
    """Prints lateness and load of the emulator, and the fate of invalid replications."""
    out = console()
    late = max(run.emulator.lateness_p99_s for run in result.runs) * 1e3
    busy = max(run.emulator.cpu_fraction for run in result.runs)
    origin = result.provenance
    ours = [run.senders for run in result.runs if run.has("senders")]
    told = [f"kernel {origin['kernel']}"]
    told.append(
        f"emulator: 99% of the packets at most {late:.2f} ms late, {busy:.0%} of a processor"
    )
    if ours:
        late = max(max(one.lateness_p99_s, one.waiting_p99_s) for one in ours) * 1e3
        busy = max(one.cpu_fraction for one in ours)
        told.append(f"our endpoints: {late:.2f} ms, {busy:.0%}")
    out.print("; ".join(told), style="dim", highlight=False)
    for remark in remarks(result):
        out.print(remark, style="dim", markup=False, highlight=False)
    for row in origin["rejected"]:
        out.print(
            f"seed {row['seed']}, attempt {row['attempt']}: not valid: {'; '.join(row['because'])}",
            style="yellow",
            markup=False,
            highlight=False,
        )
    for seed in origin["failed"]:
        kept = any(run.seed == seed for run in result.runs)
        fate = "kept although it is not valid" if kept else "left out: no attempt was valid"
        out.print(f"seed {seed} {fate}", style="bold red", highlight=False)


def remarks(result: Result) -> list[str]:
    """Weaknesses of a valid result: no real-time priority, unmeasured links."""
    found = []
    if any(run.emulator.has("real_time") and not run.emulator.real_time for run in result.runs):
        found.append("the emulator had no real-time priority: other processes can delay it")
    calibration = result.provenance.get("calibration", {})
    for what, links in calibration.get("unmeasured", {}).items():
        if links:
            found.append(f"links whose {what} was not measured: {', '.join(links)}")
    return found

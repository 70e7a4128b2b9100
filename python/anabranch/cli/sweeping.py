"""`anabranch sweep`."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import typer

from ..sources import load
from ..sweeps import Progress, Store, Sweep
from ..sweeps.axes import axis
from ..sweeps.configuration import Task
from ..sweeps.designs import axes_of
from ..sweeps.files import is_sweep, read
from ..sweeps.rows import checked_tables, version
from ..sweeps.work import work
from ..telling import length
from ..written import several
from . import INTERRUPTED
from .terminal import console, progress

PROBES = 3
"""Runs by which `--dry-run` estimates the rest: the first configuration, one amid, the last."""

MOST_TOLD = 5
"""Failures that are told one by one."""


@dataclass(frozen=True)
class SweepOptions:
    """What `anabranch sweep` was asked for."""

    source: str
    vary: list[str]
    sample: str | None
    derive: list[str]
    only: list[str]
    until: str | None
    most_seeds: int
    controllers: str | None
    seeds: int | None
    overrides: list[str]
    tables: str | None
    store: Path | None
    on: str
    workers: int
    dry_run: bool


def sweep_of(asked: SweepOptions) -> Sweep:
    """The sweep of a file, or of options; options add to a file. Raises what they raise."""
    file = Path(asked.source)
    base = read(file) if file.is_file() and is_sweep(file) else Sweep(load(asked.source))
    derive = {}
    for text in asked.derive:
        key, _, formula = (part.strip() for part in text.partition("="))
        if not key or not formula:
            raise ValueError(f"--derive is {text!r}; write KEY=EXPRESSION UNIT")
        derive[key] = formula
    return base.extended(
        axes_of(asked.vary, asked.sample, axis),
        controllers=several(asked.controllers) if asked.controllers else (),
        seeds=asked.seeds,
        overrides=asked.overrides,
        tables=asked.tables.split(",") if asked.tables else (),
        derive=derive,
        only=asked.only,
        until=asked.until,
        most_seeds=asked.most_seeds,
    )


def run_command(asked: SweepOptions) -> None:
    """Runs what is missing."""
    sweep = sweep_of(asked)
    checked_tables(sweep.tables)
    out = console()
    folder = asked.store or Path(
        f"{asked.source.split('/')[-1].split(':')[-1].removesuffix('.toml')}.sweep"
    )
    if asked.dry_run:
        estimate(sweep, folder)
        return
    began = time.monotonic()
    made = Progress(0, 0)
    with progress(f"running into {folder}") as tell:

        def told(now: Progress) -> None:
            nonlocal made
            made = now
            tell(now.done - now.there, now.wanted - now.there, now.text(time.monotonic() - began))

        try:
            made = sweep.run(folder, on=asked.on, workers=asked.workers, tell=told)
        except KeyboardInterrupt:
            out.print(
                f"interrupted: {runs(made.made)} new in {folder}; the same command continues",
                markup=False,
            )
            raise typer.Exit(INTERRUPTED) from None
    idle = not made.made and not made.failed
    new = "nothing to do" if idle else f"{runs(made.made)} made"
    out.print(
        f"{new}, {made.there} were there before: {folder} has {made.there + made.made} of {made.wanted}",
        markup=False,
        highlight=False,
    )
    tell_failures(made, Store(folder))


def runs(count: int) -> str:
    """A number of runs in words."""
    return f"{count} run" if count == 1 else f"{count} runs"


def tell_failures(made: Progress, store: Store) -> None:
    """Says what failed, and exits with status 1 if anything has."""
    if not made.failed:
        return
    out = console()
    for reason, count in Counter(one.reason for one in made.failures).most_common(MOST_TOLD):
        seed = next(one for one in made.failures if one.reason == reason)
        of = point(store, seed.configuration)
        out.print(
            f"{runs(count)} failed, such as seed {seed.seed} of {of}: {reason}\n{seed.where}".rstrip(),
            style="red",
            markup=False,
        )
    raise typer.Exit(1)


def point(store: Store, key: str) -> str:
    """A configuration as people know it: its controller and its values of axes."""
    try:
        of = store.configuration(key)
        return ", ".join([of.label, *(f"{k} = {v}" for k, v in of.values.items()), key])
    except (ValueError, OSError):  # such as a controller whose file is gone
        return key


def estimate(sweep: Sweep, folder: Path) -> None:
    """Says how many runs a sweep is, how long they take, and how large the store becomes."""
    configurations = sweep.configurations
    places = sorted({0, len(configurations) // 2, len(configurations) - 1})[:PROBES]
    took, size = 0.0, 0
    for warm, number in enumerate([places[0], *places]):  # the first also loads libraries
        task = Task(((configurations[number], (1,)),), checked_tables(sweep.tables), version())
        outcome = work(task)
        if outcome.failures:
            raise ValueError(f"a probe failed: {outcome.failures[0].reason}")
        took += outcome.took_s / len(places) * bool(warm)
        size += bool(warm) * sum(rows.nbytes for rows in outcome.tables.values()) // len(places)
    runs = len(sweep)
    there = 0
    if (folder / "store.json").exists():
        there = runs - sum(1 for _ in sweep.missing(Store(folder)))
    left = runs - there
    console().print(
        f"{len(configurations)} configurations, {runs} runs, {there} of them in {folder}\n"
        f"about {length(left * took)} of processor time ({took:.3g} s a run), "
        f"and {bytes_(left * size)} of rows before compression",
        markup=False,
        highlight=False,
    )


def bytes_(count: float) -> str:
    """A size in the unit that people would use."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"

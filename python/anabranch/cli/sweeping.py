"""`anabranch sweep`."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import typer

from .. import plot
from ..files import beside, check_writable
from ..result import run as simulate
from ..sources import load
from ..sweeps import Progress, Store, Sweep
from ..sweeps.answers import Question, draw, ordered, query
from ..sweeps.axes import axis
from ..sweeps.configuration import Task
from ..sweeps.designs import axes_of
from ..sweeps.expressions import Expression
from ..sweeps.files import is_sweep, read
from ..sweeps.libraries import library
from ..sweeps.parts import KEYS
from ..sweeps.rows import checked_tables, version
from ..sweeps.until import Until
from ..sweeps.work import work
from ..written import several
from . import INTERRUPTED
from .draw import Looks
from .terminal import console, named, progress, table, writing

PROBES = 3
"""Runs by which `--dry-run` estimates the rest: the first configuration, one amid, the last."""

COUNTS = ("tables", "digest", "events", "packet_hops", "simulated_s")
"""Columns of runs that `status` does not sum up."""

MOST_VALUES = 8
"""Values of a column that `status` shows."""

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
    axes = (*base.axes, *axes_of(asked.vary, asked.sample, axis))
    keys = [key for one in axes for key in one.keys]
    derived = dict(base.derived)
    for text in asked.derive:
        key, _, formula = (part.strip() for part in text.partition("="))
        if not key or not formula or key in keys:
            raise ValueError(
                f"--derive is {text!r}; write KEY=EXPRESSION UNIT, of a key that is no axis"
            )
        derived[key] = Expression.read(formula, keys)
    conditions = [Expression.read(text, [*keys, *derived], unit=False) for text in asked.only]
    return Sweep(
        base.scenario,
        axes,
        tuple(several(asked.controllers)) if asked.controllers else base.controllers,
        asked.seeds or base.seeds,
        (*base.overrides, *asked.overrides),
        tuple(asked.tables.split(",")) if asked.tables else base.tables,
        derived,
        (*base.only, *conditions),
        Until.read(asked.until, asked.most_seeds) if asked.until else base.until,
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
            tell(now.done - now.there, now.wanted - now.there, said(now, time.monotonic() - began))

        try:
            made = sweep.run(folder, on=asked.on, workers=asked.workers, tell=told)
        except KeyboardInterrupt:
            out.print(
                f"interrupted: {made.made} runs are new in {folder}; the same command goes on",
                markup=False,
            )
            raise typer.Exit(INTERRUPTED) from None
    idle = not made.made and not made.failed
    new = "nothing to do" if idle else f"{made.made} runs made"
    out.print(
        f"{new}, {made.there} were there: {folder} has {made.there + made.made} of {made.wanted}",
        markup=False,
        highlight=False,
    )
    tell_failures(made)


def said(now: Progress, passed_s: float) -> str:
    """A line for a progress bar."""
    rate = (now.made + now.failed) / passed_s if passed_s else 0.0
    failed = f", {now.failed} failed" if now.failed else ""
    return f"{now.done} of {now.wanted} runs, {rate:.3g} a second{failed}"


def tell_failures(made: Progress) -> None:
    """Says what failed, and exits with status 1 if anything has."""
    if not made.failed:
        return
    out = console()
    for reason, count in Counter(one.reason for one in made.failures).most_common(MOST_TOLD):
        seed = next(one for one in made.failures if one.reason == reason)
        times = f"{count} runs" if count > 1 else "1 run"
        out.print(
            f"{times} failed, such as seed {seed.seed} of {seed.configuration}: {reason}\n{seed.where}".rstrip(),
            style="red",
            markup=False,
        )
    raise typer.Exit(1)


def estimate(sweep: Sweep, folder: Path) -> None:
    """Says how many runs a sweep is, how long they take, and how large the store becomes."""
    configurations = sweep.configurations
    places = sorted({0, len(configurations) // 2, len(configurations) - 1})[:PROBES]
    took, size = 0.0, 0
    for number in places:
        task = Task(((configurations[number], (1,)),), checked_tables(sweep.tables), version())
        outcome = work(task)
        if outcome.failures:
            raise ValueError(f"a probe failed: {outcome.failures[0].reason}")
        took += outcome.took_s / len(places)
        size += sum(rows.nbytes for rows in outcome.tables.values()) // len(places)
    runs = len(sweep)
    there = 0
    if (folder / "store.json").exists():
        there = runs - sum(1 for _ in sweep.missing(Store(folder)))
    left = runs - there
    console().print(
        f"{len(configurations)} configurations, {runs} runs, {there} of them in {folder}\n"
        f"about {duration(left * took)} of processor time ({took:.3g} s a run), "
        f"and {bytes_(left * size)} of rows before they are packed",
        markup=False,
        highlight=False,
    )


def duration(seconds: float) -> str:
    """A time in the unit that people would use."""
    for unit, length in (("h", 3600.0), ("min", 60.0)):
        if seconds >= length:
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds:.3g} s"


def bytes_(count: float) -> str:
    """A size in the unit that people would use."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"


def status_command(folder: Path) -> None:
    """Shows what a store has."""
    store = Store(folder)
    rows = store.read()
    failures = store.failures()
    names = store.names()
    size = sum(file.stat().st_size for file in store.parts.rglob("*.parquet"))
    facts = {
        "runs": str(rows.num_rows),
        "configurations": str(len(rows.column("configuration").unique())),
        "failed runs": str(len(failures)),
        "parts": f"{len(names)}, {bytes_(size)}",
        "versions": ", ".join(sorted(rows.column("version").unique().to_pylist())) or "–",
    }
    for name in rows.column_names:
        if name in (*KEYS, *COUNTS):
            continue
        values = ordered(rows.column(name).to_pylist())
        more = f" and {len(values) - MOST_VALUES} more" if len(values) > MOST_VALUES else ""
        facts[name] = ", ".join(values[:MOST_VALUES]) + more
    out = console()
    out.print(
        table(
            str(folder),
            ["", "what is there"],
            [[named(k), named(v)] for k, v in facts.items()],
            left=2,
        )
    )
    tell_failures(Progress(0, 0, failed=len(failures), failures=failures))


def verify_command(folder: Path, sample: int) -> None:
    """Makes some runs again."""
    store = Store(folder)
    own = version()
    runs = store.read().to_pylist()
    mine = [one for one in runs if one["version"] == own]
    if not mine:
        versions = ", ".join(sorted({one["version"] for one in runs})) or "none"
        raise ValueError(f"{folder} has no run of this version, {own}; it has those of {versions}")
    many = min(sample, len(mine))
    chosen = [mine[number * len(mine) // many] for number in range(many)]
    wrong = []
    with progress("running again") as tell:
        for number, one in enumerate(chosen):
            of = store.configuration(one["configuration"])
            result = simulate(
                of.scenario,
                [one["seed"]],
                controller=of.controller or None,
                overrides=of.overrides,
                threads=1,
            )
            if of.key != one["configuration"] or result.runs[0].digest != one["digest"]:
                wrong.append(f"seed {one['seed']} of {one['configuration']}")
            tell(number + 1, len(chosen))
    out = console()
    if wrong:
        out.print(
            f"{len(wrong)} of {len(chosen)} runs differ: {', '.join(wrong[:MOST_TOLD])}",
            style="red",
        )
        raise typer.Exit(1)
    out.print(f"{len(chosen)} of {len(runs)} runs made again: the digests are the same")


def export_command(folder: Path, file: Path, name: str) -> None:
    """Writes a table into one file."""
    kinds = {".csv": "csv", ".parquet": "parquet", ".feather": "feather"}
    if file.suffix not in kinds:
        raise ValueError(f"{file} ends in {file.suffix!r}; write .csv, .parquet or .feather")
    check_writable(file)
    rows = Store(folder).read(name)
    with writing(file), beside(file) as place:
        assert place is not None
        if file.suffix == ".csv":
            library("pyarrow.csv").write_csv(rows, place)
        elif file.suffix == ".parquet":
            library("pyarrow.parquet").write_table(rows, place)
        else:
            library("pyarrow.feather").write_feather(rows, str(place))


def compact_command(folder: Path) -> None:
    """Writes all parts into one."""
    before, after = Store(folder).compact()
    console().print(f"{before} parts became {after}")


def query_command(folder: Path, sql: str) -> None:
    """Asks in SQL."""
    found = query(Store(folder), sql)
    rows = [[named(cell(value)) for value in row] for row in found.itertuples(index=False)]
    console().print(table("", [named(str(one)) for one in found.columns], rows))


def cell(value: object) -> str:
    """A value in a table."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def plot_command(
    folder: Path, asked: tuple[str, str, str, str], where: list[str], output: Path, looks: Looks
) -> None:
    """Draws a metric over an axis."""
    check_writable(output)
    plot.check_format(output)
    pairs = [text.partition("=") for text in where]
    for text, (name, equals, value) in zip(where, pairs, strict=True):
        if not (name and equals and value):
            raise ValueError(f"--where is {text!r}; write COLUMN=VALUE")
    x, y, by, rows = asked
    question = Question(x, y, by, {name: value for name, _, value in pairs}, rows)
    figure = draw(Store(folder), question, **looks.options())
    with writing(output):
        plot.save(figure, output)

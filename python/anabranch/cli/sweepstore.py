"""`anabranch sweep status`, `verify` and `compact`: what a store has, and whether it is right."""

from __future__ import annotations

from pathlib import Path

import typer

from ..files import check_writable, write_json
from ..sweeps import Progress, Store
from ..sweeps.columns import ordered
from ..sweeps.rows import version
from ..sweeps.summary import Counts, Summary, summary
from ..sweeps.verifying import broken, differing, sample
from .keeping import show_and_write
from .sweeping import bytes_, runs, tell_failures
from .terminal import console, named, progress, table

MOST_VALUES = 8
"""Values of a column that `status` shows."""

MOST_TOLD = 5
"""Runs and files that are told one by one."""


def status_command(folder: Path, json: Path | None) -> None:
    """Shows what a store has; status 1 if a run of this version has failed."""
    if json:
        check_writable(json)
    found = summary(Store(folder))
    own = [one for one in found.failures if one.version == version()]

    def show() -> None:
        rows = [[named(key), named(value)] for key, value in facts(found, len(own)).items()]
        out = console()
        out.print(table(str(folder), ["", "content"], rows, left=2))
        if found.failures:
            said = f"`anabranch sweep compact {folder} --drop-failures` deletes the records of failed runs"
            out.print(said, markup=False, highlight=False)
        tell_failures(Progress(0, 0, failed=len(own), failures=own), Store(folder))

    show_and_write(show, (json, lambda file: write_json(file, found.to_json())))


def facts(found: Summary, failed: int) -> dict[str, str]:
    """What `status` shows; `failed` are the failures of this version."""
    others = len(found.failures) - failed
    return {
        "runs": f"{found.runs}",
        "configurations": f"{found.configurations}",
        "versions": listed(found.versions),
        "failed runs": f"{failed}" + (f", and {others} of other versions" if others else ""),
        "scenario": listed(found.scenarios),
        "controller": listed(found.controllers),
        **({"controller_source": listed(found.sources)} if found.sources else {}),
        **({"overrides": listed(found.overrides)} if found.overrides else {}),
        **{name: listed(own) for name, own in found.axes.items()},
        "tables of runs": listed(found.kept),
        "rows": listed(found.rows),
        "parts": f"{found.parts}, {bytes_(found.bytes)}",
    }


def listed(counts: Counts) -> str:
    """The first values, each with its count where counts differ."""
    values = ordered(counts)
    equal = len(set(counts.values())) == 1
    shown = [value if equal else f"{value} ({counts[value]})" for value in values[:MOST_VALUES]]
    if len(values) > MOST_VALUES:
        shown.append(f"and {len(values) - MOST_VALUES} more")
    return ", ".join(shown) or "–"


def verify_command(folder: Path, most: int) -> None:
    """Reads all files, and makes some runs again; status 1 if something is wrong."""
    store = Store(folder)
    out = console()
    if faults := broken(store):
        for fault in faults:
            out.print(fault, style="red", markup=False, highlight=False)
        raise typer.Exit(1)
    chosen = sample(store, version(), most)
    versions = ", ".join(f"{many} of {one}" for one, many in chosen.others.items())
    if not chosen.runs:
        raise ValueError(
            f"{folder} has no run of this version, {version()}; it has {versions or 'none at all'}"
        )
    with progress("repeating runs") as tell:
        wrong = differing(store, chosen.runs, tell)
    for (key, seed, _), why in list(wrong.items())[:MOST_TOLD]:
        said = f"seed {seed} of {key}: {why}"
        out.print(said, style="red", markup=False, highlight=False)
    if versions:
        said = f"not verified, because this version is {version()}: {versions}"
        out.print(said, markup=False, highlight=False)
    many = f"{len(chosen.runs)} of {chosen.mine} runs"
    if wrong:
        said = f"{many} repeated: {len(wrong)} differ or fail"
        out.print(said, style="red", markup=False, highlight=False)
        raise typer.Exit(1)
    out.print(f"{many} repeated: digests and rows are the same", highlight=False)


def compact_command(folder: Path, drop_failures: bool) -> None:
    """Merges parts."""
    store = Store(folder)
    before, after = store.compact()
    console().print(f"{before} parts became {after}")
    if drop_failures:
        many = len(store.failures())
        store.forget()
        console().print(f"deleted the records of {runs(many)} that failed")

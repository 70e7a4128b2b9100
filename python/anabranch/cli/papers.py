"""`anabranch paper`."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

from ..files import atomic_write, write_json
from ..papers import Paper, check, opened
from ..papers.reading import schema
from .keeping import show_and_write
from .terminal import console, table

KEY = re.compile(r"[a-z0-9][a-z0-9-]*\Z")
STAND_IN = "NAME"
"""Stands for the paper's key in the skeleton."""


def new_command(name: str, into: Path) -> None:
    """Writes the skeleton of a paper. Raises ValueError for a name that is no key, and where there
    is something already.
    """
    if not KEY.match(name):
        raise ValueError(
            f"{name!r} is no key: small letters, digits and hyphens, such as wischik-2011"
        )
    folder = into / name
    if folder.exists():
        raise ValueError(f"{folder} is there already; take another name, or move it away")
    files = resources.files("anabranch.papers") / "skeleton"
    folder.mkdir(parents=True)
    for file in sorted(files.iterdir(), key=lambda one: one.name):
        if Path(file.name).suffix in (".toml", ".py"):
            text = file.read_text(encoding="utf-8").replace(STAND_IN, name)
            atomic_write(folder / file.name, text)
    out = console()
    out.print(f"written to {folder}", highlight=False)
    out.print(
        f"anabranch reproduce {shown(folder)} --quick judges its claims; "
        f"anabranch paper check {shown(folder)} reads it without a run",
        style="dim",
        highlight=False,
    )


def shown(folder: Path) -> str:
    """A folder as a command takes it: with a slash, so that it is no document's key."""
    return str(folder) if folder.is_absolute() or len(folder.parts) > 1 else f"./{folder}"


def check_command(name: str, json: Path | None) -> None:
    """Checks a paper and prints its claims. Raises LedgerError, and UnknownName for an unknown one."""
    paper = opened(name)
    check(paper)
    rows = described(paper)
    head = ["claim", "judged by", "cells", "explanations"]
    body = [
        [str(row["claim"]), str(row["world"]), str(row["cells"]), str(row["explanations"])]
        for row in rows
    ]

    def show() -> None:
        console().print(table(paper.title, head, body, left=2))
        total = len(paper.configurations)
        console().print(f"{len(rows)} claims over {total} cells; nothing is wrong", highlight=False)

    show_and_write(show, (json, lambda file: write_json(file, rows)))


def described(paper: Paper) -> list[dict[str, object]]:
    """A row for each claim: the world that judges it, its cells and its expectations."""
    rows: list[dict[str, object]] = []
    for id in paper.claims:
        cells = paper.evaluators[id][1] if id in paper.evaluators else ()
        judged = paper.judged[id]
        world = judged.world or ("runs" if cells else "nothing")
        rows.append(
            {
                "claim": id,
                "world": world,
                "cells": len(cells),
                "expectations": [one.name for one in judged.expectations],
                "explanations": len(judged.because),
            }
        )
    return rows


def schema_command() -> None:
    """Prints the JSON schema of a ledger's files."""
    import json

    print(json.dumps(schema(), indent=2, ensure_ascii=False))

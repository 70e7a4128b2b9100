"""Writes the tables of docs/explanation/what-breaks.md from the findings in the folder beside it.

    python3 tools/generate_what_breaks.py [--check | --take FOLDER]

The folder has `searches.json`, what each search came to; for each finding its scenario
CONTROLLER-GOAL.toml; `replays.json`, scores of findings under other controllers; and
CONTROLLER-GOAL.linux.json for one that was replayed on the real kernel. `--take` copies all of that
from FOLDER, in which every search was run as

    anabranch break CONTROLLER --goal GOAL --trials 300 --out FOLDER/KEY --json FOLDER/KEY.json

and replays as

    anabranch break OTHER … --replay FOLDER/KEY/found.toml --json FOLDER/others/KEY@OTHER.json
    anabranch break CONTROLLER … --world linux --json FOLDER/KEY.linux.json

and `anabranch evaluate CONTROLLER… --json FOLDER/evaluated/ANY.json`.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from anabranch.breaking.finding import described
from anabranch.breaking.goals import GOALS
from anabranch.breaking.network import Network
from anabranch.statistics import Interval

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/explanation/what-breaks.md"
FOLDER = ROOT / "docs/explanation/what-breaks"
SEARCHES = FOLDER / "searches.json"
REPLAYS = FOLDER / "replays.json"
EVALUATED = FOLDER / "evaluated.json"

HARMS = ("more-than-tcp", "everybody-loses", "less-than-best-path")
"""Goals that every controller was searched by, the columns of the first table."""

Search = dict[str, Any]


def main(words: Sequence[str]) -> int:
    """Writes or checks the page, or takes new findings first."""
    if "--take" in words:
        take(Path(words[words.index("--take") + 1]))
    searches = json.loads(SEARCHES.read_text("utf-8"))
    wanted = filled(PAGE.read_text("utf-8"), searches)
    if PAGE.read_text("utf-8") == wanted:
        return 0
    if "--check" in words:
        print(f"{PAGE.relative_to(ROOT)} is stale: run tools/generate_what_breaks.py")
        return 1
    PAGE.write_text(wanted, "utf-8")
    return 0


def take(folder: Path) -> None:
    """Replaces the findings with those in a folder."""
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.iterdir():
        old.unlink()
    searches = []
    for file in sorted(folder.glob("*.json")):
        if file.name.endswith(".linux.json"):
            shutil.copyfile(file, FOLDER / file.name)
            continue
        (outcome,) = json.loads(file.read_text("utf-8"))
        kept = {key: outcome[key] for key in ("controller", "goal", "limit", "trials", "found")}
        if outcome["found"]:
            found = json.loads((folder / file.stem / "found.json").read_text("utf-8"))
            kept |= {key: found[key] for key in ("sentence", "score", "network")}
            shutil.copyfile(folder / file.stem / "found.toml", FOLDER / f"{file.stem}.toml")
        searches.append({"key": file.stem, **kept})
    keep(SEARCHES, searches)
    replays = []
    for file in sorted(folder.glob("others/*.json")):
        key, _, other = file.stem.partition("@")
        score = json.loads(file.read_text("utf-8"))
        kept = {name: score[name] for name in ("goal", "broken", "score")}
        replays.append({"key": key, "controller": other, **kept})
    keep(REPLAYS, replays)
    files = sorted(folder.glob("evaluated/*.json"))
    keep(
        EVALUATED, [row for file in files for row in verdicts(json.loads(file.read_text("utf-8")))]
    )


def verdicts(evaluation: Search) -> Iterator[Search]:
    """For each controller of an evaluation the verdicts on criteria by level."""
    for one in evaluation["controllers"]:
        name = one["name"]
        found: Search = {"controller": name, "seeds": len(evaluation["seeds"])}
        for criterion in evaluation["criteria"]:
            of_level = found.setdefault(criterion["level"], {})
            of_level.setdefault(criterion["verdicts"][name], []).append(criterion["name"])
        yield found


def keep(file: Path, rows: Sequence[Search]) -> None:
    """Writes a list as JSON, an entry in a line."""
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    file.write_text(f"[\n{lines}\n]\n", "utf-8")


def filled(text: str, searches: Sequence[Search]) -> str:
    """The page with its tables between the marks."""
    for name, rows in (
        ("harm", harm(searches)),
        ("goals", goals(searches)),
        ("others", others(json.loads(REPLAYS.read_text("utf-8")))),
        ("kernel", kernel(searches)),
        ("evaluated", evaluated(json.loads(EVALUATED.read_text("utf-8")))),
    ):
        begin, end = f"<!-- generated: {name} -->", "<!-- end -->"
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        text = "".join([before, begin, "\n\n", "\n".join(rows), "\n\n", end, after])
    return text


def harm(searches: Sequence[Search]) -> Iterator[str]:
    """A row for each controller, a column for each kind of harm."""
    by = {(one["controller"], one["goal"]): one for one in searches}
    names = [name for name in dict.fromkeys(one["controller"] for one in searches)]
    yield from head("controller", *(f"`{goal}`" for goal in HARMS))
    for name in sorted(names, key=lambda name: (smallest(by, name), name)):
        cells = [cell(by[name, goal]) if (name, goal) in by else "–" for goal in HARMS]
        yield row(f"`{name}`", *cells)


def smallest(by: dict[tuple[str, str], Search], name: str) -> tuple[float, ...]:
    """Size of the smallest network on which a controller harms another, for the order of rows."""
    found = by.get((name, HARMS[0]))
    if not found or not found["found"]:
        return (99.0,)
    return Network.of_json(found["network"]).size[:3]


def goals(searches: Sequence[Search]) -> Iterator[str]:
    """A row for each goal, a column for each controller that was searched by all."""
    names = [
        name
        for name in dict.fromkeys(one["controller"] for one in searches)
        if sum(one["controller"] == name for one in searches) > len(HARMS) + 1
    ]
    by = {(one["controller"], one["goal"]): one for one in searches}
    yield from head("goal", *(f"`{name}`" for name in names))
    for goal in GOALS:
        if any((name, goal) in by for name in names):
            yield row(
                f"`{goal}`",
                *(cell(by[name, goal]) if (name, goal) in by else "–" for name in names),
            )


def others(replays: Sequence[Search]) -> Iterator[str]:
    """A row for each finding, a column for each controller that it was replayed under; bold where
    the goal is broken.
    """
    names = list(dict.fromkeys(one["controller"] for one in replays))
    by = {(one["key"], one["controller"]): one for one in replays}
    yield from head("finding", *(f"`{name}`" for name in names))
    for key in dict.fromkeys(one["key"] for one in replays):
        cells = []
        for name in names:
            one = by.get((key, name))
            value = shown(one["goal"], one["score"]) if one and one["score"] else "–"
            cells.append(f"**{value}**" if one and one["broken"] else value)
        yield row(f"`{key}`", *cells)


def evaluated(rows: Sequence[Search]) -> Iterator[str]:
    """A row for each controller: what it misses by level."""
    yield from head("controller", "MUST missed", "SHOULD missed", "advice missed", "undecided")
    for one in sorted(
        rows, key=lambda one: (len(one["MUST"].get("misses", ())), one["controller"])
    ):
        levels = ("MUST", "SHOULD", "advice")
        missed = {level: one[level].get("misses", []) for level in levels}
        musts = ", ".join(f"`{name}`" for name in missed["MUST"]) or "none"
        undecided = sum(len(one[level].get("undecided", ())) for level in levels)
        counts = [str(len(missed[level])) for level in ("SHOULD", "advice")]
        yield row(f"`{one['controller']}`", musts, *counts, str(undecided))


def kernel(searches: Sequence[Search]) -> Iterator[str]:
    """A row for each finding that was replayed on the kernel."""
    yield from head("finding", "simulation", "kernel", "replications", "broken there")
    for one in searches:
        file = FOLDER / f"{one['key']}.linux.json"
        if not file.exists():
            continue
        there = json.loads(file.read_text("utf-8"))
        value = shown(one["goal"], there["score"])
        broken = "yes" if there["broken"] else "no"
        own = shown(one["goal"], one["score"])
        count = str(there["score"]["repetitions"])
        yield row(f"[`{one['key']}`]({link(one)})", own, value, count, broken)


def cell(one: Search) -> str:
    """What a search came to, with a link to its scenario."""
    if not one["found"]:
        return f"not found in {one['trials']}"
    value = shown(one["goal"], one["score"])
    return f"[{value}]({link(one)}), {described(Network.of_json(one['network']))}"


def link(one: Search) -> str:
    """The scenario of a finding, from the page."""
    return f"what-breaks/{one['key']}.toml"


def shown(goal: str, score: dict[str, Any]) -> str:
    """A score with its interval and unit."""
    low, high = score.get("interval") or score["interval95"]
    count = score.get("replications") or score["repetitions"]
    interval = Interval(score["mean"], (high - low) / 2, count)
    return GOALS[goal].shown_interval(interval)


def head(*cells: str) -> Iterator[str]:
    """The first two lines of a table."""
    yield row(*cells)
    yield row(*("---" for _ in cells))


def row(*cells: str) -> str:
    """A line of a table."""
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Writes the tables of docs/explanation/shared-bottlenecks.md from measurements/detectors.json.

    python3 tools/generate_detectors.py [--check]

tools/map_detectors.py measures.
"""

from __future__ import annotations

import json
import math
import re
import sys
from pathlib import Path
from typing import Any

from anabranch.sharing.closed_loop import SPANS
from anabranch.statistics import Interval, significant
from reference.markdown import table

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/explanation/shared-bottlenecks.md"
MEASURED = ROOT / "measurements/detectors.json"

BLOCK = re.compile(r"(<!-- generated: (?P<name>[\w ]+) -->\n\n).*?(\n\n<!-- end -->)", re.DOTALL)


def main(check: bool) -> int:
    """Writes or checks the page."""
    parts = parts_of(json.loads(MEASURED.read_text("utf-8")))
    text = PAGE.read_text("utf-8")
    wanted = BLOCK.sub(lambda found: f"{found[1]}{parts[found['name']]}{found[3]}", text)
    if text == wanted:
        return 0
    if check:
        print(f"{PAGE.relative_to(ROOT)} is stale: run tools/generate_detectors.py")
        return 1
    PAGE.write_text(wanted, "utf-8")
    return 0


def parts_of(measured: dict[str, Any]) -> dict[str, str]:
    """Each generated part of the page."""
    return {
        "detectors": table(
            ["detector", "misses", "false alarms", "missed after 15 s", "false after 15 s"],
            [
                [
                    f"`{name}`",
                    *counted(row),
                    percent(row["missed"]["15"]),
                    percent(row["false"]["15"]),
                ]
                for name, row in measured["detectors"].items()
            ],
        ),
        "laws": table(
            ["law", "misses", "false alarms"],
            [[f"`{name}+sbd`", *counted(row)] for name, row in measured["laws"].items()],
        ),
        "map": table(
            ["parameter", "value", "misses", "false alarms"],
            [
                [parameter if not place else "", value, *counted(row)]
                for parameter, values in measured["map"].items()
                for place, (value, row) in enumerate(values.items())
            ],
        ),
        "wifi": table(
            ["paths", "share", *(f"{n} beside" for n in stations_of(measured["wifi"]))],
            [
                [
                    row["title"],
                    "yes" if row["shared"] else "no",
                    *(wrong_or_unknown(one) for one in row["stations"].values()),
                ]
                for row in measured["wifi"]["errors"].values()
            ],
        ),
        "wifi cost": table(
            ["paths", "controller", "the connection", "others"],
            [
                [
                    measured["wifi"]["errors"][layout]["title"],
                    f"`{law}`",
                    *(str(mean_of(row[who])) for who in ("mine", "others")),
                ]
                for layout, rows in measured["wifi"]["cost"].items()
                for law, row in rows.items()
            ],
        ),
        **of_loop(measured["loop"]),
    }


def of_loop(loop: dict[str, Any]) -> dict[str, str]:
    """The tables of what laws take."""
    return {
        "of a TCP": by_subflows(loop["of_a_tcp"]),
        "of uncoupled": by_subflows(loop["of_uncoupled"]),
        "moved": table(
            [
                "law",
                "subflows",
                *(f"{span}, {of}" for span in SPANS for of in ("TCPs", "uncoupled")),
            ],
            [
                [f"`{law}`", subflows, *(str(mean_of(one)) for span in SPANS for one in row[span])]
                for law, rows in loop["moved"].items()
                for subflows, row in rows.items()
            ],
        ),
        "moving": table(
            ["law", "subflows", "apart after", "together after"],
            [
                [f"`{law}`", subflows, worst(row["apart"]), worst(row["together"])]
                for law, rows in loop["regrouped"].items()
                for subflows, row in rows.items()
            ],
        ),
    }


def counted(row: dict[str, Any]) -> list[str]:
    """Misses and false alarms with their intervals."""
    cells = []
    for name in ("misses", "false_alarms"):
        low, high = (significant(100.0 * end, 2) for end in row[name]["interval95"])
        cells.append(f"{percent(row[name]['rate'])} ({low} to {high})")
    return cells


def stations_of(wifi: dict[str, Any]) -> list[str]:
    """The numbers of stations in the columns."""
    return list(next(iter(wifi["errors"].values()))["stations"])


def wrong_or_unknown(row: dict[str, Any]) -> str:
    """The part that is judged wrongly with its interval, and the part that is not known."""
    low, high = (significant(100.0 * end, 2) for end in row["wrong"]["interval95"])
    return f"{percent(row['wrong']['rate'])} ({low} to {high}), {percent(row['unknown']['rate'])}"


def percent(part: float) -> str:
    """A fraction in percent."""
    return f"{significant(100.0 * part, 2)} %"


def by_subflows(rows: dict[str, dict[str, Any]]) -> str:
    """A row for each law, a column for each number of subflows."""
    numbers = list(next(iter(rows.values())))
    cells = [[f"`{law}`", *(str(mean_of(row[n])) for n in numbers)] for law, row in rows.items()]
    return table(["law", *(f"{n} subflow{'s' * (n != '1')}" for n in numbers)], cells)


def mean_of(row: dict[str, Any]) -> Interval:
    """An interval as it was written."""
    low, high = row["interval95"]
    return Interval(row["mean"], (high - low) / 2.0, row["repetitions"])


def worst(seconds: list[float]) -> str:
    """The middle and the largest time; a time that never came is said so."""
    order = sorted(seconds)
    shown = [
        f"{one:g} s" if math.isfinite(one) else "never"
        for one in (order[len(order) // 2], order[-1])
    ]
    return f"{shown[0]}, at most {shown[1]}"


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv))

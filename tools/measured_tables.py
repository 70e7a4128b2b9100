"""Prints a document's tables as Markdown: published, theory, simulation and the real kernel.

    .venv/bin/python tools/measured_tables.py measurements/khalili

What lies in the directory is judged; nothing is measured.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from anabranch.papers import PAPERS, evaluate
from anabranch.papers.beside import conditions, together
from anabranch.papers.measurements import Measurements
from anabranch.papers.row import head


def main() -> None:
    """Reads the directory and prints a table for each scenario."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--paper", default="khalili", choices=PAPERS)
    words = parser.parse_args()
    paper = PAPERS[words.paper]
    world = Measurements(words.directory, None, print)
    findings, lab = evaluate(paper.key, list(paper.claims), world=world)
    rows = paper.side_by_side(lab)
    if not rows:
        parser.error(f"nothing measured lies in {words.directory}")
    for scenario in dict.fromkeys(row.scenario for row in rows):
        names = [*head(rows), "verdict"]
        print(f"\n### Scenario {scenario}\n\n{line(names)}\n{line(['---'] * len(names))}")
        for row in (row for row in rows if row.scenario == scenario):
            print(line([*row.texts(), (row.verdict or "").replace("_", " ")]))
    print(f"\n{together(conditions(lab))}\n\n{line(['claim', 'verdict'])}\n{line(['---', '---'])}")
    for finding in (f for f in findings if f.verdict != "not_run"):
        print(line([f"`{finding.claim.id}`", finding.verdict.replace("_", " ")]))


def line(cells: list[str]) -> str:
    """A row of a table."""
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()

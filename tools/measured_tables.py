"""Prints a document's tables as Markdown: published, theory, simulation and the real kernel.

    .venv/bin/python tools/measured_tables.py measurements/khalili

What lies in the directory is judged; nothing is measured.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from anabranch.papers import PAPERS, evaluate
from anabranch.papers.beside import conditions, mbps, together
from anabranch.papers.laboratory import Laboratory
from anabranch.papers.measurements import Measurements
from anabranch.papers.row import BEYOND, head, rate_text, spread
from anabranch.statistics import apart, difference


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
    others(lab, {row.configuration for row in rows})
    print(f"\n{together(conditions(lab))}\n\n{line(['claim', 'verdict'])}\n{line(['---', '---'])}")
    for finding in (f for f in findings if f.verdict != "not_run"):
        print(line([f"`{finding.claim.id}`", finding.verdict.replace("_", " ")]))


def others(lab: Laboratory, shown: set[str]) -> None:
    """A table of the measured configurations that are in no table of the document."""
    configurations = [configuration for configuration in lab.results if configuration not in shown]
    if not configurations or lab.beside is None:
        return
    names = ["configuration", "users", "simulated", "on Linux", "difference"]
    print(f"\n### Beside the tables\n\n{line(names)}\n{line(['---'] * len(names))}")
    for configuration in configurations:
        for users in lab[configuration].classes:
            simulated, real = (
                mbps(lab.beside[configuration], users),
                mbps(lab[configuration], users),
            )
            between = difference(real, simulated)
            mark = f" {BEYOND}" if apart(real, simulated) else ""
            by = f"{between.mean:+.3f}{spread(between)}{mark}"
            print(line([f"`{configuration}`", users, rate_text(simulated), rate_text(real), by]))


def line(configurations: list[str]) -> str:
    """A row of a table."""
    return f"| {' | '.join(configurations)} |"


if __name__ == "__main__":
    main()

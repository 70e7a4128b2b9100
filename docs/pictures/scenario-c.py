"""Draws docs/pictures/scenario-c.png and prints the README's table: 20 replications of each cell.

Run it from the root of the repository: .venv/bin/python docs/pictures/scenario-c.py
"""

from __future__ import annotations

from pathlib import Path

import anabranch as ab
from anabranch.papers import PAPERS, evaluate
from anabranch.papers.row import band_text, rate_text

CELLS = ["c-lia-10", "c-olia-10", "c-lia-30", "c-olia-30"]
NAMES = ["LIA, N1 = 10", "OLIA, N1 = 10", "LIA, N1 = 30", "OLIA, N1 = 30"]
CLAIMS = ["khalili.table3.n10", "khalili.table3.n30", "khalili.table6.olia"]


def main() -> None:
    """Runs the cells, draws, prints."""
    _, laboratory = evaluate("khalili", CLAIMS, seeds=20)
    rows = [row for row in PAPERS["khalili"].side_by_side(laboratory) if row.scenario == "C"]

    def rates(column: str) -> list[dict[str, float]]:
        """A column of the table in bit/s, a mapping from class to rate for each cell."""
        cells = [(n1, law) for n1 in (10, 30) for law in ("lia", "olia")]
        return [
            {
                r.users: 1e6 * getattr(r, column)
                for r in rows
                if (r.setting, r.controller) == (f"N1 = {n1}", law)
            }
            for n1, law in cells
        ]

    references = [
        ab.plot.Reference("published", rates("published")),
        ab.plot.Reference("fixed point of the law", rates("fixed_point")),
    ]
    figure = ab.plot.shares(
        [laboratory[cell] for cell in CELLS], references=references, names=NAMES
    )
    ab.plot.save(figure, Path(__file__).with_suffix(".png"))
    columns = "published | band | fixed point | optimum | with probing cost"
    print(f"| setting | law | users | {columns} | simulated, 95 % | verdict |")
    print("|---" * 10 + "|")
    for r in rows:
        theory = f"{r.fixed_point:.3f} | {r.optimum:.3f} | {r.probing_optimum:.3f}"
        simulated = rate_text(r.rates["simulation"])
        band = band_text(r.band, "{:.2f}".format)
        verdict = r.verdict.replace("_", " ") + (f", *{r.remark}*" if r.remark else "")
        words = [r.setting, r.controller.upper(), r.users, f"{r.published:.2f}", band, theory]
        print("| " + " | ".join([*words, simulated, verdict]) + " |")


if __name__ == "__main__":
    main()

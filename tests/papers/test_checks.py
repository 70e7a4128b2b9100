"""What a check compares: numbers of runs, not constants that stand for them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from anabranch.papers import PAPERS, Laboratory
from anabranch.statistics import Interval

CONSTANT = {
    # The document's own arithmetic, and the solver's: the claims say so.
    "khalili.def.probing_cost": {
        "rate_at_1500B_150ms",
        "rate_implied_by_tables",
        "type 2 at N1 = 10 with the implied cost",
        "single-path at N1 = 30 with the implied cost",
    },
    # Users who fill a link of their own have its rate, to the packet.
    "khalili.sec4.monotone_n1": {"type1_n50", "type1_n100"},
    # Five ranks have few values.
    "khalili.theory.tradeoff": {
        "type 2 rate against phi, Spearman",
        "settling time against phi, Spearman",
    },
}
"""Numbers that no seed moves, each with its reason."""


@pytest.fixture(scope="module")
def laboratory() -> Laboratory:
    paper = PAPERS["khalili"]
    lab = Laboratory(paper.configurations, 4)
    lab.run(paper.configurations)
    return lab


def of_seeds(lab: Laboratory, part: slice) -> Laboratory:
    """The laboratory with some replications of each configuration."""
    return replace(
        lab, results={name: replace(r, runs=r.runs[part]) for name, r in lab.results.items()}
    )


def test_a_number_that_runs_are_to_decide_changes_with_the_seeds(laboratory: Laboratory) -> None:
    """What stays the same to the last bit was reckoned without the runs: such a check cannot fail."""
    paper = PAPERS["khalili"]
    for id, (evaluator, configurations) in paper.evaluators.items():
        if not configurations:
            continue
        first, second = (
            evaluator(paper.claims[id], of_seeds(laboratory, part))
            for part in (slice(0, 2), slice(2, 4))
        )
        still = {
            a.name
            for a, b in zip(first.checks, second.checks, strict=True)
            if isinstance(a.obtained, Interval)
            and isinstance(b.obtained, Interval)
            and a.obtained.mean == b.obtained.mean
        }
        assert still <= CONSTANT.get(id, set()), id

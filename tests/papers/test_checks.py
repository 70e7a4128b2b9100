"""What a check compares: numbers of runs, not constants that stand for them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from anabranch.papers import PAPERS, Laboratory
from anabranch.papers.judging import checked
from anabranch.papers.khalili import wireless
from anabranch.papers.khalili.measures import lost_points
from anabranch.papers.khalili.settling import rank_correlation
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
    # A part of the runs, and in the end none settles or all do.
    "khalili.alg.olia_responsive": {"most runs of both settle within 60 s"},
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


def test_ranks_of_times_that_were_not_reached_are_known_in_part() -> None:
    falling = np.array([[60.0, 60.0], [60.0, 60.0], [40.0, 42.0], [20.0, 22.0], [10.0, 11.0]])
    known, bounds = np.zeros(falling.shape, dtype=bool), falling >= 60.0
    settled = falling.copy()
    settled[0] = 80.0
    assert rank_correlation(settled, known).high == pytest.approx(-1.0)
    partly = rank_correlation(falling, bounds)
    assert (partly.low, partly.high) == (pytest.approx(-1.0), pytest.approx(-0.9))
    assert rank_correlation(falling[:, :1], bounds[:, :1]).half == np.inf


@pytest.mark.parametrize(
    ("ratios", "verdict"),
    [
        ([(0.9, 0.01), (1.0, 0.01)], "reproduced"),  # one of ten is allowed
        ([(0.9, 0.01), (0.94, 0.1)], "undecided"),
        ([(0.9, 0.01), (0.8, 0.01)], "not_reproduced"),
    ],
)
def test_a_design_may_lose_a_tenth_of_its_points(
    ratios: list[tuple[float, float]], verdict: str
) -> None:
    # Two seeds whose interval has this half-width: t is 12.7 with one degree of freedom.
    points = [
        mean + half / 12.7062 * np.array([-1.0, 1.0])
        for mean, half in [*ratios, *[(1.0, 0.02)] * 8]
    ]
    assert checked("lost", 1, lost_points(points, 0.95), (None, 1.0)).verdict == verdict


def test_the_design_of_wireless_networks_spreads_over_its_ranges() -> None:
    places = np.array(list(wireless.places()))
    assert places.shape == (wireless.POINTS, 8) and len(np.unique(places, axis=0)) == len(places)
    steps = np.floor(wireless.POINTS * places).astype(int)
    assert all(set(column) == set(range(wireless.POINTS)) for column in steps.T)

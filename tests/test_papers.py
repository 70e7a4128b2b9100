"""The ledgers against the experiments, and the numbers that must not change unnoticed."""

from __future__ import annotations

from pathlib import Path

import pytest

import anabranch as ab
from anabranch.papers import PAPERS
from anabranch.papers.khalili.paper import scenario_c
from anabranch.scenario import shipped

GOLDEN = Path(__file__).parent / "golden" / "digests.txt"


@pytest.mark.parametrize("key", PAPERS)
def test_every_claim_has_one_evaluator_and_every_evaluator_a_claim(key: str) -> None:
    paper = PAPERS[key]
    assert set(paper.evaluators) == set(paper.claims)


@pytest.mark.parametrize("key", PAPERS)
def test_every_cell_is_a_valid_scenario_that_some_claim_needs(key: str) -> None:
    paper = PAPERS[key]
    for cell in [*paper.cells.values(), *paper.sensitivity.values()]:
        ab.load(cell.scenario).plan(controller=cell.controller, overrides=list(cell.overrides))
    needed = {name for _, cells in paper.evaluators.values() for name in cells}
    assert needed == set(paper.cells)


@pytest.mark.parametrize("name", shipped())
def test_every_shipped_scenario_names_its_source_and_its_choices(name: str) -> None:
    plan = ab.load(name).plan()
    assert plan["title"] and plan["source"] and plan["choices"]


def test_theory_reproduces_the_fixed_points_to_the_printed_digit() -> None:
    from anabranch.papers.khalili import oracle

    assert oracle.fixed_point("scenario-c", "lia", scenario_c(30))["multipath"] == pytest.approx(
        1.1716, abs=1e-4
    )


@pytest.mark.parametrize("name", ["scenario-a-before", "scenario-a", "scenario-c"])
def test_mean_round_trips_with_queueing_are_the_drafts_150_ms_within_20(name: str) -> None:
    result = ab.run(f"khalili/{name}", seeds=(1, 2))
    for run in result.runs:
        assert all(0.130 <= rtt <= 0.170 for rtt in run["classes"]["rtt_mean_s"]), name


@pytest.mark.parametrize("name", shipped())
def test_digests_of_the_shipped_scenarios_are_the_recorded_ones(name: str) -> None:
    """Recorded from a debug build: so they also say that a release build takes the same steps.

    A change of behaviour changes them: record them anew with tools/record_digests.py and say why.
    """
    recorded = dict(line.split() for line in GOLDEN.read_text().splitlines())
    result = ab.run(name, seeds=(1,), threads=2)
    assert result.runs[0]["digest"] == recorded[name]

"""The ledgers against the experiments, and the numbers that must not change unnoticed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import anabranch as ab
from anabranch.papers import PAPERS, Finding, Laboratory, evaluate
from anabranch.papers.judging import Nothing, Partial, checked
from anabranch.papers.khalili.settling import ratio_of_times
from anabranch.papers.pages import write_report
from anabranch.plan import Plan
from anabranch.scenario import shipped
from anabranch.statistics import Interval

GOLDEN = Path(__file__).parent / "golden" / "digests.txt"


@pytest.mark.parametrize("key", PAPERS)
def test_every_claim_has_one_evaluator_and_every_evaluator_a_claim(key: str) -> None:
    paper = PAPERS[key]
    assert set(paper.evaluators) == set(paper.claims)


@pytest.mark.parametrize("key", PAPERS)
def test_every_configuration_is_a_valid_scenario_that_some_claim_needs(key: str) -> None:
    paper = PAPERS[key]
    for configuration in paper.configurations_of("simulation").values():
        ab.load(configuration.scenario).plan(
            controller=configuration.controller, overrides=list(configuration.overrides)
        )
    needed = {name for _, configurations in paper.evaluators.values() for name in configurations}
    assert needed == set(paper.configurations)


@pytest.mark.parametrize("key", PAPERS)
def test_every_experiment_has_claims_that_need_its_configurations(key: str) -> None:
    """Its figures may have more points than the claims on them judge."""
    paper = PAPERS[key]
    for name, configurations in paper.experiments.items():
        claims = [id for id, claim in paper.claims.items() if name in claim.experiments]
        needed = {configuration for id in claims for configuration in paper.evaluators[id][1]}
        assert claims, name
        assert not configurations or needed & set(configurations), name


@pytest.mark.parametrize("key", PAPERS)
def test_a_claim_with_experiments_needs_their_configurations_or_auxiliary_ones(key: str) -> None:
    paper = PAPERS[key]
    for id, claim in paper.claims.items():
        own = {
            configuration for name in claim.experiments for configuration in paper.experiments[name]
        }
        if claim.experiments:
            others = set(paper.auxiliary) | set(paper.explaining)
            assert set(paper.evaluators[id][1]) <= own | others, id


@pytest.mark.parametrize("key", PAPERS)
def test_measured_configurations_are_those_of_claims_and_of_the_tables_and_what_explains_comes_last(
    key: str,
) -> None:
    paper = PAPERS[key]
    assert set(paper.measured) <= set(paper.configurations) | set(paper.unclaimed)
    explaining = [name for name in paper.measured if name in paper.explaining]
    assert list(paper.measured[len(paper.measured) - len(explaining) :]) == explaining
    assert not set(paper.unclaimed) & set(paper.configurations)
    assert set(paper.sampled) <= set(paper.measured)


def values_in_use(plan: Plan) -> dict[str, str]:
    """How the choices of a scenario must begin, as its plan has the values."""
    user, multipath = plan.classes[0], any(len(c.paths) > 1 for c in plan.classes)
    rtts = sorted({path.base_rtt_s for c in plan.classes for path in c.paths})
    words = {
        "base RTT": " and ".join(f"{rtt * 1e3:g} ms" for rtt in rtts),
        "packet": f"{user.packet_bytes} B with {user.payload_bytes} B of payload",
        "bytes counted": "whole packets",
        "measurement": f"{plan.duration_s:g} s, the first {plan.warmup_s:g} s discarded",
        "acknowledgements": "one for each packet"
        if user.delayed_ack_s == 0
        else "delayed, as Linux",
        "loss recovery": "SACK with limited" if user.sack & user.limited_transmit else "other",
        "initial window": f"{user.initial_window:g} segments",
        "end of slow start": "exactly" if user.slow_start_carry_over else "not exactly",
        "RTO minimum": f"{user.rto_min_s * 1e3:g} ms",
        "RTO floor": user.rto_floor,
        "receive buffer": f"{user.receive_buffer_bytes >> 20} MiB",
    }
    if multipath:
        words["ssthresh floor of coupled paths"] = "each law's own"
        assert user.min_ssthresh is None
        words["scheduler"] = user.scheduler.kind
    if user.delayed_ack_s is None:
        words["handshake"] = "SYN"
    if any(len(c.paths) == 1 for c in plan.classes):
        words["single-path TCP"] = "NewReno"
    for link in plan.links:
        if link.loss:
            words["loss place"] = link.loss_place
        if link.queue and link.queue.kind == "red":
            per_10_mbps = link.queue.limit_packets * 1e7 / link.rate_bps
            words["RED average"] = f"weight 1/{1 / link.queue.weight:g} per arrival"
            words["spacing of RED's drops"] = link.queue.spacing
            words["physical queue limit"] = f"{per_10_mbps:g} packets per 10 Mb/s"
    return words


ON_THE_MOVE = ("manet", "csma", "mixed", "full-mesh", "lte-wifi", "vanet", "large")
WORDED_OTHERWISE = {"couple-plus", *(f"cs218/{name}" for name in ON_THE_MOVE)}
"""Documents and scenarios whose choices are in other words: their own tests hold them against the
plan.
"""

TRANSPORT = {
    "packet_bytes",
    "sack",
    "initial_window",
    "min_ssthresh",
    "rto_min_s",
    "scheduler",
}


@pytest.mark.parametrize("name", shipped())
def test_every_shipped_scenario_names_its_source_and_its_choices(name: str) -> None:
    """Those of documents each open parameter once, with the value that the plan has and a reason."""
    plan = ab.load(name).plan()
    assert plan.title and plan.source
    document = name.split("/")[0]
    if document not in {*PAPERS, "linux"} or {name, document} & WORDED_OTHERWISE:
        assert all(choice.value and choice.why for choice in plan.choices)
        return
    assert (
        len({str({key: getattr(c, key) for key in sorted(TRANSPORT)}) for c in plan.classes}) == 1
    )
    choices = {choice.what: choice for choice in plan.choices}
    assert len(choices) == len(plan.choices)
    needed = values_in_use(plan)
    if name.startswith("khalili/"):
        needed["high-speed links"] = ""  # the thesis has none
    for what, value in needed.items():
        assert choices[what].value.startswith(value), what
    assert all(choice.value and choice.why for choice in plan.choices)


def test_a_settling_time_that_was_not_reached_makes_the_ratio_a_lower_bound() -> None:
    settled, never = np.array([40.0, 42.0, 44.0]), np.full(3, np.inf)
    soon = np.array([10.0, 10.0, 11.0])
    bound = ratio_of_times(never, settled)
    assert isinstance(bound, Partial) and str(bound).startswith("at least 1.43")
    band = (0.4, 1.5)
    assert checked("ratio", 1.0, bound, band).verdict == "undecided"
    assert checked("ratio", 1.0, ratio_of_times(never, soon), band).verdict == "not_reproduced"
    nothing = ratio_of_times(never, never)
    assert isinstance(nothing, Nothing) and "no ratio" in str(nothing)
    assert checked("ratio", 1.0, nothing, band).verdict == "undecided"
    assert isinstance(ratio_of_times(settled, settled), Interval)


@pytest.fixture(scope="module")
def table3() -> tuple[list[Finding], Laboratory]:
    return evaluate("khalili", ["khalili.table3.n10"], seeds=2)


def test_a_tables_rates_have_goodput_beside_them(
    table3: tuple[list[Finding], Laboratory], tmp_path: Path
) -> None:
    (finding,), lab = table3
    written = finding.to_json()
    wire = written["obtained"]["multipath"]["mean"]
    assert written["experiments"] == ["khalili-c"]
    beside = written["beside"]["multipath"]["goodput_mbps"]
    assert beside["repetitions"] == 2
    assert 0.95 < beside["mean"] / wire < 0.97  # 1448 of 1500 B, less copies
    row = next(r for r in PAPERS["khalili"].side_by_side(lab) if r.users == "multipath")
    assert row.goodput.mean == beside["mean"]
    page = write_report(PAPERS["khalili"], [finding], lab, tmp_path / "page.html").read_text()
    assert f">{row.goodput.mean:.3f} ± {row.goodput.half:.3f}<" in page


def test_theory_reproduces_the_fixed_points_to_the_printed_digit() -> None:
    claim = "khalili.theory.lia_fixed_point"
    (finding,), _ = evaluate("khalili", [claim])
    assert finding.to_json()["obtained"]["c_multi_n30"]["mean"] == pytest.approx(1.1716, abs=1e-4)


@pytest.mark.parametrize("name", ["scenario-a-before", "scenario-a", "scenario-c"])
def test_mean_round_trips_with_queueing_are_the_drafts_150_ms_within_20(name: str) -> None:
    result = ab.run(f"khalili/{name}", seeds=(1, 2))
    for run in result.runs:
        assert all(0.130 <= rtt <= 0.170 for rtt in run.classes.rtt_mean_s), name


@pytest.mark.parametrize("name", shipped())
def test_digests_of_the_shipped_scenarios_are_the_recorded_ones(name: str) -> None:
    """Recorded from a debug build: so they also say that a release build takes the same steps.

    A change of behaviour changes them: record new ones with tools/record_digests.py and say why.
    """
    recorded = dict(line.split() for line in GOLDEN.read_text().splitlines())
    result = ab.run(name, seeds=(1,), threads=2)
    assert result.runs[0].digest == recorded[name]


def test_an_ordering_of_simulated_values_is_undecided_while_an_interval_leaves_it_open() -> None:
    above, open_, below = (np.array(row) for row in ([1, 1.1, 0.9], [1, -1, 0.1], [-1, -1.1, -0.9]))
    cases = {"reproduced": [above], "undecided": [above, open_], "not_reproduced": [below, open_]}
    for verdict, rows in cases.items():
        assert checked("order", "a above b", rows, (0.0, None)).verdict == verdict
    assert checked("order", "a above b", [np.array([1.0])], (0.0, None)).verdict == "undecided"

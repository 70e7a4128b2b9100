"""The CS 218 report: its ledger, its cells and scenarios, pairs of seeds, replays, short runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anabranch as ab
from anabranch.papers import PAPERS, Laboratory, evaluate
from anabranch.papers.cs218 import logs, measures, nodes, replays, rules, series
from anabranch.papers.judging import Expectation
from anabranch.papers.laboratory import NotRun
from anabranch.papers.language import Environment, Expression
from anabranch.papers.pages import write_report
from anabranch.papers.tracing import functions
from anabranch.result import Result
from anabranch.runs import Run, Series
from anabranch.scenario import shipped
from anabranch.statistics import Interval
from anabranch.tables import Classes, Flows, LinkSeries, Paths, PathSeries

PAPER = FOLDER = PAPERS["cs218"]
NAMES = [name for name in shipped() if name.startswith("cs218/")]
FOUR = ("cs218", "uncoupled", "lia", "fully-coupled")

MOVING = [f"cs218/{name}" for name in ("manet", "csma", "mixed", "full-mesh", "vanet", "large")]
"""Scenarios with nodes."""


def ran(*names: str, seeds: int = 2) -> Laboratory:
    """Cells run with two seeds."""
    lab = Laboratory(PAPER.configurations_of("simulation"), seeds=seeds)
    lab.run(names)
    return lab


def value(text: str, lab: Laboratory | None = None, **names: Any) -> Any:
    """The value of an expression of the ledger."""
    lab = lab or Laboratory(FOLDER.cells)
    env = FOLDER.environment(functions(FOLDER.measures, lab))
    return Environment(names, env).evaluated(Expression.read(text))


def defined(name: str) -> Any:
    """A definition of the ledger that needs no run."""
    return FOLDER.pure.value(name)


def test_the_ledger_has_thirty_seven_claims_in_twelve_experiments() -> None:
    assert (len(PAPER.claims), len(PAPER.experiments)) == (37, 12)
    assert set(PAPER.evaluators) == set(PAPER.claims)


def test_every_cell_has_a_plan_and_none_is_simulated_twice() -> None:
    same: dict[Any, list[str]] = {}
    for name, cell in PAPER.configurations_of("simulation").items():
        assert cell.scenario in NAMES
        ab.load(cell.scenario).plan(overrides=list(cell.overrides), controller=cell.controller)
        key = (cell.scenario, cell.controller, frozenset(cell.overrides))
        same.setdefault(key, []).append(name)
    assert [names for names in same.values() if len(names) > 1] == []


def test_connections_of_the_ledger_are_the_classes_with_several_paths() -> None:
    for network, names in defined("CONNECTIONS").items():
        plan = ab.load(f"cs218/{network}").plan()
        assert [c.name for c in plan.classes if len(c.paths) > 1] == names
        assert [n for n in names if n.startswith("wifi")] == defined("RADIO").get(network, [])


@pytest.mark.parametrize(("name", "packets"), [("fairness", [42]), ("ramp", [833, 83])])
def test_drop_tail_queues_are_one_bandwidth_delay_product(name: str, packets: list[int]) -> None:
    plan = ab.load(f"cs218/{name}").plan()
    links = [link for link in plan.links if link.rate_bps]
    rtt_s = plan.classes[0].paths[0].base_rtt_s
    assert [round(link.rate_bps * rtt_s / 8 / 1500) for link in links] == packets
    assert [link.queue.limit_packets for link in links] == packets
    chosen = next(c.value for c in plan.choices if c.what == "queue")
    assert all(str(number) in chosen for number in packets)


def test_slow_start_ends_at_half_of_what_the_fast_path_holds() -> None:
    plan = ab.load("cs218/ramp").plan()
    threshold = plan.classes[0].initial_ssthresh
    assert threshold == 416.5 < 833.33 / 2 and round(2 * threshold) == 833


def test_differences_are_taken_seed_by_seed() -> None:
    mine, theirs = np.array([11.0, 21.0, 31.0]), np.array([10.0, 20.0, 30.0])
    assert measures.relative(mine, theirs).tolist() == pytest.approx([0.05] * 3)
    by = {"RTT Compensator": theirs, "CS218_ALGO": mine}
    assert measures.listed(by, " s") == "CS218_ALGO 21 ± 25 s, RTT Compensator 20 ± 25 s"
    words = "CS218_ALGO, seed by seed, over RTT Compensator +5 %"
    assert measures.compared(by, "CS218_ALGO") == words


def test_values_of_other_numbers_of_seeds_are_no_pairs_and_a_table_leaves_them_out() -> None:
    with pytest.raises(NotRun, match="other seeds"):
        measures.relative(np.ones(3), np.ones(2))


def test_a_difference_is_unknown_where_fewer_than_two_seeds_have_both() -> None:
    known, nan = np.array([1.1, 1.1, 1.1]), np.array([1.0, 1.0, np.nan])
    assert measures.known_relative(known, nan) == "+10 %"
    assert measures.known_relative(known, np.array([1.0, np.nan, np.nan])) == "–"


def test_a_claim_is_judged_by_the_seeds_that_all_of_its_cells_have() -> None:
    id = "cs218.mech.noncongestive_loss"
    _, lab = evaluate("cs218", [id], seeds=3)
    one = lab["random-loss-lia"]
    lab.results["random-loss-lia"] = Result(one.scenario, one.plan, one.runs[1:])
    whole = lab.paired(PAPER.evaluators[id][1])
    found = PAPER.evaluators[id][0](PAPER.claims[id], whole)
    (check,) = found.checks
    assert isinstance(check.obtained, Interval) and check.obtained.n == 2


def test_filling_is_timed_between_two_windows_and_endless_if_the_second_is_not_reached() -> None:
    t_s = np.arange(0.0, 10.0, 0.5)
    windows = PathSeries(cwnd_segments=np.stack([10 * t_s, t_s], axis=1))
    own = Series(t_s=t_s, paths=windows, links=LinkSeries())
    run = Run(flows=Flows(), paths=Paths(), classes=Classes(), series=own)
    scenario = ab.load("cs218/ramp")
    result = Result(scenario, replace(scenario.plan(), warmup_s=2.0), [run])
    lab = Laboratory({}, results={"one": result})
    assert series.fill_s(lab, "one", 10, 40).tolist() == [2.0]  # from 2 s, the warm-up's end
    assert series.fill_s(lab, "one", 30, 60).tolist() == [3.0]
    assert series.fill_s(lab, "one", 30, 600).tolist() == [np.inf]


def moment(t_s: float, last_s: float, grown: float) -> logs.Moment:
    """An acknowledgement on the first of two equal paths of 10 segments and 100 ms: LIA adds 0.025."""
    windows, srtts = np.array([10.0, 10.0]), np.array([0.1, 0.1])
    return logs.Moment(t_s, 0, 1, 0, 0, last_s, windows, 10 + grown, srtts, True)


def test_a_replay_counts_to_five_and_from_zero_after_a_loss() -> None:
    moments = tuple(moment(i, 0.1, 0.025) for i in range(8))
    loss = logs.Loss(6.5, 0, 10.0, 5.0)
    steps = replays.replayed(logs.Log(moments, (loss,)), replays.twice)
    assert [step.count for step in steps] == [1, 2, 3, 4, 5, 6, 7, 1]
    assert [step.boost for step in steps] == [0, 0, 0, 0, 0, 1, 1, 0]
    assert [round(step.expected, 6) for step in steps[4:7]] == [0.025, 0.05, 0.05]
    assert steps[5].off == pytest.approx(-0.025)


def test_the_best_round_trip_is_used_before_it_is_updated() -> None:
    trips = (0.1, 0.2, 0.05, 0.1)
    moments = tuple(moment(i, last_s, 0.0) for i, last_s in enumerate(trips))
    steps = replays.replayed(logs.Log(moments, ()), replays.twice, threshold=0)
    assert [step.boost for step in steps] == [1.0, 0.5, 1.0, 0.5]


def test_the_readings_differ_where_the_cap_binds() -> None:
    windows, srtts = np.array([10.0, 10.0]), np.array([0.05, 0.2])
    assert replays.lia(0, windows, srtts, 1.0) == pytest.approx(0.064)
    assert replays.twice(0, windows, srtts, 1.0) == pytest.approx(0.128)
    assert replays.capped(0, windows, srtts, 1.0) == pytest.approx(0.1)


def test_a_law_that_is_not_the_formula_is_noticed() -> None:
    assert rules.law_error("ewtcp", "growth", "a/w_r", 2000) > 0.1
    assert rules.law_error("ewtcp", "backoff", "w_r/2", 2000) < 1e-12


def test_a_scenario_that_refuses_a_controller_is_named() -> None:
    found = rules.refused(["cs218/ramp"], ["lia", "no-such-law"])
    assert found == ["no-such-law in cs218/ramp"]


def test_each_acknowledgement_of_a_run_moves_the_window_as_its_rule_says_and_no_other() -> None:
    log = logs.logged("near-and-far", "cs218")
    assert len(log.moments) > 10_000 and len(log.losses) > 5
    one = ("near-and-far", "cs218")
    assert replays.off_bytes(*one, "twice") <= 1
    assert replays.off_bytes(*one, "capped") > 20
    assert set(replays.first_boosted(*one)) == {6}


def test_within_one_red_queue_rtt_compensator_is_fair_and_cs218_is_not() -> None:
    network, laws = "fairness-red", ("cs218", "lia", "uncoupled")
    lab = ran(*(f"{network}-{one}" for one in (*laws, "tcp", "nobody")), seeds=4)
    cells = {law: (f"{network}-{law}", f"{network}-tcp", f"{network}-nobody") for law in laws}
    held = {law: measures.fairness(lab, *own, "bottleneck") for law, own in cells.items()}
    fair = {"P1": False, "P2": False, "goal 2": True, "lenient": True, "stringent": True}
    unfair = {"P1": False, "P2": True, "goal 2": False, "lenient": False, "stringent": False}
    assert held == {"cs218": unfair, "lia": fair, "uncoupled": unfair}


def test_claims_are_judged_by_name_and_the_report_has_their_tables(tmp_path: Path) -> None:
    ids = ["cs218.alg.rtt_compensator", "cs218.alg.lia_underuse"]
    found, lab = evaluate("cs218", ids, seeds=3)
    assert [f.verdict for f in found] == ["reproduced", "reproduced"]
    page = write_report(PAPER, found, lab, tmp_path / "page.html")
    text = page.read_text()
    assert "2 claims: 2 reproduced" in text
    assert "The algorithms with the same seeds" in text and "Fair like RTT" not in text


def wireless(name: str) -> str:
    """What the choices of a scenario say of its radio, as its plan has it."""
    radio = next(m for m in ab.load(name).plan().media if m.kind == "wifi")
    return f"802.11{radio.standard} at {radio.rate_bps / 1e6:g} Mb/s"


@pytest.mark.parametrize("name", [n for n in NAMES if n in {*MOVING, "cs218/lte-wifi"}])
def test_choices_of_networks_on_the_move_are_those_of_their_plans(name: str) -> None:
    plan = ab.load(name).plan()
    choices = {choice.what: choice.value for choice in plan.choices}
    assert len(choices) == len(plan.choices)
    tcp = next(c for c in plan.classes if c.protocol == "tcp")
    words = choices["TCP"]
    segments = "segment" if tcp.initial_window == 1 else "segments"
    assert f"initial window {tcp.initial_window:g} {segments}" in words
    assert ("without SACK" in words) != tcp.sack
    assert ("for each packet" in words) == (tcp.delayed_ack_s == 0)
    if tcp.initial_ssthresh:
        assert f"({tcp.initial_ssthresh:g} segments)" in words
        assert f"{tcp.payload_bytes} B of payload" in words
    timeout = f"{1e3 * tcp.rto_min_s:g} ms"
    assert timeout in choices.get("RTO minimum", words)
    if name not in ("cs218/csma", "cs218/full-mesh", "cs218/mixed"):
        assert wireless(name) in " ".join(choices.values())
    for udp in (c for c in plan.classes if c.protocol == "udp"):
        assert (udp.payload_bytes, udp.app_rate_bps) == (512, 10 * 512 * 8)


def test_published_tables_are_those_of_the_ledger() -> None:
    keys = {"cs218": "cs218", "uncoupled": "uncoupled", "lia": "rtt_compensator"}
    keys |= {"fully-coupled": "fully_coupled"}
    for network, printed in defined("PUBLISHED").items():
        expected = PAPER.claims[f"cs218.table_{network}"].expected
        assert printed == {law: expected[key]["value"] for law, key in keys.items()}
        pairs = defined("PAIRS")[network]
        assert len(pairs) == 6 and all(printed[a] > printed[b] for a, b in pairs)


def test_the_threshold_of_five_is_the_algorithm_itself_and_in_one_cell_with_the_table() -> None:
    both = PAPER.experiments["cs218-threshold"], PAPER.experiments["cs218-manet-mobile"]
    assert set(both[0]) & set(both[1]) == {"mobile-cs218"}
    assert value("[beyond(acks) for acks in THRESHOLDS]") == [
        *("cs218:acks-1", "cs218:acks-3", "cs218", "cs218:acks-10", "cs218:acks-20")
    ]


def test_where_all_thresholds_give_the_same_packets_nothing_is_judged() -> None:
    names = [f"{n}-{law}" for n in ("mobile", "random-loss") for law in ("cs218", "cs218:acks-1")]
    lab = ran(*names)
    for name in PAPER.evaluators["cs218.alg.threshold"][1]:
        lab.results.setdefault(name, lab[f"{name.split('-cs218')[0]}-cs218"])
    evaluator, _ = PAPER.evaluators["cs218.alg.threshold"]
    (check,) = evaluator(PAPER.claims["cs218.alg.threshold"], lab).checks
    assert "only: random-loss" in check.name
    for name in lab.results:
        lab.results[name] = lab["random-loss-cs218"]
    (check,) = evaluator(PAPER.claims["cs218.alg.threshold"], lab).checks
    assert check.verdict == "undecided"
    assert check.obtained == "the same packets under every threshold"


@pytest.mark.parametrize("name", MOVING)
def test_roles_are_counted_by_the_ends_of_flows(name: str) -> None:
    roles = nodes.roles_in(ab.load(name).plan())
    if name in ("cs218/manet", "cs218/csma"):
        assert roles == {"MPTCP server": 1, "UDP server": 1, "MPTCP clients": 1, "UDP clients": 15}
    if name == "cs218/mixed":
        assert roles == {"MPTCP server": 1, "UDP server": 1, "MPTCP clients": 2, "UDP clients": 32}


def test_one_subflow_dominates_if_it_grows_by_half_and_the_median_of_the_others_does_not() -> None:
    flat = np.full(8, 1.0)
    assert not series.dominates(flat, 1.5, 1.1)
    assert series.dominates(np.append(flat, 1.5), 1.5, 1.1)
    assert not series.dominates(np.append(flat, 1.49), 1.5, 1.1)
    assert not series.dominates(np.full(8, 1.6), 1.5, 1.1)
    assert series.dominates(np.array([1.6, 1.7, 1.0, 1.0, 1.1]), 1.5, 1.1)


def test_gaps_are_stretches_of_samples_over_which_a_count_stands_still() -> None:
    gaps = series.gaps_s(np.array([0, 1, 1, 1, 2, 3, 3]), 0.1)
    assert gaps.tolist() == pytest.approx([0.2, 0.1])
    assert series.gaps_s(np.array([0, 0, 0]), 0.5).tolist() == [1.0]
    assert series.gaps_s(np.array([0, 1, 2]), 0.5).tolist() == []


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([-0.001, 0.002], "no difference"),
        ([-0.011, -0.009], "the other way round"),
        ([0.0099, 0.0101], "same sign"),
        ([0.0205, 0.0215], "yes"),
    ],
)
def test_a_published_difference_survives_with_its_sign_and_an_interval_without_none(
    values: list[float], words: str
) -> None:
    assert value("survives(0.021, found)", found=np.repeat(values, 10)[:20]) == words
    assert value("survives(0.021, found)", found=np.array([0.021, 0.021])) == "yes"


def test_in_the_manet_nobody_but_uncoupled_loses_and_nobody_has_more() -> None:
    lab = ran(*(f"mobile-{law}" for law in FOUR), seeds=3)
    over = value('{law: relative(mbps(f"mobile-{law}"), mbps("mobile-lia")) for law in FOUR}', lab)
    assert all(abs(one.mean()) < 0.01 for one in over.values())
    losses = value('{law: sum(lost(f"mobile-{law}")) for law in FOUR}', lab)
    assert losses.pop("uncoupled") > 0 and set(losses.values()) == {0.0}
    assert 0 < value('mean(boost("mobile"))', lab) < 0.05


def test_load_on_one_channel_is_seen_by_no_counter_of_another() -> None:
    found, lab = evaluate("cs218", ["cs218.mech.logical_interfaces"], seeds=2)
    assert found[0].verdict == "reproduced"
    cells = [f"{defined(name)}-uncoupled" for name in ("CROWDED", "TENFOLD_CROWDED")]
    moved = nodes.changed(lab, cells, "attempts")
    assert moved.pop("air/1") > 1000 and set(moved.values()) == {0} and len(moved) == 7


def test_cars_are_silent_on_the_roadside_for_longer_than_on_both_networks() -> None:
    lab = ran("vanet-lia")
    roadside, both = (series.silent(lab, "vanet-lia", "cars", paths) for paths in ([0], [0, 1]))
    assert (roadside > 0.05).all() and (both < 0.01).all()
    assert (series.longest_gap_s(lab, "vanet-lia", "cars", [0]) < 10).all()
    assert (nodes.handovers(lab, "vanet-lia", "wifi", "car") >= 3).all()


def test_the_report_draws_the_manet_and_lists_pairs_and_open_parameters(tmp_path: Path) -> None:
    found, lab = evaluate("cs218", ["cs218.table_mobile", "cs218.wish.vanet"], seeds=2)
    lab.run(["AODV-cs218", "AODV-lia"])
    text = write_report(PAPER, found, lab, tmp_path / "page.html").read_text()
    assert (
        text.count("<img") == 1 + 1 + 4
    )  # throughputs; four panels of four algorithms; a car under each
    assert "Do the report's differences survive?".replace("'", "&#39;") in text
    assert "One thing otherwise in the MANET" in text and "Cars on a highway" in text


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ([0.9995, 1.0005], "not_reproduced"),  # nothing differs, and 2 % would be seen
        ([1.0, 1.0], "not_reproduced"),
        ([0.96, 1.05], "undecided"),  # 2 % may be there
        ([1.015, 1.025], "reproduced"),
        ([1.002, 1.006], "reproduced"),  # small, but a difference, and in the band
        ([0.975, 0.985], "not_reproduced"),
    ],
)
def test_a_difference_that_intervals_exclude_is_not_reproduced_at_a_bands_edge(
    values: list[float], verdict: str
) -> None:
    env = FOLDER.pure
    entry = PAPER.claims["cs218.table_mobile"].expected["cs218_over_rttc"]
    names = Environment({"found": np.repeat(values, 10)}, env)
    (one,) = Expectation.each("ratio", entry | {"measure": "found"}, names)
    assert one.check(names).verdict == verdict


@pytest.mark.parametrize(
    ("mine", "theirs", "verdict"),
    [
        ([0.0, 0.0], [0.0, 0.0], "undecided"),
        ([0.01, 0.01], [0.0, 0.0], "not_reproduced"),
        ([0.01, 0.01], [0.01, 0.01], "reproduced"),
        ([0.02, 0.02], [0.01, 0.01], "not_reproduced"),
    ],
)
def test_losses_are_compared_only_where_there_are_some(
    mine: list[float], theirs: list[float], verdict: str
) -> None:
    names = Environment(
        {"mine": np.array(mine), "theirs": np.array(theirs)},
        Environment(FOLDER.judged["cs218.fig_mobile.rto"].defined, FOLDER.pure),
    )
    band = {"min": 0.8, "max": 1.2, "measure": "alike(mine, theirs)"}
    (one,) = Expectation.each("lost", band, names)
    assert one.check(names).verdict == verdict


@pytest.mark.parametrize(
    "left", ["lte-wifi-cs218", "lte-wifi-wifi-reno", "mixed-lia", "static-lia", "fairness-nobody"]
)
def test_a_report_after_an_interrupt_has_what_has_been_run(left: str) -> None:
    lab = ran(left)
    lab.run(["fairness-lia", "fairness-tcp", "lte-wifi-lia"])
    one = lab[left]
    lab.results[left] = Result(one.scenario, one.plan, one.runs[1:])
    tables = [table for section in FOLDER.sections(lab) for table in section.tables]
    assert all(len(table.rows) > 0 for table in tables)


def test_every_explanation_has_a_claim_that_it_is_for() -> None:
    used = {reason.name for one in FOLDER.judged.values() for reason in one.because}
    assert used == set(FOLDER.explanations)

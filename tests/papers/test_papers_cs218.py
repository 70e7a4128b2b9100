"""The CS 218 report: its ledger, its configurations and scenarios, pairs of seeds, replays, short
runs.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anabranch as ab
from anabranch.papers import Laboratory, evaluate
from anabranch.papers.cs218 import (
    PAPER,
    algorithms,
    beside,
    configurations,
    dual,
    logs,
    manet,
    networks,
    paired,
    reading,
    small,
    tables,
    topologies,
)
from anabranch.papers.findings import difference_or_none, within
from anabranch.papers.pages import write_report
from anabranch.result import Result
from anabranch.runs import Run, Series
from anabranch.scenario import shipped
from anabranch.statistics import Interval
from anabranch.tables import Classes, Flows, LinkSeries, Paths, PathSeries

NAMES = [name for name in shipped() if name.startswith("cs218/")]

MOVING = [f"cs218/{name}" for name in ("manet", "csma", "mixed", "full-mesh", "vanet", "large")]
"""Scenarios with nodes."""


def ran(*names: str, seeds: int = 2) -> Laboratory:
    """Configurations run with two seeds."""
    lab = Laboratory(PAPER.configurations_of("simulation"), seeds=seeds)
    lab.run(names)
    return lab


def test_the_ledger_has_thirty_seven_claims_in_twelve_experiments() -> None:
    assert (len(PAPER.claims), len(PAPER.experiments)) == (37, 12)
    assert set(PAPER.evaluators) == set(PAPER.claims)


def test_every_configuration_has_a_plan_and_none_is_simulated_twice() -> None:
    same: dict[Any, list[str]] = {}
    for name, configuration in PAPER.configurations_of("simulation").items():
        assert configuration.scenario in NAMES
        ab.load(configuration.scenario).plan(
            overrides=list(configuration.overrides), controller=configuration.controller
        )
        key = (configuration.scenario, configuration.controller, frozenset(configuration.overrides))
        same.setdefault(key, []).append(name)
    assert [names for names in same.values() if len(names) > 1] == []


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
    values = paired.Values(
        {"cs218": np.array([11.0, 21.0, 31.0]), "lia": np.array([10.0, 20.0, 30.0])}
    )
    assert values.difference("cs218", "lia").mean == 1.0
    assert values.difference("cs218", "lia").half < 1e-9 < values.mean("lia").half
    assert values.relative("cs218", "lia").mean == pytest.approx(0.05)
    assert values.ratio("cs218", "lia").mean == pytest.approx(1.05)
    assert values.ordered == ("cs218", "lia")
    assert values.compared("cs218") == "CS218_ALGO, seed by seed, over RTT Compensator +5 %"


def test_values_of_unequal_numbers_of_seeds_are_no_pairs() -> None:
    with pytest.raises(ValueError, match="as many"):
        paired.Values({"cs218": np.ones(3), "lia": np.ones(2)})


def test_a_sweep_has_the_seeds_that_all_of_its_configurations_have() -> None:
    sweep = paired.Sweep(configurations.FAIRNESS, (configurations.CS218, configurations.LIA))
    lab = ran(*sweep.configurations, seeds=3)
    one = lab[sweep.configurations[0]]
    lab.results[sweep.configurations[0]] = Result(one.scenario, one.plan, one.runs[1:])
    values = sweep.values(lab, reading.mbps)
    assert [len(column) for column in values.by.values()] == [2, 2]
    assert values.by["lia"].tolist() == reading.mbps(lab[sweep.configurations[1]])[1:].tolist()


def test_filling_is_timed_between_two_windows_and_endless_if_the_second_is_not_reached() -> None:
    t_s = np.arange(0.0, 10.0, 0.5)
    windows = PathSeries(cwnd_segments=np.stack([10 * t_s, t_s], axis=1))
    series = Series(t_s=t_s, paths=windows, links=LinkSeries())
    run = Run(flows=Flows(), paths=Paths(), classes=Classes(), series=series)
    scenario = ab.load("cs218/ramp")
    result = Result(scenario, replace(scenario.plan(), warmup_s=2.0), [run])
    assert reading.fill_s(result, 10, 40).tolist() == [2.0]  # from 2 s, the warm-up's end
    assert reading.fill_s(result, 30, 60).tolist() == [3.0]
    assert reading.fill_s(result, 30, 600).tolist() == [np.inf]


def moment(t_s: float, last_s: float, grown: float) -> logs.Moment:
    """An acknowledgement on the first of two equal paths of 10 segments and 100 ms: LIA adds 0.025."""
    windows, srtts = np.array([10.0, 10.0]), np.array([0.1, 0.1])
    return logs.Moment(t_s, 0, 1, 0, 0, last_s, windows, 10 + grown, srtts, True)


def test_a_replay_counts_to_five_and_from_zero_after_a_loss() -> None:
    moments = tuple(moment(i, 0.1, 0.025) for i in range(8))
    loss = logs.Loss(6.5, 0, 10.0, 5.0)
    steps = logs.replayed(logs.Log(moments, (loss,)), logs.twice)
    assert [step.count for step in steps] == [1, 2, 3, 4, 5, 6, 7, 1]
    assert [step.boost for step in steps] == [0, 0, 0, 0, 0, 1, 1, 0]
    assert [round(step.expected, 6) for step in steps[4:7]] == [0.025, 0.05, 0.05]
    assert steps[5].off == pytest.approx(-0.025)


def test_the_best_round_trip_is_used_before_it_is_updated() -> None:
    trips = (0.1, 0.2, 0.05, 0.1)
    moments = tuple(moment(i, last_s, 0.0) for i, last_s in enumerate(trips))
    steps = logs.replayed(logs.Log(moments, ()), logs.twice, threshold=0)
    assert [step.boost for step in steps] == [1.0, 0.5, 1.0, 0.5]


def test_the_readings_differ_where_the_cap_binds() -> None:
    windows, srtts = np.array([10.0, 10.0]), np.array([0.05, 0.2])
    assert logs.lia(0, windows, srtts, 1.0) == pytest.approx(0.064)
    assert logs.twice(0, windows, srtts, 1.0) == pytest.approx(0.128)
    assert logs.capped(0, windows, srtts, 1.0) == pytest.approx(0.1)


def test_a_law_that_is_not_the_formula_is_noticed() -> None:
    grown, fallen = algorithms.off("ewtcp", lambda w, rtt: 1 / np.sqrt(len(w)) / w, algorithms.half)
    assert grown > 0.1 and fallen < 1e-12


def test_each_acknowledgement_of_a_run_moves_the_window_as_its_rule_says_and_no_other() -> None:
    log = small.watched(configurations.CS218)
    assert len(log.moments) > 10_000 and len(log.losses) > 5
    assert algorithms.most_bytes(logs.replayed(log, logs.twice)) <= 1
    assert algorithms.most_bytes(logs.replayed(log, logs.capped)) > 20
    assert set(algorithms.first_boosted(log)) == {6}


def test_within_one_red_queue_rtt_compensator_is_fair_and_cs218_is_not() -> None:
    network = "fairness-red"
    controllers = (configurations.CS218, configurations.LIA, configurations.RENO)
    names = [
        configurations.under(network, c)
        for c in (*controllers, configurations.TCP, configurations.NOBODY)
    ]
    lab = ran(*names, seeds=4)
    held = {c: tables.verdicts(lab, network, c) for c in controllers}
    fair = {"P1": False, "P2": False, "goal 2": True, "lenient": True, "stringent": True}
    unfair = {"P1": False, "P2": True, "goal 2": False, "lenient": False, "stringent": False}
    assert held == {
        configurations.CS218: unfair,
        configurations.LIA: fair,
        configurations.RENO: unfair,
    }


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
    for network, claim in (("mobile", "table_mobile"), ("static", "table_static")):
        expected = PAPER.claims[f"cs218.{claim}"].expected
        printed = {c: expected[key]["value"] for key, c in networks.TABLED.items()}
        assert beside.PUBLISHED[network] == printed


def test_the_threshold_of_five_is_the_algorithm_itself_and_in_one_configuration_with_the_table() -> (
    None
):
    both = PAPER.experiments["cs218-threshold"], PAPER.experiments["cs218-manet-mobile"]
    assert set(both[0]) & set(both[1]) == {
        configurations.under(networks.MOBILE, configurations.CS218)
    }
    assert sorted(networks.THRESHOLDS) == [1, 3, 5, 10, 20]


@pytest.mark.parametrize("name", MOVING)
def test_roles_are_counted_by_the_ends_of_flows(name: str) -> None:
    roles = topologies.roles(ab.load(name).plan())
    if name in ("cs218/manet", "cs218/csma"):
        assert roles == {"MPTCP server": 1, "UDP server": 1, "MPTCP clients": 1, "UDP clients": 15}
    if name == "cs218/mixed":
        assert roles == {"MPTCP server": 1, "UDP server": 1, "MPTCP clients": 2, "UDP clients": 32}


def test_one_subflow_dominates_if_it_grows_by_half_and_the_median_of_the_others_does_not() -> None:
    flat = np.full(8, 1.0)
    assert not manet.dominated(flat)
    assert manet.dominated(np.append(flat, 1.5))
    assert not manet.dominated(np.append(flat, 1.49))
    assert not manet.dominated(np.full(8, 1.6))
    assert manet.dominated(np.array([1.6, 1.7, 1.0, 1.0, 1.1]))


def test_gaps_are_stretches_of_samples_over_which_a_count_stands_still() -> None:
    assert reading.gaps_s(np.array([0, 1, 1, 1, 2, 3, 3]), 0.1).tolist() == pytest.approx(
        [0.2, 0.1]
    )
    assert reading.gaps_s(np.array([0, 0, 0]), 0.5).tolist() == [1.0]
    assert reading.gaps_s(np.array([0, 1, 2]), 0.5).tolist() == []


def test_a_published_difference_survives_with_its_sign_and_an_interval_without_none() -> None:
    of = paired.interval_percent
    assert of(Interval(0.021, 0.001, 20)) == "+2.10 ± 0.10 %"
    assert beside.survives(0.021, Interval(0.0, 0.002, 20)) == "no difference"
    assert beside.survives(0.021, Interval(-0.01, 0.002, 20)) == "the other way round"
    assert beside.survives(0.021, Interval(0.01, 0.002, 20)) == "same sign"
    assert beside.survives(0.021, Interval(0.02, 0.002, 20)) == "yes"


def test_in_the_manet_nobody_but_uncoupled_loses_and_nobody_has_more() -> None:
    sweep = manet.BOTH[networks.MOBILE]
    lab = ran(*sweep.configurations, seeds=3)
    rates = sweep.values(lab, reading.mbps)
    assert all(abs(rates.relative(c, configurations.LIA).mean) < 0.01 for c in configurations.FOUR)
    losses = {
        c: float(reading.lost(lab[configurations.under("mobile", c)]).sum())
        for c in configurations.FOUR
    }
    assert losses.pop(configurations.RENO) > 0 and set(losses.values()) == {0.0}
    assert 0 < manet.boost(lab, networks.MOBILE).mean < 0.05


def test_load_on_one_channel_is_seen_by_no_counter_of_another() -> None:
    found, lab = evaluate("cs218", ["cs218.mech.logical_interfaces"], seeds=2)
    assert found[0].verdict == "reproduced"
    moved = topologies.changed(lab, "attempts")
    assert moved.pop("air/1") > 1000 and set(moved.values()) == {0} and len(moved) == 7


def test_cars_are_silent_on_the_roadside_for_longer_than_on_both_networks() -> None:
    configuration = configurations.under(networks.VANET, configurations.LIA)
    result = ran(configuration)[configuration]
    roadside, both = dual.away(result, 0), dual.away(result, 0, 1)
    assert (roadside > 0.05).all() and (both < 0.01).all()
    assert (dual.longest_s(result, 0) < 10).all() and (dual.handovers(result) >= 3).all()


def test_the_report_draws_the_manet_and_lists_pairs_and_open_parameters(tmp_path: Path) -> None:
    others = [configurations.under("AODV", c) for c in (configurations.CS218, configurations.LIA)]
    found, lab = evaluate("cs218", ["cs218.table_mobile", "cs218.wish.vanet"], seeds=2)
    lab.run(others)
    text = write_report(PAPER, found, lab, tmp_path / "page.html").read_text()
    assert (
        text.count("<img") == 1 + 1 + 4
    )  # throughputs; four panels of four algorithms; a car under each
    assert "Do the report's differences survive?".replace("'", "&#39;") in text
    assert "One thing otherwise in the MANET" in text and "Cars on a highway" in text


@pytest.mark.parametrize(
    ("mean", "half", "verdict"),
    [
        (1.0, 0.0005, "not_reproduced"),  # nothing differs, and 2 % would be seen
        (1.0, 0.0, "not_reproduced"),
        (1.005, 0.02, "undecided"),  # 2 % may be there
        (1.02, 0.005, "reproduced"),
        (1.004, 0.003, "reproduced"),  # small, but a difference, and in the band
        (0.98, 0.005, "not_reproduced"),
    ],
)
def test_a_difference_that_intervals_exclude_is_not_reproduced_at_a_bands_edge(
    mean: float, half: float, verdict: str
) -> None:
    check = within("a over b", 1.02, Interval(mean, half, 20), 1.0, 1.08)
    assert difference_or_none(check, 1.0, 1.02).verdict == verdict
    elsewhere = within("a over b", 1.02, Interval(mean, half, 20), 0.9, 1.08)
    assert difference_or_none(elsewhere, 1.0, 1.02) == elsewhere


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
    parts = paired.Values(
        {configurations.CS218: np.array(mine), configurations.LIA: np.array(theirs)}
    )
    assert manet.lost_alike("lost", parts).verdict == verdict

"""The coding paper: its ledger, its configurations and scenarios, readings on made-up results,
short runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anabranch as ab
from anabranch.papers import PAPERS, Laboratory, evaluate
from anabranch.papers.couple_plus import captures, episodes, equilibria, excursion, logs, reading
from anabranch.papers.couple_plus.varying import away_s
from anabranch.papers.language import Expression
from anabranch.papers.pages import write_report
from anabranch.papers.registry import select
from anabranch.papers.tracing import functions
from anabranch.records import Numbers
from anabranch.result import Result
from anabranch.runs import Run, Series
from anabranch.scenario import shipped
from anabranch.tables import Classes, Flows, LinkSeries, Paths, PathSeries

PAPER = PAPERS["couple-plus"]
NAMES = [name for name in shipped() if name.startswith("couple-plus/")]


def small(*names: str, seeds: int = 2) -> Laboratory:
    """Configurations run with two seeds."""
    lab = Laboratory(PAPER.configurations_of("simulation"), seeds=seeds)
    lab.run(names)
    return lab


def value(text: str, lab: Laboratory | None = None) -> Any:
    """The value of an expression of the ledger."""
    known = lab or Laboratory(PAPER.cells)
    return PAPER.environment(functions(PAPER.measures, known)).evaluated(Expression.read(text))


def test_the_ledger_has_forty_four_claims_in_seven_experiments_and_each_is_evaluated() -> None:
    assert (len(PAPER.claims), len(PAPER.experiments)) == (44, 7)
    assert set(PAPER.evaluators) == set(PAPER.claims)


def test_the_key_is_not_what_ids_begin_with_and_both_are_found() -> None:
    assert PAPER.key == "couple-plus" and all(id.startswith("couple.") for id in PAPER.claims)
    assert select(["couple-plus"]) == {"couple-plus": list(PAPER.claims)}
    assert select(["couple.fig7"]) == {"couple-plus": ["couple.fig7"]}
    with pytest.raises(KeyError, match="couple-plus"):
        select(["couple"])


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


def test_redundancies_are_above_the_bound_and_those_that_hide_congestion_below_it() -> None:
    bound = ab.theory.coding.redundancy_bound
    assert all(r >= bound(p) for p, r in value("EVERY"))
    assert value("PRINTED in EVERY")
    assert all(r < bound(value("HIDING")) for _, r in value("HIDDEN"))
    assert value("FIXED") == [1.04, 1.141]


@pytest.mark.parametrize("name", NAMES)
def test_the_choices_of_a_scenario_are_what_its_plan_has(name: str) -> None:
    plan = ab.load(name).plan()
    choices = {choice.what: choice.value for choice in plan.choices}
    assert len(choices) == len(plan.choices)
    user = plan.classes[0]
    assert f"{user.packet_bytes} B on the wire" in choices["packet"]
    if name == "couple-plus/measurement":
        return
    assert choices["receive buffer"] == f"{user.receive_buffer_bytes / 1e3:g} kB"
    assert choices["initial window"] == f"{user.initial_window:g} segments"
    assert choices["RTO"].startswith(f"at least {user.rto_min_s * 1e3:g} ms, {user.rto_floor}")
    assert choices["scheduler"] == user.scheduler.kind
    assert choices["ssthresh floor of coupled paths"] == "2 segments" and user.min_ssthresh is None
    assert choices["loss recovery"].endswith("without SACK") and not user.sack
    assert choices["acknowledgements"] == "of every packet" and user.delayed_ack_s == 0
    jitter = {link.jitter_s for link in plan.links} - {0.0}
    assert jitter == {user.packet_bytes * 8 / 1e6}
    assert choices["random processing time"].startswith("up to 8.416 ms")
    queues = {link.queue.limit_packets for link in plan.links if link.queue} - {None}
    assert queues == {50} and choices["queue"] == "drop-tail, 50 packets at every link"


def made_up(taken: list[float], done: list[float]) -> Run:
    """A run of 10 s with these bytes taken in by three paths at its end, in equal steps."""
    t_s = np.arange(0, 10.5, 0.5)
    column = np.array(taken)
    return Run(
        seed=1,
        flows=Flows(class_=["multipath", "tcp"], completed_s=np.array(done)),
        paths=Paths(flow=np.array([0, 0, 1]), path=np.array([0, 1, 0])),
        classes=Classes(),
        series=series(t_s, PathSeries(taken_bytes=t_s[:, None] / 10 * column)),
    )


def series(t_s: Numbers, paths: PathSeries) -> Series:
    """Samples of paths alone."""
    return Series(t_s=t_s, paths=paths, links=LinkSeries())


def test_the_competition_period_ends_with_the_first_transfer() -> None:
    run = made_up([1e6, 5e5, 2.5e5], [8.0, np.nan])
    assert reading.end_of(run) == 8.0
    assert reading.rates_kbps(run) == pytest.approx([800, 400, 200])
    assert reading.end_of(made_up([1, 1, 1], [np.nan, np.nan])) == 10.0


def test_what_is_taken_in_does_not_count_redundancy_and_no_link_carries_more_than_it_can() -> None:
    alone, shared = "alone-couple-plus-p0.01-r1.25", "lia-p0.01-r1.25"
    lab = small(alone, shared)
    assert (reading.kbps(lab, alone, 1) <= 1e3 * 1000 / 1064 / 1.25 * 1.01).all()
    assert (reading.kbps(lab, shared, 1) * 1.25 + reading.kbps(lab, shared, 2) <= 1000).all()


def events(*rows: tuple[float, str]) -> logs.Events:
    """Events of a path."""
    t_s, kinds = zip(*rows, strict=True)
    return logs.Events(np.array(t_s), np.array(kinds))


def test_an_episode_has_the_losses_since_the_verdict_before() -> None:
    log = events(
        (1.0, "loss"), (1.2, "asked"), (1.3, "noise"),
        (2.0, "drop"), (2.1, "loss"), (2.2, "asked"), (2.25, "drop"), (2.3, "congestion"),
        (2.4, "asked"), (2.5, "noise"),
        (9.0, "asked"), (9.5, "congestion"),
    )  # fmt: skip
    found = logs.episodes(log, 1.0, 8.0)
    assert [(e.dropped, e.lost, e.congestion) for e in found] == [
        (0, 1, False), (2, 1, True), (0, 0, False)
    ]  # fmt: skip
    together = episodes.merged(found)  # asked again about the same losses: the last verdict counts
    assert [(e.dropped, e.lost, e.congestion) for e in together] == [(0, 1, False), (2, 1, False)]


def mobile_result(windows: Any) -> Laboratory:
    """A made-up run of the mobile scenario with this window on Wi-Fi, every 0.5 s."""
    run = made_up([1, 1, 1], [1, 1])
    windows = np.array(windows)
    run.series = series(
        np.arange(0, 50, 0.5), PathSeries(cwnd_segments=windows[:, None] * [1, 1, 1])
    )
    scenario = ab.load("couple-plus/mobile")
    return Laboratory(PAPER.cells, results={"mobile-lia": Result(scenario, scenario.plan(), [run])})


def test_a_reaction_is_timed_from_the_first_worsening_and_a_sawtooth_is_none() -> None:
    t_s = np.arange(0, 50, 0.5)
    window = np.where(t_s < 23, 10.0, 3.0)
    window[(t_s >= 19) & (t_s < 22)] = 4.0  # it had halved anyway, and was large again
    lab = mobile_result(window)
    reaction = 'reaction_s("lia")'
    assert value(reaction, lab).tolist() == [3.0]
    half = value('half_window("lia")', lab)
    first = excursion.first_at_most_s(lab, "mobile-lia", 1, half, 21.25, 27.0)
    assert first.tolist() == pytest.approx([0.25])  # the ledger's clock
    assert value(reaction, mobile_result(np.full(100, 10.0))).tolist() == [7.0]
    assert value(reaction, mobile_result(np.where(t_s < 18, 10.0, 1.0))).tolist() == [0.0]


def test_the_outage_lasts_two_seconds_and_the_excursion_twelve() -> None:
    plan = ab.load("couple-plus/mobile").plan()
    (wifi,) = [link for link in plan.links if link.name == "wifi"]
    assert (value("GONE"), value("BACK")) == (25.0, 27.0)
    assert (value("WORSE[0]"), value("worse_s(0.3)")) == (20.0, 21.25)
    assert (wifi.changes[-1].at_s, wifi.changes[-1].loss) == (32.0, wifi.loss)
    losses = dict(value("STEPS"))
    # each step of 250 ms has the value that the line has in its middle
    assert all(losses[20 + k / 4] == pytest.approx(0.05 + 0.19 * (k + 0.5) / 4) for k in range(20))
    assert all(losses[27 + k / 4] == pytest.approx(1 - 0.19 * (k + 0.5) / 4) for k in range(20))


def test_the_sets_of_do_no_harm_are_all_those_of_one_bottleneck() -> None:
    tcp = [1.0, 2.0]
    assert equilibria.most_harm([0.9, 1.0], tcp) <= 1.1
    assert equilibria.most_harm([1.2, 0.5], tcp) > 1.1
    assert equilibria.most_harm([0.9, 1.5], tcp) > 1.1


def test_a_script_loses_what_it_is_told_to_and_a_capture_has_every_coded_packet() -> None:
    log = captures.log_of(value("SCRIPTED"), 2)
    assert len(log.events.times("loss")) == 2
    assert len(log.sent) >= int(log.result.runs[0].paths.sent_packets[0])
    assert max(c.count for c in log.sent) == 6
    verdicts = [kind for kind in log.events.kind if kind in ("asked", "noise", "congestion")]
    assert verdicts[:2] == ["asked", "noise"]


def test_rates_of_the_text_with_rtt_compensator_need_a_long_run() -> None:
    lab = small("long run, lia", "long run, couple-plus")
    rates = {
        (law, path): reading.kbps(lab, f"long run, {law}", path).mean()
        for law in value("BOTH")
        for path in (1, 2)
    }
    assert rates["lia", 1] > 700 and rates["lia", 2] < 150
    assert rates["couple-plus", 1] < 300 and rates["couple-plus", 2] > 600


def test_a_report_has_the_figures_of_the_configurations_that_have_been_run(tmp_path: Path) -> None:
    lab = small(
        "measurement",
        "measurement-p0.01",
        "measurement-p0.05",
        "lia-p0.01-r1.05",
    )
    page = write_report(PAPER, [], lab, tmp_path / "page.html").read_text()
    assert "Losses in a redundant cycle" in page and "What changes with what the paper" in page
    assert "The mobile terminal" not in page and "Without the TCP" not in page


def test_claims_are_judged_by_name_and_the_report_has_them(tmp_path: Path) -> None:
    ids = ["couple.topology.measurement", "couple.def.redundant_cycle", "couple.fig12-13.window"]
    found, lab = evaluate("couple-plus", ids, seeds=2)
    assert [f.world for f in found] == ["structure", "structure", "simulation"]
    assert [f.verdict for f in found[:2]] == ["reproduced", "reproduced"]
    assert set(lab.results) == {"mobile-lia", "mobile-couple-plus"}
    page = write_report(PAPER, found, lab, tmp_path / "page.html")
    assert "3 claims: " in page.read_text()


def test_a_sender_that_selects_paths_leaves_wifi_in_the_outage_and_comes_back_by_itself() -> None:
    for times in away_s(small("mobile-closed-lia").results["mobile-closed-lia"]):
        left, back = times[:2]
        assert 21 < left < 27
        assert left + 1 <= back  # a probe a second
        assert len(times) % 2 == 0 and times[-1] < 40


def test_the_loss_that_redundancy_follows_goes_up_and_down_again() -> None:
    plan = ab.load("couple-plus/static").plan(
        overrides=list(PAPER.cells["varying-adaptive"].overrides)
    )
    (wireless,) = [link for link in plan.links if link.name == "wireless"]
    losses = [wireless.loss, *(change.loss for change in wireless.changes)]
    assert losses == value("VARYING")
    coding = plan.classes[0].paths[1].coding
    assert coding and (coding.redundancy, coding.up_to) == (1.04, 1.3)

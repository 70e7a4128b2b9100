"""The thesis' paper: its ledger, its cells, and what it measures on made-up results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anabranch as ab
from anabranch.papers import PAPERS, Laboratory, evaluate
from anabranch.papers.judging import checked
from anabranch.papers.laboratory import Configuration
from anabranch.papers.language import Environment, Expression
from anabranch.papers.library import of_runs
from anabranch.papers.logs import Steps
from anabranch.papers.pages import write_report
from anabranch.papers.tracing import functions
from anabranch.papers.tse.comparing import allocation
from anabranch.papers.tse.laws import mean_interval
from anabranch.papers.tse.logs import PathLog, changes, logged
from anabranch.papers.tse.steps import sorted_probes

PAPER = PAPERS["tse"]
BASE = "multi-priority"


def value(text: str, **names: object) -> Any:
    """What an expression of the ledger is; `names` stand in for definitions."""
    pure = {name: one for name, one in PAPER.measures.items() if not of_runs(one)}
    return Environment({**PAPER.defined, **names}, Environment(pure)).evaluated(
        Expression.read(text)
    )


def measured(lab: Laboratory, text: str) -> Any:
    """What an expression of the ledger is on the results of a laboratory."""
    return PAPER.environment(functions(PAPER.measures, lab)).evaluated(Expression.read(text))


def links_of(configuration: Configuration, name: str = "ensemble") -> list[str]:
    plan = ab.load(configuration.scenario).plan(overrides=list(configuration.overrides))
    group = next(c for c in plan.classes if c.name == name)
    return [plan.links[path.links[0]].name for path in group.paths]


def test_the_ledger_has_sixty_claims_in_sixteen_experiments() -> None:
    assert (len(PAPER.claims), len(PAPER.experiments)) == (60, 16)


def test_a_quick_run_has_claims_of_the_ledger() -> None:
    assert set(PAPER.brief) <= set(PAPER.claims)


def test_every_configuration_is_of_a_scenario_of_the_thesis_and_none_is_simulated_twice() -> None:
    every = {**PAPER.configurations, **PAPER.unclaimed}
    assert all(configuration.scenario.startswith("tse/") for configuration in every.values())
    same: dict[object, list[str]] = {}
    for name, configuration in every.items():
        same.setdefault(
            (configuration.scenario, frozenset(configuration.overrides), configuration.series), []
        ).append(name)
    assert [names for names in same.values() if len(names) > 1] == []


def test_red_follows_from_the_bandwidth_delay_product_but_at_least_twenty_packets() -> None:
    assert value('red("x", 1.0, RTT_S)')[1:] == [
        "link.x.queue.red.min=5 packets",
        "link.x.queue.red.max=15 packets",
        "link.x.queue.red.limit=40 packets",
    ]
    assert "link.x.queue.red.max=62.5 packets" in value('red("x", 20.0, RTT_S)')
    assert 'packets="10 packets"' in value('drop_tail("x", 1.0, RTT_S)')[1]


def test_contested_links_are_the_first_and_the_base_flow_is_on_them() -> None:
    configuration = PAPER.configurations["independent-multi-priority-16-contested-4"]
    plan = ab.load(configuration.scenario).plan(overrides=list(configuration.overrides))
    users = {c.name: c.count for c in plan.classes if c.count}
    assert [name for name in users if name != "ensemble"] == [f"tcp-{i}" for i in (1, 2, 3, 4)]
    assert links_of(configuration)[0] == "link-1"


def test_the_base_flow_is_on_the_path_that_the_configuration_says() -> None:
    name = value('two(BASE, "capacity", 1.5, "second")')
    assert links_of(PAPER.configurations[name]) == ["second", "first"]


@pytest.mark.parametrize(
    ("n", "sharing", "links"), [(2, 0.0, 2), (2, 1.0, 1), (8, 0.5, 5), (8, 1.0, 1)]
)
def test_paths_of_the_matrix_share_a_link_as_far_as_it_says(
    n: int, sharing: float, links: int
) -> None:
    ways = value(f"ways({n}, {round(n * sharing)})")
    assert (len(ways), len(set(ways))) == (n, links)


def test_the_matrix_has_every_queue_number_of_paths_and_sharing_that_there_is() -> None:
    cells = PAPER.experiments["tse-robustness"]
    found = {tuple(name.split("-")[1:-1]) for name in cells if name.endswith("-lia")}
    assert len(found) == 3 * (2 + 3 * 3)  # of two paths none or both share
    assert len(cells) == len(found) * len(value("ROBUST"))


def test_the_optimal_line_is_that_of_equation_1_4() -> None:
    assert value("[optimal_units(k) for k in [0, 1, 8, 16]]") == [32, 31, 17, 1]


def test_weights_of_loss_intervals_are_the_printed_ones() -> None:
    assert value("[printed_weight(i, 8) for i in range(1, 9)]") == pytest.approx(value("WEIGHTS"))


@pytest.mark.parametrize(
    ("intervals", "mean"),
    [([5.0] + [100.0] * 8, 100), ([1000.0] + [100.0] * 8, 250), ([0.0, 10.0] + [100.0] * 7, 85)],
)
def test_the_mean_loss_interval_counts_the_open_one_only_if_that_is_longer(
    intervals: list[float], mean: float
) -> None:
    assert mean_interval(intervals, value("WEIGHTS")) == pytest.approx(mean)


def test_a_band_everywhere_is_decided_by_the_worst_point() -> None:
    inside, outside, band = np.array([0.49, 0.5, 0.51]), np.array([0.7, 0.71, 0.72]), (0.45, 0.55)
    check = checked("share", 0.5, {"a": inside, "b": outside}, band)
    assert check.verdict == "not_reproduced" and check.name.endswith("b)")
    check = checked("share", 0.5, {"a": inside, "b": inside + 0.02}, band)
    assert check.verdict == "reproduced" and check.name.endswith("b)")
    open_ = checked("share", 0.5, {"a": np.array([0.3, 0.7])}, band)
    assert open_.verdict == "undecided"


def test_a_swing_is_the_paired_difference_of_the_extremes() -> None:
    low = np.array([1.0, 2.0])
    points = {"a": low + 1, "b": low, "c": low + 0.5}
    assert value("swing(points)", points=points) == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize(("at_75", "at_100", "best"), [(0, 0, 75), (0.4, 0, 100), (0.4, 0.05, 100)])
def test_of_two_readings_of_300_percent_the_first_with_the_best_verdict_counts(
    at_75: float, at_100: float, best: float
) -> None:
    inside = np.array([0.24, 0.25, 0.26])
    own = PAPER.judged["tse.fig4-7.bilevel"].defined
    points = {75.0: inside + at_75, 100.0: inside + at_100}
    assert value("THIRD", **{**own, "POINTS": points}) == best


def test_totals_of_a_scheme_give_each_experiment_equal_weight() -> None:
    fair, unfair = (allocation([rate], [1.0], [0.0], [1.0], 0.05) for rate in (0.9, 1.2))
    one = [[unfair, fair, fair], [unfair, unfair, fair], [np.array([0.9, 0.8])] * 3]
    two = [[fair], [unfair], [np.array([0.5, 0.6])]]
    ranked = {"scheme": {"4-2 shared": one, "4-4 empty": two}}
    every = "['4-2 shared', '4-4 empty']"
    counts = [value(f"counted('scheme', {every}, {which})", RANKED=ranked) for which in (0, 1)]
    assert counts == [1, 3]
    use = value(f"use('scheme', {every})", RANKED=ranked)
    assert use == pytest.approx([0.7, 0.7])


def test_the_chapters_table_has_every_experiment_that_a_bound_is_defined_for() -> None:
    points = {one: value(f"points('{one}', BASE)") for one in value("EXPERIMENTS")}
    assert {one: len(cells) for one, cells in points.items()} == {
        "4-2 shared": 6,
        "4-4 empty": 6,
        "4-5 contested": 11,
        "4-6 capacity": 18,
        "4-7 delay": 8,
        "4-8 loss": 10,
        "4-11 users": 12,
    }
    assert {name for cells in points.values() for name in cells} <= set(
        PAPER.experiments["tse-summary"]
    )


SHORT = ("duration=20 s", "warmup=8 s")


def small(*names: str) -> Laboratory:
    """Cells run for a few seconds."""
    cells = {name: PAPER.cells[name] for name in names}
    short = {
        name: Configuration(cell.scenario, None, (*cell.overrides, *SHORT))
        for name, cell in cells.items()
    }
    lab = Laboratory(short, seeds=2)
    lab.run(names)
    return lab


def test_shares_are_parts_of_all_traffic_and_links_are_those_of_the_paths() -> None:
    name = value("shared(BASE, 4)")
    lab = small(name)
    share, own, tcp = (measured(lab, f"{what}('{name}')") for what in ("share", "taken", "others"))
    assert share == pytest.approx(own / (own + tcp))
    assert links_of(PAPER.cells[name]) == ["bottleneck"] * 4


def test_on_an_empty_link_an_idealised_tcp_takes_all_so_that_filling_it_is_fair() -> None:
    name = value("shared(TCP, 1)")
    lab = small(name)
    found = measured(lab, f"compared('{name}', ['bottleneck'], [0.5], [5.0], 'unused', MARGIN)")
    assert found.stringent and found.links[0].tcp_bps == 5e6


def test_the_report_has_what_has_been_run_and_leaves_out_the_rest() -> None:
    lab = small(*(value(f"shared(BASE, {n})") for n in (4, 8)))
    (borrowing, shared) = PAPER.sections(lab)
    assert [figure.caption[:10] for figure in borrowing.figures] == ["Figure 3-2"]
    assert [figure.caption[:10] for figure in shared.figures] == ["Figure 4-2"]


def test_a_log_has_windows_and_packets_of_every_path() -> None:
    paths = 'flow.ensemble.path=[{links=["bottleneck"]}, {links=["bottleneck"]}]'
    change = (paths, 'flow.ensemble.controller="multi-priority"', *SHORT)
    logs = logged(Configuration("tse/shared", None, change))
    assert len(logs) == 2
    result = ab.run("tse/shared", 1, overrides=change)
    sent = result.path("ensemble", 0, "sent_packets")[0, 0]
    assert int((logs[0].sent_s > 8).sum()) == pytest.approx(sent, abs=2)
    times, before, after = np.transpose(changes(logs[0]))
    assert (np.diff(times) > 0).all() and (after[:-1] == before[1:]).all()


def test_probes_are_in_turn_unless_every_background_flow_may_send() -> None:
    def log(sent: list[float], offsets: list[float], windows: list[float]) -> PathLog:
        none = np.array([])
        changed = Steps(np.arange(len(windows), dtype=float), np.array(windows))
        rtts = Steps(none, none)
        return PathLog(np.array(sent), np.array(offsets), none, changed, rtts, none, [])

    first = log([0.5, 1.5, 2.5, 4.5], [0, 1, 1, 9], [1, 1, 1, 0, 4])
    second = log([2.5, 3.5], [5, 6], [0, 0, 1, 1, 1])
    assert sorted_probes([first, second], 1.0, 1e-3) == ([1.5, 3.5], [2.5], [2.5])


def test_claims_without_configurations_are_judged_and_have_evidence(tmp_path: Path) -> None:
    ids = ["tse.theory.bilevel_bound", "tse.fig4-5.optimal", "tse.alg.reduced_aggression"]
    found, lab = evaluate("tse", ids, seeds=2)
    assert [f.verdict for f in found] == ["reproduced"] * 3
    assert all(f.to_json()["obtained"] for f in found)
    page = write_report(PAPER, found, lab, tmp_path / "page.html").read_text()
    assert "tse.fig4-5.optimal" in page


def test_every_experiment_of_the_ledger_has_cells() -> None:
    assert all(PAPER.experiments.values())


def test_the_table_of_open_choices_has_a_column_for_each_of_its_cells() -> None:
    bases = {name.rsplit(" | ", 1)[1] for name in PAPER.sensitivity}
    assert bases == set(value("COLUMNS"))

"""The thesis' paper: its ledger, its configurations, and evaluators on made-up results."""

from __future__ import annotations

import tomllib
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

import anabranch as ab
from anabranch import fairness
from anabranch.papers import PAPERS, Laboratory, evaluate
from anabranch.papers.pages import write_report
from anabranch.papers.tse import configurations, definitions, reading, schemes, summary
from anabranch.papers.tse.logs import PathLog, changes, logged
from anabranch.papers.tse.paper import BASE, matrix, shared_name, shared_ways

PAPER = PAPERS["tse"]


def links_of(configuration: configurations.Configuration, name: str = "ensemble") -> list[str]:
    plan = ab.load(configuration.scenario).plan(overrides=list(configuration.overrides))
    group = next(c for c in plan.classes if c.name == name)
    return [plan.links[path.links[0]].name for path in group.paths]


def test_the_ledger_has_sixty_claims_in_sixteen_experiments() -> None:
    assert (len(PAPER.claims), len(PAPER.experiments)) == (60, 16)


def test_a_quick_run_has_claims_of_the_ledger() -> None:
    assert {f"tse.{id}" for id in PAPER.brief} <= set(PAPER.claims)


def test_every_configuration_is_of_a_scenario_of_the_thesis_and_none_is_simulated_twice() -> None:
    every = {**PAPER.configurations, **PAPER.unclaimed}
    assert all(configuration.scenario.startswith("tse/") for configuration in every.values())
    same = {}
    for name, configuration in every.items():
        same.setdefault(
            (configuration.scenario, frozenset(configuration.overrides), configuration.series), []
        ).append(name)
    assert [names for names in same.values() if len(names) > 1] == []


def test_red_follows_from_the_bandwidth_delay_product_but_at_least_twenty_packets() -> None:
    assert configurations.red("x", 1.0)[1:] == (
        "link.x.queue.red.min=5 packets",
        "link.x.queue.red.max=15 packets",
        "link.x.queue.red.limit=40 packets",
    )
    assert "link.x.queue.red.max=62.5 packets" in configurations.red("x", 20.0)
    assert 'packets="10 packets"' in configurations.drop_tail("x", 1.0)[1]


def test_contested_links_are_the_first_and_the_base_flow_is_on_them() -> None:
    configuration = PAPER.configurations["independent-multi-priority-16-contested-4"]
    plan = ab.load(configuration.scenario).plan(overrides=list(configuration.overrides))
    users = {c.name: c.count for c in plan.classes if c.count}
    assert [name for name in users if name != "ensemble"] == [f"tcp-{i}" for i in (1, 2, 3, 4)]
    assert links_of(configuration)[0] == "link-1"


def test_the_base_flow_is_on_the_path_that_the_configuration_says() -> None:
    name = configurations.on_two_paths(BASE, "capacity", 1.5, configurations.SECOND)
    assert links_of(PAPER.configurations[name]) == ["second", "first"]


@pytest.mark.parametrize(
    ("n", "sharing", "links"), [(2, 0.0, 2), (2, 1.0, 1), (8, 0.5, 5), (8, 1.0, 1)]
)
def test_paths_of_the_matrix_share_a_link_as_far_as_it_says(
    n: int, sharing: float, links: int
) -> None:
    ways = shared_ways(n, sharing)
    assert (len(ways), len(set(ways))) == (n, links)


def test_the_matrix_has_every_queue_number_of_paths_and_sharing_that_there_is() -> None:
    found = {(queue, n, sharing) for queue, n, sharing, *_ in matrix()}
    assert len(found) == 3 * (2 + 3 * 3)  # of two paths none or both share


def test_the_optimal_line_is_that_of_equation_1_4() -> None:
    assert [definitions.optimal_units(k) for k in (0, 1, 8, 16)] == [32, 31, 17, 1]


def test_weights_of_loss_intervals_are_the_printed_ones() -> None:
    assert definitions.weights(8) == pytest.approx(definitions.WEIGHTS)


@pytest.mark.parametrize(
    ("intervals", "mean"),
    [([5.0] + [100.0] * 8, 100), ([1000.0] + [100.0] * 8, 250), ([0.0, 10.0] + [100.0] * 7, 85)],
)
def test_the_mean_loss_interval_counts_the_open_one_only_if_that_is_longer(
    intervals: list[float], mean: float
) -> None:
    assert definitions.mean_interval(intervals) == pytest.approx(mean)


def test_a_band_everywhere_is_decided_by_the_worst_point() -> None:
    inside, outside = np.array([0.49, 0.5, 0.51]), np.array([0.7, 0.71, 0.72])
    check = reading.everywhere("share", 0.5, {"a": inside, "b": outside}, 0.45, 0.55)
    assert check.verdict == "not_reproduced" and check.name.endswith("b)")
    check = reading.everywhere("share", 0.5, {"a": inside, "b": inside + 0.02}, 0.45, 0.55)
    assert check.verdict == "reproduced" and check.name.endswith("b)")
    open_ = reading.everywhere("share", 0.5, {"a": np.array([0.3, 0.7])}, 0.45, 0.55)
    assert open_.verdict == "undecided"


def test_a_swing_is_the_paired_difference_of_the_extremes() -> None:
    low = np.array([1.0, 2.0])
    assert reading.swing({"a": low + 1, "b": low, "c": low + 0.5}).mean == 1.0


def test_totals_of_a_scheme_give_each_experiment_equal_weight() -> None:
    one = summary.Entry(10, 3, 1, 0.2, 4, 0.3, np.array([0.9, 0.8]))
    two = summary.Entry(2, 0, 0, -0.1, 1, 0.1, np.array([0.5, 0.6]))
    whole = summary.together([one, two])
    assert (whole.points, whole.violations, whole.worst) == (12, 3, 0.2)
    assert (whole.elsewhere, whole.worst_elsewhere) == (5, 0.3)
    assert whole.utilisation == pytest.approx([0.7, 0.7])


def test_the_chapters_table_has_every_experiment_that_a_bound_is_defined_for() -> None:
    assert {place.experiment for place in summary.places((BASE,))} == {
        "4-2 shared",
        "4-4 empty",
        "4-5 contested",
        "4-6 capacity",
        "4-7 delay",
        "4-8 loss",
        "4-11 users",
    }


SHORT = ("duration=20 s", "warmup=8 s")


def small(*names: str) -> Laboratory:
    """Configurations run for a few seconds."""
    short = {
        name: configurations.Configuration(
            PAPER.configurations[name].scenario,
            None,
            (*PAPER.configurations[name].overrides, *SHORT),
        )
        for name in names
    }
    lab = Laboratory(short, seeds=2)
    lab.run(names)
    return lab


def test_shares_are_parts_of_all_traffic_and_links_are_those_of_the_paths() -> None:
    name = shared_name(BASE, 4)
    lab = small(name)
    share, tcp = reading.share(lab, name), reading.others(lab, name)
    assert share == pytest.approx(reading.taken(lab, name) / (reading.taken(lab, name) + tcp))
    assert reading.links_of(lab, name) == ("bottleneck",) * 4


def test_on_an_empty_link_an_idealised_tcp_takes_all_so_that_filling_it_is_fair() -> None:
    name = shared_name("reno", 1)
    lab = small(name)
    capacity = np.full(2, 5.0)
    found = reading.compared(lab, name, {"bottleneck": 0.1 * capacity}, {"bottleneck": capacity})
    assert isinstance(found, fairness.Fairness)
    assert found.stringent and found.links[0].tcp_bps == 5e6


def test_a_log_has_windows_and_packets_of_every_path() -> None:
    change = (configurations.over("bottleneck", "bottleneck"), configurations.under(BASE), *SHORT)
    result, logs = logged("tse/shared", change)
    assert len(logs) == 2
    sent = result.path("ensemble", 0, "sent_packets")[0, 0]
    assert int((logs[0].sent_s > 8).sum()) == pytest.approx(sent, abs=2)
    times, before, after = changes(logs[0])
    assert (np.diff(times) > 0).all() and (after[:-1] == before[1:]).all()


def test_probes_are_in_turn_unless_every_background_flow_may_send() -> None:
    def log(sent: list[float], offsets: list[float], windows: list[float]) -> PathLog:
        none, changed = np.array([]), np.arange(len(windows), dtype=float)
        columns = np.array(sent), np.array(offsets), none, changed, np.array(windows)
        return PathLog(*columns, state_s=none, states=[], measured_s=none, rtts_s=none)

    first = log([0.5, 1.5, 2.5, 4.5], [0, 1, 1, 9], [1, 1, 1, 0, 4])
    second = log([2.5, 3.5], [5, 6], [0, 0, 1, 1, 1])
    assert schemes.probes_of([first, second], 1.0) == ([1.5, 3.5], [2.5], [2.5])


def test_claims_without_configurations_are_judged_and_have_evidence(tmp_path: Path) -> None:
    ids = ["tse.theory.bilevel_bound", "tse.fig4-5.optimal", "tse.alg.reduced_aggression"]
    found, lab = evaluate("tse", ids, seeds=2)
    assert [f.verdict for f in found] == ["reproduced"] * 3
    assert all(f.to_json()["obtained"] for f in found)
    page = write_report(PAPER, found, lab, tmp_path / "page.html").read_text()
    assert "tse.fig4-5.optimal" in page


def test_the_shipped_ledger_names_an_experiment_for_every_row_of_its_table() -> None:
    file = resources.files("anabranch.papers") / "ledgers" / "tse.toml"
    rows = tomllib.loads(file.read_text())["experiment"]
    assert [row["id"] for row in rows] == list(PAPER.experiments)

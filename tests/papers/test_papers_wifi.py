"""The Wi-Fi chapter's paper: its ledger, its cells and scenarios, readings on made-up results,
short runs.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anabranch as ab
from anabranch.papers import PAPERS, Laboratory, evaluate
from anabranch.papers.language import Environment, Expression
from anabranch.papers.library import Cell, Users
from anabranch.papers.pages import write_report
from anabranch.papers.wifi import flows, growth
from anabranch.papers.wifi.logs import send_queues
from anabranch.result import Result
from anabranch.runs import Run, Series
from anabranch.scenario import shipped
from anabranch.tables import Classes, Flows, LinkSeries, Paths, PathSeries

NAMES = [name for name in shipped() if name.startswith("wifi/")]
SHORT = ("duration=12 s", "warmup=4 s")
PAPER = WHOLE = PAPERS["wifi"]


def value(text: str, **names: Any) -> Any:
    """An expression of the ledger that reads no result."""
    return Environment(names, PAPER.pure).evaluated(Expression.read(text))


def small(*names: str) -> Laboratory:
    """Cells run for a few seconds."""
    cells = {name: PAPER.cells[name] for name in names}
    short = {n: replace(c, overrides=(*c.overrides, *SHORT)) for n, c in cells.items()}
    lab = Laboratory(short, seeds=2)
    lab.run(names)
    return lab


def test_the_ledger_has_thirty_four_claims_in_nine_experiments_and_each_is_evaluated() -> None:
    assert (len(PAPER.claims), len(PAPER.experiments)) == (34, 9)
    assert set(PAPER.evaluators) == set(PAPER.claims)
    assert all(PAPER.experiments.values())


def test_a_quick_run_has_claims_of_the_ledger() -> None:
    assert set(PAPER.brief) < set(PAPER.claims)


def test_open_parameters_are_run_for_no_claim_alone() -> None:
    """Explanations tell of those that have been run, and need none."""
    variants = {
        value("varied(v, a, law)", v=v, a=a, law=law)
        for v in value("keys(OPEN)")
        for a in (False, True)
        for law in value("LAWS")
    }
    assert set(PAPER.unclaimed) == variants and not PAPER.explaining


def test_every_cell_has_a_plan_and_none_is_simulated_twice() -> None:
    same: dict[Any, list[str]] = {}
    for name, cell in PAPER.cells.items():
        assert cell.scenario in NAMES
        ab.load(cell.scenario).plan(overrides=list(cell.overrides), controller=cell.controller)
        key = (cell.scenario, cell.controller, frozenset(cell.overrides))
        same.setdefault(key, []).append(name)
    assert [names for names in same.values() if len(names) > 1] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_scenario_says_what_the_chapter_leaves_open(name: str) -> None:
    plan = ab.load(name).plan()
    choices = {choice.what: choice for choice in plan.choices}
    assert len(choices) == len(plan.choices)
    assert all(choice.value and choice.why for choice in plan.choices)
    rtts = {path.base_rtt_s for c in plan.classes for path in c.paths if path.back}
    assert choices["base RTT"].value.startswith(" and ".join(f"{1e3 * r:g} ms" for r in rtts))
    if plan.media:
        assert choices["attempts"].value == str(plan.media[0].attempts)
        noisy = {s.noise_s for m in plan.media for s in m.stations} - {None}
        assert (choices["residual loss"].value == "none") == (not noisy)


def test_residual_loss_is_that_of_clients_and_never_of_access_points() -> None:
    for name in ("up-5-lia", "loss by packet, lia", "deep-noise"):
        media = ab.load("wifi/up").plan(overrides=list(PAPER.cells[name].overrides)).media
        for station in (s for m in media for s in m.stations):
            lossy = bool(station.noise_s or station.residual_loss)
            assert lossy == (not station.name.startswith("ap-"))
            if not lossy:
                assert station.queue.limit_packets + station.ring_packets == 50


def test_the_server_adds_a_tenth_of_a_second_and_nothing_else() -> None:
    plans = [
        ab.load("wifi/up").plan(overrides=list(PAPER.cells[name].overrides))
        for name in ("up-5-lia", "up-100-lia")
    ]
    rtts = [[p.base_rtt_s for c in plan.classes for p in c.paths] for plan in plans]
    assert np.subtract(rtts[1], rtts[0]) == pytest.approx(value("ADDED_S"))
    assert plans[0].media == plans[1].media


def test_the_bandwidth_delay_products_are_the_chapters() -> None:
    assert value("2 * IDLE_S * MBPS * 1e3 / 8") == pytest.approx(value("BDP_BYTES / 1e3"))
    assert value("BDP_100_KB") == pytest.approx(150.0)


def test_a_band_holds_seed_by_seed() -> None:
    inside = PAPER.judged["wifi.up.share"].defined["inside"]
    found = value("inside(x, 0.45, 0.55)", inside=inside, x=np.array([0.4, 0.5, 0.6]))
    assert found.tolist() == [False, True, False]


def test_a_gap_is_the_widest_of_the_inner_values() -> None:
    even = np.linspace(0.0, 1.0, 100)
    stepped = np.where(even > 0.5, even + 1.0, even)
    outlier = np.where(even == 1.0, 50.0, even)
    found = flows.widest_gap(np.stack([even, stepped, outlier]), 0.1)
    assert found[0] == pytest.approx(found[2]) == pytest.approx(1 / 79)
    assert found[1] > 0.5


MADE_UP = Cell("made up")


def made_up(windows: tuple[float, float], packets: tuple[float, float]) -> Laboratory:
    """A run of 2 s whose windows, round trips and rates do not change."""
    t_s = np.arange(0, 2.05, 0.1)
    rows = np.ones((len(t_s), 1))
    paths = PathSeries(
        cwnd_segments=rows * windows,
        srtt_s=0.11 * rows * (1, 1),
        arrived_bytes=t_s[:, None] * packets,
    )
    run = Run(
        seed=1,
        flows=Flows(class_=["multipath"]),
        paths=Paths(flow=np.array([0, 0]), path=np.array([0, 1])),
        classes=Classes(),
        series=Series(t_s=t_s, paths=paths, links=LinkSeries()),
    )
    scenario = ab.load("wifi/up")
    shipped = scenario.plan()
    made = [replace(shipped.classes[0], name="multipath")]
    plan = replace(shipped, warmup_s=0.0, sample_s=0.1, classes=made)
    lab = Laboratory({})
    lab.results[MADE_UP] = Result(scenario, plan, [run])
    return lab


@pytest.mark.parametrize(
    ("windows", "packets", "ratio"),
    [((8.0, 8.0), (1.0, 1.0), 0.25), ((30.0, 0.001), (1.0, 0.0), 1.0)],
)
def test_coupled_grows_a_quarter_as_fast_on_equal_paths_and_as_new_reno_alone(
    windows: tuple[float, float], packets: tuple[float, float], ratio: float
) -> None:
    found = growth.increase(made_up(windows, packets), MADE_UP)
    assert found[0] == pytest.approx(ratio, rel=1e-3)


def test_flows_over_time_are_read_after_the_warm_up_and_at_given_times() -> None:
    lab = made_up((8.0, 8.0), (125_000.0, 250_000.0))
    for path, mbps in ((0, 1.0), (1, 2.0)):
        where = (MADE_UP, Users("multipath"), path)
        assert flows.pieces(lab, *where, 0.5) == pytest.approx(np.full((1, 4), mbps))
        assert flows.at_times(lab, *where, [[0.0, 1.0]]) == [pytest.approx(mbps)] * 2
        assert flows.window_limit(lab, *where) == pytest.approx(8 * 1500 * 8e-6 / 0.11)
        assert not flows.standstill(lab, *where, 1.0).any()
    still = made_up((8.0, 8.0), (0.0, 1.0))
    assert flows.standstill(still, MADE_UP, Users("multipath"), 0, 1.0).all()


def test_what_is_sent_is_the_window_on_the_downlink() -> None:
    pair = send_queues(PAPER.cells["down-5-lia"], 1)
    assert len(pair) == 2 and all(queue.difference < 0.1 for queue in pair)


def test_no_network_carries_more_than_the_air_does() -> None:
    lab = small("up-5-lia", "down-5-lia", "backlogged")
    most = lab["backlogged"].rate("bulk") + lab["backlogged"].rate("parallel")
    assert (most < 31.5e6).all()
    for cell in ("up-5-lia", "down-5-lia"):
        for p in (0, 1):
            own = lab[cell].path("multipath", p, "throughput_bps")[:, 0]
            together = (own + lab[cell].rate(f"parallel-{p + 1}")) / 1e6
            assert (together < most.max() / 1e6).all() and (together > 18).all()


def test_a_report_has_the_figures_of_the_cells_that_have_been_run(tmp_path: Path) -> None:
    lab = small("up-5-lia", "down-5-lia", "up-100-lia", "window-1", "window-2")
    page = write_report(PAPER, [], lab, tmp_path / "page.html").read_text()
    for title in ("Traffic on downlink and uplink", "Send queue", "100 ms added"):
        assert title in page
    assert "Cross-band" not in page and "Share on the uplink where" not in page


def test_claims_are_judged_by_name() -> None:
    found, lab = evaluate("wifi", ["wifi.rtt100.setup"], seeds=2)
    assert [f.claim.id for f in found] == ["wifi.rtt100.setup"]
    assert found[0].verdict == "reproduced" and set(lab.results) == {"idle", "idle-100"}


def test_a_claim_of_the_plan_needs_no_run() -> None:
    found, lab = evaluate("wifi", ["wifi.topology.two_networks"], seeds=2)
    assert (found[0].verdict, found[0].world) == ("reproduced", "structure") and not lab.results

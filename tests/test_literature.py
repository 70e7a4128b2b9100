"""CUBIC, Reno and BBR beside what RFC 9438 and measurements say:
docs/explanation/beside-the-literature.md.

What the page says is held on the committed numbers of measurements/literature, and a few points are
simulated again, so that a CUBIC or BBR that is broken fails here.
"""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anabranch as ab

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tools"))

from compare_with_literature import (  # noqa: E402
    alone_on_a_queue,
    beside_cubic,
    load,
    sharing,
    window_random,
)
from literature import ideal_window, model_window, region, table_window, ware_share  # noqa: E402


def read(name: str) -> dict[str, Any]:
    text = (ROOT / "measurements" / "literature" / f"{name}.json").read_text(encoding="utf-8")
    content: dict[str, Any] = json.loads(text)
    return content


CUBIC, BBR, PUBLISHED = read("cubic"), read("bbr"), read("published")


def low(value: list[float]) -> float:
    return value[0] - value[1]


def high(value: list[float]) -> float:
    return value[0] + value[1]


def by_buffer(rows: list[dict[str, Any]]) -> dict[float, list[float]]:
    return {row["buffer_bdp"]: row["share"] for row in rows}


def share(source: str) -> dict[float, float]:
    """BBR's published part of what both get, by buffer."""
    rows = PUBLISHED[source]
    both = zip(rows["buffer_bdp"], rows["bbr"], rows["cubic"], strict=True)
    return {buffer: bbr / (bbr + cubic) for buffer, bbr, cubic in both}


def test_the_formulas_give_the_windows_that_rfc_9438_prints() -> None:
    tables = PUBLISHED["rfc9438"]
    for index, loss in enumerate(tables["loss"]):
        for rtt, column in ((0.1, "cubic_at_100_ms"), (0.01, "cubic_at_10_ms")):
            assert round(table_window("cubic", loss, rtt)) == tables[column][index]
            assert round(table_window("reno", loss, rtt)) == tables["reno"][index]


def test_regular_losses_give_the_rules_the_windows_of_the_formulas() -> None:
    for controller, loss, rtt in (("reno", 1e-3, 0.1), ("cubic", 1e-4, 0.1), ("cubic", 1e-3, 0.01)):
        window = ideal_window(controller, loss, rtt, "periodic", cycles=10)
        assert window == pytest.approx(model_window(controller, loss, rtt), rel=0.01)


def test_random_losses_let_a_reno_friendly_cubic_have_more_because_its_alpha_rises() -> None:
    def cubic(alpha_rises: bool) -> float:
        return ideal_window("cubic", 1e-3, 0.01, "random", alpha_rises=alpha_rises, cycles=20)

    reno = ideal_window("reno", 1e-3, 0.01, "random", cycles=20)
    assert 1.05 < cubic(True) / reno < 1.12
    assert 0.93 < cubic(False) / reno < 1.0


@pytest.mark.parametrize("row", CUBIC["windows_random"], ids=lambda r: f"{r['loss']}-{r['rtt_s']}")
def test_a_window_under_random_loss_is_that_of_the_rules(row: dict[str, Any]) -> None:
    """Within 6 %, or as near as the interval; at 1 % of loss a tenth below, for timeouts and
    recovery.
    """
    off = row["window"][0] / row["ideal_random"] - 1
    if row["loss"] == 0.01:
        assert -0.15 < off < 0.0
    else:
        assert abs(off) < max(0.06, row["window"][1] / row["ideal_random"])


@pytest.mark.parametrize(
    "row", CUBIC["windows_periodic"], ids=lambda r: f"{r['loss']}-{r['rtt_s']}"
)
def test_a_window_under_regular_losses_is_the_formulas_but_for_fast_convergence(
    row: dict[str, Any],
) -> None:
    off = row["window"] / model_window(
        row["controller"], row["measured_loss"], row["measured_rtt_s"]
    )
    deep = table_window("cubic", row["loss"], row["rtt_s"]) > 1.3 * table_window(
        "reno", row["loss"], row["rtt_s"]
    )
    if row["loss"] == 0.01:
        assert 0.85 < off < 0.95  # windows of 8 to 20 segments, of which recovery costs a part
    elif row["controller"] == "cubic" and deep:
        assert 0.8 < off < 0.9  # every second cycle makes room for a flow that is not there
    else:
        assert abs(off - 1) < 0.1


def cells(queue: str, where: str) -> list[dict[str, Any]]:
    found = [c for c in CUBIC["map"] if (c["queue"], c["region"]) == (queue, where)]
    assert len(found) >= 5
    return found


def test_rates_on_a_shared_link_are_possible_and_fill_it() -> None:
    for cell in CUBIC["map"]:
        total = cell["cubic_mbps"][0] + cell["reno_mbps"][0]
        assert total <= 1.001 * cell["rate_mbps"]
        assert cell["utilisation"] == pytest.approx(total / cell["rate_mbps"], abs=2e-3)
        if cell["region"] != "small":
            assert total > 0.95 * cell["rate_mbps"], cell
    for row in (*BBR["converged_10"], *BBR["steady_80"]):
        capacity = 10 if row in BBR["converged_10"] else 80
        assert row["bbr_mbps"][0] + row["cubic_mbps"][0] <= 1.001 * capacity


def test_with_drops_at_random_cubic_and_reno_share_within_a_quarter_where_the_rfc_says() -> None:
    for cell in cells("red", "friendly"):
        assert low(cell["ratio"]) > 0.8 and high(cell["ratio"]) < 1.25, cell


def test_outside_that_region_cubic_has_twice_as_much_and_more() -> None:
    for cell in cells("red", "cubic"):
        assert cell["ratio"][0] > 2 and low(cell["ratio"]) > 1.5, cell
    for cell in cells("drop-tail", "cubic"):
        assert statistics.geometric_mean(cell["ratio_of_each_draw"]) > 2, cell


def test_over_drop_tail_the_phase_decides_between_two_reno_flows_as_well() -> None:
    """So what two flows of different kinds get there says little about their kinds."""
    draws = [row["ratio_of_each_draw"] for row in CUBIC["reno_beside_reno"]]
    assert all(min(row) < 0.2 and max(row) > 1 for row in draws), draws
    for cell in CUBIC["equal_delays"]:
        assert low(cell["ratio"]) > 1.1 and high(cell["ratio"]) < 1.8, cell
        assert cell["reno_events_per_cubic_event"] > 1.1  # the faster growing is dropped more often


def test_bbrs_share_is_within_a_seventh_of_what_was_measured_on_hardware() -> None:
    ours = by_buffer(BBR["steady_80"])
    off = {buffer: ours[buffer][0] - theirs for buffer, theirs in share("claypool").items()}
    assert len(off) == 9 and all(-0.14 < difference < 0.09 for difference in off.values()), off
    assert all(abs(off[buffer]) < 0.02 for buffer in (0.25, 0.5, 0.75))


def test_bbrs_share_is_within_a_seventh_of_a_repetition_on_linux() -> None:
    ours = by_buffer(BBR["from_start_10"])
    off = {buffer: ours[buffer][0] - theirs for buffer, theirs in share("repetition").items()}
    assert len(off) == 8 and all(abs(difference) < 0.14 for difference in off.values()), off
    assert all(abs(off[buffer]) < 0.05 for buffer in (2.0, 4.0, 8.0, 16.0, 32.0))


def test_the_formula_of_ware_et_al_is_above_what_is_simulated_and_nearest_in_deep_buffers() -> None:
    assert ware_share(8) == pytest.approx(0.545, abs=1e-3)
    assert ware_share(1e6, 1e15, 1e-9) == pytest.approx(
        0.5 * 0.98, abs=1e-3
    )  # half, less the probes
    off = {r["buffer_bdp"]: r["ware"] - r["share"][0] for r in BBR["converged_10"]}
    assert all(0.05 < off[buffer] < 0.2 for buffer in (4, 8, 16, 32)), off
    assert off[2] > 0.3


def test_in_deep_buffers_four_cubic_flows_leave_bbr_what_one_does() -> None:
    one, four = by_buffer(BBR["converged_10"]), by_buffer(BBR["four_cubic_10"])
    assert all(abs(one[buffer][0] - four[buffer][0]) < 0.06 for buffer in (4, 8, 16))
    assert four[1][0] < one[1][0] - 0.3  # in a shallow one they do not


def ideal(controller: str, loss: float, rtt: float) -> float:
    """The committed window of the rules under random losses."""
    rows = CUBIC["windows_random"]
    keys = ("controller", "loss", "rtt_s")
    (row,) = [r for r in rows if tuple(r[key] for key in keys) == (controller, loss, rtt)]
    found: float = row["ideal_random"]
    return found


def test_cubic_under_random_loss_has_the_window_of_the_closed_form_again() -> None:
    row = window_random("cubic", 1e-3, 0.01, range(1, 5), cycles=300)
    assert row["window"][0] == pytest.approx(ideal("cubic", 1e-3, 0.01), rel=0.06)
    assert 1.05 < row["window"][0] / table_window("cubic", 1e-3, 0.01) < 1.25


def test_cubic_has_a_much_larger_window_than_reno_where_the_round_trip_is_long_again() -> None:
    cubic, reno = (window_random(c, 1e-4, 0.1, range(1, 5), 200) for c in ("cubic", "reno"))
    assert cubic["window"][0] == pytest.approx(ideal("cubic", 1e-4, 0.1), rel=0.12)
    assert low(cubic["window"]) > 1.3 * high(reno["window"])


def test_a_cubic_flow_alone_makes_room_in_every_second_cycle() -> None:
    """Fast convergence: K is 9.5 s, so that cycles which all end at W_max would last that long."""
    changes = [*alone_on_a_queue("cubic", 1e-5, 0.1), "duration=150 s", "warmup=0 s"]
    series = ab.run(load("window-periodic"), [1], overrides=changes, series=True).runs[0].series
    window, time = np.asarray(series.paths.cwnd_segments)[:, 0], np.asarray(series.t_s)
    lost = time[1:][window[1:] < 0.8 * window[:-1]]
    cycles = np.diff(lost[lost > 40])
    assert len(cycles) >= 8
    short, long = sorted((cycles[::2].mean(), cycles[1::2].mean()))
    assert 6 < short < 8.5 and 14 < long < 17, cycles


def test_cubic_and_reno_share_or_do_not_again() -> None:
    assert region(10e6, 0.02) == "friendly" and region(50e6, 0.1) == "cubic"
    assert 0.8 < sharing(10, 20, "red", range(1, 5))["ratio"][0] < 1.25
    assert sharing(50, 100, "red", range(1, 3))["ratio"][0] > 2


def test_bbr_rules_in_short_buffers_and_cubic_gains_as_they_grow_again() -> None:
    rows = [beside_cubic("bbr-beside-cubic-10", x, range(1, 4)) for x in (0.5, 1, 2, 16)]
    shares = [row["share"][0] for row in rows]
    assert shares[0] > 0.8 and shares[1] > 0.7, shares
    assert all(0.2 < late < 0.55 for late in shares[2:]), shares
    for row, committed in ((rows[0], BBR["converged_10"][2]), (rows[2], BBR["converged_10"][4])):
        assert row["share"][0] == pytest.approx(committed["share"][0], abs=0.03)

"""The criteria of one algorithm and one path: controllers with a planted fault miss the row that is
meant for it, and measures obey physics.
"""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import anabranch as ab
from anabranch.evaluation.criteria import criteria
from anabranch.evaluation.criterion import SUBJECT, Case, Found
from anabranch.evaluation.entry import Row
from anabranch.evaluation.measures import (
    backoff,
    completion,
    fair_share_time,
    least_share,
    left_over,
    outage,
    over_equation,
    recovery,
    typical_completion,
    used,
)
from anabranch.evaluation.one_link import SCENARIO, down, drop_tail, link, steps, times
from anabranch.evaluation.planning import loaded


class DeafToTimeouts(ab.Controller):
    """Keeps its window when a segment times out."""

    def on_timeout(self, path: Any) -> None:
        pass


class TenSegments(ab.Controller):
    """Never has less than ten segments."""

    def on_loss(self, path: Any) -> None:
        path.window = path.ssthresh = max(path.window / 2, 10.0)

    def on_timeout(self, path: Any) -> None:
        path.ssthresh = max(path.window / 2, 10.0)
        path.window = 10.0


class BlindToMarks(ab.Controller):
    """Backs off when a recovery begins, which marks do not bring: Reno without ECN."""

    recovering = False

    def on_loss(self, path: Any) -> None:
        pass

    def on_ack(self, path: Any) -> None:
        if path.in_recovery and not self.recovering:
            super().on_loss(path)
        self.recovering = path.in_recovery
        super().on_ack(path)


class Standing(ab.Controller):
    """Gives up a single segment at a loss, so that the queue stays full."""

    def on_loss(self, path: Any) -> None:
        path.window = path.ssthresh = max(path.window - 1, 2.0)


class RichGrowFaster(ab.Controller):
    """Grows in proportion to its window and loses a constant: what one has, it keeps."""

    def on_ack(self, path: Any) -> None:
        if path.window < path.ssthresh:
            super().on_ack(path)
        elif not path.in_recovery:
            path.window += 0.02 * path.acked * path.window / 30

    def on_loss(self, path: Any) -> None:
        path.window = path.ssthresh = max(path.window - 8, 2.0)


class TimidAtLosses(ab.Controller):
    """Keeps a tenth of its window at a loss."""

    def on_loss(self, path: Any) -> None:
        path.window = path.ssthresh = max(path.window / 10, 2.0)


class AfraidOfDelay(ab.Controller):
    """Takes any growth of the round trip for congestion."""

    def on_ack(self, path: Any) -> None:
        if path.last_rtt > 1.5 * path.min_rtt and path.window > 2:
            path.ssthresh = path.window = max(path.window - path.acked / 2, 2.0)
        else:
            super().on_ack(path)


class Resigned(ab.Controller):
    """Never grows again after a timeout."""

    resigned = False

    def on_ack(self, path: Any) -> None:
        if not self.resigned:
            super().on_ack(path)

    def on_timeout(self, path: Any) -> None:
        super().on_timeout(path)
        self.resigned = True


def row(criterion: str, case: str, controller: Any, *more: str, seeds: int = 4) -> Row:
    """A case of a criterion under a controller, with further overrides."""
    found = criteria()[criterion]
    (kept,) = (one for one in found.cases if one.name == case)
    alone = replace(found, cases=(replace(kept, overrides=(*kept.overrides, *more)),))
    return ab.evaluate(controller, criteria=[alone], seeds=seeds).entries[0].rows[0]


FAULTS: list[tuple[Any, ...]] = [
    (DeafToTimeouts, "after-timeout", "path down for 2 s"),
    (TenSegments, "after-timeout", "path down for 2 s"),
    (TenSegments, "persistent-congestion", "24 flows at 1 Mb/s"),
    (BlindToMarks, "ecn", "CoDel", "duration=20 s"),
    (Standing, "standing-queue", "1 BDP, 4 flows", "duration=30 s"),
    (RichGrowFaster, "self-fairness", "2 flows", "duration=60 s"),
    (TimidAtLosses, "drop-tail", "0.25 BDP, 1 flow", "duration=30 s"),
    (AfraidOfDelay, "varying-delay", "steps every 5 s", "duration=30 s"),
    (Resigned, "outage", "2 s, 1 flow"),
]

OTHER_ROWS: list[tuple[str, ...]] = [
    ("timeout-backoff", "path down for 10 s"),
    ("application-limited", "5 Mb/s", "duration=30 s"),
]
"""Rows that none of them misses."""


@pytest.mark.parametrize("planted", FAULTS, ids=lambda one: f"{one[0].__name__}-{one[1]}")
def test_a_planted_fault_misses_the_row_that_is_meant_for_it(planted: tuple[Any, ...]) -> None:
    """Shorter than in an evaluation: a class in Python takes most of the time."""
    fault, criterion, case, *more = planted
    found = row(criterion, case, fault, *more, seeds=2)
    assert found.verdict == "misses", (found.measured.values, found.bound)


@pytest.mark.parametrize("fault", sorted({one[0] for one in FAULTS}, key=lambda one: one.__name__))
def test_a_planted_fault_does_not_miss_rows_that_ask_for_something_else(fault: Any) -> None:
    """So a row does not find every fault, but its own."""
    for criterion, case, *more in OTHER_ROWS:
        found = row(criterion, case, fault, *more, seeds=2)
        assert found.verdict == "meets", (criterion, found.measured.values)


@pytest.mark.parametrize(
    ("criterion", "case"),
    [
        ("after-timeout", "path down for 10 s"),
        ("timeout-backoff", "path down for 30 s"),
        ("timeout-backoff", "way back down for 30 s"),
        ("drop-tail", "0.25 BDP, 1 flow"),
        ("self-fairness", "4 flows"),
        ("outage", "10 s, 4 flows"),
        ("aqm", "RED"),
        ("unresponsive-sender", "15 of 20 Mb/s"),
        ("small-window", "16 flows at 1 Mb/s"),
        ("circuit-breaker", "5 % random loss"),
    ],
)
def test_reno_meets_what_has_a_fixed_goal(criterion: str, case: str) -> None:
    assert row(criterion, case, "reno").verdict == "meets"


def test_one_that_ignores_marks_is_caught_for_them_alone() -> None:
    assert row("aqm-loss", "CoDel", BlindToMarks, "duration=20 s", seeds=2).verdict == "meets"


def test_reno_and_cubic_fill_deep_queues_as_the_rfc_says() -> None:
    verdicts = [row("bufferbloat", "8 BDP, 4 flows", one).verdict for one in ("reno", "cubic")]
    assert verdicts == ["misses", "misses"]


def test_the_losses_of_bbr_are_found_where_the_rfc_reports_them() -> None:
    """Below roughly one and a half bandwidth-delay products, with several flows (§5.1.3)."""
    shallow = [row("loss-rate", f"{part} BDP, 4 flows", "bbr") for part in ("0.25", "0.5", "1")]
    assert [one.verdict for one in shallow] == ["misses"] * 3
    deep = row("loss-rate", "4 BDP, 4 flows", "bbr")
    assert deep.verdict != "misses"
    assert np.mean(deep.measured.values) < 0.1 * np.mean(shallow[1].measured.values)


def test_bbr_ignores_marks_and_random_loss() -> None:
    assert row("ecn", "FQ-CoDel", "bbr").verdict == "misses"
    assert row("circuit-breaker", "5 % random loss", "bbr").verdict == "misses"


OURS = [
    one
    for one in criteria().values()
    if one.section.startswith(("5.1", "6", "7")) and one.section != "7.10"
]


@pytest.mark.parametrize("criterion", OURS, ids=lambda one: one.name)
def test_cases_have_subjects_and_names_of_their_own(criterion: Any) -> None:
    names = [case.name for case in criterion.cases]
    assert len(set(names)) == len(names)
    for case in criterion.cases:
        plan = loaded(case.scenario).plan(overrides=case.overrides)
        assert any(c.subject for c in plan.classes), case.name
        assert all(c.subject for c in plan.classes if c.protocol == "tcp"), case.name


def found_of(result: Any) -> Found:
    """A case that has only been run."""
    return Found(Case("", SCENARIO), result, {})


def ran(*overrides: str, **options: Any) -> Found:
    """A run of Reno in the scenario with one link."""
    return found_of(ab.run(loaded(SCENARIO), overrides=overrides, threads=1, **options))


def test_a_flow_that_fills_its_link_uses_all_of_it() -> None:
    found = ran(*link(flows=1, buffer=2), *times(30, 10))
    assert used()(found) == pytest.approx([1.0], abs=2e-3)


def test_a_rate_that_changes_counts_with_its_mean() -> None:
    changes = steps(("10 Mb/s", "20 Mb/s"), 10, 40, "rate", "bottleneck")
    found = ran(*link(flows=4, buffer=2), *times(40, 10), changes)
    assert used()(found) == pytest.approx([1.0], abs=1e-2)


def test_what_constant_traffic_leaves_is_the_whole() -> None:
    udp = ("flow.udp.count=1", "flow.udp.start=0 s", "flow.udp.app_rate=9.6533 Mb/s")
    found = ran(*link(flows=2), *times(30, 10), *udp, 'flow.udp.pauses={ on = "1 h", off = "1 h" }')
    assert left_over()(found) == pytest.approx([1.0], abs=5e-2)


def test_reno_sends_about_what_the_response_function_says() -> None:
    """At few losses the mean window is the root of 3 / 2p, less what recovery takes."""
    found = ran(
        *link(100e6, flows=1), *times(200, 10), "link.bottleneck.loss={ probability = 0.001 }"
    )
    assert 0.85 < over_equation()(found)[0] < 1.1


@pytest.mark.parametrize("seconds", [10, 20, 30])
def test_timeouts_that_double_bring_one_packet_in_half_of_an_outage(seconds: int) -> None:
    setting = (*link(flows=1), *times(20 + seconds, 5), down(10, 10 + seconds), "sample=20 ms")
    found = ran(*setting, series=True)
    assert outage(found.result) == (10, 10 + seconds)
    assert backoff()(found) == pytest.approx([1.0])


def test_a_rate_that_halves_without_feedback_is_backoff() -> None:
    """TFRC's timer without feedback (RFC 5348 §4.4), which begins at four round trips."""
    case = "path down for 10 s"
    assert row("timeout-backoff", case, "tfrc", seeds=2).verdict == "meets"
    assert row("after-timeout", case, "tfrc", seeds=2).verdict == "misses"


def test_a_constant_rate_without_feedback_is_no_backoff() -> None:
    """A packet in each second: RFC 6298's least timeout, never doubled."""
    overrides = ("flow.subject.count=1", down(10, 20))
    result = result_of(run_of([SUBJECT], np.zeros((300, 1))), overrides=overrides)
    result.runs[0].series.paths.sent_packets = np.floor(0.1 * np.arange(301))[:, None]
    assert backoff()(found_of(result))[0] in (5.0, 6.0)
    twice = np.repeat(backoff()(found_of(result)), 2)
    assert criteria()["timeout-backoff"].goal.judge(twice, {}) == "misses"


def test_a_case_without_an_outage_has_no_backoff() -> None:
    with pytest.raises(ValueError, match="no link of one-link goes down"):
        backoff()(ran(*times(2, 1), "flow.later.start=0 s", "flow.udp.start=0 s", series=True))


def run_of(classes: list[str], rates_bps: Any, step_s: float = 0.1) -> Any:
    """A run whose paths had these rates, shape (steps, paths)."""
    arrived = np.cumsum(np.asarray(rates_bps, dtype=float) * step_s / 8, axis=0)
    arrived = np.vstack([np.zeros(len(classes)), arrived])
    return SimpleNamespace(
        flows=SimpleNamespace(class_=classes),
        paths=SimpleNamespace(flow=np.arange(len(classes))),
        series=SimpleNamespace(
            t_s=step_s * np.arange(len(arrived)), paths=SimpleNamespace(arrived_bytes=arrived)
        ),
    )


def result_of(run: Any, **changed: Any) -> Any:
    """A result with that run."""
    plan = loaded(SCENARIO).plan(overrides=changed.get("overrides", ()))
    rates = {one.name: one.rate_bps for one in plan.links if one.rate_bps}
    return SimpleNamespace(plan=plan, runs=[run], rates_bps=rates)


def test_recovery_is_timed_from_the_end_of_the_outage_and_in_its_units() -> None:
    """Full rate again 3 s after an outage of 2 s: four fifths of a second later it is 80 %."""
    rates = np.full((300, 1), 20e6)
    rates[100:150] = 0.0
    overrides = ("flow.subject.count=1", down(10, 12))
    result = result_of(run_of([SUBJECT], rates), overrides=overrides)
    assert recovery()(found_of(result)) == pytest.approx([3.8 / 2], abs=0.06)


def test_what_never_recovers_counts_until_the_end() -> None:
    rates = np.full((300, 1), 15e6)
    overrides = ("flow.subject.count=1", down(10, 12))
    result = result_of(run_of([SUBJECT], rates), overrides=overrides)
    assert recovery()(found_of(result)) == pytest.approx([(30 - 12) / 2])


def shares(share: Any) -> Found:
    """A newcomer that has this share of 20 Mb/s in steps of 0.1 s."""
    rates = np.stack([20e6 * (1 - share), 20e6 * share], axis=1)
    overrides = ("flow.subject.count=1", "flow.later.count=1")
    return found_of(result_of(run_of([SUBJECT, "later"], rates), overrides=overrides))


@pytest.mark.parametrize(("ramp_s", "expected_s"), [(0.1, 5.0), (10.0, 10.5), (1000.0, 20.0)])
def test_a_newcomer_converges_when_it_has_four_fifths_of_its_share(
    ramp_s: float, expected_s: float
) -> None:
    """A share that grows linearly to a half reaches 0.4 after 0.8 ramps; the span of 5 s adds 2.5."""
    t = 0.1 * np.arange(1, 301)
    share = 0.5 * np.clip((t - 10) / ramp_s, 0, 1)
    assert fair_share_time("later", 10)(shares(share)) == pytest.approx([expected_s], abs=0.11)


def test_a_newcomer_that_takes_all_has_not_converged() -> None:
    """Its share passes a half on the way, over some seconds."""
    t = 0.1 * np.arange(1, 301)
    assert fair_share_time("later", 10)(shares(np.clip((t - 10) / 5, 0, 1))) == pytest.approx([20])


def test_a_share_that_is_left_again_counts_from_when_it_is_kept() -> None:
    t = 0.1 * np.arange(1, 301)
    share = np.where(t < 10, 0.0, np.where((t > 15) & (t < 18), 1.0, 0.5))
    assert fair_share_time("later", 10)(shares(share)) == pytest.approx([12.0], abs=0.7)


def flows_of(starts_s: list[float], times_s: list[float]) -> Any:
    """A result with these transfers, in a run of 30 s with a warm-up of 5 s."""
    flows = SimpleNamespace(
        class_=[SUBJECT] * len(starts_s), start_s=np.array(starts_s), fct_s=np.array(times_s)
    )
    plan = SimpleNamespace(warmup_s=5.0, duration_s=30.0)
    return SimpleNamespace(plan=plan, classes=[SUBJECT], runs=[SimpleNamespace(flows=flows)])


def test_transfers_that_do_not_end_count_until_the_run_does() -> None:
    """Those that begin in the warm-up do not count."""
    found = found_of(flows_of([1.0, 10.0, 26.0], [3.0, 1.0, np.nan]))
    assert completion()(found) == pytest.approx([(1.0 + 4.0) / 2])
    assert typical_completion()(found) == pytest.approx([2.0])


def test_a_case_without_transfers_has_no_completion_time() -> None:
    assert np.isnan(completion()(found_of(flows_of([1.0], [3.0])))).all()


def test_the_least_share_is_relative_to_the_mean() -> None:
    rates = {SUBJECT: np.array([[1.0, 3.0]]), "later": np.array([[2.0]])}
    result: Any = SimpleNamespace(users=lambda name: rates[name])
    assert least_share()(found_of(result)) == pytest.approx([0.5])
    assert least_share((SUBJECT, "later"))(found_of(result)) == pytest.approx([0.5])


def test_settings_have_the_products_that_they_are_named_after() -> None:
    assert 'packets = "67 packets"' in link(20e6, 0.04)[-1]
    assert 'packets = "833 packets"' in link(100e6, 0.1)[-1]
    assert 'packets = "4 packets"' in drop_tail(0.3)
    assert steps(("a", "b"), 10, 40, "rate", "x") == (
        'link.x.change=[{ at = "10 s", rate = "a" }, { at = "20 s", rate = "b" }, '
        '{ at = "30 s", rate = "a" }]'
    )

"""Measures beside rivals and of several paths, on results whose answers are known."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from anabranch.evaluation import mixed_measures, multipath_measures
from anabranch.evaluation.criterion import SUBJECT, Case, Found
from anabranch.evaluation.measures import loss_of, room
from anabranch.evaluation.planning import loaded

TWO_LINKS = "rfc9743/two-links"


def found(result: Any, **beside: Any) -> Found:
    """The runs of a case."""
    return Found(Case("", TWO_LINKS), result, beside)


class Made:
    """A result with given columns. Each value is that of one replication."""

    def __init__(
        self,
        rates: dict[str, Any],
        *,
        paths: dict[tuple[str, int, str], Any] | None = None,
        queue: float = 0.0,
        limit: int = 100,
        plan: Any = None,
    ) -> None:
        self._rates, self._paths, self._queue = rates, paths or {}, queue
        self.classes = list(rates)
        link = SimpleNamespace(name="bottleneck", queue=SimpleNamespace(limit_packets=limit))
        counts = [SimpleNamespace(name=n, count=len(np.atleast_1d(r))) for n, r in rates.items()]
        self.plan = plan or SimpleNamespace(links=[link], classes=counts)
        self.rates_bps = {"bottleneck": 10e6}

    def users(self, name: str, _metric: str = "throughput_bps") -> Any:
        return np.atleast_1d(self._rates[name])[None, :].astype(float)

    def rate(self, name: str, metric: str = "throughput_bps") -> Any:
        return self.users(name, metric).mean(axis=1)

    def link(self, _name: str, _metric: str) -> Any:
        return np.array([self._queue])

    def path(self, name: str, place: int, metric: str) -> Any:
        return np.atleast_1d(self._paths[name, place, metric])[None, :].astype(float)


def rival(rate: float, *, queue: float = 0.0, lost: float = 0.0) -> Made:
    """A result of rivals that sent 1000 packets."""
    paths = {("rival", 0, "lost_packets"): lost, ("rival", 0, "sent_packets"): 1000.0}
    return Made({"rival": rate}, queue=queue, paths=paths)


# Beside rivals.


def test_harm_to_throughput_is_the_part_of_the_rate_that_is_lost() -> None:
    measure = mixed_measures.harm_in_throughput()
    assert measure(found(rival(3.0), alone=rival(10.0))) == pytest.approx([0.7])


@pytest.mark.parametrize(
    ("alone", "beside", "expected"),
    [(40, 40, 0.0), (40, 70, 0.5), (96, 100, 1.0), (40, 10, -0.5), (100, 100, np.nan)],
)
def test_the_room_that_is_taken_is_a_part_of_what_was_left(
    alone: float, beside: float, expected: float
) -> None:
    """Of a queue of 100 packets. A full queue takes all, however long it was before."""
    got = mixed_measures.room_taken()(
        found(rival(1.0, queue=beside), alone=rival(1.0, queue=alone))
    )
    assert got == pytest.approx([expected], nan_ok=True)


def test_free_room_is_what_waiting_packets_leave() -> None:
    assert room()(found(rival(1.0, queue=85))) == pytest.approx([0.15])


def test_added_loss_is_a_difference_of_parts() -> None:
    one, other = rival(1.0, lost=3), rival(1.0, lost=23)
    assert mixed_measures.loss_added()(found(other, alone=one)) == pytest.approx([0.02])
    assert loss_of("rival")(found(other)) == pytest.approx([0.023])


def test_the_worst_share_is_of_the_capacity_over_all_users() -> None:
    """The fair share of four users is 2.5 Mb/s."""
    result = Made({SUBJECT: [7e6], "rival": [2e6, 0.5e6, 0.5e6]})
    measure = mixed_measures.worst_share("rival", "bottleneck")
    assert measure(found(result)) == pytest.approx([0.2])


def transfers(starts_s: list[float], times_s: list[float]) -> Any:
    """Short transfers in a run of 100 s with a warm-up of 10 s."""
    flows = SimpleNamespace(
        class_=["short"] * len(starts_s), start_s=np.array(starts_s), fct_s=np.array(times_s)
    )
    plan = SimpleNamespace(warmup_s=10.0, duration_s=100.0)
    return SimpleNamespace(plan=plan, classes=["short"], runs=[SimpleNamespace(flows=flows)])


def test_transfers_that_never_end_slow_others_down() -> None:
    """Two that take 1 s alone. Beside the subject one takes 1 s, and one has run for 80 s."""
    alone = transfers([20.0, 20.0], [1.0, 1.0])
    stuck = transfers([20.0, 20.0], [1.0, np.nan])
    assert mixed_measures.slowdown(found(stuck, alone=alone)) == pytest.approx([40.5])


def test_a_long_flow_is_slowed_down_by_the_ratio_of_its_rates() -> None:
    one, other = Made({"long": 8.0}), Made({"long": 2.0})
    assert mixed_measures.slowdown(found(other, alone=one)) == pytest.approx([4.0])


# Several paths.


def two_paths(first: float, second: float, **more: Any) -> Made:
    """A subject with these rates on its paths."""
    paths = {
        (SUBJECT, 0, "throughput_bps"): first,
        (SUBJECT, 1, "throughput_bps"): second,
        (SUBJECT, 0, "srtt_s"): 0.1,
        (SUBJECT, 1, "srtt_s"): 0.15,
    }
    return Made({SUBJECT: first + second, **more}, paths=paths, plan=loaded(TWO_LINKS).plan())


TCPS = {"first": Made({SUBJECT: 4e6}), "second": Made({SUBJECT: 2e6})}


def test_gain_is_over_a_tcp_on_the_best_path() -> None:
    assert multipath_measures.gain(found(two_paths(3e6, 3e6), **TCPS)) == pytest.approx([1.5])


def test_use_of_disjoint_paths_is_over_tcps_on_each() -> None:
    assert multipath_measures.filled(found(two_paths(2e6, 1e6), **TCPS)) == pytest.approx([0.5])


def test_excess_is_taken_where_it_is_most() -> None:
    """Half of a TCP on the first path, twice a TCP on the second."""
    got = multipath_measures.excess_on_worst_path(found(two_paths(2e6, 4e6), **TCPS))
    assert got == pytest.approx([2.0])


def test_segments_are_counted_in_the_round_trip_with_its_queue() -> None:
    """240 kb/s are 20 packets of 1500 B in a second: 3 in 150 ms."""
    got = multipath_measures.segments_in_round_trip(1)(found(two_paths(1e6, 240e3)))
    assert got == pytest.approx([3.0])


def test_the_worst_user_is_compared_with_the_mean_of_others() -> None:
    result = Made({SUBJECT: [3.0, 1.0], "tcp": [4.0, 6.0]})
    assert multipath_measures.worst_goodput_over("tcp")(found(result)) == pytest.approx([0.2])


def series(rates_bps: Any, *, step_s: float = 0.1, plan: Any = None, names: Any = None) -> Any:
    """A result with series of paths of one user; rates have shape (steps, paths)."""
    rates_bps = np.asarray(rates_bps, dtype=float)
    arrived = np.vstack([np.zeros(rates_bps.shape[1]), np.cumsum(rates_bps * step_s / 8, axis=0)])
    paths = np.arange(rates_bps.shape[1])
    run = SimpleNamespace(
        flows=SimpleNamespace(class_=np.array(names or [SUBJECT])),
        paths=SimpleNamespace(
            flow=paths if names else 0 * paths, path=0 * paths if names else paths
        ),
        series=SimpleNamespace(
            t_s=step_s * np.arange(len(arrived)),
            paths=SimpleNamespace(
                arrived_bytes=arrived,
                cwnd_segments=np.vstack([rates_bps[:1], rates_bps]),
                sent_packets=arrived / 1500,
            ),
        ),
    )
    return SimpleNamespace(runs=[run], plan=plan, rates_bps={"second": 20e6})


def plan(duration_s: float = 60.0, warmup_s: float = 0.0, **counts: int) -> Any:
    """What measures of series need of a plan."""
    classes = [SimpleNamespace(name=name, count=count) for name, count in counts.items()]
    return SimpleNamespace(sample_s=0.1, duration_s=duration_s, warmup_s=warmup_s, classes=classes)


def test_domination_is_the_part_of_time_with_nine_tenths_on_a_path() -> None:
    windows = np.array([[95.0, 5.0]] * 30 + [[50.0, 50.0]] * 69)
    got = multipath_measures.dominated(found(series(windows, plan=plan())))
    assert got == pytest.approx([0.31])


def test_a_constant_aggregate_does_not_vary_and_one_in_step_does() -> None:
    turns = np.tile([[1e6, 3e6], [3e6, 1e6]], (50, 1))
    step = np.tile([[1e6, 1e6], [3e6, 3e6]], (50, 1))
    got = [
        multipath_measures.aggregate_variation(found(series(r, plan=plan())))[0]
        for r in (turns, step)
    ]
    assert got == pytest.approx([0.0, 0.5])


def test_time_below_the_share_counts_from_the_failure_on() -> None:
    """Half of 20 Mb/s is the share; 4 Mb/s for 6 s, and again later than is watched."""
    rates = np.full((600, 1), 10e6)
    rates[200:260] = rates[550:] = 4e6
    result = series(rates, plan=plan(tcp=8, subject=8), names=["tcp"])
    measure = multipath_measures.time_below_share("tcp", "second", 20.0, 30.0)
    # As a mean over 2 s it is below 8 Mb/s from 0.7 s after the fall to 1.3 s after the rise.
    assert measure(found(result)) == pytest.approx([6.7], abs=0.3)


@pytest.mark.parametrize(("level", "expected_s"), [(5e6, 14.0), (2e6, np.nan)])
def test_return_is_measured_against_tcps_in_the_same_place(level: float, expected_s: float) -> None:
    """TCPs carried 10 Mb/s there; the subject never had more than half and needs four tenths.

    It is back at 5 Mb/s 12.4 s after the return; four fifths of 2 s later its mean is 4 Mb/s.
    """
    tcps = series(np.full((1100, 2), 10e6), plan=plan(110))
    rates = np.full((1100, 2), 5e6)
    rates[400:624, 0] = 0.0
    rates[624:, 0] = level
    measure = multipath_measures.return_time(40.0, 10.0, 0.4)
    got = measure(found(series(rates, plan=plan(110)), first=tcps))
    assert got == pytest.approx([expected_s], abs=0.11, nan_ok=True)

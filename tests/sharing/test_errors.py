"""Errors of detectors on random networks, and groups over time."""

from __future__ import annotations

import numpy as np
import pytest

import anabranch as ab
from anabranch.sharing import Rate, draw, judge, measure


def test_the_default_detector_errs_in_at_most_one_of_twenty_networks() -> None:
    """Another seed than that of the page. Of 100 networks, 5 % and what chance adds to it."""
    errors = measure("lia+sbd", 200, seed=20)
    assert errors.false_alarms.of == errors.misses.of == 100
    assert errors.false_alarms.interval[0] <= 0.05
    assert errors.misses.interval[0] <= 0.05


def test_a_measurement_is_the_same_on_one_thread_and_on_two() -> None:
    one, two = (measure("olia+sbd", 6, threads=threads).to_json() for threads in (1, 2))
    assert one == two


def test_every_detector_judges_networks() -> None:
    for kind in ab._core.detectors():
        judged = judge(draw(0, 1), f"lia+sbd:{kind['name']}", 10.0)
        assert len(judged.right) == 11
        assert np.all((judged.scores >= 0.0) & (judged.scores <= 1.0))


def test_the_curve_of_a_detector_goes_from_nothing_to_everything() -> None:
    alarms, hits = measure("lia+sbd", 20).curve()
    assert (alarms[0], hits[0], alarms[-1], hits[-1]) == (0.0, 0.0, 1.0, 1.0)
    assert np.all(np.diff(alarms) >= 0.0)
    assert np.all(np.diff(hits) >= 0.0)


def test_a_controller_without_groups_is_named() -> None:
    with pytest.raises(ValueError, match=r"publishes no groups; LAW\+sbd does"):
        judge(draw(0, 1), "lia", 5.0)


def test_a_rate_has_its_exact_interval() -> None:
    assert Rate(0, 100).interval == pytest.approx((0.0, 0.0362), abs=1e-4)
    assert Rate(0, 0).interval == (0.0, 1.0)

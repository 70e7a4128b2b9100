"""Curves with intervals beside lines and bands."""

from __future__ import annotations

import pytest

from anabranch import plot
from anabranch.statistics import Interval, interval

X = (1.0, 2.0, 4.0)
UP = plot.Curve("up", X, [interval([x, x + 0.2]) for x in X])
FLAT = plot.Curve("flat", X, [Interval(1.0, float("inf"), 1)] * 3)
FAIR = plot.Line("fair", (1, 4), (0.5, 0.5))
BAND = plot.Band("band", (1, 4), (0.4, 0.4), (0.6, 0.6))


def drawn(*panels: plot.Panel, **options):
    return plot.curves(panels, labels=("paths", "share"), **options)


def test_a_point_stands_at_its_mean_with_its_interval():
    (ax,) = drawn(plot.Panel("", [UP])).axes
    (bars,) = ax.containers
    points = bars.lines[0].get_xydata()
    assert points.tolist() == [[x, x + 0.1] for x in X]
    low, high = bars.lines[2][0].get_segments()[0][:, 1]
    assert high - low == pytest.approx(2 * UP.y[0].half)


def test_a_single_replication_has_no_bar():
    (ax,) = drawn(plot.Panel("", [FLAT])).axes
    (segment, *_) = ax.containers[0].lines[2][0].get_segments()
    assert segment[0][1] == segment[1][1]


def test_a_label_has_one_look_and_one_entry_in_all_panels():
    figure = drawn(plot.Panel("a", [UP], [FAIR], [BAND]), plot.Panel("b", [FLAT, UP], [FAIR]))
    first, second = figure.axes
    colours = [bars.lines[0].get_color() for ax in (first, second) for bars in ax.containers]
    assert colours[0] == colours[2] != colours[1]
    (legend,) = figure.legends
    assert sorted(text.get_text() for text in legend.get_texts()) == ["band", "fair", "flat", "up"]


def test_named_ticks_are_the_only_ones_on_a_logarithmic_axis():
    (ax,) = drawn(plot.Panel("", [UP]), log=True, ticks=X).axes
    assert [text.get_text() for text in ax.get_xticklabels()] == ["1", "2", "4"]
    assert len(ax.get_xticks(minor=True)) == 0


def test_axes_are_labelled_and_nothing_is_refused():
    (ax,) = drawn(plot.Panel("", [UP])).axes
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("paths", "share")
    with pytest.raises(ValueError, match="nothing to draw"):
        drawn(plot.Panel("", []))

"""The plot of a criterion: dots for each case against the goal."""

from __future__ import annotations

import math

import pytest

from anabranch.plot import Dots, cases, svg
from anabranch.plot.cases import GOAL
from anabranch.statistics import Interval

ROWS = [
    Dots("2 paths", {"lia": Interval(1.0, 0.1, 5), "reno": Interval(2.0, 0.2, 5)}, high=1.5),
    Dots("4 paths", {"lia": Interval(1.1, 0.0, 5), "theory": Interval(1.0, math.inf, 1)}, high=1.2),
]
CONTENDERS = ["lia", "reno", "theory", "linux"]


def test_each_case_has_its_own_area_of_the_goal() -> None:
    (ax,) = cases(ROWS, CONTENDERS, label="share").axes
    areas = [one for one in ax.collections if one.get_facecolor().size and one.get_paths()]
    widths = [
        area.get_paths()[0].get_extents().x1
        for area in areas
        if tuple(area.get_facecolor()[0][:3]) == pytest.approx(_rgb(GOAL))
    ]
    assert widths == [1.5, 1.2]


def _rgb(colour: str) -> tuple[float, ...]:
    return tuple(int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))


def test_only_contenders_with_values_are_in_the_legend() -> None:
    figure = cases(ROWS, CONTENDERS, label="share")
    (legend,) = figure.legends
    texts = [text.get_text() for text in legend.get_texts()]
    assert set(texts) == {"lia", "reno", "theory", "meets the goal"}


def test_cases_are_read_from_top_to_bottom() -> None:
    (ax,) = cases(ROWS, CONTENDERS, label="share").axes
    assert [label.get_text() for label in ax.get_yticklabels()] == ["2 paths", "4 paths"]
    bottom, top = ax.get_ylim()
    assert bottom > top


def test_values_over_decades_have_a_logarithmic_axis() -> None:
    wide = [Dots("a", {"lia": Interval(0.001, 0, 2), "reno": Interval(1.0, 0, 2)}, high=0.1)]
    (ax,) = cases(wide, CONTENDERS, label="loss").axes
    assert ax.get_xscale() == "log"
    zero = [Dots("a", {"lia": Interval(0.0, 0, 2), "reno": Interval(1.0, 0, 2)}, high=0.1)]
    (ax,) = cases(zero, CONTENDERS, label="loss").axes
    assert ax.get_xscale() == "linear"


def test_nothing_to_draw_is_an_error() -> None:
    with pytest.raises(ValueError, match="nothing to draw"):
        cases([Dots("a", {"lia": Interval(math.nan, math.inf, 2)})], CONTENDERS, label="share")


def test_long_names_leave_room_for_the_axes() -> None:
    name = "a case whose name has more words than fit beside the axes of a figure by far"
    figure = cases([Dots(name, ROWS[0].values)], CONTENDERS, label="share", width="3.5in")
    (ax,) = figure.axes
    assert ax.get_position().width > 0.4


def test_the_same_rows_are_the_same_bytes() -> None:
    first, second = (cases(ROWS, CONTENDERS, label="share", title="A title") for _ in range(2))
    assert svg(first) == svg(second) == svg(first, last=True)

"""Maps and phase portraits: figures of numbers that are no result."""

from itertools import pairwise

import numpy as np
import pytest
from matplotlib.text import Text

from anabranch import plot

RATES = ["5 Mb/s", "10 Mb/s", "20 Mb/s"]
USERS = ["10", "20"]
LABELS = ("rate (Mb/s)", "users")


def texts(figure):
    """All that is written in a figure."""
    figure.draw_without_rendering()
    found = figure.findobj(Text)
    return [artist.get_text() for artist in found if artist.get_text()]


def a_map(values=None, **changes):
    values = {"a": np.arange(6.0).reshape(3, 2)} if values is None else values
    given = {"columns": RATES, "rows": USERS, "labels": LABELS, "quantity": "Rate (Mb/s)"}
    return plot.heat_map(values, note="a note", **(given | changes))


def cells(ax):
    """The coloured cells of a map."""
    (mesh, *_) = [one for one in ax.collections if hasattr(one, "get_coordinates")]
    return mesh


def maps(figure):
    """The axes of maps, without those of colour bars."""
    return [ax for ax in figure.axes if ax.get_xlabel()]


def test_a_map_shows_values_where_their_parameters_stand():
    ax = a_map().axes[0]
    shown = cells(ax).get_array()
    assert shown[1, 2] == 5.0 and shown[0, 1] == 2.0  # rows go up, columns across
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["5", "10", "20"]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == USERS
    assert (ax.get_xlabel(), ax.get_ylabel()) == LABELS


def test_values_of_a_map_stand_to_scale_and_far_ones_on_a_logarithmic_axis():
    near = a_map({"a": np.arange(6.0).reshape(3, 2)}, columns=["5", "10", "30"])
    assert cells(near.axes[0]).get_coordinates()[0, :, 0].tolist() == [2.5, 7.5, 20.0, 40.0]
    assert near.axes[0].get_xscale() == "linear"
    far = a_map({"a": np.arange(6.0).reshape(3, 2)}, columns=["1", "10", "100"])
    assert far.axes[0].get_xscale() == "log"
    assert cells(far.axes[0]).get_coordinates()[0, 1, 0] == pytest.approx(np.sqrt(10))


def test_a_map_of_names_has_no_contours_between_them():
    named = a_map({"a": np.arange(6.0).reshape(3, 2)}, columns=["lia", "olia", "balia"])
    named.draw_without_rendering()
    assert not named.axes[0].texts


def test_contours_of_a_map_are_labelled_with_values_inside_its_range():
    figure = a_map({"a": np.outer(np.linspace(0, 9, 3), [1.0, 1.1])})
    figure.draw_without_rendering()
    labels = [float(text.get_text()) for text in figure.axes[0].texts]
    assert labels and all(0.0 < value < 9.9 for value in labels)


def test_every_class_has_a_panel_a_name_and_a_scale_of_its_own():
    figure = a_map({"poor": np.ones((3, 2)), "rich": 100.0 + np.arange(6.0).reshape(3, 2)})
    written = texts(figure)
    assert "poor" in written and "rich" in written and "Rate (Mb/s)" in written
    scales = [cells(ax).get_clim() for ax in maps(figure)]
    assert scales == [(0.95, 1.05), (100.0, 105.0)]


def test_a_cell_without_a_number_stays_white():
    values = np.arange(6.0).reshape(3, 2)
    values[1, 1] = np.nan
    image = cells(a_map({"a": values}).axes[0])
    colours = image.cmap(image.norm(np.ma.masked_invalid(image.get_array())))
    assert np.isnan(np.asarray(image.get_array().filled(np.nan))[1, 1])
    assert colours[1, 1, 3] == 0.0


def test_one_parameter_makes_lines_at_its_values():
    figure = a_map({"a": np.array([1.0, 2.0, 4.0]), "b": np.array([3.0, 3.0, 3.0])}, rows=None)
    lines = figure.axes[0].lines
    assert [list(line.get_xdata()) for line in lines] == [[5.0, 10.0, 20.0]] * 2
    assert list(lines[0].get_ydata()) == [1.0, 2.0, 4.0]
    assert figure.axes[0].get_xlabel() == "rate (Mb/s)" and "b" in texts(figure)


def test_parameters_that_are_no_numbers_stand_side_by_side():
    figure = a_map({"a": np.ones(3)}, rows=None, columns=["lia", "olia", "balia"])
    ax = figure.axes[0]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["lia", "olia", "balia"]


def test_values_in_different_units_keep_them():
    ax = a_map(columns=["900 kb/s", "1 Mb/s", "2 Mb/s"]).axes[0]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["900 kb/s", "1 Mb/s", "2 Mb/s"]


def test_labels_of_many_columns_do_not_overlap():
    columns = [f"{value} Mb/s" for value in range(1000, 1040)]
    figure = a_map({"a": np.ones((40, 2)), "b": np.ones((40, 2))}, columns=columns)
    figure.draw_without_rendering()
    for ax in maps(figure):
        labels = [tick for tick in ax.get_xticklabels() if tick.get_text()]
        boxes = [tick.get_window_extent() for tick in labels]
        rotated = labels[0].get_rotation() > 0
        assert len(boxes) <= 12
        assert rotated or all(a.x1 < b.x0 for a, b in pairwise(boxes))


@pytest.mark.parametrize(
    ("values", "changes", "message"),
    [
        ({"a": np.ones((2, 3))}, {}, "shape"),
        ({"a": np.ones(3)}, {}, "shape"),
        ({"a": np.full((3, 2), np.nan)}, {}, "no cell has a number"),
        ({}, {}, "nothing to draw"),
    ],
)
def test_maps_of_nothing_are_refused(values, changes, message):
    with pytest.raises(ValueError, match=message):
        a_map(values, **changes)


SPIRAL = np.linspace(1.0, 0.0, 80)[:, None] * np.array(
    [[np.cos(turn), np.sin(turn)] for turn in np.linspace(0.0, 9.0, 80)]
)


def a_portrait(curves=None):
    curves = [SPIRAL + 2.0, 2.0 - SPIRAL] if curves is None else curves
    return plot.phase_portrait(
        curves, np.array([2.0, 2.0]), labels=("x (segments)", "y (packets)"), note="t"
    )


def test_a_portrait_marks_where_curves_begin_and_where_they_rest():
    figure = a_portrait()
    ax = figure.axes[0]
    marks = {
        line.get_marker(): tuple(line.get_data()) for line in ax.lines if len(line.get_xdata()) == 1
    }
    assert [float(part[0]) for part in marks["X"]] == [2.0, 2.0]
    starts = [line.get_data() for line in ax.lines if line.get_marker() == "o"]
    assert sorted(float(x[0]) for x, _ in starts) == [1.0, 3.0]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x (segments)", "y (packets)")
    assert {"start", "rest point"} <= set(texts(figure))


def test_arrow_heads_of_a_portrait_point_the_way_that_time_goes():
    figure = a_portrait([np.linspace([0.0, 1.0], [4.0, 1.0], 50)])
    heads = [note for note in figure.axes[0].texts if getattr(note, "arrow_patch", None)]
    assert len(heads) == 2
    assert all(note.xy[0] > note.xyann[0] for note in heads)


def test_all_of_a_portrait_is_inside_its_axes():
    ax = a_portrait().axes[0]
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    for line in ax.lines:
        x, y = (np.asarray(part, dtype=float) for part in line.get_data())
        assert left <= x.min() and x.max() <= right and low <= y.min() and y.max() <= high


@pytest.mark.parametrize("curves", [[], [np.ones((1, 2))], [np.ones((5, 3))]])
def test_portraits_of_nothing_are_refused(curves):
    with pytest.raises(ValueError, match="nothing to draw"):
        a_portrait(curves)


def test_the_same_numbers_are_drawn_to_the_same_bytes():
    for draw in (a_map, a_portrait):
        assert plot.svg(draw()) == plot.svg(draw())

"""Every kind of plot, from one small run."""

import re

import numpy as np
import pytest
from adhoc import MIXED
from air import UPLINK
from matplotlib.colors import to_hex
from matplotlib.text import Text

import anabranch as ab
from anabranch import plot

SMALL = ["duration=8 s", "warmup=2 s", "flow.multipath.count=2", "flow.single-path.count=3"]
UNITS = {
    "alpha",
    "Member of",
    "Time (s)",
    "Fraction of users",
    "Controller",
    "Class (controller)",
    "Path (0 to 8 s)",
}
ON_AIR = {"stations"}
"""Kinds that no scenario without a medium has anything for."""
ON_GROUND = {"topology"}
"""Kinds that show metres only of a scenario with places."""
EVERY = pytest.mark.parametrize("kind", plot.KINDS)


@pytest.fixture(scope="module")
def result():
    return ab.run("khalili/scenario-c", seeds=(1, 2), series=True, overrides=SMALL)


@pytest.fixture(scope="module")
def on_air():
    return ab.run(ab.Scenario.parse(UPLINK), seeds=(1, 2), series=True)


@pytest.fixture(scope="module")
def on_ground():
    return ab.run(ab.Scenario.parse(MIXED), seeds=(1, 2), series=True)


@pytest.fixture
def suited(kind, result, on_air, on_ground):
    """A result that has what the kind draws."""
    return on_ground if kind in ON_GROUND else on_air if kind in ON_AIR else result


@pytest.fixture(scope="module")
def olia():
    return ab.run(
        "khalili/scenario-c", seeds=(1, 2), series=True, controller="olia", overrides=SMALL
    )


@pytest.fixture(scope="module")
def bare():
    return ab.run("khalili/scenario-c", overrides=SMALL)


def legends(figure):
    """The texts of all legends."""
    found = [*figure.legends, *(ax.get_legend() for ax in figure.axes if ax.get_legend())]
    return [[text.get_text() for text in legend.get_texts()] for legend in found]


def note(figure):
    """What the line below the data says, on one line."""
    (legend,) = figure.legends
    return legend.get_title().get_text().replace("\n", " · ")


def heights(figure):
    """The values of the stairs of a figure's first panel: lines, not bands."""
    stairs = [patch for patch in figure.axes[0].patches if hasattr(patch, "get_data")]
    return [patch.get_data().values for patch in stairs if not patch.get_fill()]


@EVERY
def test_every_kind_labels_its_axes_with_quantity_and_unit(kind, suited):
    figure = plot.draw(kind, suited)
    assert not figure.get_suptitle()
    assert figure.axes[-1].get_xlabel()
    for ax in figure.axes:
        assert ax.get_ylabel()
        for label in filter(None, (ax.get_xlabel(), ax.get_ylabel())):
            units = ("(s)", "(segments)", "(packets)", "(ms)", "(Mb/s)", "(kB)", "(1/s)", "(m)")
            assert label in UNITS or label.endswith(units)


@EVERY
def test_a_saved_and_loaded_result_draws_the_same_bytes(kind, suited, tmp_path):
    suited.save(tmp_path / "result.json.gz")
    loaded = ab.Result.load(tmp_path / "result.json.gz")
    assert plot.svg(plot.draw(kind, loaded)) == plot.svg(plot.draw(kind, suited))


@EVERY
def test_legends_do_not_cover_the_data(kind, suited):
    figure = plot.draw(kind, suited)
    figure.draw_without_rendering()
    legends = [*figure.legends, *(ax.get_legend() for ax in figure.axes)]
    for legend in filter(None, legends):
        box = legend.get_window_extent()
        assert not any(box.overlaps(ax.patch.get_window_extent()) for ax in figure.axes)
        assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1


@pytest.mark.parametrize("kind", [kind for kind, facts in plot.KINDS.items() if facts.series])
def test_without_series_the_error_says_how_to_get_them(kind, bare):
    with pytest.raises(ValueError, match=r"series=True, or `anabranch run .* --series --json"):
        plot.draw(kind, bare)


@pytest.mark.parametrize("kind", [kind for kind, facts in plot.KINDS.items() if not facts.series])
def test_what_needs_no_series_draws_without(kind, bare):
    assert plot.draw(kind, bare).axes


@pytest.mark.parametrize("kind", [kind for kind, facts in plot.KINDS.items() if facts.several])
def test_controllers_stand_side_by_side(kind, result, olia):
    figure = plot.draw(kind, [result, olia])
    figure.draw_without_rendering()
    texts = [text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text"))]
    assert "lia" in texts and "olia" in texts


@pytest.mark.parametrize("kind", [kind for kind, facts in plot.KINDS.items() if not facts.several])
def test_kinds_for_one_result_refuse_two(kind, result, olia):
    with pytest.raises(ValueError, match="draws one result, not 2"):
        plot.draw(kind, [result, olia])


def test_an_unknown_kind_offers_the_nearest():
    with pytest.raises(ValueError, match="did you mean `windows`"):
        plot.draw("window", [])


def test_an_unknown_option_is_named_with_those_that_there_are(result):
    with pytest.raises(
        ValueError,
        match=r"no option 'bins'; did you mean `bin_s`\? Its options are bin_s, start_s, end_s",
    ):
        plot.draw("throughput", result, bins=1)


def test_no_results_are_an_error():
    with pytest.raises(ValueError, match="nothing to draw"):
        plot.draw("cdf", [])


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("windows", {"seed": 7}, "the seeds are 1, 2"),
        ("windows", {"user": 3}, "users 0 to 2"),
        ("windows", {"classes": ["x"]}, "no class 'x'"),
        ("windows", {"start_s": 9}, "no samples from 9 s"),
        ("queue", {"links": ["ap3"]}, "no link 'ap3'"),
        ("throughput", {"bin_s": 0.01}, "shorter than the samples"),
        ("cdf", {"metric": "rtt"}, "no metric 'rtt'"),
        ("shares", {"names": ["a", "b"]}, "1 results but 2 names"),
    ],
)
def test_wrong_options_are_explained(kind, options, message, result):
    with pytest.raises(ValueError, match=message):
        plot.draw(kind, result, **options)


def test_binned_throughput_adds_up_to_what_arrived(result):
    figure = plot.throughput(result, bin_s=1)
    drawn = heights(figure)
    users = (2, 3)
    for rates, name, count in zip(drawn, result.classes, users, strict=True):
        arrived = 0.0
        for run in result.runs:
            mine = (np.asarray(run.flows.class_) == name)[run.paths.flow]
            arrived += run.series.paths.arrived_bytes[-1, mine].sum() / len(result.runs)
        assert sum(rates) * 1e6 / 8 * count == pytest.approx(arrived)


def test_throughput_stays_below_capacity(result):
    multipath, single = heights(plot.throughput(result))
    assert np.all(2 * multipath + 3 * single <= 20.0 * 1.01)


def test_windows_are_drawn_only_while_a_path_is_in_use(result):
    start_s = result.runs[0].flows.start_s[0]
    lines = [line for line in plot.windows(result).axes[0].lines if line.get_linestyle() == "-"]
    t_s, cwnd = lines[0].get_data()
    assert np.isnan(cwnd[t_s < start_s]).all()
    assert np.isfinite(cwnd[t_s > start_s]).all()


def test_an_infinite_threshold_is_not_drawn(result):
    dashed = [line for line in plot.windows(result).axes[0].lines if line.get_linestyle() == "--"]
    assert dashed
    raw = result.runs[0].series.paths.ssthresh_segments
    assert np.isinf(raw).any()
    assert all(not np.isinf(line.get_ydata()).any() for line in dashed)


def test_only_shared_links_with_a_rate_have_a_queue(result):
    assert len(plot.queue(result).axes) == 2


def test_without_a_shared_link_the_queue_names_the_others():
    text = """
        name = "access lines"
        duration = "1 s"
        link = [{ name = "line", rate = "1 Mb/s", delay = "5 ms", per_user = true }]
        flow = [{ name = "tcp", path = [{ links = ["line"] }] }]
    """
    result = ab.run(ab.Scenario.parse(text), series=True)
    with pytest.raises(ValueError, match="no shared link has a rate; choose with links= from line"):
        plot.queue(result)
    assert len(plot.queue(result, links=["line"]).axes) == 1


def test_many_users_classes_and_paths_make_short_legends():
    links = [f'{{ name = "l{i}", rate = "5 Mb/s", delay = "9 ms" }}' for i in range(14)]
    paths = ", ".join(f'{{ links = ["l{i}"] }}' for i in range(14))
    flows = [f'{{ name = "class-{i}", count = 3, path = [{paths}] }}' for i in range(15)]
    text = f"""
        name = "crowd"
        duration = "1 s"
        link = [{", ".join(links)}]
        flow = [{", ".join(flows)}]
    """
    result = ab.run(ab.Scenario.parse(text), series=True)
    for kind in plot.KINDS.keys() - ON_AIR - ON_GROUND:
        figure = plot.draw(kind, result)
        assert len(figure.axes) <= (16 if kind == "subflows" else 8)
        assert all(len(texts) <= 12 for texts in legends(figure))


def test_references_are_marked_and_in_the_legend(result):
    published = plot.Reference("published", [{"multipath": 1.3e6, "single-path": 0.68e6}])
    figure = plot.shares(result, references=[published])
    drawn = {round(float(line.get_ydata()[0]), 6) for line in figure.axes[0].lines}
    assert {1.3, 0.68} <= drawn
    assert legends(figure) == [["published"]]
    two = plot.shares([result, result], references=[published], names=["before", "after"])
    assert legends(two) == [["multipath (lia)", "single-path (reno)", "published"]]


def test_titles_and_legends_take_the_whole_width(result):
    marks = ("published", "fixed point", "optimum with probing cost")
    rates = {"multipath": 1e6, "single-path": 1e6}
    references = [plot.Reference(mark, [rates]) for mark in marks]
    figure = plot.shares(result, references=references, title="Rates", setting="N1 = 10")
    figure.draw_without_rendering()
    assert figure.get_suptitle() == "Rates"
    assert note(figure).startswith("scenario-c · N1 = 10 · lia · mean of 2 to 8 s")
    rows = {text.get_window_extent().y0 for text in figure.legends[0].get_texts()}
    assert max(rows) - min(rows) < 5
    long = plot.shares(result, title="every parameter as it is " * 8)
    long.draw_without_rendering()
    assert "\n" in long.get_suptitle()
    assert 0.6 * long.bbox.x1 < long.texts[0].get_window_extent().x1 <= long.bbox.x1


def test_a_legend_of_two_rows_is_read_row_by_row(result):
    marks = [f"a reference with a long name {k}" for k in range(4)]
    rates = {"multipath": 1e6, "single-path": 1e6}
    figure = plot.shares(result, references=[plot.Reference(mark, [rates]) for mark in marks])
    figure.draw_without_rendering()
    boxes = {t.get_text(): t.get_window_extent() for t in figure.legends[0].get_texts()}
    read = sorted(boxes, key=lambda text: (-round(boxes[text].y0 / 9), boxes[text].x0))
    assert read == marks
    assert len({round(box.y0 / 9) for box in boxes.values()}) == 2


@pytest.mark.parametrize(
    ("names", "label"), [(["LIA", "OLIA"], "Controller"), (["before", "after"], "")]
)
def test_groups_are_called_controllers_when_they_are(names, label, result, olia):
    assert plot.shares([result, olia], names=names).axes[0].get_xlabel() == label


def test_a_reference_to_an_unknown_class_is_an_error(result):
    with pytest.raises(
        ValueError, match="theory: there is no class 'tcp'; the classes are multipath"
    ):
        plot.shares(result, references=[plot.Reference("theory", [{"tcp": 1e6}])])


def test_a_single_replication_has_no_interval(bare, result):
    assert "95 %" not in note(plot.shares(bare))
    assert "95 %" in note(plot.shares(result))


def test_a_class_that_is_called_after_a_colour_has_it():
    options = {"series": True, "overrides": ["duration=7 s", "warmup=1 s"]}
    result = ab.run("khalili/scenario-b", **options)
    shares = plot.shares(result).axes[0]
    red = [patch for patch in shares.patches if to_hex(patch.get_edgecolor()) == "#b3202a"]
    assert red
    for figure in (plot.cdf(result), plot.throughput(result)):
        (legend,) = [one for one in figure.legends]
        named = dict(zip([t.get_text() for t in legend.texts], legend.legend_handles, strict=True))
        (drawn,) = [handle for text, handle in named.items() if text.startswith("red")]
        assert to_hex(drawn.get_color()) == "#b3202a"


def test_no_number_of_a_figure_has_an_exponent():
    text = """
    name = "fast"
    duration = "2 s"
    link = [{ name = "core", rate = "10 Gb/s", delay = "1 ms", queue = { droptail = { packets = "3 packets" } } }]
    flow = [{ name = "one", count = 2, protocol = "udp", app_rate = "6 Gb/s", path = [{ links = ["core"] }] }]
    """
    fast = ab.run(ab.Scenario.parse(text), series=True)
    for kind in ("queue", "topology", "shares"):
        figure = plot.draw(kind, fast)
        written = [text.get_text() for text in figure.findobj(Text)]
        assert any("10000 Mb/s" in text or "999" in text or "499" in text for text in written), kind
        assert not any(re.search(r"\de[+-]?\d", text) for text in written), kind


def test_the_law_shows_its_quantities_and_memberships_and_nothing_where_it_publishes_nothing(olia):
    figure = plot.law(olia, user=1)
    labels = [ax.get_ylabel().replace("\n", " ") for ax in figure.axes]
    expected = ["Smoothed RTT (ms)", "Window (segments)", "alpha", "l (segments)", "Member of"]
    assert labels == expected
    rows = [text.get_text() for text in figure.axes[-1].get_yticklabels()]
    assert rows == ["best, 0", "best, 1", "largest, 0", "largest, 1"]
    alone = plot.law(olia, flow="single-path")
    assert len(alone.axes) == 2


def test_alpha_of_olia_sums_to_zero_over_paths_and_is_positive_only_on_collected_ones(olia):
    table = olia.runs[0].series.internals
    named = {
        name: np.array(
            [value for own, value in zip(table.name, table.value, strict=True) if own == name]
        )
        for name in set(table.name)
    }
    known = np.isfinite(named["alpha"])
    assert known.any() and (known == np.isfinite(named["in_best"])).all()
    collected = (named["in_best"] == 1) & (named["in_largest"] == 0)
    assert (collected[known] == (named["alpha"] > 0)[known]).all()
    both = known[0::2] & known[1::2]
    assert np.abs((named["alpha"][0::2] + named["alpha"][1::2])[both]).max() < 1e-12
    frame = olia.to_frame("series.internals")
    alpha = frame[(frame["name"] == "alpha") & (frame["seed"] == 1) & (frame["path"] == 1)]
    np.testing.assert_array_equal(alpha["value"], np.concatenate(named["alpha"][1::2]))

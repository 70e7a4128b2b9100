"""What results are called in figures."""

from dataclasses import replace

import pytest

import anabranch as ab
from anabranch import plot
from anabranch.plot.labels import labels

SHORT = [
    *("duration=4 s", "warmup=1 s"),
    *("flow.single-path.spread=0.5 s", "flow.multipath.spread=0.5 s"),
]


def cell(count, *more, controller="lia"):
    overrides = [*SHORT, f"flow.multipath.count={count}", *more]
    return ab.run("khalili/scenario-c", controller=controller, overrides=overrides)


@pytest.fixture(scope="module")
def counts():
    return [cell(count, f'link.ap1.rate="{count} Mb/s"') for count in (1, 2, 3)]


def below(figure):
    """The line below the data."""
    (legend,) = figure.legends
    return legend.get_title().get_text().replace("\n", " · ")


def test_the_override_that_tells_results_apart_is_their_label(counts):
    assert labels(counts) == ["lia, count = 1", "lia, count = 2", "lia, count = 3"]


def test_controllers_alone_are_the_label_where_they_differ():
    assert labels([cell(1), cell(1, controller="olia")]) == ["lia", "olia"]


def test_several_overrides_are_named_where_one_does_not_tell_results_apart():
    cells = [cell(count, f"link.ap2.rate={rate} Mb/s") for count, rate in ((1, 8), (1, 9), (2, 8))]
    assert labels(cells) == [
        "lia, count = 1, rate = 8 Mb/s",
        "lia, count = 1, rate = 9 Mb/s",
        "lia, count = 2, rate = 8 Mb/s",
    ]


def test_a_key_is_as_long_as_it_takes_to_know_which():
    one = cell(1, "link.ap1.rate=8 Mb/s", "link.ap2.rate=9 Mb/s")
    two = cell(1, "link.ap1.rate=9 Mb/s", "link.ap2.rate=9 Mb/s")
    assert labels([one, two]) == ["lia, ap1.rate = 8 Mb/s", "lia, ap1.rate = 9 Mb/s"]


def test_results_without_a_difference_are_called_as_their_files(tmp_path):
    for name in ("before.json.gz", "after.json"):
        cell(1).save(tmp_path / name)
    loaded = [ab.Result.load(tmp_path / name) for name in ("before.json.gz", "after.json")]
    assert labels(loaded) == ["before", "after"]
    assert labels([cell(1), cell(1)]) == ["lia (1)", "lia (2)"]


def test_worlds_alone_are_the_label_where_only_they_differ():
    simulated = cell(1)
    measured = replace(simulated, world="linux")
    assert labels([simulated, measured]) == ["simulation", "linux"]
    assert plot.shares([simulated, measured]).axes[0].get_xlabel() == "World"
    other = cell(1, controller="olia")
    assert labels([simulated, measured, other]) == [
        "lia, simulation",
        "lia, linux",
        "olia, simulation",
    ]
    assert labels([simulated, replace(other, world="linux")]) == ["lia", "olia"]


def test_results_of_files_with_several_are_called_as_the_file_and_what_differs_in_it():
    found = [
        replace(cell(1, controller=name), file=file)
        for file in ("a", "b")
        for name in ("lia", "olia")
    ]
    assert labels(found) == ["lia, a", "olia, a", "lia, b", "olia, b"]


def test_overrides_that_differ_and_are_in_no_label_are_named_below_a_figure(counts):
    assert below(plot.shares(counts)) == (
        "scenario-c · lia · link.ap1.rate differs too · mean of 1 to 4 s (warm-up 1 s) · "
        "one replication"
    )
    assert "differ" not in below(plot.shares(counts, names=["a", "b", "c"]))
    changed = [cell(1), cell(2, "link.ap2.rate=9 Mb/s", controller="olia")]
    assert "flow.multipath.count and link.ap2.rate differ too" in below(plot.cdf(changed))
    assert "differ" not in below(plot.shares([cell(1), cell(2)]))


@pytest.mark.parametrize(
    "kind", [kind for kind, facts in plot.KINDS.items() if facts.several and not facts.series]
)
def test_names_and_overrides_are_written_in_figures(kind, counts):
    for names, wanted in ((None, "lia, count = 3"), (["a", "b", "c"], "c")):
        figure = plot.draw(kind, counts, names=names)
        texts = [t.get_text() for t in figure.findobj(lambda artist: hasattr(artist, "get_text"))]
        flat = [text.replace("\n", " ").replace("\u00a0", " ") for text in texts]
        assert wanted in flat
        with pytest.raises(ValueError, match="3 results but 1 names"):
            plot.draw(kind, counts, names=["a"])


@pytest.mark.parametrize("kind", plot.KINDS)
def test_every_kind_takes_names_a_width_and_a_title(kind):
    assert {"names", "width", "title"} <= set(plot.KINDS[kind].options)


def test_a_figure_says_scenario_controller_span_warm_up_and_replications(counts):
    assert below(plot.shares(counts[0])) == (
        "scenario-c · lia · mean of 1 to 4 s (warm-up 1 s) · one replication"
    )
    series = ab.run("khalili/scenario-c", series=True, controller="olia", overrides=SHORT)
    for kind in ("windows", "throughput", "rtt", "queue", "subflows", "inflation"):
        assert below(plot.draw(kind, series)).startswith("scenario-c · olia · warm-up 1 s · ")
    assert below(plot.windows(series, names=["mine"])) == "mine · warm-up 1 s · seed 1"

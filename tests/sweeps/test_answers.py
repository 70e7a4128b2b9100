"""From rows to answers: frames, questions in SQL, figures and exports of a store."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pyarrow = pytest.importorskip("pyarrow")
pytest.importorskip("pandas")

from quick import SHORT, sweep  # noqa: E402 needs pyarrow

import anabranch as ab  # noqa: E402
from anabranch.plot.tradeoff import front  # noqa: E402
from anabranch.statistics import interval, paired  # noqa: E402
from anabranch.sweeps import Store  # noqa: E402
from anabranch.sweeps.answers import Question, draw, frame, query, tables  # noqa: E402
from anabranch.sweeps.better import ways  # noqa: E402
from anabranch.sweeps.cells import Runs, cells  # noqa: E402
from anabranch.sweeps.export import FORMATS, export  # noqa: E402
from anabranch.sweeps.expressions import Expression  # noqa: E402

Rows = Sequence[Mapping[str, Any]]


def written(folder: Path, rows: Rows, parts: int = 1) -> Store:
    """A store of rows of classes, in so many parts; each row lacks what tells runs apart."""
    store = Store.make(folder)
    whole = [{"version": "1", "scenario": "s", "controller": "lia", **row} for row in rows]
    for row in whole:
        own = [str(row[key]) for key in row if "." in key or key in ("controller", "scenario")]
        row.setdefault("configuration", " ".join(own))
    for part in range(parts):
        own = whole[part::parts]
        classes = pyarrow.Table.from_pylist(own)
        place = classes.schema.get_field_index("seed")
        seeds = classes.column("seed").cast(pyarrow.uint64())
        classes = classes.set_column(place, "seed", seeds)
        names = [one for one in classes.column_names if one not in ("class", "throughput_bps")]
        runs = classes.select([one for one in names if not one.endswith("_s")])
        store.add(f"part{part}", {"runs": runs, "classes": classes})
    return store


def grid(seeds: int = 4, noise: float = 1e5) -> list[dict[str, Any]]:
    """Rows of classes over two axes and two controllers."""
    random = np.random.default_rng(1)
    return [
        {
            **{"controller": controller, "a.count": str(count), "b.rate": f"{rate} Mb/s"},
            **{"seed": seed, "class": "red"},
            "throughput_bps": 1e6 * rate / count + noise * random.normal() + 1e5 * seed,
            "rtt_mean_s": 0.1 + 0.01 * count / rate,
        }
        for controller in ("lia", "olia")
        for count in (5, 10, 20)
        for rate in (2, 4)
        for seed in range(1, seeds + 1)
    ]


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that tests only read."""
    folder = tmp_path_factory.mktemp("sweep") / "store"
    sweep(tables=("links",)).run(folder)
    return folder


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A store over two axes."""
    return written(tmp_path_factory.mktemp("small") / "store", grid())


def panels(figure: Any) -> list[Any]:
    """The axes of a figure that have data."""
    return [ax for ax in figure.axes if ax.lines or ax.collections]


def ends(ax: Any) -> list[tuple[Any, Any]]:
    """The lower and the upper ends of the vertical bars of a panel."""
    return [
        (path.vertices[0, 1], path.vertices[1, 1])
        for one in ax.collections
        for path in one.get_paths()
        if len(path.vertices) == 2
    ]


def test_a_frame_has_numbers_where_an_axis_has(there: Path) -> None:
    found = frame(Store(there))
    assert sorted(found["link.ap1.rate"].unique()) == [1, 2]
    assert found.attrs["units"]["link.ap1.rate"] == "Mb/s"
    assert found.attrs["units"]["throughput_bps"] == "bit/s"


def test_a_question_in_sql_is_answered(there: Path) -> None:
    pytest.importorskip("duckdb")
    found = query(
        Store(there),
        "select controller, avg(throughput_bps) as bps from classes where class = 'multipath' and "
        '"link.ap1.rate" = 2 group by all order by all',
    )
    whole = frame(Store(there))
    of = whole[(whole["class"] == "multipath") & (whole["link.ap1.rate"] == 2)]
    assert found["bps"].tolist() == pytest.approx(
        of.groupby("controller")["throughput_bps"].mean().tolist()
    )
    assert tables(Store(there)) == ["runs", "classes", "links"]
    with pytest.raises(ValueError, match="the tables are runs, classes, links"):
        query(Store(there), "select * from nothing")


def test_a_question_sees_the_rows_of_a_frame_sorted_by_all_columns(there: Path) -> None:
    pytest.importorskip("duckdb")
    for table in ("runs", "classes", "links"):
        asked, whole = query(Store(there), f"select * from {table}"), frame(Store(there), table)
        assert list(asked.columns) == list(whole.columns)
        assert asked.to_csv(index=False) == whole.sort_values(list(whole)).to_csv(index=False)


def test_a_question_counts_runs_once_that_several_parts_have(there: Path, tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    folder = tmp_path / "a=1 [b]*"  # DuckDB would read a column, and a pattern, in such a name
    shutil.copytree(there, folder)
    expected = {table: query(Store(there), f"from {table}") for table in tables(Store(there))}
    sweep(seeds=2).run(tmp_path / "other")
    for part in Store(tmp_path / "other").names():  # of runs whose links are in other parts
        shutil.copytree(tmp_path / "other" / "parts" / part, folder / "parts" / f"0{part}")
    for table, rows in expected.items():
        but = [name for name in rows if name != "tables"]
        assert query(Store(folder), f"from {table}")[but].to_csv() == rows[but].to_csv()


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("select class, count(*) as many from classes group by all", [["red", 48]]),
        ("set memory_limit = '100MB'; select max(seed) from classes;", [[4]]),
        ('select distinct "a.count" from classes -- numbers', [[5], [10], [20]]),
        ("select seed from runs limit 1", [[1]]),
        ("(select 2 as x union select 1) ", [[1], [2]]),
        ("show tables", [["runs"], ["classes"]]),
    ],
)
def test_questions_take_what_sql_has(small: Store, sql: str, expected: list[Any]) -> None:
    pytest.importorskip("duckdb")
    found = query(small, sql).to_numpy().tolist()
    assert sorted(found) == sorted(expected) if sql == "show tables" else found == expected


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("", "the question is empty"),
        ("select * from store", "store does not exist"),
        ("select nothing from runs", "nothing"),
        ("select", "the tables are runs, classes"),
    ],
)
def test_a_question_that_has_no_answer_is_refused(small: Store, sql: str, said: str) -> None:
    pytest.importorskip("duckdb")
    with pytest.raises(ValueError, match=said):
        query(small, sql)


def test_answers_do_not_depend_on_how_rows_lie_in_parts(tmp_path: Path) -> None:
    rows = grid()
    one = written(tmp_path / "one", rows)
    other = written(tmp_path / "other", rows[::-1], 5)
    for asked in (
        Question("a.count", by="b.rate", where={"controller": "lia"}),
        Question("throughput_bps", "rtt_mean_s"),
    ):
        pictures = []
        for store in (one, other):
            file = tmp_path / "x.svg"
            ab.plot.save(draw(store, asked), file)
            pictures.append(file.read_bytes())
        assert pictures[0] == pictures[1]
    assert frame(one).to_csv() == frame(other).to_csv()
    pytest.importorskip("duckdb")
    assert query(one, "from classes").to_csv() == query(other, "from classes").to_csv()


def test_a_figure_has_a_line_for_each_controller_and_a_panel_for_each_class(there: Path) -> None:
    figure = draw(Store(there), Question("link.ap1.rate", "throughput_bps"))
    found = panels(figure)
    assert len(found) == 2
    whole = frame(Store(there))
    of = whole[(whole["class"] == "multipath") & (whole["controller"] == "lia")]
    expected = of.groupby("link.ap1.rate")["throughput_bps"].mean() / 1e6
    assert found[0].lines[0].get_ydata() == pytest.approx(expected.tolist())
    assert found[0].get_xlabel() == "link.ap1.rate (Mb/s)"


@settings(deadline=None)  # the first one imports SciPy
@given(
    st.lists(
        st.lists(st.floats(1e-3, 1e3) | st.just(1.0), min_size=1, max_size=6),
        min_size=1,
        max_size=4,
    )
)
def test_points_have_the_intervals_that_all_others_have(points: list[list[float]]) -> None:
    places = np.repeat(np.arange(len(points)), [len(values) for values in points])
    rows = np.arange(len(places))
    values = np.concatenate(points)[:, None]
    found = cells(Runs(places[:, None], values, rows, rows.astype(np.uint64)))
    assert found.places.ravel().tolist() == list(range(len(points)))
    for number, own in enumerate(points):
        one, expected = found.interval(number), interval(own)
        assert one.n == expected.n
        assert one.mean == pytest.approx(expected.mean)
        assert one.half == pytest.approx(expected.half, abs=1e-9)


def test_rows_of_a_run_are_averaged_before_its_interval(tmp_path: Path) -> None:
    rows = [
        {"a.count": "1", "seed": seed, "class": "red", "rtt_mean_s": seed + 0.5 * row}
        for seed in (1, 2, 3)
        for row in (0, 1)
    ]
    (ax,) = panels(draw(written(tmp_path / "store", rows), Question("a.count", "rtt_mean_s")))
    expected = interval([1.25, 2.25, 3.25])
    assert ax.lines[0].get_ydata() == pytest.approx([expected.mean])
    assert ends(ax) == [pytest.approx((max(expected.low, 0.0), expected.high))]


def test_panels_are_of_any_columns(small: Store) -> None:
    asked = Question("a.count", panels="b.rate", where={"class": "red"})
    titles = [ax.get_title(loc="left") for ax in panels(draw(small, asked))]
    assert titles == ["b.rate = 2 Mb/s", "b.rate = 4 Mb/s"]
    both = draw(small, Question("a.count", by="class", panels=["b.rate", "controller"]))
    assert [ax.get_title(loc="left") for ax in panels(both)] == [
        f"b.rate = {rate} Mb/s · {name}" for rate in (2, 4) for name in ("lia", "olia")
    ]


def test_a_figure_does_not_average_over_classes(there: Path) -> None:
    store = Store(there)
    with pytest.raises(ValueError, match=r"class varies .*--panels class,link\.ap1\.rate"):
        draw(store, Question("controller", panels="link.ap1.rate", by="seed"))
    assert len(panels(draw(store, Question("link.ap1.rate", panels="controller", by="class")))) == 2


def test_a_map_has_the_means_of_two_axes(small: Store) -> None:
    figure = draw(small, Question("a.count", down="b.rate"))
    maps = [ax for ax in figure.axes if ax.get_title(loc="left")]
    assert [ax.get_title(loc="left") for ax in maps] == ["lia", "olia"]
    whole = frame(small)
    of = whole[whole["controller"] == "lia"]
    expected = of.groupby(["b.rate", "a.count"])["throughput_bps"].mean().to_numpy() / 1e6
    assert np.asarray(maps[0].collections[0].get_array()).ravel() == pytest.approx(expected)


def test_a_figure_says_how_many_maps_it_leaves_out() -> None:
    values = np.arange(4.0).reshape(2, 2)
    groups = {f"c{number}": values + number for number in range(7)}
    figure = ab.plot.swept_map(
        {"red": groups, "blue": groups},
        columns=["1", "2"],
        rows=["1", "2"],
        labels=("x", "y"),
        quantity="z",
    )
    assert len([ax for ax in figure.axes if ax.get_title(loc="left")]) == 12
    assert "(12 of 14 maps)" in figure.legends[0].get_title().get_text()


def test_a_map_of_scattered_points_is_refused(tmp_path: Path) -> None:
    rows = [
        {"a.count": f"{n}", "b.rate": f"{n} Mb/s", "seed": 1, "class": "red", "throughput_bps": n}
        for n in range(30)
    ]
    store = written(tmp_path / "store", rows)
    with pytest.raises(ValueError, match=r"30 of 900 pairs .* no grid; leave --down out"):
        draw(store, Question("a.count", down="b.rate"))


def test_differences_are_of_runs_with_the_same_seed(small: Store, tmp_path: Path) -> None:
    asked = Question("a.count", by="controller", where={"b.rate": "2 Mb/s"}, paired="lia")
    (ax,) = panels(draw(small, asked))
    whole = frame(small)
    of = whole[whole["b.rate"] == 2].set_index(["a.count", "controller", "seed"])["throughput_bps"]
    expected = [paired(of[at]["olia"] / 1e6, of[at]["lia"] / 1e6) for at in (5, 10, 20)]
    assert ax.lines[0].get_ydata() == pytest.approx([one.mean for one in expected])
    assert ends(ax)[:3] == [pytest.approx((one.low, one.high)) for one in expected]
    assert ax.get_ylabel().replace("\n", " ") == "throughput (Mb/s), difference to lia"
    maps = draw(small, Question("a.count", down="b.rate", paired="lia"))
    colours = maps.axes[0].collections[0]
    low, high = colours.get_clim()
    found = np.asarray(colours.get_array()).ravel()[:3]
    assert low == -high and found == pytest.approx([one.mean for one in expected])
    alone = [row for row in grid() if (row["controller"] == "lia") == (row["seed"] < 3)]
    with pytest.raises(ValueError, match="no run has a partner among those of lia"):
        draw(written(tmp_path / "alone", alone), asked)


def test_a_metric_over_another_has_a_point_for_each_configuration(small: Store) -> None:
    (ax,) = panels(draw(small, Question("throughput_bps", "rtt_mean_s")))
    whole = frame(small).groupby("configuration")[["throughput_bps", "rtt_mean_s"]].mean()
    found = np.concatenate([line.get_xydata() for line in ax.lines[:2]])
    expected = whole.to_numpy() * [1e-6, 1]
    order, other = (np.lexsort(one.T) for one in (found, expected))
    assert found[order] == pytest.approx(expected[other])
    assert ax.get_xlabel() == "throughput (Mb/s), more is better →"
    assert ax.get_ylabel().replace("\n", " ") == "← less is better, rtt mean (s)"
    turned = draw(small, Question("throughput_bps", "rtt_mean_s", better="rtt_mean_s:more"))
    assert "more is better →" in panels(turned)[0].get_ylabel().replace("\n", " ")


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=20),
    st.tuples(st.booleans(), st.booleans()),
)
def test_on_the_front_are_the_points_that_none_is_better_than(
    points: list[tuple[int, int]], more: tuple[bool, bool]
) -> None:
    values = np.array(points, dtype=float)
    sign = np.where(more, 1.0, -1.0)

    def beaten(one: Any) -> bool:
        ahead = sign * (values - one)
        return bool(((ahead >= 0).all(axis=1) & (ahead > 0).any(axis=1)).any())

    expected = {tuple(one) for one in values if not beaten(one)}
    found = [tuple(one) for one in values[front(values, more)]]
    assert len(found) == len(expected) and set(found) == expected


def test_names_of_metrics_say_which_way_is_better() -> None:
    assert ways(None, ["goodput_bps", "queue_delay_p95_s"]) == [True, False]
    assert ways({"goodput": "less"}, ["goodput", "loss"]) == [False, False]
    with pytest.raises(ValueError, match=r"say it with --better cwnd_p50_segments:more"):
        ways(None, ["cwnd_p50_segments", "loss"])
    with pytest.raises(ValueError, match="write METRIC:more or METRIC:less"):
        ways("loss", ["loss", "jain"])
    with pytest.raises(ValueError, match="did you mean `less`"):
        ways("loss:les", ["loss", "jain"])


def test_rows_are_fixed_by_one_value_or_several(small: Store, tmp_path: Path) -> None:
    for where in (
        {"b.rate": "2 Mb/s", "a.count": "5,20"},
        {"b.rate": "2 Mb/s", "a.count": [20, 5]},
    ):
        (ax,) = panels(draw(small, Question("a.count", where=where)))
        assert list(ax.lines[0].get_xdata()) == [5, 20]
    commas = [{**row, "controller": "my:a=1,b=2"} for row in grid() if row["controller"] == "lia"]
    store = written(tmp_path / "store", commas)
    asked = Question("a.count", where={"controller": "my:a=1,b=2", "b.rate": "2 Mb/s"})
    assert len(panels(draw(store, asked))) == 1
    with pytest.raises(ValueError, match=r"no row has a\.count = '7'; its values are 5, 10, 20"):
        draw(small, Question("a.count", where={"a.count": "5,7"}))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"x": "a.coun"}, "did you mean `a.count`"),
        ({"x": "a.count", "y": "class"}, "class is no number; columns of numbers are"),
        ({"x": "a.count", "by": "rtt_mean_s"}, "--by is rtt_mean_s, a metric"),
        ({"x": "a.count", "down": "rtt_mean_s"}, "--down is rtt_mean_s, a metric"),
        ({"x": "a.count", "down": "a.count"}, "--x and --down are both a.count"),
        ({"x": "a.count", "down": "controller"}, "--by is controller, which is an axis"),
        ({"x": "a.count", "panels": "a.count"}, "--panels has a.count, which --x draws"),
        ({"x": "a.count", "panels": "b.rate,b.rate"}, "--panels has b.rate twice"),
        ({"x": "a.count", "panels": "rtt_mean_s"}, "--panels has rtt_mean_s, a metric"),
        ({"x": "a.count", "better": "rtt_mean_s:less"}, "give a metric as --x"),
        ({"x": "throughput_bps"}, "--x and --y are both throughput_bps"),
        ({"x": "rtt_mean_s", "down": "a.count"}, "--down needs an axis as --x"),
        ({"x": "rtt_mean_s", "paired": "lia"}, "--paired needs an axis as --x"),
        ({"x": "a.count", "panels": "b.rate", "paired": "lai"}, "did you mean `lia`"),
        ({"x": "a.count", "table": "links"}, "has no table links"),
        ({"x": "a.count"}, r"b\.rate varies \(2 Mb/s, 4 Mb/s\).*--where b\.rate=2 Mb/s"),
    ],
)
def test_what_makes_no_figure_is_refused_with_what_to_write(
    small: Store, asked: dict[str, Any], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        draw(small, Question(**asked))


def test_what_follows_from_a_drawn_axis_need_not_be_fixed(tmp_path: Path) -> None:
    sweep(
        "link.ap1.rate=1 Mb/s,2 Mb/s; link.ap2.rate=2 Mb/s,3 Mb/s",
        derived={"link.line.delay": Expression.read("10 * link.ap1.rate ms", ["link.ap1.rate"])},
        tables=("links",),
    ).run(tmp_path / "store")
    figure = draw(Store(tmp_path / "store"), Question("link.ap2.rate", "throughput_bps"))
    assert len(panels(figure)) == 2
    links = draw(Store(tmp_path / "store"), Question("link.ap1.rate", "utilisation", table="links"))
    assert [ax.get_title(loc="left") for ax in panels(links)] == ["ap1", "ap2"]  # those with a rate


def test_a_figure_over_other_settings_than_its_axes_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    sweep(seeds=2).run(folder)
    sweep(seeds=2, overrides=(*SHORT, "duration=3 s")).run(folder)
    with pytest.raises(ValueError, match=r"of two configurations, .*duration.*--by overrides"):
        draw(Store(folder), Question("link.ap1.rate", "throughput_bps"))


def test_a_figure_that_would_average_over_an_axis_unseen_is_refused(there: Path) -> None:
    with pytest.raises(ValueError, match=r"link\.ap1\.rate varies .* is not in the figure"):
        draw(Store(there), Question("controller", "throughput_bps", by="class"))
    draw(
        Store(there), Question("controller", "throughput_bps", "class", {"link.ap1.rate": "1 Mb/s"})
    )
    with pytest.raises(ValueError, match="its values are 1 Mb/s, 2 Mb/s"):
        draw(Store(there), Question("controller", "goodput_bps", "class", {"link.ap1.rate": "7"}))


@pytest.mark.parametrize("suffix", FORMATS)
def test_an_export_has_the_rows_of_a_table(there: Path, tmp_path: Path, suffix: str) -> None:
    import pandas

    file = tmp_path / f"x{suffix}"
    export(Store(there), "classes", file, suffix)
    read = {".csv": pandas.read_csv, ".parquet": pandas.read_parquet}
    found = read.get(suffix, pandas.read_feather)(file)
    expected = Store(there).read("classes").to_pandas()
    pandas.testing.assert_frame_equal(found, expected, check_dtype=suffix != ".csv")


def test_a_notebook_shows_what_was_swept(tmp_path: Path) -> None:
    found = ab.sweep(
        "khalili/scenario-c",
        {"link.ap1.rate": [f"{n} Mb/s" for n in (1, 2, 3, 4)]},
        controllers=["lia"],
        overrides=SHORT,
        store=tmp_path / "store",
    )
    assert repr(found) == (
        "<Swept khalili/scenario-c: 4 runs; link.ap1.rate = 1 Mb/s, 2 Mb/s, 3 Mb/s and 1 more; "
        "controller = lia>"
    )
    page = found._repr_html_()
    assert "4 runs" in page and "3 Mb/s, 4 Mb/s" in page and str(tmp_path) in page


def test_the_command_takes_what_figures_take(small: Store, tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from anabranch.cli.application import app

    def plot(*words: str) -> Any:
        given = ("sweep", "plot", str(small.folder), "--output", str(tmp_path / "x.svg"))
        return CliRunner().invoke(app, [*given, *words], catch_exceptions=True)

    fixed = ("--where", "b.rate=4 Mb/s", "--where", "a.count=5", "--where", "a.count=20")
    assert plot("--x", "a.count", "--paired", "lia", *fixed).exit_code == 0
    text = (tmp_path / "x.svg").read_text()
    assert "difference to lia" in text and "b.rate = 4 Mb/s" in text
    assert plot("--x", "a.count", "--down", "b.rate", "--panels", "class").exit_code == 0
    assert (
        plot("--x", "throughput_bps", "--y", "rtt_mean_s", "--better", "rtt_mean_s:more").exit_code
        == 0
    )
    assert "more is better" in (tmp_path / "x.svg").read_text()
    wrong = plot("--x", "a.count", "--where", "b.rate")
    assert wrong.exit_code and "write COLUMN=VALUE, or COLUMN=VALUE,VALUE" in str(wrong.exception)

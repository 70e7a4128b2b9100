"""Sweeps: what is run, what a store keeps, and what becomes of what goes wrong."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import anabranch as ab
from anabranch import _core
from anabranch.statistics import interval
from anabranch.sweeps import Store
from anabranch.sweeps.answers import frame, tables
from anabranch.sweeps.configuration import Configuration, Task
from anabranch.sweeps.libraries import library
from anabranch.sweeps.rows import version
from anabranch.sweeps.until import Until
from anabranch.sweeps.work import OtherVersion, work

pytest.importorskip("pyarrow")

from quick import SHORT, rows, sweep


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that tests only read."""
    folder = tmp_path_factory.mktemp("sweep") / "store"
    sweep(tables=("links",)).run(folder)
    return folder


def test_every_combination_is_run_once_for_each_seed(there: Path) -> None:
    runs = Store(there).read().to_pydict()
    assert len(runs["seed"]) == len(sweep()) == 2 * 2 * 3
    assert set(runs["controller"]) == {"lia", "olia"}
    assert set(runs["link.ap1.rate"]) == {"1 Mb/s", "2 Mb/s"}
    assert set(runs["version"]) == {version()} and _core.SOURCES in version()
    classes = Store(there).read("classes").to_pydict()
    assert len(classes["seed"]) == 2 * 12
    assert set(classes["class"]) == {"multipath", "single-path"}
    assert {*classes["class_controller"]} == {"lia", "olia", "reno"}
    assert tables(Store(there)) == ["runs", "classes", "links"]


def test_a_row_is_what_a_run_by_itself_gives(there: Path) -> None:
    (row,) = [
        one
        for one in Store(there).read("classes").to_pylist()
        if (one["controller"], one["seed"], one["class"]) == ("olia", 2, "multipath")
        and one["link.ap1.rate"] == "2 Mb/s"
    ]
    alone = ab.run(
        "khalili/scenario-c", [2], controller="olia", overrides=[*SHORT, "link.ap1.rate=2 Mb/s"]
    )
    assert row["throughput_bps"] == alone.rate("multipath")[0]
    assert row["rtt_mean_s"] == alone.runs[0].classes.rtt_mean_s[0]
    (run,) = [
        one
        for one in Store(there).read().to_pylist()
        if one["configuration"] == row["configuration"] and one["seed"] == 2
    ]
    assert run["digest"] == alone.runs[0].digest


def test_started_again_a_sweep_runs_what_is_missing_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    assert sweep(seeds=2).run(folder).made == 8
    again = sweep(seeds=2).run(folder)
    assert (again.made, again.there) == (0, 8)
    more = sweep("link.ap1.rate=1 Mb/s,2 Mb/s,3 Mb/s", seeds=2).run(folder)
    assert (more.made, more.there) == (4, 8)
    assert sweep("link.ap1.rate=1 Mb/s,2 Mb/s,3 Mb/s", seeds=3).run(folder).made == 6
    assert sweep(controllers=("lia", "olia", "balia"), seeds=1).run(folder).made == 2


def test_equal_plans_are_one_configuration_however_they_are_asked_for() -> None:
    one = sweep("link.ap1.rate=1 Mb/s,1000 kb/s", controllers=("lia", "LIA"))
    assert len(one.configurations) == 1
    law = "growth = min(max_s(w_s/rtt_s^2) / sum_s(x_s)^2, 1/w); backoff = w/2"
    assert len(sweep(controllers=("lia", law)).configurations) == 4


@pytest.mark.parametrize("workers", [1, 2])
def test_the_rows_are_the_same_bytes_on_any_number_of_threads(
    there: Path, tmp_path: Path, workers: int
) -> None:
    sweep(tables=("links",)).run(tmp_path / "store", workers=workers)
    for table in ("runs", "classes", "links"):
        assert rows(tmp_path / "store", table) == rows(there, table)


def test_the_rows_are_the_same_bytes_on_workers_of_dask(there: Path, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    sweep(tables=("links",)).run(tmp_path / "store", on="dask", workers=2)
    for table in ("runs", "classes", "links"):
        assert rows(tmp_path / "store", table) == rows(there, table)


def test_replications_go_on_until_intervals_are_narrow_whoever_makes_them(tmp_path: Path) -> None:
    until = Until("throughput_bps", 0.05, 24)
    one = sweep(seeds=3, until=until)
    made = one.run(tmp_path / "one", workers=2)
    assert 12 < made.made <= 4 * 24
    again = one.run(tmp_path / "one")
    assert (again.made, again.there) == (0, made.made)
    other = tmp_path / "other"
    sweep(seeds=5).run(other)  # what is there already decides nothing
    one.run(other, workers=1)
    counts = [
        Store(folder).read().group_by("configuration").aggregate([("seed", "max")]).to_pydict()
        for folder in (tmp_path / "one", other)
    ]
    for key, most in zip(counts[0]["configuration"], counts[0]["seed_max"], strict=True):
        place = counts[1]["configuration"].index(key)
        assert counts[1]["seed_max"][place] == max(most, 5)
        found = frame(Store(tmp_path / "one"))
        own = found[found["configuration"] == key].groupby("class")["throughput_bps"]
        for _, values in own:
            width = interval(values.to_numpy())
            assert most == 24 or width.half <= 0.05 * width.mean


FRAIL = """
import anabranch as ab

class Frail(ab.Controller):
    def __init__(self, paths, random):
        super().__init__(paths, random)
        self.ill = random.random() < 0.5

    def on_ack(self, path):
        if self.ill and path.now > 1:
            raise RuntimeError("it broke")
        path.window += 1 / path.window
"""


def test_a_run_that_fails_is_kept_with_its_reason_and_the_others_go_on(tmp_path: Path) -> None:
    (tmp_path / "frail.py").write_text(FRAIL)
    folder = tmp_path / "store"
    made = sweep(
        "link.ap1.rate=1 Mb/s", controllers=(f"{tmp_path / 'frail.py'}:Frail",), seeds=8
    ).run(folder)
    assert made.made + made.failed == 8 and made.made and made.failed
    failures = Store(folder).failures()
    assert len(failures) == made.failed
    assert all("it broke" in one.reason for one in failures)
    runs = Store(folder).read().to_pydict()
    assert {*runs["seed"], *(one.seed for one in failures)} == set(range(1, 9))
    (tmp_path / "frail.py").write_text(FRAIL.replace("< 0.5", "< 0"))  # mended: another class
    again = sweep(
        "link.ap1.rate=1 Mb/s", controllers=(f"{tmp_path / 'frail.py'}:Frail",), seeds=8
    ).run(folder)
    assert (again.made, again.failed) == (8, 0)


def test_a_worker_of_another_version_is_refused_by_name() -> None:
    (one, *_) = sweep().configurations
    with pytest.raises(OtherVersion, match=r"has anabranch .* and the sweep is of 0\.0"):
        work(Task(((one, (1,)),), ("classes",), "0.0"))


def test_tables_that_are_asked_for_later_are_kept_of_all_runs(there: Path, tmp_path: Path) -> None:
    folder = tmp_path / "store"
    sweep(seeds=2).run(folder)
    made = sweep(tables=("links",)).run(folder)
    assert made.made == 12
    assert Store(folder).read("links").num_rows == Store(there).read("links").num_rows
    assert sweep(tables=("links",)).run(folder).made == 0
    assert sweep().run(folder).made == 0
    assert rows(folder) == rows(there)


def test_access_points_are_in_the_key_of_a_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    one = Configuration(ab.load("cs218/vanet").text, "x")
    key, media = one.key, one._media()
    assert media["medium"][0]["access"] == "roadside"
    monkeypatch.setattr(Configuration, "_media", lambda self: media | {"node": []})
    assert Configuration(one.text, "x").key != key


def test_a_controller_that_is_set_twice_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"controllers has lia, and flow\.multipath\.controller sets"
    ):
        _ = sweep("flow.multipath.controller=balia,reno").configurations
    assert len(sweep("flow.single-path.controller=cubic,reno").configurations) == 4
    assert len(sweep("flow.multipath.controller=balia,reno", controllers=()).configurations) == 2


def test_a_law_in_a_file_that_an_axis_names_is_in_the_configuration_as_text(tmp_path: Path) -> None:
    law = tmp_path / "mine.law"
    law.write_text("law mine\ngrowth = 1/w_tot\nbackoff = w/2\n")
    (one,) = sweep(f"flow.multipath.controller={law}", controllers=()).configurations
    law.unlink()
    assert one.label == "mine" and one.plan.classes[0].controller == "mine"


def test_a_class_whose_file_changes_while_a_sweep_runs_fails_and_is_told(tmp_path: Path) -> None:
    file = tmp_path / "frail.py"
    file.write_text(FRAIL.replace("< 0.5", "< 0"))
    (one, *_) = sweep(controllers=(f"{file}:Frail",)).configurations
    task = Task(((one, (1,)),), ("classes",), version())
    assert work(task).runs == 1
    file.write_text(FRAIL.replace("< 0.5", "< 0") + "\nLATER = 1\n")
    outcome = work(task)
    assert outcome.runs == 0 and "was changed while the sweep ran" in outcome.failures[0].reason


def test_a_library_that_is_missing_is_named_with_what_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(ValueError, match=r"duckdb, which is not installed: .*anabranch\[cluster\]"):
        library("duckdb")


def test_two_controllers_of_one_name_are_refused(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.py").write_text(
            f"import anabranch as ab\nclass C(ab.Controller):\n    {name} = 1\n"
        )
    both = tuple(f"{tmp_path / name}.py:C" for name in ("a", "b"))
    with pytest.raises(ValueError, match="two controllers are called py:C"):
        _ = sweep(controllers=both).configurations


def test_what_is_set_beside_axes_is_a_column(tmp_path: Path) -> None:
    for settings in (SHORT, (*SHORT, "link.ap2.rate=20 Mb/s")):
        ab.sweep(
            "khalili/scenario-c", overrides=settings, store=tmp_path / "s", tell=lambda _: None
        )
    found = Store(tmp_path / "s").read().column("overrides").to_pylist()
    assert sorted(found) == sorted(["; ".join(SHORT), "; ".join((*SHORT, "link.ap2.rate=20 Mb/s"))])

"""Sweeps: what is run, what a store keeps, and what becomes of what goes wrong."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import anabranch as ab
from anabranch import _core
from anabranch.statistics import interval
from anabranch.sweeps import Store, StoreError, Sweep, axis
from anabranch.sweeps.answers import Question, draw, frame, query, tables
from anabranch.sweeps.configuration import Configuration, Task
from anabranch.sweeps.expressions import Expression
from anabranch.sweeps.libraries import library
from anabranch.sweeps.rows import version
from anabranch.sweeps.until import Until
from anabranch.sweeps.work import OtherVersion, work

pyarrow = pytest.importorskip("pyarrow")

SHORT = (
    *("duration=2 s", "warmup=0 s", "flow.multipath.count=1", "flow.single-path.count=1"),
    *("flow.multipath.spread=0 s", "flow.single-path.spread=0 s"),
)
RATES = axis("link.ap1.rate=1 Mb/s,2 Mb/s")


def sweep(*axes: str, controllers: tuple[str, ...] = ("lia", "olia"), **options: object) -> Sweep:
    found = tuple(axis(text) for text in axes) or (RATES,)
    given = {"seeds": 3, "overrides": SHORT, **options}
    scenario = ab.load("khalili/scenario-c")
    return Sweep(scenario, found, controllers, **given)  # type: ignore[arg-type]


def rows(folder: Path, table: str = "classes") -> bytes:
    """A table of a store in bytes."""
    sink = pyarrow.BufferOutputStream()
    whole = Store(folder).read(table)
    with pyarrow.ipc.new_stream(sink, whole.schema) as stream:
        stream.write_table(whole.combine_chunks())
    return bytes(sink.getvalue())


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


def test_runs_that_two_drivers_made_count_once(there: Path, tmp_path: Path) -> None:
    folder = tmp_path / "store"
    sweep(seeds=2, tables=("links",)).run(folder)
    other = tmp_path / "other"
    sweep(seeds=3, tables=("links",)).run(other, workers=1)
    for part in Store(other).names():  # as a second driver would have moved them there
        shutil.copytree(other / "parts" / part, folder / "parts" / part, dirs_exist_ok=True)
    for table in ("runs", "classes", "links"):
        assert rows(folder, table) == rows(there, table)
    before, after = Store(folder).compact()
    assert before > 1 and after == 1
    for table in ("runs", "classes", "links"):
        assert rows(folder, table) == rows(there, table)
    assert sweep(tables=("links",)).run(folder).made == 0


def test_what_is_no_store_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(StoreError, match="has other things in it"):
        Store.make(tmp_path)
    with pytest.raises(StoreError, match=r"it has no store\.json"):
        Store(tmp_path)
    with pytest.raises(StoreError, match="is a file"):
        Store.make(tmp_path / "notes.txt")
    assert [file.name for file in tmp_path.iterdir()] == ["notes.txt"]


def test_a_store_of_a_newer_format_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    Store.make(folder)
    (folder / "store.json").write_text(json.dumps({"kind": "anabranch sweep", "format": 99}))
    with pytest.raises(StoreError, match="says format 99"):
        Store(folder)
    (folder / "store.json").write_text("{")
    with pytest.raises(StoreError, match=r"store\.json is broken"):
        Store.make(folder)


def test_a_broken_part_is_named_and_nothing_else_is_touched(there: Path, tmp_path: Path) -> None:
    folder = tmp_path / "store"
    shutil.copytree(there, folder)
    name = Store(folder).names()[0]
    file = folder / "parts" / name / "runs.parquet"
    file.write_bytes(file.read_bytes()[:-20])
    before = sorted(str(one) for one in folder.rglob("*"))
    with pytest.raises(
        StoreError, match=rf"{name}/runs\.parquet is broken.*delete its folder {name}"
    ):
        sweep(tables=("links",)).run(folder)
    assert sorted(str(one) for one in folder.rglob("*")) == before
    shutil.rmtree(folder / "parts" / name)
    assert sweep(tables=("links",)).run(folder).made > 0
    assert rows(folder) == rows(there)


def test_a_disk_that_is_full_costs_no_part_that_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "store"
    sweep(seeds=1).run(folder)
    parts = Store(folder).names()

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("anabranch.sweeps.store.write", full)
    with pytest.raises(OSError, match=f"No space left on device: '{folder}'"):
        sweep(seeds=2).run(folder)
    assert Store(folder).names() == parts
    assert not list((folder / "parts").glob(".part-*"))


DRIVER = """
import sys
import anabranch as ab
from anabranch.sweeps import Sweep, axis
sweep = Sweep(
    ab.load("khalili/scenario-c"),
    (axis("link.ap1.rate=1 Mb/s,2 Mb/s"),),
    ("lia", "olia"),
    30,
    (
        *("duration=2 s", "warmup=0 s", "flow.multipath.count=1", "flow.single-path.count=1"),
        *("flow.multipath.spread=0 s", "flow.single-path.spread=0 s"),
    ),
)
sweep.run(sys.argv[1], workers=2)
"""


def test_drivers_that_are_killed_at_any_moment_lose_and_double_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    chance = random.Random(1)
    for _ in range(6):
        driver = subprocess.Popen([sys.executable, "-c", DRIVER, str(folder)])
        time.sleep(0.5 + chance.random())
        os.kill(driver.pid, signal.SIGKILL)
        driver.wait()
    subprocess.run([sys.executable, "-c", DRIVER, str(folder)], check=True)
    runs = Store(folder).read().to_pydict()
    assert len(runs["seed"]) == 120
    assert len(set(zip(runs["configuration"], runs["seed"], strict=True))) == 120
    classes = Store(folder).read("classes").to_pydict()
    assert len(classes["seed"]) == 240
    for left in (folder / "parts").glob(".part-*"):
        os.utime(left, (0, 0))
    Store(folder).compact()
    assert not list((folder / "parts").glob(".part-*"))
    assert Store(folder).read().to_pydict() == runs


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
    with pytest.raises(ValueError, match="the tables are runs, classes, links"):
        query(Store(there), "select * from nothing")


def test_a_figure_has_a_line_for_each_controller_and_a_panel_for_each_class(there: Path) -> None:
    figure = draw(Store(there), Question("link.ap1.rate", "throughput_bps"))
    panels = [ax for ax in figure.axes if ax.lines]
    assert len(panels) == 2
    whole = frame(Store(there))
    of = whole[(whole["class"] == "multipath") & (whole["controller"] == "lia")]
    expected = of.groupby("link.ap1.rate")["throughput_bps"].mean() / 1e6
    assert panels[0].lines[0].get_ydata() == pytest.approx(expected.tolist())
    assert panels[0].get_xlabel() == "link.ap1.rate (Mb/s)"


def test_what_follows_from_a_drawn_axis_need_not_be_fixed(tmp_path: Path) -> None:
    sweep(
        "link.ap1.rate=1 Mb/s,2 Mb/s; link.ap2.rate=2 Mb/s,3 Mb/s",
        derived={"link.line.delay": Expression.read("10 * link.ap1.rate ms", ["link.ap1.rate"])},
        tables=("links",),
    ).run(tmp_path / "store")
    figure = draw(Store(tmp_path / "store"), Question("link.ap2.rate", "throughput_bps"))
    assert len([ax for ax in figure.axes if ax.lines]) == 2
    links = draw(Store(tmp_path / "store"), Question("link.ap1.rate", "utilisation", table="links"))
    assert len([ax for ax in links.axes if ax.lines]) == 4


def test_a_figure_over_other_settings_than_its_axes_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    sweep(seeds=2).run(folder)
    sweep(seeds=2, overrides=(*SHORT, "duration=3 s")).run(folder)
    with pytest.raises(ValueError, match=r"of two configurations, .*--where configuration="):
        draw(Store(folder), Question("link.ap1.rate", "throughput_bps"))


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


def test_a_store_that_was_half_made_is_made(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    (folder / "parts").mkdir(parents=True)
    assert sweep(seeds=1).run(folder).made == 4


def test_a_bit_that_flips_is_found(there: Path, tmp_path: Path) -> None:
    folder = tmp_path / "store"
    shutil.copytree(there, folder)
    file = folder / "parts" / Store(folder).names()[0] / "classes.parquet"
    whole, silent = file.read_bytes(), 0
    expected = rows(folder)
    for place in range(8, len(whole), max(1, len(whole) // 60)):
        broken = bytearray(whole)
        broken[place] ^= 4
        file.write_bytes(broken)
        try:
            silent += rows(folder) != expected
        except (StoreError, OSError):
            continue
    assert silent < 3  # in what no checksum covers


def test_readers_go_on_while_a_store_is_compacted(there: Path, tmp_path: Path) -> None:
    folder = tmp_path / "store"
    shutil.copytree(there, folder)
    for part in Store(folder).names()[:1]:
        for number in range(20):
            shutil.copytree(folder / "parts" / part, folder / "parts" / f"copy{number}")
    code = "import sys\nfrom anabranch.sweeps import Store\nprint(Store(sys.argv[1]).compact())"
    compacting = subprocess.Popen([sys.executable, "-c", code, str(folder)])
    while compacting.poll() is None:
        assert Store(folder).read().num_rows == 12
    assert compacting.returncode == 0 and len(Store(folder).names()) == 1
    assert rows(folder) == rows(there)


def test_two_do_not_compact_a_store_together(there: Path, tmp_path: Path) -> None:
    folder = tmp_path / "store"
    shutil.copytree(there, folder)
    with Store(folder)._alone(), pytest.raises(StoreError, match="by another process"):
        Store(folder).compact()


def test_a_part_that_a_driver_is_writing_is_left_alone_by_compact(
    there: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "store"
    shutil.copytree(there, folder)
    writing = folder / "parts" / ".part-mine"
    writing.mkdir()
    Store(folder).compact()
    assert writing.exists()
    os.utime(writing, (0, 0))
    Store(folder).compact()
    assert not writing.exists()


def test_a_library_that_is_missing_is_named_with_what_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(ValueError, match=r"duckdb, which is not installed: .*anabranch\[cluster\]"):
        library("duckdb")


def test_a_figure_that_would_average_over_an_axis_unseen_is_refused(there: Path) -> None:
    with pytest.raises(ValueError, match=r"link\.ap1\.rate varies .* is not in the figure"):
        draw(Store(there), Question("controller", "throughput_bps", by="class"))
    draw(
        Store(there), Question("controller", "throughput_bps", "class", {"link.ap1.rate": "1 Mb/s"})
    )
    with pytest.raises(ValueError, match="its values are 1 Mb/s, 2 Mb/s"):
        draw(Store(there), Question("controller", "goodput_bps", "class", {"link.ap1.rate": "7"}))

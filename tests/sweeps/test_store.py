"""The store of a sweep: what is in it stays, and is found, whatever happens to those who use it."""

from __future__ import annotations

import fcntl
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

from quick import SHORT, rows, sweep  # noqa: E402 needs pyarrow

from anabranch.statistics import interval  # noqa: E402
from anabranch.sweeps import Failure, Store, StoreError, merging  # noqa: E402
from anabranch.sweeps.done import Done  # noqa: E402
from anabranch.sweeps.parts import joined, once  # noqa: E402
from anabranch.sweeps.rows import version  # noqa: E402
from anabranch.sweeps.summary import summary  # noqa: E402
from anabranch.sweeps.until import Until  # noqa: E402
from anabranch.sweeps.verifying import broken, differing, sample  # noqa: E402

PROGRAM = [sys.executable, "-c", "from anabranch.cli import main; main()", "sweep"]


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that tests only read."""
    folder = tmp_path_factory.mktemp("sweep") / "store"
    sweep(tables=("links",)).run(folder)
    return folder


@pytest.fixture
def folder(there: Path, tmp_path: Path) -> Path:
    """A copy of that store."""
    shutil.copytree(there, tmp_path / "store")
    return tmp_path / "store"


def split(store: Store, source: Path, copies: int = 1) -> None:
    """Puts each run of another store into a part of its own, several times."""
    whole = {table: Store(source).read(table) for table in ("runs", "classes", "links")}
    runs = whole["runs"].to_pylist()
    for copy in range(copies):
        for number, run in enumerate(runs):
            own = [
                pyarrow.compute.equal(table["configuration"], run["configuration"])
                for table in whole.values()
            ]
            of = {
                name: table.filter(mask).filter(
                    pyarrow.compute.equal(
                        table.filter(mask)["seed"], pyarrow.scalar(run["seed"], pyarrow.uint64())
                    )
                )
                for (name, table), mask in zip(whole.items(), own, strict=True)
            }
            store.add(f"run{number}x{copy}", of)


def listing(folder: Path) -> dict[str, int]:
    """The files in a folder, with their sizes."""
    return {str(one): one.stat().st_size for one in sorted(folder.rglob("*")) if one.is_file()}


def anabranch(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """Runs a command of `anabranch sweep`."""
    command = [*PROGRAM, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


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


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            {"kind": "anabranch campaign", "format": 1},
            "is no store of a sweep: .*'anabranch campaign'",
        ),
        ({"format": 1}, "is no store of a sweep: .*says kind None"),
        ({"kind": "anabranch sweep", "format": "1"}, "its format is '1'"),
        ({"kind": "anabranch sweep"}, "its format is None"),
        ([], "is broken"),
    ],
)
def test_what_a_folder_is_instead_of_a_store_is_said(
    tmp_path: Path, content: object, said: str
) -> None:
    Store.make(tmp_path)
    (tmp_path / "store.json").write_text(json.dumps(content))
    with pytest.raises(StoreError, match=said):
        Store(tmp_path)


def test_many_small_parts_become_few_and_each_row_is_written_few_times(
    there: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merging, "FAN", 3)
    store = Store.make(tmp_path / "store")
    split(Store.make(tmp_path / "single"), there, copies=3)
    singles = tmp_path / "single" / "parts"
    names = sorted(one.name for one in singles.iterdir())
    assert len(names) == 36
    for number, name in enumerate(names):
        shutil.copytree(singles / name, store.parts / name)
        if number % 3 == 2:
            store.tidy()
        assert len(store.names()) < 3 + 3 * 3
    times = {int(name.rpartition("-")[2]) if "-" in name else 0 for name in store.names()}
    assert 1 < max(times) <= 3  # 36 < 3^4
    for table in ("runs", "classes", "links"):
        assert rows(store.folder, table) == rows(there, table)


def test_large_parts_are_not_read_to_merge_small_ones(
    there: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store.make(tmp_path / "store")
    split(store, there)
    big = store.names()[0]
    (store.parts / big / "runs.parquet").write_bytes(bytes(merging.SMALL_BYTES))  # is not read
    monkeypatch.setattr(merging, "FAN", 4)
    assert store.tidy() == 11
    assert big in store.names() and len(store.names()) == 2


def test_few_parts_are_left_alone(folder: Path) -> None:
    before = listing(folder)
    assert Store(folder).tidy() == 0
    assert listing(folder).items() - {(str(folder / ".lock"), 0)} == before.items()


def test_a_broken_part_is_left_where_it_is_when_others_are_merged(
    there: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store.make(tmp_path / "store")
    split(store, there)
    ill = store.parts / store.names()[3] / "classes.parquet"
    content = bytearray(ill.read_bytes())
    content[len(content) // 4] ^= 255
    ill.write_bytes(content)
    monkeypatch.setattr(merging, "FAN", 4)
    assert store.tidy() == 11
    assert len(store.names()) == 2 and ill.exists()
    (said,) = broken(store)
    assert said.startswith(f"{ill} is broken")
    done = anabranch("verify", store.folder)
    assert done.returncode == 1 and str(ill) in done.stdout
    with pytest.raises(StoreError, match=r"classes\.parquet is broken"):
        store.compact()
    runs = ill.with_name("runs.parquet")
    runs.write_bytes(runs.read_bytes()[:-9])
    done = anabranch("status", store.folder)
    assert done.returncode == 2 and str(runs) in done.stderr


def test_while_another_process_merges_parts_are_left_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merging, "FAN", 2)
    names = Store(folder).names()
    with open(folder / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert Store(folder).tidy() == 0
        with pytest.raises(StoreError, match="by another process"):
            Store(folder).compact()
    assert Store(folder).names() == names


@pytest.mark.parametrize("moment", ["_replace", "rmtree", "rename"])
def test_a_merge_that_is_killed_at_any_moment_loses_nothing_and_the_next_one_ends_it(
    there: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    class Killed(BaseException):
        pass

    def killed(*_: object, **__: object) -> None:
        raise Killed

    store = Store(folder)
    with monkeypatch.context() as patch:
        if moment == "_replace":
            patch.setattr(merging, "_replace", killed)
        elif moment == "rmtree":
            patch.setattr(merging.shutil, "rmtree", killed)
        else:
            once_only = iter([os.rename])
            true = os.rename

            def second(source: Path, target: Path) -> None:
                if ".old-" in str(target):
                    next(once_only, killed)(source, target)
                else:
                    true(source, target)

            patch.setattr(merging.os, "rename", second)
        with pytest.raises(Killed):
            store.compact()
    for table in ("runs", "classes", "links"):
        assert rows(folder, table) == rows(there, table)
    store.compact()
    assert len(store.names()) == 1 and not list(store.parts.glob(".*"))
    assert rows(folder) == rows(there)


def test_a_list_of_parts_that_was_made_amid_a_merge_is_made_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(folder)
    before = store.names()
    true, calls = os.scandir, []

    def amid(path: Path) -> object:
        calls.append(path)
        if len(calls) == 1:  # what a reader sees that passed the new part's place before it came
            monkeypatch.setattr("anabranch.sweeps.store.os.scandir", true)
            store.compact()
            monkeypatch.setattr("anabranch.sweeps.store.os.scandir", amid)
            return true(folder / "failures")
        return true(path)

    monkeypatch.setattr("anabranch.sweeps.store.os.scandir", amid)
    assert len(before) > 1 and len(Store(folder).names()) == 1


def test_a_merge_takes_no_more_rows_at_a_time_than_fit(
    there: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store.make(tmp_path / "store")
    split(store, there)
    monkeypatch.setattr(merging, "CELL_BYTES", 10_000)  # so that the ends of files weigh nothing
    own = merging._weight(store.parts / store.names()[0])
    monkeypatch.setattr(merging, "MOST_BYTES", 5 * own)
    assert store.compact() == (12, 3)
    names = store.names()
    assert store.compact() == (3, 3)
    assert store.names() == names
    assert rows(store.folder) == rows(there)


def test_what_is_kept_of_a_run_is_known_after_parts_are_merged(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    sweep(seeds=2).run(folder)
    sweep(seeds=2, tables=("links",)).run(folder)
    before = rows(folder, "runs")
    Store(folder).compact()
    assert rows(folder, "runs") == before
    assert sweep(seeds=2, tables=("links",)).run(folder).made == 0
    assert len(Store(folder).done(version(), ["classes", "links"])) == 8


def test_configurations_are_written_once_and_found(there: Path, tmp_path: Path) -> None:
    given = sweep("link.ap1.rate=1..40:40 Mb/s").configurations
    store = Store.make(tmp_path / "store")
    store.keep(given[:50])
    before = listing(store.folder)
    store.keep(given[:50])
    assert listing(store.folder) == before
    store.keep(given)
    assert len(store.kept.files()) == 2
    for one in given:
        assert store.configuration(one.key) == one
    with pytest.raises(StoreError, match="has no configuration 0123"):
        store.configuration("0123")


def test_files_of_few_configurations_become_one(tmp_path: Path) -> None:
    given = sweep("link.ap1.rate=1..40:40 Mb/s").configurations
    store = Store.make(tmp_path / "store")
    for one in given:
        store.keep([one])
    store.compact()
    assert len(store.kept.files()) == 1
    assert [store.configuration(one.key) for one in given] == given


def test_a_broken_file_of_configurations_is_named(folder: Path) -> None:
    (file,) = Store(folder).kept.files()
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(StoreError, match=rf"{file} is broken.*delete {file.name}"):
        sweep(tables=("links",)).run(folder)
    file.unlink()
    assert sweep(tables=("links",)).run(folder).made == 0
    assert Store(folder).configuration(sweep().configurations[0].key) == sweep().configurations[0]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 2**64 - 1) | st.integers(0, 9))))
def test_runs_that_are_done_are_those_and_no_others(runs: list[tuple[str, int]]) -> None:
    table = pyarrow.table(
        {
            "configuration": pyarrow.array([key for key, _ in runs], pyarrow.string()),
            "seed": pyarrow.array([seed for _, seed in runs], pyarrow.uint64()),
        }
    )
    done = Done(table)
    assert len(done) == len(set(runs))
    assert all(one in done for one in runs)
    for key in "abcde":
        for seed in (0, 5, 2**64 - 1):
            assert ((key, seed) in done) == ((key, seed) in set(runs))


def test_failures_of_other_versions_are_told_apart_and_can_be_dropped(folder: Path) -> None:
    store = Store(folder)
    run = Store(folder).read().to_pylist()[0]
    made = Failure(run["configuration"], run["seed"], version(), "once", "")
    own, old = replace(made, seed=99, reason="it broke"), replace(made, version="0.0.1+old")
    store.fail("one", [made, old])
    store.fail("two", [own, old])
    assert store.failures() == [own, old] or store.failures() == [old, own]
    done = anabranch("status", folder)
    assert done.returncode == 1 and "1, and 1 of other versions" in done.stdout
    assert "it broke" in done.stdout and "once" not in done.stdout
    assert f"compact {folder} --drop-failures" in " ".join(done.stdout.split())
    store.compact()
    (file,) = (folder / "failures").glob("*.json")
    assert len(json.loads(file.read_text())) == len(store.failures()) == 2
    assert anabranch("compact", folder, "--drop-failures").returncode == 0
    assert not list((folder / "failures").iterdir())


def test_what_killed_drivers_had_begun_to_write_is_removed_when_it_is_old(folder: Path) -> None:
    left = [folder / "configurations/.x.parquet.ab", folder / "failures/.x.json.cd"]
    left.append(folder / ".store.json.ef")
    for file in left:
        file.write_text("half")
    Store(folder).compact()
    assert all(file.exists() for file in left)
    for file in left:
        os.utime(file, (0, 0))
    Store(folder).compact()
    assert not any(file.exists() for file in left)
    assert {".lock", ".merges"} <= {one.name for one in folder.iterdir()}


def test_columns_say_their_units_and_which_version_made_them(folder: Path) -> None:
    def said(schema: pyarrow.Schema) -> None:
        assert schema.field("throughput_bps").metadata[b"unit"] == b"bit/s"
        assert schema.field("rtt_p95_s").metadata[b"unit"] == b"s"
        assert b"95th percentile" in schema.field("rtt_p95_s").metadata[b"meaning"]
        assert schema.metadata[b"anabranch"] == version().encode()

    store = Store(folder)
    said(store.read("classes").schema)
    said(store.read("classes", ["throughput_bps", "rtt_p95_s"], coded=True).schema)
    store.compact()
    (name,) = store.names()
    said(parquet.read_schema(store.parts / name / "classes.parquet"))
    said(store.read("classes").schema)


def test_versions_of_rows_that_are_joined_are_all_named_whatever_their_order(there: Path) -> None:
    one = Store(there).read()
    other = one.replace_schema_metadata({b"anabranch": b"0.0.1"})
    for tables in ([one, other], [other, one], [joined([one, other]), one]):
        assert once(tables).schema.metadata[b"anabranch"].decode() == f"0.0.1, {version()}"


def test_equal_rows_are_equal_files(there: Path, tmp_path: Path) -> None:
    tables = {"runs": Store(there).read(), "classes": Store(there).read("classes")}
    stores = [Store.make(tmp_path / name) for name in ("one", "other")]
    stores[0].add("part", tables)
    chunked = {
        name: pyarrow.concat_tables([own.slice(0, 5), own.slice(5)]) for name, own in tables.items()
    }
    stores[1].add("part", chunked)
    for table in tables:
        files = [store.parts / "part" / f"{table}.parquet" for store in stores]
        assert files[0].read_bytes() == files[1].read_bytes()


def test_verify_names_the_columns_that_differ(there: Path, tmp_path: Path) -> None:
    whole, store = Store(there), Store.make(tmp_path / "store")
    store.keep(sweep().configurations)
    tables = {name: whole.read(name) for name in ("runs", "classes", "links")}
    rates = tables["classes"]["throughput_bps"].to_pylist()
    rates[0] += 1
    place = tables["classes"].column_names.index("throughput_bps")
    tables["classes"] = tables["classes"].set_column(
        place, "throughput_bps", pyarrow.array(rates, pyarrow.float64())
    )
    store.add("part", tables)
    drawn = sample(store, version(), 4)
    assert drawn == sample(store, version(), 4) and (drawn.mine, drawn.others) == (12, {})
    assert len({key for key, _, _ in drawn.runs}) == 4
    wrong = differing(store, sample(store, version(), 99).runs)
    assert list(wrong.values()) == ["classes.throughput_bps"]
    done = anabranch("verify", store.folder)
    assert done.returncode == 1 and "1 differ" in done.stdout
    assert "classes.throughput_bps" in done.stdout


def test_runs_of_other_versions_are_counted_by_verify(folder: Path) -> None:
    store = Store(folder)
    runs = store.read().to_pylist()
    old = [run | {"version": "0.0.1+old"} for run in runs[:5]]
    classes = [row | {"version": "0.0.1+old"} for row in store.read("classes").to_pylist()[:10]]
    tables = {
        "runs": pyarrow.Table.from_pylist(old, store.read().schema),
        "classes": pyarrow.Table.from_pylist(classes, store.read("classes").schema),
    }
    store.add("old", tables)
    done = anabranch("verify", folder, "--sample", "3")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 of 12 runs repeated: digests and rows are the same" in done.stdout
    assert "5 of 0.0.1+old" in done.stdout


def test_status_counts_each_run_once_and_writes_json(folder: Path) -> None:
    store = Store(folder)
    shutil.copytree(store.parts / store.names()[0], store.parts / "again")
    done = anabranch("status", folder, "--json", "-")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found == summary(store).to_json()
    assert (found["runs"], found["configurations"]) == (12, 4)
    assert found["versions"] == {version(): 12}
    assert found["axes"] == {"link.ap1.rate": {"1 Mb/s": 6, "2 Mb/s": 6}}
    assert found["controllers"] == {"lia": 6, "olia": 6}
    assert found["parts"] == len(store.names())
    assert found["rows"]["runs"] > 12
    assert found["bytes"] == sum(size for file, size in listing(store.parts).items())


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_how_many_seeds_more_is_what_intervals_say(data: st.DataObject) -> None:
    values = data.draw(
        st.lists(st.floats(-1e9, 1e9) | st.just(float("nan")), min_size=6, max_size=12)
    )
    until = Until("goodput_bps", 0.1, 50)
    classes = [("a", "b")[seed % 2] for seed in range(len(values))]
    table = pyarrow.table(
        {
            "configuration": ["k"] * len(values),
            "seed": pyarrow.array(range(1, len(values) + 1), pyarrow.uint64()),
            "version": ["v"] * len(values),
            "class": classes,
            "goodput_bps": values,
        }
    )

    class Given:
        def read(self, *_: object, **__: object) -> pyarrow.Table:
            return table

    need = 0
    for name in "ab":
        pairs = zip(values, classes, strict=True)
        own = [value for value, of in pairs if of == name and np.isfinite(value)]
        if not own:
            continue
        width = interval(own)
        if width.mean and width.half > 0.1 * abs(width.mean):
            with np.errstate(over="ignore"):
                ratio = np.float64(width.half) / (0.1 * abs(width.mean))
                more = len(own) * ratio**2 - len(own)
            need = max(need, 1, min(np.ceil(more), 50) if len(own) > 1 else 1)
    counts = {"k": len(values), "absent": 3}
    wanted = until.wanted(Given(), "v", counts)  # type: ignore[arg-type]
    expected = {"k": min(len(values) + need, 2 * len(values), 50)} if need else {}
    assert wanted.keys() == expected.keys()
    if need:
        assert abs(wanted["k"] - expected["k"]) <= 1  # sums differ in their last bits


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small file system."""
    place = tmp_path / "disk"
    place.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=20m", "sweep-test", str(place)]
    able = os.geteuid() == 0 and shutil.which("mount")
    if not able or subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount a file system")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def remount(disk: Path, options: str) -> None:
    """Changes what a file system is like."""
    subprocess.run(["mount", "-o", f"remount,{options}", str(disk)], check=True)


QUICK = [
    *("khalili/scenario-c", "--vary", "link.ap1.rate=1 Mb/s,2 Mb/s", "--controllers", "lia,olia"),
    *(word for one in SHORT for word in ("--set", one)),
]


def test_on_a_disk_that_is_full_a_sweep_stops_with_an_error_and_goes_on_later(disk: Path) -> None:
    store = disk / "store"
    words = [*QUICK, "--seeds", "60", "--store", str(store)]
    assert anabranch(*QUICK, "--seeds", "1", "--store", str(store)).returncode == 0
    space = os.statvfs(disk)
    used = (space.f_blocks - space.f_bfree) * space.f_frsize
    remount(disk, f"size={used + 4096}")  # one page is left, less than a part needs
    done = anabranch(*words)
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert "No space left on device" in done.stderr and str(store) in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(store.glob("parts/.part-*"))
    there = Store(store).read().num_rows
    assert broken(Store(store)) == []
    before = listing(store)
    assert anabranch(*words).returncode == 2
    assert before.items() <= listing(store).items()
    remount(disk, "size=20m")
    done = anabranch(*words)
    assert done.returncode == 0, done.stderr
    assert 4 <= there < 240 and "has 240 of 240" in done.stdout
    done = anabranch("verify", store, "--sample", "4")
    assert done.returncode == 0 and "digests and rows are the same" in done.stdout


def test_a_disk_that_cannot_be_written_is_named_and_left_as_it_is(disk: Path) -> None:
    store = disk / "store"
    words = [*QUICK, "--store", str(store)]
    assert anabranch(*words, "--seeds", "1").returncode == 0
    before = listing(store)
    remount(disk, "ro")
    for more in ([*words, "--seeds", "2"], ["compact", store]):
        done = anabranch(*more)
        assert done.returncode == 2 and "Read-only file system" in done.stderr, done.stderr
        assert str(store) in done.stderr and "Traceback" not in done.stderr
    assert anabranch("status", store).returncode == 0
    assert anabranch("verify", store, "--sample", "2").returncode == 0
    assert listing(store) == before


WRITER = """
import shutil, sys
from pathlib import Path
from anabranch.sweeps import Store, merging
merging.FAN = 3
store, single = Store(sys.argv[1]), Path(sys.argv[2])
for number, part in enumerate(sorted((single / "parts").iterdir())):
    if part.name.startswith("run"):
        shutil.copytree(part, store.parts / ".part-mine")
        (store.parts / ".part-mine").rename(store.parts / f"{sys.argv[3]}{part.name}")
        (store.folder / f".store.json.{sys.argv[3]}{number}").touch()  # how many are there
        store.tidy()
"""


def test_readers_miss_no_run_while_drivers_add_and_merge_parts_and_are_killed(
    there: Path, tmp_path: Path
) -> None:
    single, store = Store.make(tmp_path / "single"), Store.make(tmp_path / "store")
    split(single, there, copies=3)
    shutil.copytree(there / "parts", store.parts, dirs_exist_ok=True)
    expected = store.read().to_pydict()
    for number in range(4):
        words = [sys.executable, "-c", WRITER, str(store.folder), str(single.folder), str(number)]
        driver = subprocess.Popen(words)
        while driver.poll() is None:
            assert store.read().to_pydict() == expected
            if number < 3 and len(list(store.folder.glob(f".store.json.{number}*"))) > 5 + number:
                driver.kill()
        shutil.rmtree(store.parts / ".part-mine", ignore_errors=True)
    assert driver.returncode == 0 and len(store.names()) < 3 * 5
    assert rows(store.folder) == rows(there)


def test_a_merge_does_not_hide_that_a_part_lacks_a_table(there: Path, tmp_path: Path) -> None:
    copy = tmp_path / "s"
    shutil.copytree(there, copy)
    store = Store(copy)
    (store.parts / store.names()[0] / "classes.parquet").unlink()
    with pytest.raises(StoreError, match=r"classes\.parquet is missing; delete the folder"):
        store.compact()


def test_compact_leaves_the_files_of_others(there: Path, tmp_path: Path) -> None:
    copy = tmp_path / "s"
    shutil.copytree(there, copy)
    for name in (".gitignore", ".part-x"):
        (copy / name).write_text("mine")
        os.utime(copy / name, (0, 0))
    Store(copy).compact()
    assert (copy / ".gitignore").exists() and (copy / ".part-x").exists()

"""Whole results from engines and stores: what `run`, `compare`, `audit`, `reproduce` and maps are
made of.
"""

from __future__ import annotations

import json
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas
import pyarrow
import pytest

import anabranch as ab
from anabranch.fairness import NETWORKS, Audit
from anabranch.frames import TABLES
from anabranch.makers import Wanted
from anabranch.papers import PAPERS
from anabranch.papers.laboratory import Configuration, Laboratory, Simulation
from anabranch.runs import Run
from anabranch.sweeps import (
    StoreError,
    configuration,
    driver,
    keeper,
    parts,
    results,
    wholes,
    work,
)
from anabranch.sweeps.results import RunFailed, maker
from anabranch.sweeps.rows import WHOLES
from anabranch.sweeps.solver import solver
from anabranch.theory import Axis, what_if

SHORT = ("duration=12 s", "warmup=5 s")
SCENARIO = ab.load("khalili/scenario-c")
WIFI = ab.load("wifi/down")


def text(result: ab.Result) -> str:
    return json.dumps(result.to_json(), sort_keys=True)


@pytest.fixture(scope="module")
def alone() -> ab.Result:
    return ab.run(SCENARIO, 3, controller="olia", overrides=SHORT, series=True)


@pytest.mark.parametrize("kept", [False, True])
def test_a_result_is_the_same_wherever_it_is_made(
    kept: bool, alone: ab.Result, tmp_path: Path
) -> None:
    store = tmp_path / "store" if kept else None
    with maker("dask", store, 2) as make:
        found = make.run(SCENARIO, 3, controller="olia", overrides=SHORT, series=True)
        again = make.run(SCENARIO, 3, controller="olia", overrides=SHORT, series=True)
    assert text(found) == text(again) == text(alone)


def test_what_a_store_has_is_not_made_again(
    alone: ab.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "store"
    with maker(store=store) as make:
        make.run(SCENARIO, 2, controller="olia", overrides=SHORT, series=True)
    made: list[int] = []
    work = driver.work

    def counted(task: configuration.Task) -> Any:
        made.append(len(task))
        return work(task)

    monkeypatch.setattr(driver, "work", counted)
    with maker(store=store) as make:
        found = make.run(SCENARIO, 3, controller="olia", overrides=SHORT, series=True)
    assert sum(made) == 1
    assert text(found) == text(alone)


def test_a_part_that_was_merged_since_is_found_again(alone: ab.Result, tmp_path: Path) -> None:
    store = tmp_path / "store"
    with maker(store=store) as make:
        make.run(SCENARIO, 3, controller="olia", overrides=SHORT, series=True)
    with maker(store=store) as make:
        ab.sweeps.Store(store).compact()
        found = make.run(SCENARIO, 3, controller="olia", overrides=SHORT, series=True)
    assert text(found) == text(alone)


def test_a_run_without_samples_over_time_is_no_answer_for_one_with_them(tmp_path: Path) -> None:
    with maker(store=tmp_path / "store") as make:
        plain = make.run(SCENARIO, 1, overrides=SHORT)
        full = make.run(SCENARIO, 1, overrides=SHORT, series=True, events=True)
    assert not plain.runs[0].has("series")
    assert full.runs[0].has("series") and full.runs[0].has("events_log")


def test_what_was_announced_is_made_ahead_in_its_order(tmp_path: Path) -> None:
    wanted = [Wanted(SCENARIO, (1,), one, SHORT) for one in ("lia", "olia", "balia")]
    with maker(store=tmp_path / "store", workers=1) as make:
        make.announce(wanted)
        last = make.run(SCENARIO, 1, controller="balia", overrides=SHORT)
    assert ab.sweeps.Store(tmp_path / "store").read().num_rows == 3
    assert text(last) == text(ab.run(SCENARIO, 1, controller="balia", overrides=SHORT))


FAILS = """
import anabranch as ab

class C(ab.Controller):
    def on_ack(self, path):
        raise RuntimeError("no")
"""


def test_a_run_that_fails_is_told_with_scenario_seed_and_reason(tmp_path: Path) -> None:
    (tmp_path / "c.py").write_text(FAILS)
    told = r"khalili/scenario-c, seed 1: RuntimeError: no"
    with maker(store=tmp_path / "s") as make, pytest.raises(RunFailed, match=told):
        make.run(SCENARIO, 1, controller=f"{tmp_path / 'c.py'}:C", overrides=SHORT)


def test_a_result_of_many_runs_fails_with_the_first_of_them(tmp_path: Path) -> None:
    (tmp_path / "c.py").write_text(FAILS)
    with maker(store=tmp_path / "s", workers=1) as make, pytest.raises(RunFailed):
        make.run(SCENARIO, 5000, controller=f"{tmp_path / 'c.py'}:C", overrides=SHORT)
    assert len(ab.sweeps.Store(tmp_path / "s").failures()) < 5000


def test_a_class_of_this_process_and_a_recording_are_not_for_workers(tmp_path: Path) -> None:
    class Mine(ab.Controller):
        pass

    recording = ab.Recording(pcap=tmp_path / "x.pcapng")
    with maker(store=tmp_path / "s") as make:
        with pytest.raises(ValueError, match=r"give FILE\.py:CLASS"):
            make.run(SCENARIO, 1, controller=Mine, overrides=SHORT)
        with pytest.raises(ValueError, match="leave out --on and --store"):
            make.run(SCENARIO, 1, overrides=SHORT, recording=recording)


def test_the_whole_run_of_another_version_is_no_answer(
    alone: ab.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = ab.sweeps.Store.make(tmp_path / "s")
    with monkeypatch.context() as patched:
        for module in (driver, wholes, work):
            patched.setattr(module, "version", lambda: "0.0.0+older")
        with maker(store=store.folder) as make:
            make.run(SCENARIO, 3, controller="olia", overrides=SHORT, series=True)
    for name in store.names():  # a wrong answer, so that it would be seen
        file = store.parts / name / "whole.series.parquet"
        rows = parts.read_part(file, None)
        texts = pyarrow.array([text.replace("loss", "gain") for text in rows["run"].to_pylist()])
        parts.write(file, rows.set_column(rows.column_names.index("run"), "run", texts))
    for merged in (False, True):
        if merged:
            store.compact()
        with maker(store=store.folder) as make:
            found = make.run(SCENARIO, 3, controller="olia", overrides=SHORT, series=True)
        assert text(found) == text(alone)


def test_every_configuration_of_the_documents_can_be_made_by_workers() -> None:
    for paper in PAPERS.values():
        for one in paper.configurations_of("simulation").values():
            of = results.configuration(ab.load(one.scenario), one.controller, one.overrides)
            assert of.plan.classes


def test_a_run_and_a_sweep_that_calls_it_otherwise_do_not_share_a_store(tmp_path: Path) -> None:
    store, counted = tmp_path / "s", "flow.multipath.count=5"
    with maker(store=store) as make:
        make.run(SCENARIO, 1, controller="lia", overrides=(*SHORT, counted))
    with pytest.raises(StoreError, match=r"without the axis flow\.multipath\.count"):
        ab.sweep(SCENARIO, [counted], controllers="lia", overrides=SHORT, store=store)


def test_an_interrupt_while_progress_is_told_keeps_what_is_at_work(tmp_path: Path) -> None:
    def stop(done: float, total: float) -> None:
        raise KeyboardInterrupt

    with maker(store=tmp_path / "s", workers=2) as make:
        found = make.run(SCENARIO, 300, overrides=SHORT, progress=stop)
    assert 1 <= len(found.runs) < 300
    assert ab.sweeps.Store(tmp_path / "s").read().num_rows == len(found.runs)


def test_an_announcement_that_fails_leaves_nothing_asked_for(tmp_path: Path) -> None:
    good = Wanted(SCENARIO, (1,), "lia", SHORT)
    with maker(store=tmp_path / "s") as make:
        with pytest.raises(ab.ScenarioError):
            make.announce([good, Wanted(SCENARIO, (1,), "lia", ("no.such=key",))])
        assert make.run(SCENARIO, 1, controller="lia", overrides=SHORT).seeds == [1]


def interrupted(step: int) -> Any:
    """A `Driver.step` that is interrupted after so many tasks."""
    real, steps = driver.Driver.step, []

    def limited(self: driver.Driver) -> bool:
        steps.append(self)
        if len(steps) > step:
            self.end()
            raise KeyboardInterrupt
        return real(self)

    return limited


def test_an_interrupt_keeps_the_replications_that_are_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(driver.Driver, "step", interrupted(2))
    with maker(store=tmp_path / "s", workers=1) as make:
        found = make.run(SCENARIO, 400, overrides=SHORT)
        monkeypatch.undo()  # what is asked for next ends too, as if the interrupt were new
        with pytest.raises(KeyboardInterrupt):
            make.run(SCENARIO, 2, controller="olia", overrides=SHORT)
    assert not found.provenance["complete"]
    assert 2 <= len(found.runs) < 400 and found.seeds == list(range(1, len(found.runs) + 1))


def test_an_audit_and_claims_are_the_same_from_a_store(tmp_path: Path) -> None:
    short = [shortened(one) for one in NETWORKS[:1]]
    audits = [Audit(["reno"], [1], short)]
    audits[0].run()
    for _ in range(2):
        with maker(store=tmp_path / "s") as make:
            audits.append(Audit(["reno"], [1], short, make))
            audits[-1].run()
    assert audits[0].to_json() == audits[1].to_json() == audits[2].to_json()
    configurations = {"one": Configuration("khalili/scenario-c", "lia", SHORT, series=True)}
    with maker(store=tmp_path / "s") as make:
        lab = Laboratory(configurations, 2, world=Simulation(make))
        lab.run(configurations)
    plain = Laboratory(configurations, 2)
    plain.run(configurations)
    assert text(lab["one"]) == text(plain["one"])


def shortened(network: Any) -> Any:
    return replace(network, overrides=(*network.overrides, "duration=30 s", "warmup=10 s"))


AXES = (
    Axis("flow.multipath.count", ("5", "10")),
    Axis("link.ap1.rate", ("5 Mb/s", "1000 Mb/s", "10 Mb/s")),
)


@pytest.mark.parametrize("engine", ["threads", "dask"])
def test_a_grid_of_equilibria_is_the_same_from_engines_and_stores(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def grid(by: Any = None) -> Any:
        found = what_if(SCENARIO.text, AXES, name=SCENARIO.name, rtt="base", by=by)
        return found.rates_bps.tolist(), found.windows.tolist(), found.controllers, found.failures

    keys = [axis.key for axis in AXES]
    for _ in range(2):
        with solver(SCENARIO, keys, rtt="base", store=tmp_path / "s", on=engine, workers=2) as by:
            assert grid(by) == grid()
    store = ab.sweeps.Store(tmp_path / "s")
    assert store.read().num_rows == 6
    assert "link.ap1.rate" in store.read("classes").column_names


def test_a_cell_without_an_equilibrium_keeps_the_reason(tmp_path: Path) -> None:
    axes = [Axis("flow.multipath.count", ("10", "100000"))]
    grids = []
    for store in (None, tmp_path / "s", tmp_path / "s"):
        keys = [axis.key for axis in axes]
        with solver(SCENARIO, keys, rtt="base", floor=1.0, store=store) as by:
            found = what_if(
                SCENARIO.text, axes, name=SCENARIO.name, rtt="base", floor=1.0, by=store and by
            )
        grids.append((str(found.rates_bps.tolist()), found.failures))
    assert grids[0] == grids[1] == grids[2]
    assert list(grids[0][1]) == [(1,)]


@pytest.mark.parametrize("source", ["khalili/scenario-c", "wifi/down", "cs218/manet"])
def test_a_sweep_keeps_every_table_that_a_result_has(source: str, tmp_path: Path) -> None:
    tables = [*TABLES, *WHOLES]
    swept = ab.sweep(
        source, seeds=1, overrides=SHORT, tables=tables, store=tmp_path / "s", tell=lambda _: None
    )
    assert not swept.failures
    result = ab.run(source, overrides=SHORT, series=True, events=True)
    for table in TABLES:
        own, kept = result.to_frame(table), swept.frame(table)
        names = [name for name in own if name not in ("seed", "controller")]
        pandas.testing.assert_frame_equal(kept[names], own[names], check_dtype=False)
    whole = swept.store.read("whole.series.events_log").column("run")[0].as_py()
    assert json.dumps(Run.from_json(json.loads(whole)).to_json()) == json.dumps(
        result.runs[0].to_json()
    )


def test_texts_that_nobody_keeps_are_made_again(alone: ab.Result) -> None:
    one = wholes.Wholes(Inline(), keeper.Keeper(None))
    of = configuration.Configuration(SCENARIO.text, SCENARIO.name, overrides=SHORT)
    key = (of.key, 1, "whole")
    texts = []
    for _ in range(2):
        one.ask([(of, [1], "whole")])
        texts += one.texts(one.make([key]))
    assert texts[0] == texts[1]


class Inline:
    """An engine that works when it is asked."""

    workers = 1

    def submit(self, function: Any, task: Any) -> Any:
        future: Future[Any] = Future()
        future.set_result(function(task))
        return future

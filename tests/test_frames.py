"""Results as pandas frames and xarray datasets."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import anabranch as ab
from anabranch.frames import MATRICES, TABLES
from anabranch.metrics import METRICS
from anabranch.records import meanings
from anabranch.result import Result

pytest.importorskip("pandas")
pytest.importorskip("xarray")

SHORT = ("duration=6 s", "warmup=2 s")
NETWORKS = ("khalili/scenario-c", "cs218/manet", "couple-plus/static")


@pytest.fixture(scope="module")
def results() -> dict[str, Result]:
    return {
        name: ab.run(name, (3, 5), overrides=SHORT, series=True, events=True) for name in NETWORKS
    }


def test_the_tables_are_those_that_a_run_has_at_the_places_that_the_metrics_name() -> None:
    assert {metric.table for metric in METRICS} <= set(TABLES)
    assert all(place == table.PLACE for place, table in TABLES.items())


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("table", TABLES)
def test_a_frame_has_every_value_of_its_table_once(
    results: dict[str, Result], name: str, table: str
) -> None:
    result = results[name]
    frame = result.to_frame(table)
    assert list(frame["seed"].unique()) in ([3, 5], [])
    for run in result.runs:
        found = run
        for step in table.split("."):
            found = getattr(found, step)
        of_run = frame[frame["seed"] == run.seed]
        for column, meaning in meanings(TABLES[table]).items():
            if not meaning.unit or not found.has(column):
                continue
            np.testing.assert_array_equal(of_run[column], found.column(column).ravel())
            assert frame.attrs["units"][column] == meaning.unit


def test_rows_are_named_and_their_names_select_what_the_methods_of_a_result_give(
    results: dict[str, Result],
) -> None:
    result = results["khalili/scenario-c"]
    flows = result.to_frame("flows").set_index(["seed", "class"])["throughput_bps"]
    np.testing.assert_array_equal(flows.loc[5, "multipath"], result.users("multipath")[1])
    paths = result.to_frame("paths")
    second = paths[(paths["class"] == "multipath") & (paths["path"] == 1) & (paths["seed"] == 3)]
    np.testing.assert_array_equal(
        second["cwnd_segments"], result.path("multipath", 1, "cwnd_segments")[0]
    )
    assert list(second["user"]) == list(range(10))
    links = result.to_frame("links").set_index(["link", "seed"])
    np.testing.assert_array_equal(links.loc["ap2", "loss"], result.link("ap2", "loss"))
    classes = result.to_frame().set_index(["class", "seed"])
    np.testing.assert_allclose(
        classes.loc["single-path", "throughput_bps"], result.rate("single-path"), rtol=1e-12
    )
    assert classes.attrs["units"]["goodput_bps"] == "bit/s"
    queue = result.to_frame("series.links")
    queue = queue[(queue["seed"] == 5) & (queue["link"] == "ap2")]
    np.testing.assert_array_equal(queue["t_s"], result.runs[1].series.t_s)
    np.testing.assert_array_equal(
        queue["queue_packets"], result.runs[1].series.links.queue_packets[:, 1]
    )


def test_hops_and_routes_have_names_instead_of_numbers(results: dict[str, Result]) -> None:
    result = results["cs218/manet"]
    stations = {one.name for medium in result.plan.media for one in medium.stations}
    hops = result.to_frame("series.nodes.hops")
    assert len(hops) and set(hops["from"]) <= stations and set(hops["to"]) <= {*stations, ""}
    assert set(hops["t_s"]) <= set(result.runs[0].series.t_s)
    routes = result.to_frame("routes")
    assert set(routes["link"]) <= {link.name for link in result.plan.links}


def test_a_dataset_has_every_sample_of_all_replications_by_name(
    results: dict[str, Result],
) -> None:
    result = results["khalili/scenario-c"]
    data = result.to_xarray()
    assert dict(data.sizes) == {"seed": 2, "t_s": 61, "path": 30, "flow": 20, "link": 4}
    windows = data["path_cwnd_segments"].sel(seed=5, path="multipath.4.1")
    paths = result.runs[1].paths
    (column,) = np.flatnonzero((paths.flow == 4) & (paths.path == 1))
    np.testing.assert_array_equal(windows, result.runs[1].series.paths.cwnd_segments[:, column])
    second = data.sel(path=(data["path_class"] == "multipath") & (data["path_number"] == 1))
    assert second.sizes["path"] == 10 and set(second["path_user"].values) == set(range(10))
    assert data["link_queue_packets"].sel(link="ap2").max() > 0
    assert data["path_srtt_s"].attrs["units"] == "s" == data["t_s"].attrs["units"]
    assert data["path_srtt_s"].attrs["long_name"].startswith("smoothed round-trip time")
    assert data.attrs["scenario"] == "scenario-c" and data.attrs["world"] == "simulation"


def test_a_dataset_has_the_series_of_every_part_that_the_network_has(
    results: dict[str, Result],
) -> None:
    data = results["cs218/manet"].to_xarray()
    assert set(data.sizes) == {"seed", "t_s", *MATRICES.values()}
    assert set(data["station_name"].values) >= {"client", "server"}
    assert data["node_x_m"].attrs["units"] == "m"


def test_a_frame_that_a_result_does_not_have_says_how_to_get_it() -> None:
    bare = ab.run("khalili/scenario-c", overrides=SHORT)
    for table in ("series.paths", "series.nodes.hops"):
        with pytest.raises(ValueError, match="run it with series=True"):
            bare.to_frame(table)
    with pytest.raises(ValueError, match="run it with series=True"):
        bare.to_xarray()
    with pytest.raises(ValueError, match="run it with events=True"):
        bare.to_frame("events_log")
    with pytest.raises(KeyError, match=r"did you mean `paths`\?"):
        bare.to_frame("path")


def test_replications_that_were_sampled_at_different_times_are_refused(
    results: dict[str, Result],
) -> None:
    import copy

    result = copy.deepcopy(results["khalili/scenario-c"])
    result.runs[0].series.t_s = result.runs[0].series.t_s + 0.01
    with pytest.raises(ValueError, match="sampled at different times"):
        result.to_xarray()
    assert len(result.to_frame("series.paths")) == 2 * 61 * 30


def test_a_result_of_theory_has_frames_of_what_theory_knows(tmp_path: Path) -> None:
    from anabranch.cli.application import app

    file = tmp_path / "theory.json"
    app(["theory", "khalili/scenario-c", "--json", str(file)], standalone_mode=False)
    result = Result.load(file)
    classes = result.to_frame().set_index("class")
    assert classes.loc["multipath", "throughput_bps"] == result.rate("multipath")[0]
    assert "seed" not in classes
    with pytest.raises(ValueError, match="it has flows, paths, classes"):
        result.to_frame("links")
    with pytest.raises(ValueError, match="has no table series"):
        result.to_xarray()


@pytest.mark.parametrize(("library", "ask"), [("pandas", "to_frame"), ("xarray", "to_xarray")])
def test_a_missing_library_is_named_with_the_command_that_installs_it(
    results: dict[str, Result], monkeypatch: pytest.MonkeyPatch, library: str, ask: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=r"pip install 'anabranch\[frames\]'"):
        getattr(results["khalili/scenario-c"], ask)()

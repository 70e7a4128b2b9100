"""What a Python user relies on."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anabranch as ab
from anabranch import _core
from anabranch.files import write_json
from anabranch.result import COMPARISONS, Result
from anabranch.schema import DropTail, Flow, Link, Path
from anabranch.seeds import checked_seeds
from anabranch.statistics import Interval, interval, judge, paired, ratio_of_means

SHORT = ("duration=20 s", "warmup=5 s")


@pytest.fixture(scope="module")
def result() -> Result:
    return ab.run("khalili/scenario-c", seeds=(1, 2), overrides=SHORT, series=True, events=True)


def test_importing_the_package_imports_no_heavy_library() -> None:
    heavy = ("numpy", "scipy", "cvxpy", "matplotlib", "jinja2", "rich")
    code = f"import sys, anabranch; print([m for m in {heavy} if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_a_scenario_built_in_python_runs_like_one_from_a_file() -> None:
    scenario = ab.Scenario.build(
        name="one",
        duration="20 s",
        warmup="5 s",
        link=[
            Link(
                "wire",
                rate="10 Mb/s",
                delay="20 ms",
                queue={"droptail": DropTail(packets="40 packets")},
            )
        ],
        flow=[Flow("tcp", path=[Path(["wire"])])],
    )
    (rate,) = ab.run(scenario).rate("tcp")
    assert 0.9e7 < rate <= 1e7


@pytest.mark.parametrize(
    ("name", "controller", "overrides"),
    [
        ("khalili/scenario-c", "olia", ["link.ap1.rate=5 Mb/s", "flow.multipath.path.1.join=10 s"]),
        (
            "khalili/scenario-c",
            None,
            ['duration="90 s"', "transport.sack=false", "link.0.delay=9 ms"],
        ),
        ("tse/two-paths", "lia", ["flow.tcp-on-first.count=0", "flow.2.fair.margin=0.2"]),
        ("tse/shared", "lia", ['flow.ensemble.path=[{ links = ["bottleneck"] }]', "title=a = b"]),
        ("tse/two-paths", None, ["flow.ensemble.controller=reno", "flow.ensemble.striped=true"]),
    ],
)
def test_a_scenario_with_overrides_written_into_it_is_the_same_as_with_them_beside_it(
    name: str, controller: str | None, overrides: list[str]
) -> None:
    scenario = ab.load(name)
    document = scenario.document(controller=controller, overrides=overrides)
    written = ab.Scenario.written(document, name)
    assert written.plan() == scenario.plan(controller=controller, overrides=overrides)


def test_a_wrong_override_cannot_be_written_into_a_scenario() -> None:
    scenario = ab.load("tse/two-paths")
    for wrong in ("link.third.rate=1 Mb/s", "link.first.delay=-5 ms", "nonsense"):
        with pytest.raises(ab.ScenarioError):
            scenario.document(overrides=[wrong])
    with pytest.raises(ab.ScenarioError, match="there is no controller"):
        scenario.document(controller="oila")


def test_a_controller_has_one_name_in_results_however_it_is_written() -> None:
    overrides = ["duration=8 s", "warmup=1 s"]
    one, other = (
        ab.run("tse/two-paths", controller=name, overrides=overrides)
        for name in ("lia", "RTT Compensator")
    )
    assert one.plan == other.plan and "lia" in [c.controller for c in other.plan.classes]
    assert other.provenance["controller"] == "lia"
    assert one.runs[0].digest == other.runs[0].digest
    with pytest.raises(ab.ScenarioError, match=r"`fully-coupled` .* or `lia`"):
        ab.run("tse/two-paths", controller="COUPLED")


def test_metrics_and_scenarios_are_found_however_they_are_written(result: Result) -> None:
    name = result.classes[0]
    assert (result.rate(name, "Goodput BPS") == result.rate(name, "goodput_bps")).all()
    assert ab.load("TSE/Two Paths").text == ab.load("two-paths").text
    with pytest.raises(ab.ScenarioError, match="did you mean `tse/two-paths`"):
        ab.load("tse/two-pahts")


def test_rates_obey_capacity_and_goodput_is_below_throughput(result: Result) -> None:
    users = {c.name: c.count for c in result.plan.classes}
    total = sum(result.rate(name) * count for name, count in users.items())
    assert np.all(total <= 20e6 * (1 + 1e-3))
    for name in users:
        assert np.all(result.rate(name, "goodput_bps") <= result.rate(name))
    assert np.all(result.link("ap1", "utilisation") <= 1 + 1e-4)


def test_packets_are_conserved(result: Result) -> None:
    for run in result.runs:
        c = run.conservation
        assert c.sent == c.delivered + c.dropped + c.in_flight


def test_a_result_survives_saving_and_loading(result: Result, tmp_path) -> None:
    for name in ("r.json", "r.json.gz"):
        result.save(tmp_path / name)
        again = Result.load(tmp_path / name)
        assert again.table() == result.table()
        series = again.runs[0].series.paths.ssthresh_segments
        np.testing.assert_array_equal(series, result.runs[0].series.paths.ssthresh_segments)


def test_all_results_of_a_comparison_are_read_in_its_order(result: Result, tmp_path) -> None:
    file = tmp_path / "both.json.gz"
    other = ab.run("khalili/scenario-c", seeds=(1, 2), controller="olia", overrides=SHORT)
    for kind, key in COMPARISONS.items():
        write_json(file, {"format": 1, "kind": kind, key: {"lia": result, "olia": other}})
        first, second = Result.load_all(file)
        assert (first.table(), second.table()) == (result.table(), other.table())
        with pytest.raises(
            ValueError, match=r"comparison of lia and olia, made by `anabranch comp"
        ):
            Result.load(file)
        write_json(file, {"format": 9, "kind": kind, key: {}})
        with pytest.raises(ValueError, match="has format 9; this version reads up to 1"):
            Result.load_all(file)
    result.save(file)
    (alone,) = Result.load_all(file)
    assert alone.table() == result.table()


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"\x1f\x8bxx", b'{"kind": "other"}', b"\xff\xfe"]
)
def test_what_is_not_a_result_is_refused_with_a_reason(content: bytes, tmp_path) -> None:
    file = tmp_path / "x.json"
    file.write_bytes(content)
    for load in (Result.load, Result.load_all):
        with pytest.raises(ValueError, match="is not a result"):
            load(file)


def test_an_unknown_class_names_those_that_exist(result: Result) -> None:
    with pytest.raises(KeyError, match="multipath"):
        result.rate("nobody")


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda r: r.rate("mutipath"), KeyError, "did you mean `multipath`? The classes are"),
        (lambda r: r.path("mutipath", 0, "loss"), KeyError, "did you mean `multipath`?"),
        (lambda r: r.path("multipath", 2, "loss"), IndexError, "has 2 paths, numbered from 0"),
        (lambda r: r.path("multipath", -1, "loss"), IndexError, "there is no path -1"),
        (lambda r: r.path("multipath", True, "loss"), IndexError, "there is no path True"),
        (lambda r: r.path("single-path", 1, "loss"), IndexError, "has one path, number 0"),
        (lambda r: r.coding("multipath", 7, "noise"), IndexError, "there is no path 7"),
        (lambda r: r.path("multipath", 0, "cwnd"), KeyError, "did you mean `cwnd_segments`?"),
        (lambda r: r.users("multipath", "srtt_s"), KeyError, "paths and series.paths have it"),
        (lambda r: r.users("multipath", "class"), KeyError, "is not a column of numbers"),
        (lambda r: r.link("ap3", "loss"), KeyError, "did you mean `ap1` or `ap2`?"),
        (lambda r: r.link("ap1", "los"), KeyError, "did you mean `loss`"),
        (
            lambda r: r.station("air", "client", "airtime"),
            KeyError,
            "The stations are none".lower(),
        ),
    ],
)
def test_a_name_that_a_result_does_not_have_is_an_error_that_offers_those_it_has(
    result: Result, ask: Callable[[Result], object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as raised:
        ask(result)
    assert message in str(raised.value)
    assert not str(raised.value).startswith(("'", '"'))  # as KeyError alone would show it


@pytest.mark.parametrize(
    ("seeds", "message"),
    [
        ([1, 1], "the seed 1 is there twice"),
        ([1.5, 1.9], "the seed 1.5 is not a whole number"),
        ([True], "the seed True is not a whole number"),
        (["1"], "the seed '1' is not a whole number"),
        ([-1], "not from 0 to"),
        ([2**64], "not from 0 to"),
        ([], "at least one seed"),
        (0, "1 or more"),
        (True, "give how many"),
        (2.0, "give how many"),
        ("12", "give how many"),
        (None, "give how many"),
    ],
)
def test_seeds_that_are_no_distinct_integers_are_refused_wherever_they_are_taken(
    seeds: Any, message: str
) -> None:
    from anabranch import linux
    from anabranch.fairness import Audit, judge, reference

    for take in (
        lambda: ab.run("khalili/scenario-c", seeds),
        lambda: linux.run("khalili/scenario-c", seeds),
        lambda: judge("tse/two-paths", seeds),
        lambda: reference(ab.load("tse/two-paths"), "ensemble", seeds),
        lambda: Audit(["lia"], seeds),
    ):
        with pytest.raises(ValueError, match=message):
            take()


def test_a_number_of_seeds_counts_from_one() -> None:
    assert checked_seeds(3) == [1, 2, 3] == checked_seeds(np.int64(3))
    assert checked_seeds(np.array([7, 2])) == [7, 2] == checked_seeds(iter((7, 2)))
    assert ab.run("khalili/scenario-c", 2, overrides=SHORT).seeds == [1, 2]


def test_overrides_are_written_into_a_scenario_however_its_names_are_written() -> None:
    overrides = ["link.AP 1.rate=5 Mb/s", "flow.Multi-Path.path.1.join=2 s"]
    document = ab.load("khalili/scenario-c").document(controller="OLIA", overrides=overrides)
    rates = {link["name"]: link.get("rate") for link in document["link"]}
    assert (rates["ap1"], rates["ap2"]) == ("5 Mb/s", "10 Mb/s")
    flow = next(flow for flow in document["flow"] if flow["name"] == "multipath")
    assert flow["controller"] == "olia" and flow["path"][1]["join"] == "2 s"


@pytest.mark.parametrize(
    ("text", "kind", "law", "ported"),
    [
        ("RTT Compensator", "lia", True, True),
        ("kernel:OLIA", "olia", True, True),
        ("lia:uncapped+hystart", "lia", True, False),
        ("Couple+", "couple-plus", False, False),
        ("TCP", "reno", True, True),
    ],
)
def test_a_controllers_name_is_parsed_in_one_place(
    text: str, kind: str, law: bool, ported: bool
) -> None:
    named = _core.controller(text)
    assert (named["kind"], named["law"], named["ported"]) == (kind, law, ported)
    assert _core.controller(named["text"]) == named


def test_overrides_that_are_one_text_are_refused_in_words() -> None:
    with pytest.raises(ab.ScenarioError, match="give a list of texts"):
        ab.run("khalili/scenario-c", overrides="duration=20 s")
    with pytest.raises(ab.ScenarioError, match="give a list of texts"):
        ab.load("khalili/scenario-c").document(overrides="duration=20 s")


def test_the_short_form_of_a_result_is_one_line_and_of_many_classes_as_well(result: Result) -> None:
    assert repr(result).startswith(
        "<Result of scenario-c: simulation, seeds 1 to 2; multipath (lia)"
    )
    many = ab.run("tse/independent", overrides=SHORT)
    for one in (result, many, replace(result, runs=result.runs[:1])):
        assert len(repr(one)) < 250 and "\n" not in repr(one)


def test_notebooks_show_a_result_and_a_scenario_as_tables_whose_text_is_escaped(
    result: Result,
) -> None:
    hostile = ab.load("khalili/scenario-c").document()
    hostile["title"] = "<script>alert(1)</script> & more"
    scenario = ab.Scenario.written(hostile, "x")
    shown = replace(result, scenario=scenario, plan=scenario.plan())
    for page in (shown._repr_html_(), scenario._repr_html_()):
        assert page is not None and "&lt;script&gt;" in page and "<script" not in page
        ElementTree.fromstring(f"<page>{page}</page>")
    for cell in ("multipath", "lia", *result.table().splitlines()[1].split()[3:4]):
        assert f">{cell}" in result._repr_html_()
    assert repr(scenario) == "<Scenario x: <script>alert(1)</script> & more>"


def test_a_notebook_shows_the_first_rows_of_a_long_table_and_how_many_there_are() -> None:
    scenario = ab.load("cs218/large")
    page = str(scenario._repr_html_())
    assert page.count("<tr>") == 2 + 20 + len(scenario.plan().classes)
    assert f"and {len(scenario.plan().links) - 20} more" in page


def test_a_scenario_that_was_not_checked_has_a_short_form_all_the_same() -> None:
    for text in ("nonsense [", "name = 1"):
        assert repr(ab.Scenario(text, "x")) == "<Scenario x>"
        assert ab.Scenario(text, "x")._repr_html_() is None


def test_an_interrupt_keeps_the_replications_that_had_finished() -> None:
    def stop(done: float, total: float) -> None:
        if done > 0.3 * total:
            raise KeyboardInterrupt

    long = ("duration=4000 s",)
    kept = ab.run("khalili/scenario-c", seeds=range(1, 9), overrides=long, threads=1, progress=stop)
    assert 0 < len(kept.runs) < 8
    assert not kept.provenance["complete"]


def test_an_interval_is_students_and_a_straddling_one_is_undecided() -> None:
    value = interval([1.0, 2.0, 3.0])
    assert value.mean == 2.0 and value.half == pytest.approx(4.302653 / 3**0.5)
    assert judge(value, 1.5, 2.5) == "undecided"
    assert judge(value, -10, 10) == "reproduced"
    assert judge(value, 10, 20) == "not_reproduced"
    assert paired([2, 3, 4], [1, 2, 3]).half == 0.0


@given(
    st.lists(st.tuples(st.floats(-10, 10), st.floats(1, 10)), min_size=2, max_size=30),
    st.floats(0.1, 10),
)
def test_a_ratio_of_means_has_the_spread_of_both_and_scales(
    pairs: list[tuple[float, float]], factor: float
) -> None:
    x, y = map(np.array, zip(*pairs, strict=True))
    value = ratio_of_means(x, y)
    assert value.mean == pytest.approx(x.mean() / y.mean(), abs=1e-9)
    assert ratio_of_means(factor * y, y).half == pytest.approx(0.0, abs=1e-9)
    assert ratio_of_means(x, factor * y).half == pytest.approx(value.half / factor, abs=1e-9)


def test_a_ratio_of_means_covers_the_truth_as_often_as_it_says() -> None:
    random = np.random.default_rng(1)
    x, y = random.normal(2.0, 0.5, (4000, 20)), random.normal(4.0, 1.0, (4000, 20))
    values = [ratio_of_means(a, b) for a, b in zip(x, y, strict=True)]
    covered = np.mean([value.low <= 0.5 <= value.high for value in values])
    assert 0.93 < covered < 0.97


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30))
def test_an_interval_holds_its_mean_and_never_inverts(values: list[float]) -> None:
    value = interval(values)
    assert value.low <= value.mean <= value.high


@pytest.mark.parametrize(
    ("mean", "half", "text"),
    [
        (1.30362, 0.0653, "1.304 ± 0.065"),
        (2154.2, 79.3, "2154 ± 79"),
        (5_683_211.0, 241_000.0, "5680000 ± 240000"),
        (-3.0, 350.0, "0 ± 350"),
        (2.0, 0.0, "2"),
        (1.3, 1e-16, "1.3"),
        (7.5e-4, 1.8e-7, "0.00075"),
        (100.013598, 8.1e-5, "100.0136 ± 0.0001"),
        (2030.0, math.inf, "2030"),
        (999.7, math.inf, "1000"),
        (0.67412, math.inf, "0.674"),
        (math.nan, math.inf, "nan"),
    ],
)
def test_a_mean_is_shown_to_the_place_of_its_half_width(
    mean: float, half: float, text: str
) -> None:
    assert str(Interval(mean, half, 5)) == text

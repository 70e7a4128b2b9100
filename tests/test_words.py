"""Words of the Python API are found however they are written; a wrong one offers the right one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anabranch as ab
from anabranch import plot, theory
from anabranch.cli.application import app
from anabranch.fairness import reference, tcp_fairness
from anabranch.offers import MOST_LISTED, UnknownName, keyed, unknown
from anabranch.papers import Laboratory, evaluate
from anabranch.papers.cells import cell
from anabranch.report import Cell
from anabranch.theory.coding import CodedFlow, CodedPath
from anabranch.theory.dcf import phy

SHORT = ["duration=6 s", "warmup=2 s", "flow.multipath.count=2", "flow.single-path.count=3"]

RATES = {"multipath": 1e6, "single-path": 1e6}


@pytest.fixture(scope="module")
def result() -> ab.Result:
    return ab.run("khalili/scenario-c", seeds=2, series=True, overrides=SHORT)


@pytest.fixture(scope="module")
def network(result: ab.Result) -> theory.Network:
    return theory.Network.from_plan(result.plan)


@pytest.mark.parametrize(
    ("ask", "written", "known"),
    [
        (lambda r, word: r.users(word), "Single Path", "single-path"),
        (lambda r, word: r.path(word, 0, "loss"), "MULTIPATH", "multipath"),
        (lambda r, word: r.mean("multipath", word).mean, "Goodput BPS", "goodput_bps"),
        (lambda r, word: r.link(word, "loss"), "AP-1", "ap1"),
        (lambda r, word: r.to_frame(word).to_numpy().tolist(), "Series.Paths", "series.paths"),
        (lambda r, word: r.to_frame(word).to_numpy().tolist(), "FLOWS", "flows"),
    ],
)
def test_a_result_finds_classes_links_metrics_and_tables(
    result: ab.Result, ask: Callable[[ab.Result, str], Any], written: str, known: str
) -> None:
    np.testing.assert_array_equal(ask(result, written), ask(result, known))
    with pytest.raises(KeyError, match=f"did you mean .*`{known}`"):
        ask(result, known[:-1] + "z")


@pytest.mark.parametrize(
    ("kind", "option", "written", "known"),
    [
        ("windows", "classes", ["Multi-Path"], ["multipath"]),
        ("rtt", "classes", ["SINGLE_PATH"], ["single-path"]),
        ("inflation", "classes", ["Multipath"], ["multipath"]),
        ("inflation", "unit", "KB", "kB"),
        ("inflation", "unit", "Segments", "segments"),
        ("queue", "links", ["AP2"], ["ap2"]),
        ("subflows", "flow", "Single Path", "single-path"),
        ("topology", "classes", ["multi path"], ["multipath"]),
        ("cdf", "metric", "Goodput-BPS", "goodput_bps"),
        ("shares", "metric", "goodput bps", "goodput_bps"),
        ("shares", "width", "3.5 IN", "3.5in"),
    ],
)
def test_a_plot_finds_the_words_of_its_options(
    result: ab.Result, kind: str, option: str, written: Any, known: Any
) -> None:
    one, other = (plot.draw(kind, result, **{option: word}) for word in (written, known))
    assert plot.svg(one) == plot.svg(other)


@pytest.mark.parametrize(
    ("kind", "options", "right"),
    [
        ("windows", {"classes": ["mutipath"]}, "multipath"),
        ("inflation", {"unit": "segment"}, "segments"),
        ("queue", {"links": ["ap"]}, "ap1` or `ap2"),
        ("subflows", {"flow": "singlepaht"}, "single-path"),
        ("topology", {"classes": ["multipth"]}, "multipath"),
        ("cdf", {"metric": "goodput"}, "goodput_bps"),
        ("shares", {"metric": "throughput"}, "throughput_bps"),
        (
            "shares",
            {"references": [plot.Reference("paper", [{"multipaht": 1e6}])]},
            "multipath",
        ),
        ("throughput", {"bin": 1}, "bin_s"),
        ("window", {}, "windows"),
    ],
)
def test_a_plot_offers_the_word_that_is_near(
    result: ab.Result, kind: str, options: dict[str, Any], right: str
) -> None:
    with pytest.raises(ValueError, match=f"did you mean `{right}`"):
        plot.draw(kind, result, **options)


@pytest.mark.parametrize(
    ("ask", "written", "known", "wrong"),
    [
        (lambda n, word: theory.optimum(n, utility=word).utility, "LOG", "log", "lgo"),
        (lambda n, word: theory.equilibrium(n, rtt=word).residual, "Base", "base", "bsae"),
        (lambda n, word: n.with_controller("lia", [word]), "Multi Path", "multipath", "mutipath"),
        (
            lambda n, word: theory.alpha_fair(n, 1.0, {word: 2.0}).class_rates_bps,
            "Single Path",
            "single-path",
            "single-paht",
        ),
        (
            lambda n, word: theory.pareto_check(n, {**RATES, word: RATES["multipath"]}).headroom,
            "multipath",
            "multipath",
            "mutipath",
        ),
        (
            lambda n, word: (
                theory.portrait(theory.Fluid(n), axes=(word, "multipath.1"), duration_s=0.2).axes
            ),
            "Multi-Path.0",
            "multipath.0",
            "mutipath.0",
        ),
        (lambda n, word: CodedPath((0,), 1.1, 2.0).factor(word), "Packets", "packets", "packet"),
        (lambda n, word: CodedFlow("f", (), word).utility, "Inverse", "inverse", "invers"),
        (lambda n, word: phy("b", 11, preamble=word), "Short", "short", "shrot"),
    ],
)
def test_theory_finds_its_words_and_offers_the_one_that_is_near(
    network: theory.Network,
    ask: Callable[[theory.Network, str], Any],
    written: str,
    known: str,
    wrong: str,
) -> None:
    assert ask(network, written) == ask(network, known)
    with pytest.raises(ValueError, match=f"did you mean (`.*` or )?`{known}`"):
        ask(network, wrong)


def test_fairness_finds_the_flow_that_it_is_asked_about() -> None:
    scenario = ab.load("tse/two-paths")
    short = ["duration=10 s", "warmup=2 s"]
    twin = reference(scenario, "ENSEMBLE", overrides=short)
    assert twin.flow == "ensemble"
    assert tcp_fairness(ab.run(scenario, overrides=short), twin).lenient in (True, False)
    with pytest.raises(ValueError, match="did you mean `ensemble`"):
        reference(scenario, "ensembel", overrides=short)


def test_documents_claims_and_cells_offer_the_name_that_is_near() -> None:
    with pytest.raises(KeyError, match="did you mean `khalili`"):
        evaluate("kalili", [])
    with pytest.raises(KeyError, match=r"did you mean .*`khalili\.table3\.n30"):
        evaluate("khalili", ["khalili.table3.n3"])
    with pytest.raises(KeyError, match="did you mean `c-lia-30`"):
        cell("Khalili", "c-lai-30")


def test_an_unknown_word_is_a_wrong_key_and_a_wrong_value_and_lists_no_more_than_one_can_read() -> (
    None
):
    many = [f"link-{number}" for number in range(1000)]
    error = unknown("link", "core", many, "the links are")
    assert isinstance(error, UnknownName) and isinstance(error, KeyError | ValueError)
    assert str(error).endswith(f"link-{MOST_LISTED - 1}, and {1000 - MOST_LISTED} more")


def test_a_name_that_is_given_twice_in_different_spellings_is_refused() -> None:
    with pytest.raises(ValueError, match="the class 'a-b' is there twice, once as 'A B'"):
        keyed("class", {"a-b": 1, "A B": 2}, ["a-b"], "the classes are")


def test_the_command_line_finds_the_words_for_round_trips(tmp_path: Path) -> None:
    file = tmp_path / "theory.json"
    words = ["theory", "khalili/scenario-c", "--rtt", "BASE", "--json", str(file)]
    app(words, standalone_mode=False)
    assert ab.Result.load(file).provenance["rtt"] == "base"


def test_a_report_a_picture_and_a_laboratory_offer_the_word_that_is_near(tmp_path: Path) -> None:
    assert Cell("1.28", "Not reproduced").verdict == "not_reproduced"
    with pytest.raises(ValueError, match="did you mean `undecided`"):
        Cell("1.28", "undecidd")
    with pytest.raises(ValueError, match="did you mean `png`"):
        plot.check_format(tmp_path / "shares.pgn")
    with pytest.raises(KeyError, match="no result of a configuration 'c-lia-30'"):
        Laboratory({})["c-lia-30"]

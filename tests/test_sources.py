"""What names a scenario: files, shipped scenarios, cells of documents; and their text."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer import Exit

import anabranch as ab
from anabranch.cli.application import app
from anabranch.cli.listing import LISTS
from anabranch.papers import PAPERS
from anabranch.papers.cells import cells
from anabranch.plan import Plan
from anabranch.scenario import shipped

SHORT = ("duration=8 s", "warmup=2 s")
EVERY = 12
"""Of the hundreds of cells of a document every so many are built in a test."""


def of_document(key: str) -> list[str]:
    return [f"{key}:{name}" for name in list(cells(key))[::EVERY]]


def unnamed(plan: Plan) -> Plan:
    return replace(plan, name="", source="", title="")


@pytest.mark.parametrize("source", [name for key in PAPERS for name in of_document(key)])
def test_a_cell_is_the_plan_of_its_configuration(source: str) -> None:
    key, _, name = source.partition(":")
    cell = cells(key)[name]
    beside = ab.load(cell.scenario).plan(controller=cell.controller, overrides=cell.overrides)
    found = ab.load(source)
    assert unnamed(found.plan()) == unnamed(beside)
    assert found.name == found.plan().name == source
    assert cell.scenario in found.text.splitlines()[0]


def test_a_cell_takes_the_steps_of_its_configuration_and_may_be_changed_further() -> None:
    cell = cells("khalili")["c-lia-30"]
    beside = ab.run(
        cell.scenario, 2, controller=cell.controller, overrides=(*cell.overrides, *SHORT)
    )
    found = ab.run("khalili:c-lia-30", 2, overrides=SHORT)
    assert [run.digest for run in found.runs] == [run.digest for run in beside.runs]
    other = ab.run("khalili:c-lia-30", controller="olia", overrides=SHORT)
    assert other.plan.classes[0].controller == "olia" and other.plan.classes[0].count == 30


@pytest.mark.parametrize("run", [ab.run, ab.linux.run], ids=["simulation", "linux"])
def test_both_worlds_take_a_cell_a_shipped_scenario_and_a_file(
    run: Callable[..., ab.Result], tmp_path: Path
) -> None:
    file = tmp_path / "own.toml"
    file.write_text(ab.load("khalili/scenario-c").text)
    for source in ("khalili:c-lia-30", "khalili/scenario-c", str(file), file):
        with pytest.raises(ab.ScenarioError, match="there is no controller `nobody`"):
            run(scenario=source, controller="nobody")
    with pytest.raises(ab.ScenarioError, match="khalili has no cell 'c-lia-31'; did you mean"):
        run("khalili:c-lia-31")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("khalili:c-lya-30", r"did you mean `c-lia-30`"),
        ("khalili:", r"`anabranch list cells khalili` shows its \d+ cells"),
        ("kalili:c-lia-30", r"there is no document 'kalili'; did you mean `khalili`\?"),
        ("nothing:at-all", r"The documents are|the documents are khalili"),
    ],
)
def test_an_unknown_cell_is_refused_with_those_that_are_near(source: str, message: str) -> None:
    for take in (ab.load, ab.run):
        with pytest.raises(ab.ScenarioError, match=message):
            take(source)


def test_a_cell_is_found_however_it_is_written() -> None:
    for spelled in ("Khalili:C-LIA-30", "khalili:c_lia_30", "khalili:c lia 30", "khalili:clia30"):
        assert ab.load(spelled).name == "khalili:c-lia-30"


def test_a_file_with_a_colon_in_its_name_is_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = ab.load("linux/shared-red").text
    Path("khalili:c-lia-30").write_text(text)
    assert ab.load("khalili:c-lia-30").text == text


def show(*words: str, capsysbinary: Any) -> str:
    app(["show", *words], standalone_mode=False)
    return str(capsysbinary.readouterr().out.decode())


@pytest.mark.parametrize("name", ["khalili/scenario-c", "examples/lte-dsl", "cs218/mixed"])
def test_a_shipped_scenario_is_shown_as_its_file_has_it(name: str, capsysbinary: Any) -> None:
    shown = show(name, capsysbinary=capsysbinary)
    assert shown.removesuffix("\n") == shipped()[name].read_text().removesuffix("\n")


@pytest.mark.parametrize(
    "words",
    [
        ["khalili:c-olia-30"],
        ["khalili/scenario-c", "-c", "olia", "--set", "flow.multipath.count=5"],
        ["links/varying"],
        ["links/varying", "--set", "link.wifi.rate=6 Mb/s"],
    ],
)
def test_what_is_shown_is_a_file_that_runs_alike(
    words: list[str], tmp_path: Path, capsysbinary: Any
) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(show(*words, capsysbinary=capsysbinary))
    source, *options = words
    asked = dict(zip(options[::2], options[1::2], strict=True))
    beside = ab.load(source).plan(
        controller=asked.get("-c"), overrides=[asked["--set"]] if "--set" in asked else []
    )
    assert ab.load(file).plan() == beside


def test_khalilis_scenario_with_30_users_is_that_of_10_with_the_documents_overrides() -> None:
    thirty = ab.load("khalili/scenario-c-30").plan()
    thirty_users = PAPERS["khalili"].configurations["c-lia-30"].overrides
    assert unnamed(thirty) == unnamed(ab.load("khalili/scenario-c").plan(overrides=thirty_users))


def test_scenario_c_before_the_upgrade_gives_all_users_the_same() -> None:
    before = ab.run("khalili/scenario-c-before", 3)
    for name in ("multipath", "single-path"):
        assert before.mean(name).mean == pytest.approx(1e6, rel=0.02)
    after = ab.load("khalili/scenario-c").plan()
    assert [link.name for link in before.plan.links] == [link.name for link in after.links]
    assert [len(c.paths) for c in before.plan.classes] == [1, 1]


def test_the_example_of_two_accesses_shows_what_queues_and_coupling_do() -> None:
    """Over drop-tail coupling gives the neighbour rate; FQ-CoDel gives it delay, and does not need
    coupling for its share."""
    found = {
        (queue, law): ab.run(f"examples/lte-dsl{queue}", 3, controller=law)
        for queue in ("", "-fq-codel")
        for law in ("lia", "uncoupled")
    }
    person = {key: result.mean("person").mean for key, result in found.items()}
    assert person["", "lia"] > 1.2 * person["", "uncoupled"]
    assert abs(person["-fq-codel", "lia"] / person["-fq-codel", "uncoupled"] - 1) < 0.15
    delays = {key: result.link("dsl", "queue_delay_p50_s").mean() for key, result in found.items()}
    for law in ("lia", "uncoupled"):
        assert delays["", law] > 0.1 > 0.01 > delays["-fq-codel", law]


def test_theory_and_simulation_of_a_cell_say_which_cell_it_is(tmp_path: Path) -> None:
    file = tmp_path / "both.json"
    words = ["compare", "khalili:c-lia-30", "-n", "2", *(w for s in SHORT for w in ("--set", s))]
    with suppress(Exit):  # so short a run may differ from theory
        app([*words, "--json", str(file)], standalone_mode=False)
    worlds = json.loads(file.read_text())["worlds"]
    assert {name: one["provenance"]["cell"] for name, one in worlds.items()} == dict.fromkeys(
        ("theory", "simulation"), "khalili:c-lia-30"
    )


def test_cells_are_listed_by_document_and_another_list_takes_no_document(capsys: Any) -> None:
    app(["list", "cells"], standalone_mode=False)
    shown = capsys.readouterr().out
    assert all(key in shown for key in PAPERS)
    app(["list", "cells", "khalili"], standalone_mode=False)
    shown = capsys.readouterr().out
    assert all(f"khalili:{name}" in shown for name in ("c-lia-30", "b-after-olia", "flap-lia"))
    with pytest.raises(ValueError, match="did you mean `khalili`"):
        app(["list", "cells", "kalili"], standalone_mode=False)
    with pytest.raises(ValueError, match="takes no further word"):
        app(["list", "plots", "khalili"], standalone_mode=False)


def test_claims_are_listed_by_document_with_their_sections(capsys: Any) -> None:
    app(["list", "claims", "WIFI", "--long"], standalone_mode=False)
    shown = capsys.readouterr().out
    for claim in PAPERS["wifi"].claims.values():
        assert claim.id in shown and claim.source.split()[0] in shown
    assert "khalili." not in shown
    app(["list", "claims", "--format", "csv"], standalone_mode=False)
    rows = [row for row in csv.reader(capsys.readouterr().out.splitlines()) if len(row) == 3]
    wanted = [(c.id, c.statement) for paper in PAPERS.values() for c in paper.claims.values()]
    assert [(row[0], row[2]) for row in rows if row[0] != "claim"] == wanted
    with pytest.raises(ValueError, match="did you mean `khalili`"):
        app(["list", "claims", "kalili"], standalone_mode=False)


def test_a_list_of_cells_has_the_key_of_its_document_however_that_was_spelt(capsys: Any) -> None:
    app(["list", "cells", "KHALILI"], standalone_mode=False)
    shown = capsys.readouterr().out
    assert "Cells of khalili" in shown and "khalili:c-lia-30" in shown and "KHALILI" not in shown


@pytest.mark.parametrize("what", LISTS)
def test_a_list_has_a_long_form_that_shows_more_or_says_that_it_has_none(
    what: str, capsys: Any
) -> None:
    app(["list", what], standalone_mode=False)
    short = capsys.readouterr().out
    if LISTS[what].has_long:
        app(["list", what, "--long"], standalone_mode=False)
        assert len(capsys.readouterr().out) > len(short)
    else:
        with pytest.raises(ValueError, match=f"`list {what}` has no long form; leave --long out"):
            app(["list", what, "--long"], standalone_mode=False)

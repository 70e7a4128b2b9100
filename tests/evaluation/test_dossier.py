"""Dossiers: pages with everything that was done, the same bytes each time."""

from __future__ import annotations

from pathlib import Path

import pytest
from planted import ALONE, RATES, SHARED, criterion, share

import anabranch as ab
from anabranch.evaluation.card import card, file_names, index, seeds_text
from anabranch.evaluation.criterion import Case, Found
from anabranch.evaluation.dossier import (
    INDEX,
    check_pages,
    command,
    dossier,
    pages,
    silent,
    write_dossiers,
)
from anabranch.evaluation.entry import Measured
from anabranch.evaluation.evaluating import Evaluation
from anabranch.evaluation.goals import NoWorse, Values, at_most
from anabranch.makers import Core
from anabranch.report import render

LAW = "growth = 1/w; backoff = w/2; law mine"


def evaluated(*controllers: str) -> Evaluation:
    """Two criteria, one of them missed by what is not coupled."""
    strict = criterion(goal=at_most(1.5), theory=True)
    return ab.evaluate(*controllers, criteria=[strict, RATES], seeds=5)


@pytest.fixture(scope="module")
def found() -> Evaluation:
    return evaluated("lia", "tcp", ab.Law(LAW))


@pytest.fixture(scope="module")
def page(found: Evaluation) -> str:
    return render(dossier(found, found.contenders[0]))


def test_a_page_has_question_method_goal_and_reason(page: str) -> None:
    one = criterion()
    for text in (one.question, one.method, one.why, "at most 1.5", "section 7.10"):
        assert text in page


def test_a_page_has_every_case_with_its_command_and_digests(found: Evaluation, page: str) -> None:
    for entry in found.of("lia"):
        for row in entry.rows:
            assert row.measured.digest in page
            assert row.measured.digests[0] in page
            assert f"anabranch run {row.case.scenario} --controller lia" in page
    assert "--set flow.subject.count=2 --seed 1 --repeat 2" in page


def test_the_references_and_theory_stand_beside(page: str) -> None:
    heads = ["case", "lia", "reno", "cubic", "olia", "balia", "theory", "goal", "verdict"]
    places = [page.index(f">{head}</th>", page.index('id="section-1"')) for head in heads]
    assert places == sorted(places)


def test_a_controller_is_not_beside_itself(found: Evaluation) -> None:
    table = dossier(found, found.contenders[1]).sections[0].tables[0]
    assert list(table.head).count("reno") == 1


def test_the_card_counts_by_level(found: Evaluation) -> None:
    facts = card(found, found.contenders[0]).facts
    assert facts["MUST"] == "1 met"
    assert facts["advice"] == "none"
    assert facts["seeds"] == "1 to 5"
    assert "growth" in facts["controller"]
    missed = card(found, found.contenders[1])
    assert missed.facts["MUST"] == "1 missed"
    assert "Misses goals of level MUST: share." in missed.text


def test_a_law_with_one_path_is_said_to_be_reno(found: Evaluation) -> None:
    for contender, cases in zip(found.contenders, (2, 0, 2), strict=True):
        page = render(dossier(found, contender))
        summary = card(found, contender)
        assert page.count("the values are Reno&#39;s</") == cases
        said = "2 of the 3 cases have one path, where a coupled law is Reno." in summary.text
        assert said == bool(cases)
        assert ("of these Reno's" in summary.facts) == bool(cases)


def test_runs_beside_have_their_command_and_digest() -> None:
    case = Case("a", SHARED, ("duration=21 s",), {"alone": ("flow.subject.count=0",)})
    evaluation = ab.evaluate("lia", criteria=[criterion(cases=(case,))], seeds=2)
    (table,) = dossier(evaluation, evaluation.contenders[0]).sections[0].below
    own, alone = ([cell.text for cell in row] for row in table.cells)
    assert own[0] == "a" and alone[0] == "a; beside it: alone"
    assert alone[1].endswith(
        "shared.toml --set 'duration=21 s' --set flow.subject.count=0 --seed 1 --repeat 2"
    )
    runs = ab.run(SHARED, 2, overrides=["duration=21 s", "flow.subject.count=0"]).runs
    assert alone[2] == runs[0].digest


def test_a_world_without_an_answer_says_why_for_each_case() -> None:
    cases = tuple(Case(name, SHARED) for name in ("a", "b", "c"))
    evaluation = Evaluation(["lia"], criteria=[criterion(cases=cases)])
    evaluation.linux = {
        ("share", name, "lia"): Measured(why=why)
        for name, why in (("b", "no fq"), ("a", "no fq"), ("c", "no such queue"))
    }
    evaluation.judge()
    assert silent(evaluation.entries[0]) == [
        "The real kernel has no answer in a, b: no fq.",
        "The real kernel has no answer in c: no such queue.",
    ]


def test_what_a_class_raised_is_said() -> None:
    class Broken(ab.Controller):
        def on_loss(self, path: ab.PathView) -> None:
            raise ZeroDivisionError("no way")

    evaluation = ab.evaluate(Broken, criteria=[criterion()], seeds=2)
    page = dossier(evaluation, evaluation.contenders[0])
    assert "Missed, because py:Broken raised ZeroDivisionError: no way: two paths." in render(page)


def test_the_figure_is_in_the_page(page: str) -> None:
    assert page.count('<img src="data:image/svg+xml;base64,') == 2


def test_every_requirement_is_listed_with_what_answers_it(page: str) -> None:
    assert "because it is about the text of a proposal" in page
    assert "7.10 Multipath Transport" in page
    assert "The window of a flow that does not fill it says little (RFC 7661)." in page


def test_the_matrix_leads_to_each_dossier(found: Evaluation) -> None:
    html = render(index(found))
    assert 'href="lia.html#section-1"' in html
    assert 'href="mine.html#section-2"' in html
    assert "7.10 Multipath Transport" in html


def test_equal_evaluations_are_equal_pages(tmp_path: Path) -> None:
    one = criterion(theory=True)
    for name, threads in (("one", 1), ("two", 2)):
        again = ab.evaluate("lia", "tcp", criteria=[one], seeds=2, maker=Core(threads))
        check_pages(again, tmp_path / name)
        write_dossiers(again, tmp_path / name)
    names = sorted(file.name for file in (tmp_path / "one").iterdir())
    assert names == ["index.html", "lia.html", "reno.html"]
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_one_controller_has_no_matrix(tmp_path: Path) -> None:
    one = Evaluation(["lia"], criteria=[criterion()])
    assert pages(one, tmp_path) == [tmp_path / "lia.html"]
    assert pages(Evaluation(["lia", "olia"], criteria=[criterion()]), tmp_path)[-1].name == INDEX


def test_pages_have_names_that_every_system_allows() -> None:
    names = file_names(["phi:0.5", "phi-0.5", "py:Mine:gain=2", "LIA", "lia", "index"])
    assert names["phi:0.5"] == "phi-0.5.html"
    assert names["phi-0.5"] == "phi-0.5-2.html"
    assert names["py:Mine:gain=2"] == "py-Mine-gain-2.html"
    assert len({name.lower() for name in names.values()}) == len(names)
    assert "index.html" not in names.values()


def test_what_was_not_evaluated_is_said_with_its_reason() -> None:
    def no_column(found: Found) -> Values:
        raise KeyError("there is no such column")

    one = criterion(measure=no_column, cases=(Case("a", ALONE),))
    evaluation = ab.evaluate("lia", criteria=[one], seeds=2)
    html = render(dossier(evaluation, evaluation.contenders[0]))
    assert "Not evaluated, because there is no such column: a." in html
    assert "<figure>" not in html


def test_an_interrupted_evaluation_says_so() -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    evaluation = Evaluation(["lia"], criteria=[criterion()], maker=Core(1))
    evaluation.run(stop)
    html = render(dossier(evaluation, evaluation.contenders[0]))
    assert "The evaluation was interrupted" in html
    assert "it was not run" in html


def test_a_goal_relative_to_others_has_the_bound_of_each_case() -> None:
    def two(found: Found) -> Values:
        return share(found) * (2 if found.case.name == "twice" else 1)

    cases = (Case("once", SHARED), Case("twice", SHARED))
    one = criterion(cases=cases, measure=two, goal=NoWorse())
    evaluation = ab.evaluate("lia", criteria=[one], seeds=2)
    once, twice = (row.bound[1] for row in evaluation.entries[0].rows)
    assert twice == pytest.approx(2 * once)
    table = dossier(evaluation, evaluation.contenders[0]).sections[0].tables[0]
    goals = [row[-2].text for row in table.cells]
    assert goals[0].startswith("≤ ") and goals[0] != goals[1]


def test_seeds_that_do_not_follow_one_another_repeat_the_first() -> None:
    one = Evaluation(["lia"], criteria=[criterion()]).contenders[0]
    assert command(Case("a", ALONE), one, [7, 3, 5])[-4:] == ["--seed", "7", "--repeat", "1"]
    assert command(Case("a", ALONE, seeds=2), one, [3, 4, 5])[-1] == "2"
    assert seeds_text([3, 7, 9]) == "3, 7, 9"

"""Two evaluations beside each other: what a change made worse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from planted import RATES, SHARED, criterion

import anabranch as ab
from anabranch.evaluation.comparing import compared, comparison, worded
from anabranch.evaluation.criterion import Case
from anabranch.evaluation.evaluating import Evaluation
from anabranch.evaluation.goals import Between, at_least, at_most
from anabranch.files import write_json
from anabranch.records import plain

AGGRESSIVE = "growth = 2/w; backoff = 0.75*w; law patched"


def data(evaluation: Evaluation) -> dict[str, Any]:
    """An evaluation as its file has it."""
    return dict(json.loads(json.dumps(plain(evaluation.to_json()))))


def written(evaluation: Evaluation, file: Path) -> Path:
    write_json(file, plain(evaluation.to_json()))
    return file


def invented(values: dict[str, list[float | None]], **changed: Any) -> dict[str, Any]:
    """An evaluation of a controller with these values in its cases."""
    goal = changed.pop("goal", at_most(1.0))
    cases = tuple(Case(name, SHARED) for name in values)
    evaluation = Evaluation(["lia"], 5, criteria=[criterion(cases=cases, goal=goal, **changed)])
    evaluation.judge()
    content = data(evaluation)
    for case, numbers in zip(content["criteria"][0]["cases"], values.values(), strict=True):
        known = [np.nan if one is None else one for one in numbers]
        verdict = goal.judge(np.array(known), {})
        row = {"values": numbers, "verdict": verdict, "bound": [goal.low, goal.high]}
        case["controllers"] = {"lia": row}
    return content


def words(before: dict[str, Any], after: dict[str, Any]) -> dict[str, str]:
    """The word on each case."""
    found = comparison(before, after, ("lia", "lia"))
    return {one.case: one.word for one in found.cases}


NOISE = [0.00, 0.02, -0.01, 0.015, -0.02]


def test_a_patch_that_takes_more_is_worse(tmp_path: Path) -> None:
    known = [criterion(goal=at_most(1.5)), RATES]
    before = written(ab.evaluate("lia", criteria=known, seeds=5), tmp_path / "a.json")
    after = written(
        ab.evaluate(ab.Law(AGGRESSIVE), criteria=known, seeds=5), tmp_path / "b.json.gz"
    )
    (found,) = compared(before, after)
    assert found.names == ("lia", "patched")
    assert found.cases[0].criterion == "share"
    assert (found.cases[0].before, found.cases[0].after) == ("meets", "misses")
    assert [one.criterion for one in found.failed] == ["share"]
    (back,) = compared(after, before)
    assert not back.failed
    assert back.cases[0].word == "better"


def test_the_same_evaluation_shows_no_difference(tmp_path: Path) -> None:
    files = [
        written(ab.evaluate("lia", "olia", criteria=[criterion()], seeds=2), tmp_path / name)
        for name in ("a.json", "b.json")
    ]
    found = compared(*files)
    assert [one.names for one in found] == [("lia", "lia"), ("olia", "olia")]
    assert all(one.word == "no difference" for each in found for one in each.cases)
    assert files[0].read_bytes() == files[1].read_bytes()


def test_differences_are_of_pairs() -> None:
    """Seeds differ by more than the patch does, and the patch adds a tenth on each."""
    seeds = [1.0, 2.0, 3.0, 4.0, 5.0]
    before = invented({"a": [*seeds]})
    after = invented(
        {"a": [one + 0.1 + noise / 10 for one, noise in zip(seeds, NOISE, strict=True)]}
    )
    assert words(before, after) == {"a": "worse"}
    assert words(after, before) == {"a": "better"}


def test_what_is_worse_depends_on_the_goal() -> None:
    low, high = ([one + noise for noise in NOISE] for one in (0.5, 0.7))
    least = {"goal": at_least(0.4)}
    assert words(invented({"a": low}), invented({"a": high})) == {"a": "worse"}
    assert words(invented({"a": low}, **least), invented({"a": high}, **least)) == {"a": "better"}
    middle = {"goal": Between(0.0, 1.0)}
    assert words(invented({"a": low}, **middle), invented({"a": high}, **middle)) == {"a": "worse"}


def test_chance_among_many_cases_is_not_a_difference() -> None:
    """Of 200 cases without any difference one in twenty is beyond its own 95 % interval."""
    random = np.random.default_rng(1)
    names = [str(n) for n in range(200)]
    before, after = (
        invented({name: list(1 + 0.1 * random.standard_normal(5)) for name in names})
        for _ in range(2)
    )
    found = comparison(before, after, ("lia", "lia"))
    assert sum(one.chance < 0.05 for one in found.cases) > 3
    assert all(one.word == "no difference" for one in found.cases)
    assert not found.failed


def test_a_verdict_that_changes_by_chance_does_not_fail() -> None:
    """All cases lie near the end of their goal."""
    random = np.random.default_rng(2)
    names = [str(n) for n in range(200)]
    before, after = (
        invented({name: list(0.9 + 0.1 * random.standard_normal(5)) for name in names})
        for _ in range(2)
    )
    found = comparison(before, after, ("lia", "lia"))
    assert sum((one.before, one.after) == ("meets", "undecided") for one in found.cases) > 10
    assert found.cases[0].changed
    assert not found.failed


def test_differences_of_no_consequence_are_none() -> None:
    same, moved = [1.0] * 5, [1.001] * 5
    wide = {"goal": at_most(2.0)}
    assert words(invented({"a": same}, **wide), invented({"a": moved}, **wide)) == {
        "a": "no difference"
    }
    assert words(invented({"a": same}), invented({"a": [1.1] * 5})) == {"a": "worse"}
    # Beyond the end of a goal that was met, the smallest difference of all pairs is one.
    assert words(invented({"a": same}), invented({"a": moved})) == {"a": "worse"}


def test_a_value_that_is_lost_is_worse_than_any() -> None:
    before = invented({"a": [5.0] * 5})
    after = invented({"a": [0.1, 0.1, None, 0.1, 0.1]})
    assert words(before, after) == {"a": "worse"}
    assert words(after, before) == {"a": "better"}
    assert words(after, after) == {"a": "no difference"}


def test_an_infinite_value_is_worse_than_any_number() -> None:
    before, after = invented({"a": [5.0] * 5}), invented({"a": [0.1, 0.1, np.inf, 0.1, 0.1]})
    after = json.loads(json.dumps(plain(after)))
    assert words(before, after) == {"a": "worse"}
    assert words(after, before) == {"a": "better"}
    assert words(after, after) == {"a": "no difference"}


def test_a_controller_that_raises_is_worse() -> None:
    before, after = invented({"a": [0.5] * 5}), invented({"a": [0.5] * 5})
    case = after["criteria"][0]["cases"][0]
    case["controllers"]["lia"] = {"verdict": "misses", "why": "no way", "raised": True}
    assert [one.case for one in comparison(before, after, ("lia", "lia")).failed] == ["a"]
    assert words(after, before) == {"a": "better"}


def test_a_damaged_file_says_what_is_missing(tmp_path: Path) -> None:
    def refused(change: Any, said: str) -> None:
        content = invented({"a": [1.0] * 5})
        change(content)
        file = tmp_path / "damaged.json"
        file.write_text(json.dumps(content))
        with pytest.raises(ValueError, match=rf"damaged.json is damaged: .*{said}"):
            compared(file, file)

    def row(content: dict[str, Any]) -> Any:
        return content["criteria"][0]["cases"][0]["controllers"]["lia"]

    refused(lambda it: it.pop("seeds"), "it has no `seeds`")
    refused(lambda it: it.update(controllers=["lia"]), "a controller is no object")
    refused(lambda it: it["criteria"][0].pop("factor"), "the criterion share has no `factor`")
    refused(lambda it: it["criteria"][0]["cases"][0].pop("beside"), "case 'a' .* has no `beside`")
    refused(
        lambda it: it["criteria"][0]["cases"][0].update(controllers={}),
        "under controllers has no `lia`",
    )
    refused(lambda it: row(it).pop("verdict"), "under lia has no `verdict`")
    refused(lambda it: row(it).update(verdict="good"), "has the verdict 'good'")
    refused(lambda it: row(it).update(values=[1, "x"]), "has 'x' where a number belongs")
    refused(lambda it: row(it).update(bound=[1]), "a bound of 1 numbers")


def test_a_worse_verdict_of_a_must_fails() -> None:
    before, after = invented({"a": [0.9] * 5}), invented({"a": [1.2] * 5})
    assert [one.case for one in comparison(before, after, ("lia", "lia")).failed] == ["a"]
    advice = {"level": "advice"}
    less = comparison(
        invented({"a": [0.9] * 5}, **advice), invented({"a": [1.2] * 5}, **advice), ("lia", "lia")
    )
    assert not less.failed
    assert less.cases[0].word == "worse"


def test_words_are_given_for_all_cases_together() -> None:
    assert worded([]) == []


def test_files_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    def file(name: str, content: object) -> Path:
        path = tmp_path / name
        path.write_text(json.dumps(content))
        return path

    given = invented({"a": [1.0] * 5})
    one = file("one.json", given)
    with pytest.raises(ValueError, match=r"other.json is not an evaluation"):
        compared(one, file("other.json", {"kind": "anabranch audit"}))
    (tmp_path / "text.json").write_text("no JSON")
    with pytest.raises(ValueError, match=r"text.json is not an evaluation"):
        compared(one, tmp_path / "text.json")
    with pytest.raises(ValueError, match="give both evaluations the same --seed"):
        compared(one, file("seeds.json", given | {"seeds": [1, 2]}))
    with pytest.raises(ValueError, match="interrupted"):
        compared(one, file("half.json", given | {"complete": False}))
    with pytest.raises(ValueError, match="other criteria: only"):
        compared(one, file("criteria.json", invented({"a": [1.0] * 5}, name="else")))
    with pytest.raises(ValueError, match="share has other cases or another goal"):
        compared(one, file("cases.json", invented({"b": [1.0] * 5})))
    two = [{"name": "olia"}, {"name": "balia"}]
    content = invented({"a": [1.0] * 5}) | {"controllers": two}
    cases = content["criteria"][0]["cases"]
    cases[0]["controllers"] = {name["name"]: cases[0]["controllers"]["lia"] for name in two}
    with pytest.raises(ValueError, match="no controller to compare"):
        compared(one, file("controllers.json", content))
    with pytest.raises(ValueError, match="has format 9"):
        compared(one, file("format.json", given | {"format": 9}))

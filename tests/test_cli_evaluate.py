"""`anabranch evaluate`: tables, files, exit statuses, errors."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import anabranch as ab
from anabranch.cli import main
from anabranch.evaluation import evaluating
from anabranch.evaluation.criterion import MEGABITS, RATIO, Case, Criterion, Found
from anabranch.evaluation.goals import NoWorse, Values, at_least, at_most

SHARED, ALONE = "tests/evaluation/shared.toml", "tests/evaluation/alone.toml"
GREEDY = "growth = 3/w; backoff = 0.75*w; law greedy"


def criterion(name: str, section: str, level: Any, **given: Any) -> Criterion:
    """A criterion with one sentence for each text."""
    return Criterion(
        name,
        f"Title of {name}",
        section,
        level,
        "What comes out?",
        "A method.",
        why="A reason.",
        **given,
    )


def share(found: Found) -> Values:
    """The subject's rate over that of the TCP beside it."""
    return found.result.rate("subject") / found.result.rate("tcp")


KNOWN = {
    one.name: one
    for one in (
        criterion(
            "rates",
            "5.1.1",
            "SHOULD",
            unit=MEGABITS,
            cases=(
                Case("1 flow", ALONE, ("flow.subject.count=1",)),
                Case("2 flows", ALONE, ("flow.subject.count=2",)),
            ),
            measure=lambda found: found.result.rate("subject"),
            goal=NoWorse(more_is_worse=False),
        ),
        criterion(
            "share",
            "7.10",
            "MUST",
            unit=RATIO,
            cases=(Case("two paths", SHARED),),
            measure=share,
            goal=at_most(1.5),
            theory=True,
        ),
        criterion(
            "least",
            "7.10",
            "advice",
            unit=RATIO,
            cases=(Case("two paths", SHARED),),
            measure=share,
            goal=at_least(0.1),
        ),
    )
}


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A laboratory with three criteria."""
    monkeypatch.setattr(evaluating, "shipped", lambda: KNOWN)


@pytest.fixture
def anabranch(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Iterator[Any]:
    """Runs a command in this process: its status, its output and what it wrote beside."""

    def call(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["anabranch", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        out, errors = capfd.readouterr()
        return int(ended.value.code or 0), out, errors

    yield call


def test_a_table_for_each_controller_says_what_decides(anabranch: Any) -> None:
    status, out, _ = anabranch("evaluate", "lia", "olia")
    assert status == 0
    assert out.count("by the criteria of RFC 9743") == 2
    for word in ("rates", "share", "7.10", "≤ 1.5", "two paths", "meets"):
        assert word in out
    assert "lia, MUST: 1 met; SHOULD: 1 met; advice: 1 met" in out


def test_a_missed_must_has_status_1(anabranch: Any) -> None:
    status, out, _ = anabranch("evaluate", GREEDY, "lia", "--only", "share")
    assert status == 1
    assert "greedy misses goals of level MUST: share" in out
    assert "lia misses" not in out
    status, _, _ = anabranch("evaluate", GREEDY, "--only", "least")
    assert status == 0


def test_a_table_fits_into_100_columns(anabranch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    _, out, _ = anabranch("evaluate", "lia")
    assert max(len(line) for line in out.splitlines()) <= 100
    assert "│ 7.10" in out


def test_json_has_values_by_seed_with_their_runs(anabranch: Any, tmp_path: Path) -> None:
    file = tmp_path / "found.json"
    anabranch("evaluate", "lia", "-n", "3", "--only", "share", "--json", str(file))
    found = json.loads(file.read_text())
    assert found["kind"] == "anabranch evaluation"
    assert found["seeds"] == [1, 2, 3]
    assert found["complete"]
    (one,) = found["criteria"]
    assert one["verdicts"] == {"lia": "meets"} or one["verdicts"] == {"lia": "undecided"}
    (case,) = one["cases"]
    assert case["scenario"] == SHARED
    row = case["controllers"]["lia"]
    own = ab.run(SHARED, 3, controller="lia")
    assert row["values"] == list(own.rate("subject") / own.rate("tcp"))
    assert row["digests"] == [run.digest for run in own.runs]
    assert row["theory"]["values"] == [pytest.approx(1.0, abs=0.01)]
    assert set(case["references"]) == {"reno", "cubic", "lia", "olia", "balia"}
    assert len(case["references"]["reno"]["values"]) == 3


def test_a_report_has_a_page_for_each_controller(anabranch: Any, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "dossiers"
    anabranch("evaluate", "lia", "olia", "-n", "2", "--only", "share", "--report", str(folder))
    assert sorted(file.name for file in folder.iterdir()) == ["index.html", "lia.html", "olia.html"]


def test_quick_is_the_musts_with_three_seeds(anabranch: Any, tmp_path: Path) -> None:
    file = tmp_path / "quick.json"
    anabranch("evaluate", "lia", "--quick", "--json", str(file))
    found = json.loads(file.read_text())
    assert found["seeds"] == [1, 2, 3]
    assert [one["name"] for one in found["criteria"]] == ["share"]


def test_quick_is_the_musts_of_those_that_are_named(anabranch: Any, tmp_path: Path) -> None:
    file = tmp_path / "quick.json"
    anabranch("evaluate", "lia", "--quick", "--only", "7.10", "--json", str(file))
    assert [one["name"] for one in json.loads(file.read_text())["criteria"]] == ["share"]


BROKEN = """
import anabranch as ab

class Broken(ab.Controller):
    def on_loss(self, path):
        raise IndexError("no such path")
"""


@pytest.mark.parametrize("stored", [False, True])
def test_a_class_that_raises_misses(anabranch: Any, tmp_path: Path, stored: bool) -> None:
    """A store's runs are made elsewhere, and have only the text of the exception."""
    file = tmp_path / "my.py"
    file.write_text(BROKEN)
    more = ("--store", str(tmp_path / "runs")) if stored else ()
    status, out, _ = anabranch("evaluate", f"{file}:Broken", "--only", "share", "-n", "2", *more)
    assert status == 1
    assert "misses, because py:Broken raised IndexError: no such path: share" in " ".join(
        out.split()
    )


def test_an_unexpected_error_comes_after_what_was_found(
    anabranch: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def wrong(found: Found) -> Values:
        raise ValueError("of the measure")

    bad = criterion(
        "zz", "8", "MUST", unit=RATIO, cases=(Case("a", ALONE),), measure=wrong, goal=at_most(1.0)
    )
    monkeypatch.setattr(evaluating, "shipped", lambda: KNOWN | {"zz": bad})
    file = tmp_path / "found.json"
    status, out, errors = anabranch("evaluate", "lia", "--json", str(file), "--threads", "1")
    assert status == 2
    assert "of the measure" in errors
    assert "rates" in out
    found = json.loads(file.read_text())
    assert not found["complete"]
    assert found["criteria"][1]["verdicts"] == {"lia": "meets"}


def test_a_store_keeps_runs_for_a_repeated_command(anabranch: Any, tmp_path: Path) -> None:
    words = ("evaluate", "lia", "-n", "2", "--only", "share", "--store", str(tmp_path / "runs"))
    one, two, three = (tmp_path / f"{name}.json" for name in ("one", "two", "three"))
    anabranch(*words, "--json", str(one))
    anabranch(*words, "--json", str(two))
    anabranch(*words[:-2], "--json", str(three))
    assert one.read_bytes() == two.read_bytes() == three.read_bytes()


def test_a_comparison_names_what_got_worse(anabranch: Any, tmp_path: Path) -> None:
    before, after = str(tmp_path / "a.json"), str(tmp_path / "b.json")
    anabranch("evaluate", "lia", "--only", "share", "--json", before)
    anabranch("evaluate", GREEDY, "--only", "share", "--json", after)
    status, out, _ = anabranch("evaluate", "--compare", before, after)
    assert status == 1
    assert "lia, then greedy: what differs" in out
    assert "worse at level MUST: share" in out
    status, out, _ = anabranch("evaluate", "--compare", after, before)
    assert status == 0
    assert "better" in out
    status, out, _ = anabranch("evaluate", "--compare", before, before)
    assert status == 0
    assert "1 of 1 cases show no difference" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["lai"], "there is no controller `lai`; did you mean `lia`"),
        (["lia", "--only", "shares"], "there is no criterion 'shares'; did you mean `share`?"),
        (["lia", "--only", "4.2"], "no criterion is of section '4.2'"),
        (["lia", "--world", "moon"], "--world is 'moon'; it is one of simulation, linux"),
        (["lia", "--json", "/no/such/place/x.json"], "/no/such/place"),
        (["lia", "--report", "README.md"], "README.md"),
        (["lia", "--seed", str(2**64)], "--seed is"),
        (["--compare", "a.json"], "--compare is of two files, before and after a change"),
        (["--compare", "a", "b", "--only", "x", "--quick"], "leave --only and --quick out"),
        (["--compare", "a", "b", "--seed", "3", "-n", "5"], "leave --seed and --repeat out"),
        (["--compare", "a", "b", "--threads", "2"], "leave --threads out"),
        (["lia", "--only", ""], "--only is ''; it is a criterion such as rates"),
        (["lia", "--only", "§5.3"], "section '5.3': because it is about the text of a proposal"),
        (["lia", "--only", "rates", "--quick"], "none of the criteria rates has level MUST"),
        (["growth=1/w; backoff=w/2; law lia"], "is called lia, as one that it is compared with"),
        (["--compare", "README.md", "README.md"], "README.md is not an evaluation"),
        (["--compare", "no.json", "README.md"], "no.json: No such file"),
    ],
)
def test_wrong_words_have_status_2_and_a_remedy(
    anabranch: Any, words: list[str], said: str
) -> None:
    status, _, errors = anabranch("evaluate", *words)
    assert status == 2
    assert said in " ".join(errors.split())


def test_an_interrupt_says_what_is_missing(
    anabranch: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def stop(self: object, *_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("anabranch.evaluation.running.Work._made", stop)
    file = tmp_path / "half.json"
    status, out, _ = anabranch("evaluate", "lia", "--json", str(file))
    assert status == 130
    text = " ".join(out.split())
    assert "interrupted: 4 of 4 cases were not run (rates, share, least); --store keeps" in text
    assert not json.loads(file.read_text())["complete"]


def test_criteria_may_be_given_with_commas(anabranch: Any) -> None:
    _, out, _ = anabranch("evaluate", "lia", "-n", "2", "--only", "share, rates")
    assert "rates" in out and "share" in out and "least" not in out


def test_the_list_of_criteria_has_goals(anabranch: Any) -> None:
    status, out, _ = anabranch("list", "criteria")
    assert status == 0
    assert "starvation" in out and "at least 10 %" in out
    _, long, _ = anabranch("list", "criteria", "--long")
    assert len(long) > len(out)

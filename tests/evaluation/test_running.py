"""What an evaluation runs, and what it makes of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Unpack

import numpy as np
import pytest
from planted import ALONE, RATES, SHARED, criterion, numbers, rate, share

import anabranch as ab
from anabranch import Result, Scenario
from anabranch.evaluation.criterion import Case, Criterion, Found
from anabranch.evaluation.entry import Measured, worst
from anabranch.evaluation.evaluating import Evaluation
from anabranch.evaluation.goals import NoWorse, Values, at_least, at_most
from anabranch.makers import Core, Options, Wanted
from anabranch.offers import UnknownName
from anabranch.seeds import Seeds


@dataclass
class Counting:
    """A maker that counts its runs, and may fail."""

    made: list[tuple[str, str, tuple[str, ...]]] = field(default_factory=list)
    announced: list[Wanted] = field(default_factory=list)
    interrupt_at: int = 10**9

    def announce(self, wanted: Iterable[Wanted]) -> None:
        self.announced = list(wanted)

    def run(self, scenario: Scenario, seeds: Seeds, **options: Unpack[Options]) -> Result:
        if len(self.made) >= self.interrupt_at:
            raise KeyboardInterrupt
        given = str(options.get("controller"))
        self.made.append((scenario.name, given, tuple(options.get("overrides", ()))))
        return Core(1).run(scenario, seeds, **options)


def test_controllers_that_stand_beside_each_other_are_run_once() -> None:
    maker = Counting()
    cases = (Case("a", SHARED),)
    both = [criterion(), criterion(name="again", cases=cases)]
    ab.evaluate("lia", "wvegas", criteria=both, seeds=2, maker=maker)
    names = [given for _, given, _ in maker.made]
    assert names == ["reno", "cubic", "olia", "balia", "lia", "wvegas"]


def test_what_is_announced_is_what_is_run() -> None:
    maker = Counting()
    beside = {"fewer": ("flow.tcp.count=0",), "more": ("flow.tcp.count=2",)}
    cases = (Case("a", SHARED, (), beside),)
    ab.evaluate("lia", criteria=[criterion(cases=cases), RATES], seeds=3, maker=maker)
    announced = [(one.scenario.name, str(one.controller), one.overrides) for one in maker.announced]
    assert announced == maker.made
    assert {len(one.seeds) for one in maker.announced} == {2, 3}


def test_runs_beside_a_case_serve_every_controller() -> None:
    def relative(found: Found) -> Values:
        return found.result.rate("tcp") / found.beside["alone"].rate("tcp")

    beside = {"alone": ("flow.subject.count=0",)}
    case = Case("a", SHARED, (), beside)
    maker = Counting()
    found = ab.evaluate(
        "lia", criteria=[criterion(cases=(case,), measure=relative)], seeds=2, maker=maker
    )
    assert Counter(given for _, given, _ in maker.made)["None"] == 1
    (entry,) = found.entries
    (row,) = entry.rows
    assert row.measured.values is not None
    alone = ab.run(SHARED, 2, overrides=beside["alone"])
    own = ab.run(SHARED, 2, controller="lia")
    assert (row.measured.values == own.rate("tcp") / alone.rate("tcp")).all()


def test_any_number_of_threads_finds_the_same() -> None:
    given: dict[str, Any] = {"criteria": [criterion(theory=True), RATES], "seeds": 3}
    one = ab.evaluate("lia", "olia", maker=Core(1), **given)
    many = ab.evaluate("lia", "olia", maker=Core(4), **given)
    inline = ab.evaluate("lia", "olia", maker=Counting(), **given)
    texts = [str(ab.evaluation.entry and plain(found)) for found in (one, many, inline)]
    assert texts[0] == texts[1] == texts[2]


def plain(found: Evaluation) -> Any:
    """An evaluation as data."""
    from anabranch.records import plain as as_data

    return as_data(found.to_json())


def test_a_row_has_the_digests_of_its_runs() -> None:
    found = ab.evaluate("lia", criteria=[criterion()], seeds=2)
    (row,) = found.entries[0].rows
    own = ab.run(SHARED, 2, controller="lia")
    assert row.measured.digests == tuple(run.digest for run in own.runs)
    assert row.measured.digest
    assert row.references["reno"].digest != row.measured.digest


def test_a_law_and_a_class_are_evaluated_as_names_are() -> None:
    class Mine(ab.Controller):
        pass

    law = ab.Law("growth = 1/w; backoff = w/2; law mine")
    found = ab.evaluate(law, Mine, "tcp", criteria=[criterion()], seeds=2)
    assert found.names == ["mine", "py:Mine", "reno"]
    rows = [entry.rows[0].measured for entry in found.entries]
    assert rows[0].digests == rows[2].digests
    assert rows[1].values is not None


def test_a_case_that_a_controller_cannot_run_says_why() -> None:
    def fails(found: Found) -> Values:
        return found.result.path("subject", 0, "no_such_column").mean(axis=1)

    case = Case("a", SHARED)
    missing = criterion(name="missing", measure=fails, cases=(case,))
    found = ab.evaluate("lia", criteria=[missing, criterion()], seeds=2)
    entry, other = found.entries
    assert entry.verdict == "not_evaluated"
    assert "no_such_column" in entry.rows[0].why
    assert "no_such_column" in next(iter(entry.reasons))
    assert other.verdict != "not_evaluated"


def test_a_class_that_fails_in_a_case_leaves_the_others() -> None:
    class Fragile(ab.Controller):
        def on_loss(self, path: ab.PathView) -> None:
            if len(self.paths) > 1:
                raise ZeroDivisionError("no way")
            super().on_loss(path)

    found = ab.evaluate(Fragile, criteria=[criterion(), RATES], seeds=2)
    shared, alone = found.entries
    assert shared.verdict == "misses"
    assert shared.rows[0].why == "py:Fragile raised ZeroDivisionError: no way"
    assert shared.rows[0].to_json()["raised"]
    assert found.missed == [shared]
    assert alone.rows[0].measured.values is not None


def test_what_a_class_does_wrong_is_a_failure_whatever_it_raises() -> None:
    class Lost(ab.Controller):
        def on_loss(self, path: ab.PathView) -> None:
            raise KeyError("key")

    class Nowhere(ab.Controller):
        def on_loss(self, path: ab.PathView) -> None:
            path.window = float("nan")

    found = ab.evaluate(Lost, Nowhere, criteria=[criterion()], seeds=2)
    lost, nowhere = (entry.rows[0] for entry in found.entries)
    assert lost.why == "py:Lost raised KeyError: key"
    assert nowhere.why.startswith("py:Nowhere raised ValueError: path 0: window is NaN")
    assert {lost.verdict, nowhere.verdict} == {"misses"}


def test_a_class_is_not_blamed_for_a_measure() -> None:
    class Mine(ab.Controller):
        pass

    def wrong(found: Found) -> Values:
        raise ZeroDivisionError("of the measure")

    evaluation = Evaluation([Mine], 2, criteria=[criterion(), criterion(name="w", measure=wrong)])
    with pytest.raises(ZeroDivisionError, match="of the measure"):
        evaluation.run()
    assert evaluation.interrupted
    assert [one.verdict for one in evaluation.entries] == ["not_evaluated", "not_evaluated"]


def test_an_error_keeps_what_was_found() -> None:
    def wrong(found: Found) -> Values:
        raise ZeroDivisionError("of the measure")

    late = criterion(name="w", cases=(Case("a", ALONE),), measure=wrong)
    evaluation = Evaluation(["lia"], 2, criteria=[criterion(), late], maker=Core(1))
    with pytest.raises(ZeroDivisionError):
        evaluation.run()
    first, second = evaluation.entries
    assert first.rows[0].measured.values is not None
    assert second.rows[0].left_out


def test_an_error_of_theory_leaves_the_simulated_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*_: object) -> Result:
        raise FloatingPointError("no root")

    monkeypatch.setattr("anabranch.evaluation.theory_beside._predicted", wrong)
    (entry,) = ab.evaluate("lia", criteria=[criterion(theory=True)], seeds=2).entries
    (row,) = entry.rows
    assert row.theory is not None and row.theory.why == "it failed with FloatingPointError: no root"
    assert row.verdict != "not_evaluated"


def test_a_law_cannot_replace_a_reference_by_its_name() -> None:
    law = ab.Law("growth = 8/w; backoff = 0.125*w; law reno")
    with pytest.raises(ab.ScenarioError, match="is called reno, as one that it is compared with"):
        Evaluation([law], criteria=[criterion()])
    wvegas = ab.Law("growth = 8/w; backoff = 0.125*w; law wvegas")
    assert Evaluation([wvegas], criteria=[criterion()]).names == ["wvegas"]
    needed = criterion(goal=NoWorse(needs=("wvegas",)))
    with pytest.raises(ab.ScenarioError, match="law my-wvegas"):
        Evaluation([wvegas], criteria=[needed])


def test_runs_beside_a_case_have_digests() -> None:
    case = Case("a", SHARED, (), {"alone": ("flow.subject.count=0",)}, seeds=1)
    found = ab.evaluate("lia", criteria=[criterion(cases=(case,))], seeds=2)
    own = ab.run(SHARED, 1, overrides=("flow.subject.count=0",))
    (data,) = plain(found)["criteria"][0]["cases"]
    assert data["beside_runs"]["alone"]["digests"] == [run.digest for run in own.runs]


def test_infinite_values_have_a_mean_and_no_interval() -> None:
    one = Measured((1, 2), numbers(1, np.inf))
    assert one.interval is not None
    assert (one.interval.mean, one.interval.half) == (np.inf, np.inf)
    assert one.to_json()["interval95"] is None


def test_a_goal_without_its_reference_is_not_judged() -> None:
    def no_cubic(found: Found) -> Values:
        if found.result.provenance["controller"] == "cubic":
            raise KeyError("it has no such column")
        return share(found)

    one = criterion(measure=no_cubic, goal=NoWorse())
    (entry,) = ab.evaluate("lia", criteria=[one], seeds=2).entries
    assert entry.verdict == "not_evaluated"
    assert entry.rows[0].why == "there is no cubic to compare with: it has no such column"


def test_a_measure_of_a_wrong_shape_is_a_mistake() -> None:
    wrong = criterion(measure=lambda found: np.zeros(7))
    with pytest.raises(ValueError, match="has the shape"):
        ab.evaluate("lia", criteria=[wrong], seeds=2)


def test_a_case_that_its_scenario_cannot_have_is_a_mistake() -> None:
    wrong = criterion(cases=(Case("a", SHARED, ("flow.nobody.count=1",)),))
    with pytest.raises(ab.ScenarioError, match="nobody"):
        ab.evaluate("lia", criteria=[wrong], seeds=2)


def test_an_interrupt_keeps_what_was_found() -> None:
    maker = Counting(interrupt_at=6)
    evaluation = ab.evaluate("lia", "wvegas", criteria=[criterion(), RATES], seeds=2, maker=maker)
    assert evaluation.interrupted
    assert evaluation.of("lia")[0].verdict != "not_evaluated"
    assert evaluation.of("wvegas")[0].rows[0].measured.values is not None
    assert evaluation.of("lia")[1].rows[0].why == "it was not run"
    assert evaluation.of("lia")[1].rows[0].left_out


def test_a_row_whose_reference_was_not_run_was_not_run() -> None:
    left = Evaluation(["lia"], criteria=[RATES])
    left.measures["rates", "one flow", "lia"] = Measured((1,), numbers(1))
    left.judge()
    assert left.entries[0].rows[0].left_out
    assert left.entries[0].rows[0].why == "there is no reno to compare with: it was not run"


def test_an_interrupt_stops_the_threads() -> None:
    said: list[str] = []

    def stop(done: float, total: float, what: str) -> None:
        said.append(what)
        if len(said) == 3:
            raise KeyboardInterrupt

    evaluation = Evaluation(["lia"], 5, criteria=[criterion(), RATES], maker=Core(2))
    evaluation.run(stop)
    assert evaluation.interrupted
    assert evaluation.entries[1].verdict == "not_evaluated"


def test_an_interrupt_in_theory_keeps_the_simulated_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> Result:
        raise KeyboardInterrupt

    monkeypatch.setattr("anabranch.evaluation.theory_beside._predicted", stop)
    evaluation = ab.evaluate("lia", criteria=[criterion(theory=True)], seeds=2)
    assert evaluation.interrupted
    assert evaluation.entries[0].verdict != "not_evaluated"


def test_theory_stands_beside_with_the_same_measure() -> None:
    found = ab.evaluate("lia", "bbr", criteria=[criterion(theory=True)], seeds=2)
    lia, bbr = (entry.rows[0].theory for entry in found.entries)
    assert lia is not None and lia.values is not None
    assert lia.values == pytest.approx([1.0], abs=0.01)
    assert bbr is not None and bbr.values is None
    assert "bbr" in bbr.why


def test_the_verdict_of_a_criterion_is_that_of_its_worst_case() -> None:
    assert worst(["meets", "misses", "undecided"]) == "misses"
    assert worst(["meets", "undecided", "meets"]) == "undecided"
    assert worst(["meets", "meets"]) == "meets"
    assert worst(["not_evaluated", "not_evaluated"]) == "not_evaluated"
    assert worst(["meets", "not_evaluated"]) == "undecided"
    assert worst(["misses", "not_evaluated"]) == "misses"


def test_the_row_that_decides_has_the_least_margin() -> None:
    values = {"a": (1.0, 1.0), "b": (1.9, 1.9), "c": (0.2, 0.2)}
    cases = tuple(Case(name, ALONE) for name in values)

    def by_name(found: Found) -> Values:
        return numbers(*values[found.case.name])

    for goal, name in ((at_most(2.0), "b"), (at_least(0.1), "c"), (at_least(1.5), "c")):
        one = criterion(cases=cases, measure=by_name, goal=goal)
        (entry,) = ab.evaluate("lia", criteria=[one], seeds=2).entries
        assert entry.deciding.case.name == name


def test_expensive_cases_have_fewer_seeds() -> None:
    found = ab.evaluate("lia", criteria=[RATES], seeds=3)
    assert [row.measured.seeds for row in found.entries[0].rows] == [(1, 2, 3), (1, 2)]


def test_a_hash_over_all_seeds_depends_on_each() -> None:
    one = Measured((1, 2), numbers(1, 2), ("aa", "bb"))
    assert one.digest != Measured((1, 2), numbers(1, 2), ("aa", "bc")).digest
    assert Measured().digest == ""


def names(chosen: Evaluation) -> list[str]:
    return [one.name for one in chosen.criteria]


def test_criteria_are_chosen_by_name_and_by_section() -> None:
    known: list[Criterion] = [RATES, criterion(), criterion(name="no-harm", section="7.1")]

    def chosen(*only: str) -> list[str]:
        return names(Evaluation(["lia"], criteria=known, only=only))

    assert chosen() == ["rates", "share", "no-harm"]
    assert chosen("5") == chosen("5.1") == chosen("5.1.1") == ["rates"]
    assert chosen("7.1") == ["no-harm"]
    assert chosen("No Harm", "5.1") == ["rates", "no-harm"]
    with pytest.raises(UnknownName, match="did you mean `rates`"):
        chosen("rate")
    with pytest.raises(UnknownName, match=r"no criterion is of section '9'"):
        chosen("9")
    assert chosen("§7.1") == chosen("§ 7.1.") == ["no-harm"]
    with pytest.raises(UnknownName, match=r"section '5.3': because it is about the text"):
        chosen("5.3")
    with pytest.raises(UnknownName, match=r"--only is ''; it is a criterion such as rates, or a"):
        chosen("")


def test_a_level_chooses_among_what_is_named() -> None:
    known: list[Criterion] = [RATES, criterion()]
    assert names(Evaluation(["lia"], criteria=known, only=["5", "7"], level="MUST")) == ["share"]
    with pytest.raises(ValueError, match="none of the criteria rates has level MUST"):
        Evaluation(["lia"], criteria=known, only=["5"], level="MUST")


def test_what_is_asked_is_checked_before_anything_runs() -> None:
    with pytest.raises(ab.ScenarioError, match="lai"):
        Evaluation(["lai"], criteria=[RATES])
    with pytest.raises(ValueError, match="no controller"):
        Evaluation([], criteria=[RATES])
    with pytest.raises(ValueError, match="twice"):
        Evaluation(["lia"], [1, 1], criteria=[RATES])


def test_with_one_path_laws_share_the_runs_of_reno() -> None:
    maker = Counting()
    found = ab.evaluate("semicoupled", criteria=[RATES], seeds=2, maker=maker)
    assert Counter(given for _, given, _ in maker.made) == {"reno": 2, "cubic": 2}
    (entry,) = found.entries
    for row, case in zip(entry.rows, RATES.cases, strict=True):
        for name, measured in {**row.references, "semicoupled": row.measured}.items():
            own = ab.run(ALONE, 2, controller=name, overrides=case.overrides)
            assert measured.digests == tuple(run.digest for run in own.runs)
        assert row.same_as == "reno"
        assert row.to_json()["same_as"] == "reno"


LAWS = (
    "growth = 8/w; backoff = 0.125*w; law greedy",
    "note k = 0: acknowledged\non ack: k = k + 1\ngrowth = k/w; backoff = w/4; law noting",
    "growth = 1/w; backoff = w/2; min_ssthresh = 9; law floored",
)


@pytest.mark.parametrize("text", LAWS)
def test_with_one_path_a_written_law_is_reno(text: str) -> None:
    maker = Counting()
    cases = (Case("alone", ALONE), Case("two paths", SHARED))
    (entry,) = ab.evaluate(
        ab.Law(text), criteria=[criterion(measure=rate, cases=cases)], seeds=2, maker=maker
    ).entries
    made = [given for scenario, given, _ in maker.made if scenario == ALONE]
    assert made == ["reno", "cubic"]
    assert [row.same_as for row in entry.rows] == ["reno", ""]
    own = ab.run(ALONE, 2, controller=text)
    assert entry.rows[0].measured.digests == tuple(run.digest for run in own.runs)


def test_a_law_with_its_own_slow_start_is_not_reno() -> None:
    for text in (
        "growth = 1/w; backoff = w/2; with slow_start = hystart",
        "lia+hystart",
        "kernel:lia",
    ):
        (one,) = Evaluation([text], criteria=[RATES]).contenders
        assert not one.is_reno_alone


def test_what_is_more_than_a_law_has_its_own_runs() -> None:
    maker = Counting()
    law = ab.Law("growth = 1/w; backoff = w/2; law mine")
    ab.evaluate(law, "lia+hystart", "kernel:lia", criteria=[RATES], seeds=2, maker=maker)
    made = {given for _, given, _ in maker.made}
    assert made == {"reno", "cubic", "lia+hystart", "kernel:lia"}


def test_a_shared_run_has_the_plan_of_each_controller() -> None:
    def named(found: Found) -> Values:
        assert found.result.plan.classes[0].controller == found.result.provenance["controller"]
        return found.result.rate("subject")

    one = criterion(cases=(Case("a", ALONE),), measure=named)
    (entry,) = ab.evaluate("lia", criteria=[one], seeds=2).entries
    assert entry.rows[0].measured.values is not None

"""Cases on the real kernel, with something that stands for it."""

from __future__ import annotations

from typing import Any

import pytest
from planted import SHARED, criterion, rate

import anabranch as ab
from anabranch import Result, Scenario
from anabranch.evaluation.criterion import Case, Found
from anabranch.evaluation.evaluating import Evaluation
from anabranch.evaluation.goals import Values
from anabranch.evaluation.on_linux import Kernel
from anabranch.linux import LinuxError

BESIDE = {"alone": ("flow.tcp.count=0",)}


def relative(found: Found) -> Values:
    """The subject's rate over that without the TCP."""
    return rate(found) / found.beside["alone"].rate("subject")


def evaluation(*controllers: Any) -> Evaluation:
    one = criterion(linux=True, cases=(Case("a", SHARED, (), BESIDE),), measure=relative)
    made = Evaluation(controllers, 5, criteria=[one, criterion(name="simulated")])
    made.judge()
    return made


class Kernels:
    """Stands for the kernel: the simulator without the last seed of runs beside."""

    def __init__(self) -> None:
        self.made: list[tuple[str | None, int]] = []

    def __call__(self, scenario: Scenario, seeds: list[int], **options: Any) -> Result:
        options.pop("progress")(1, 1)
        self.made.append((options["controller"], len(seeds)))
        own = seeds if options["controller"] else seeds[:-1]
        return ab.run(scenario, own, **options)


def test_cases_that_ask_for_the_kernel_are_run_there() -> None:
    made = evaluation("lia", "olia")
    kernel, runner = Kernel(made), Kernels()
    kernel.runner = runner
    assert kernel.seconds == 3 * 3 * 40.0
    said: list[float] = []
    kernel.run(lambda done, total, what: said.append(done / total))
    assert runner.made == [("lia", 3), (None, 3), ("olia", 3)]
    row = made.of("lia")[0].rows[0]
    assert row.linux is not None and row.linux.seeds == (1, 2)
    other = made.of("lia")[1].rows[0].linux
    assert other is not None
    assert other.why.endswith("it takes real time, and the criterion names no case for it")
    assert said == sorted(said) and said[-1] <= 1.0
    assert "linux" in row.to_json()


def test_what_the_kernel_cannot_run_has_the_reason() -> None:
    class Mine(ab.Controller):
        pass

    made = evaluation("nice", Mine)
    assert not Kernel(made).wanted
    nice, mine = (made.linux["share", "a", name].why for name in ("nice", "py:Mine"))
    assert "nice" in nice
    assert mine == "the kernel runs no Python classes"


def test_a_run_that_fails_there_leaves_the_row_with_the_reason() -> None:
    def failing(*_: Any, **__: Any) -> Result:
        raise LinuxError("no replication was valid\nhelp: stop other programs")

    made = evaluation("lia")
    Kernel(made, runner=failing).run()
    linux = made.of("lia")[0].rows[0].linux
    assert linux is not None and linux.why == "no replication was valid"


def test_an_interrupt_there_keeps_the_simulated_rows() -> None:
    def interrupted(*_: Any, **__: Any) -> Result:
        raise KeyboardInterrupt

    made = evaluation("lia")
    Kernel(made, runner=interrupted).run()
    assert made.interrupted
    linux = made.of("lia")[0].rows[0].linux
    assert linux is not None and linux.why == "it was not run"


def test_events_are_not_asked_of_the_kernel() -> None:
    one = criterion(linux=True, cases=(Case("a", SHARED, events=True),))
    made = Evaluation(["lia"], criteria=[one])
    made.judge()
    Kernel(made)
    assert made.linux["share", "a", "lia"].why == "the kernel has no log of events"


def test_a_criterion_can_name_the_cases_for_the_kernel() -> None:
    cases = (Case("a", SHARED), Case("b", SHARED, ("duration=41 s",)))
    made = Evaluation(["lia"], criteria=[criterion(linux=("b",), cases=cases)])
    assert [key.overrides for key in Kernel(made).wanted] == [("duration=41 s",)]
    assert "the criterion names only b for it" in made.linux["share", "a", "lia"].why


def test_an_unexpected_error_there_keeps_the_simulated_rows() -> None:
    def failing(*_: Any, **__: Any) -> Result:
        raise ZeroDivisionError

    made = evaluation("lia")
    with pytest.raises(ZeroDivisionError):
        Kernel(made, runner=failing).run()
    assert made.interrupted and made.entries


@pytest.mark.parametrize("count", [1, 2])
def test_replications_are_the_first_seeds(count: int) -> None:
    assert Kernel(evaluation("lia"), count).seeds == list(range(1, count + 1))

"""Laws that are plain Python functions: the law is what the function returns, and what the language
does not have is refused at the line that has it.
"""

from __future__ import annotations

import importlib.util
import inspect
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import anabranch as ab
from anabranch import _core
from anabranch.translation import LawError, Param

TIE = 1e-6
"""Within this part of the largest a path is among the largest."""


@dataclass(frozen=True, eq=False)
class One:
    """A path as functions see it."""

    w: float
    rtt: float
    l: float  # noqa: E741

    @property
    def x(self) -> float:
        return self.w / self.rtt

    @property
    def rtt_min(self) -> float:
        return self.rtt


def largest(paths: Sequence[One], key: Callable[[One], float]) -> list[One]:
    """What the translation knows by this name, for functions that are called."""
    return [one for one in paths if key(one) >= max(map(key, paths)) * (1 - TIE)]


def smallest(paths: Sequence[One], key: Callable[[One], float]) -> list[One]:
    """The same of the smallest."""
    return [one for one in paths if key(one) <= min(map(key, paths)) * (1 + TIE)]


Floats = NDArray[np.float64]
State = tuple[Floats, Floats, Floats]
"""Windows, round trips and losses."""


def states(paths: Sequence[int], seed: int = 1, count: int = 40) -> list[State]:
    """States of so many paths; in half of them, paths tie."""
    random = np.random.default_rng(seed)
    found = []
    for n in paths:
        for k in range(count):
            w, rtt, p = (
                np.exp(random.uniform(np.log(low), np.log(high), n))
                for low, high in ((1, 500), (1e-3, 1), (1e-5, 0.2))
            )
            if k % 2:
                w, rtt, p = w.round(), np.full(n, rtt[0]), np.full(n, p[0])
            found.append((w, rtt, p))
    return found


def assert_same(law: str, other: str) -> None:
    """Growth and backoff are the same to the bit, whatever the number of paths."""
    for state in states([1, 2, 3, 5, 16]):
        for formula in (_core.growth, _core.backoff):
            np.testing.assert_array_equal(formula(law, *state), formula(other, *state))


def assert_returned(function: Callable[..., Any], **parameters: float | Param) -> ab.Law:
    """The law has what the function returns, to the bit. Of two paths at most: Python may add more
    of them in another order.
    """
    law = ab.law(**parameters)(function)
    values = {
        name: one.default if isinstance(one, Param) else one for name, one in parameters.items()
    }
    for w, rtt, p in states([1, 2]):
        paths = [One(*of) for of in zip(w.tolist(), rtt.tolist(), (1 / p).tolist(), strict=True)]
        growth, backoff = zip(*(function(r, paths, **values) for r in paths), strict=True)
        np.testing.assert_array_equal(_core.growth(law, w, rtt, p), growth)
        np.testing.assert_array_equal(_core.backoff(law, w, rtt, p), backoff)
    return law


# The law is what the function returns.


@ab.law(beta=0.5)
def gentle(r, paths, beta):
    n = len(paths)
    w_tot = sum(s.w for s in paths)
    return 2 * beta / (n**2 * w_tot), r.w * (1 - beta / n)


@ab.law()
def lia(r, paths):
    """Linked increases.

    The cap is that of one TCP.
    """
    best = max(s.w / s.rtt**2 for s in paths)
    return min(best / sum(s.x for s in paths) ** 2, 1 / r.w), r.w / 2


@ab.law()
def balia(r, paths):
    x_tot = sum([s.x for s in paths])
    alpha = max(s.x for s in paths) / r.x
    growth = r.x / (r.rtt * x_tot * x_tot) * ((1 + alpha) / 2) * ((4 + alpha) / 5)
    return growth, r.w - r.w / 2 * min(alpha, 1.5)


@ab.law(draft=Param(0, "[0, 1]", "1 takes the draft's path quality"))
def olia(r, paths, draft):
    def quality(s):
        return s.l * s.l / s.rtt if draft > 0.5 else s.l / s.rtt**2

    n = len(paths)
    best = largest(paths, key=quality)
    biggest = largest(paths, key=lambda s: s.w)
    collected = len([s for s in paths if s in best and s not in biggest])
    alpha = (
        0
        if collected == 0
        else 1 / (n * max(collected, 1))
        if r in best and r not in biggest
        else -1 / (n * max(len(biggest), 1))
        if r in biggest
        else 0
    )
    return r.w / r.rtt**2 / sum(s.x for s in paths) ** 2 + alpha / r.w, r.w / 2


@pytest.mark.parametrize(
    ("law", "name"), [(gentle, "gentle"), (lia, "lia"), (balia, "balia"), (olia, "olia")]
)
def test_a_function_is_to_the_bit_the_law_that_ships_as_text(law: ab.Law, name: str) -> None:
    assert isinstance(law, ab.Law)
    assert law.name == name
    assert_same(law, ab.Law.load(name))


def test_parameters_of_a_function_are_those_of_its_law() -> None:
    assert gentle.parameters == {"beta": 0.5} and gentle(beta=0.3).name == "gentle:beta=0.3"
    assert_same(gentle(beta=0.3), ab.Law.load("gentle", beta=0.3))
    assert_same(olia(draft=1), ab.Law.load("olia", draft=1))
    assert _core.law(olia)["parameters"] == [
        ("draft", 0.0, 0.0, "[0, 1]", "1 takes the draft's path quality")
    ]
    with pytest.raises(ab.ScenarioError, match=r"draft is 2; it lies in \[0, 1\]"):
        olia(draft=2)


def test_name_and_docstring_of_a_function_are_those_of_its_law() -> None:
    @ab.law()
    def my_own_law(r, paths):
        """What it is, in
        two lines: so.

        And more.
        """
        return 1 / r.w, r.w / 2

    about = _core.law(my_own_law)
    assert about["name"] == "my-own-law" and about["summary"] == "What it is, in two lines: so."
    assert _core.law(lia)["summary"] == "Linked increases."


def test_a_function_runs_as_a_controller_as_its_text_does() -> None:
    one, other = (
        ab.run("khalili/scenario-c", controller=law, overrides=["duration=8 s", "warmup=2 s"])
        for law in (lia, "lia")
    )
    assert one.runs[0].digest == other.runs[0].digest
    assert one.plan.classes[0].controller == "lia" and one.plan.classes[0].law == lia


def test_conditions_in_a_row_chains_and_brackets_mean_what_they_mean_in_python() -> None:
    def conditions(r, paths):
        w_max = max(s.w for s in paths)
        crowded = any(s.w > 30 for s in paths) and not all(s.w > 30 for s in paths)
        a = 3 if 1 < r.w <= w_max / 2 else 2 if r.w == w_max or r.rtt >= 0.1 else 1
        b = 5 if crowded else 7 if not r.w > 100 else 11
        return a / r.w - -b / (r.w * r.w) / 2, (r.w if r.w < 4 < w_max else r.w - 1) / 2

    assert_returned(conditions)


def test_functions_of_numbers_mean_what_they_mean_in_python() -> None:
    def numbers(r, paths):
        a = math.sqrt(r.w) + abs(r.w - 20) + max(r.w, 3, 2 * r.rtt) - min(1.5, r.rtt)
        b = 2**3 - 2**-1 + 7 / 2 / 2 - (3 - 2 - 1)
        return a / r.w + b / 1e3, r.w - min(r.w / 2, a)

    assert_returned(numbers)


def test_exponentials_and_logarithms_are_those_of_python_but_for_rounding() -> None:
    @ab.law()
    def rounded(r, paths):
        return math.exp(-r.w / 100) + math.log(1 + r.w) / 9 + r.w**0.3 / 50, r.w / 2

    for w, rtt, p in states([1, 2, 3]):
        expected = np.exp(-w / 100) + np.log1p(w) / 9 + w**0.3 / 50
        np.testing.assert_allclose(_core.growth(rounded, w, rtt, p), expected, rtol=1e-13)


def test_reductions_with_conditions_and_inside_each_other_count_what_python_counts() -> None:
    def counted(r, paths):
        fast = sum(1 for s in paths if s.rtt < 0.1 if s.w > 2)
        slow = len([s for s in paths if not s.rtt < 0.1])
        spread = sum(max(abs(s.w - t.w) for t in paths) for s in paths)
        least = min(s.w for s in paths if s.w >= r.w)
        much = sum(s.w for s in paths if s.w > 10)
        return (fast + 2 * slow) / r.w + spread / 1e6 + much / 1e6, least / (2 + len(paths))

    assert_returned(counted)


def test_functions_of_a_path_and_sets_mean_what_they_mean_in_python() -> None:
    def chosen(r, paths, weight):
        n = len(paths)

        def size(s):
            return s.w * weight / max(t.w for t in paths)

        def quality(s):
            return size(s) / s.rtt + n

        best = largest(paths, key=quality)
        near = smallest(paths, key=lambda path: path.rtt_min)
        share = 2 if r in best else 1
        both = len([s for s in paths if s in near and s in best])
        most = max(quality(s) for s in paths if s in best)
        return share * size(r) / (100 * r.w) + both * quality(r) / max(most, 1e-9) / 1e3, (
            r.w / 2 if r not in near else r.w / max(len(near), 1) / 2
        )

    law = assert_returned(chosen, weight=Param(0.75, "(0, 1]"))
    assert law.parameters == {"weight": 0.75}


def test_the_memory_of_a_path_is_that_of_the_language() -> None:
    def remembered(r, paths):
        return min(r.l, 1e6) / 1e6 / r.w + r.rtt_min / r.rtt / 10, r.w / 2

    law = assert_returned(remembered)
    names = {name for name, *_ in _core.law(law)["notes"]}
    assert names == {"since_loss", "between_losses", "least_rtt"}


def test_names_that_mean_something_in_the_language_may_be_those_of_values() -> None:
    def taken(r, paths):
        n = len(paths) + 1
        w = r.w / 2
        growth = w / (n * 50)
        _x = growth + 1
        p_s = _x / 2
        then = sum(q.w for q in paths) / 1e4
        return growth / 7 + p_s / r.w + then / r.w, w

    assert_returned(taken)


def test_the_own_path_and_all_paths_may_have_any_names() -> None:
    def renamed(own, everyone):
        return 1 / max(one.w for one in everyone), own.w / 2

    law = assert_returned(renamed)
    assert_same(law, "growth = 1/max_s(w_s)\nbackoff = w/2")


# Notes.


PATIENT = """
law patient: linked increases that wait for a path that has just lost
param wait = 20 in [0, 1000]: segments without a loss after which a path grows at full speed

note calm = 0: segments acknowledged since the last loss, up to wait
on ack:  calm = min(calm + acked, wait)
on loss: calm = 0
steady calm = min(1/p, wait)

growth  = (if n > 1 and calm < wait then 0.5 else 1) / (n * w_tot)
backoff = w/2
"""


@ab.law(
    wait=Param(20, "[0, 1000]", "segments without a loss after which a path grows at full speed"),
    calm=ab.Note(0, "segments acknowledged since the last loss, up to wait"),
)
def patient(r, paths, wait):
    """Linked increases that wait for a path that has just lost."""

    def on_ack(r):
        r.calm = min(r.calm + r.acked, wait)

    def on_loss(r):
        r.calm = 0

    def steady(r):
        r.calm = min(1 / r.p, wait)

    n = len(paths)
    waits = n > 1 and r.calm < wait
    return (0.5 if waits else 1) / (n * sum(s.w for s in paths)), r.w / 2


def assert_same_run(law: str, other: str) -> None:
    """Every event of a short run is the same."""
    short = ["duration=8 s", "warmup=2 s"]
    one, two = (
        ab.run("khalili/scenario-c", controller=each, overrides=short) for each in (law, other)
    )
    assert one.runs[0].digest == two.runs[0].digest


def test_a_function_with_a_note_is_to_the_bit_the_text_with_that_note() -> None:
    text = ab.Law(PATIENT)
    assert _core.law(patient)["notes"] == _core.law(text)["notes"]
    assert _core.law(patient)["parameters"] == _core.law(text)["parameters"]
    for own, other in ((patient, text), (patient(wait=3), text(wait=3))):
        assert own.name == other.name
        assert_same(own, other)
        assert_same_run(own, other)


def test_updates_of_notes_take_place_in_the_order_of_their_lines() -> None:
    @ab.law(gain=0.25, rate=ab.Note(1), late=ab.Note(0), losses=ab.Note(-1))
    def smoothed(r, paths, gain):
        most = 40 * gain

        def on_loss(path):
            path.losses += 1
            half = path.rate / 2
            path.rate -= half
            path.late = path.rate

        def on_ack(path):
            """Twice smoothed, in segments per second."""
            sample = path.acked / path.rtt
            before = path.rate
            path.late = before if path.late > before else path.late * 0.5
            path.rate += gain * (sample - before)
            path.late *= 1 - gain if path.rtt_last > 0.05 else most / 10

        half = sum(s.late for s in paths) / 2
        return max(min(r.rate, 2 * half), 0) / (50 * r.w), r.w / (2 + max(min(r.losses, 1), 0))

    other = ab.Law("""
        law smoothed
        param gain = 0.25
        note rate = 1
        note late = 0
        note losses = -1
        on ack: late = if late > rate then rate else late*0.5
        on ack: rate = rate + gain*(acked/rtt - rate)
        on ack: late = late * (if rtt_last > 0.05 then 1 - gain else 40*gain/10)
        on loss: losses = losses + 1
        on loss: rate = rate - rate/2
        on loss: late = rate
        growth = max(min(rate, 2*(sum_s(late_s)/2)), 0) / (50*w)
        backoff = w / (2 + max(min(losses, 1), 0))
    """)
    assert_same_run(smoothed, other)
    assert_same_run(smoothed(gain=0.5), other(gain=0.5))


def test_a_note_that_nothing_changes_keeps_its_value() -> None:
    @ab.law(share=ab.Note(0.5, "of the increase of one TCP"))
    def constant(r, paths):
        return r.share / r.w, r.w / 2

    assert _core.law(constant)["notes"] == [("share", 0.5, "of the increase of one TCP")]
    text = ab.Law("note share = 0.5; growth = share/w; backoff = w/2; law constant")
    assert_same(constant, text)
    assert_same(constant, "growth = 0.5/w\nbackoff = w/2")
    assert_same_run(constant, text)


def test_what_a_note_is_in_the_long_run_is_for_theory_alone() -> None:
    def made(law: ab.Law) -> Floats:
        return _core.growth(law, np.array([10.0]), np.array([0.1]), np.array([0.01]))

    @ab.law(calm=ab.Note(0))
    def settled(r, paths):
        def steady(r):
            gap = 1 / r.p
            r.calm = min(gap, 1 / r.rtt)

        return (1 + r.calm) / r.w, r.w / 2

    @ab.law(calm=ab.Note(0))
    def unsettled(r, paths):
        return (1 + r.calm) / r.w, r.w / 2

    assert made(settled) == 1.1 and made(unsettled) == 0.1
    assert_same_run(settled, unsettled)


def test_notes_stand_in_reductions_functions_and_sets_and_beside_values_of_their_names() -> None:
    @ab.law(calm=ab.Note(1), seen=ab.Note(0))
    def compared(r, paths):
        def on_ack(r):
            r.calm += r.acked
            r.seen = quality(r)

        def on_loss(r):
            r.calm = 1

        def quality(s):
            return s.calm * 2

        calm = sum(s.calm for s in paths)
        best = largest(paths, key=lambda s: s.calm)
        seen = any(quality(s) > 9 for s in paths)
        share = 1 if r in best or seen else 0.5
        return share * max(r.calm / max(calm, 1), 0) / r.w, r.w / (2 if r.l > 3 else 3)

    other = """
        note calm = 1; note seen = 0
        on ack: calm = calm + acked
        on ack: seen = calm*2
        on loss: calm = 1
        share = if is_largest(calm) or any_s(calm_s*2 > 9) then 1 else 0.5
        growth = share * max(calm / max(sum_s(calm_s), 1), 0) / w
        backoff = w / (if l > 3 then 2 else 3)
    """
    assert_same(compared, other)
    assert_same_run(compared, other)


def test_the_notes_of_a_function_are_in_its_results() -> None:
    result = ab.run(
        "khalili/scenario-c",
        controller=patient,
        overrides=["duration=7 s", "warmup=2 s"],
        series=True,
    )
    table = result.runs[0].series.internals
    assert set(table.name) == {"calm", "in_waits", "n_value"}


# What is refused, and where.


def module(folder: Path, text: str) -> ModuleType:
    """A module with a law."""
    file = folder / "mine.py"
    file.write_text(
        f"import math\n\nimport anabranch as ab\nfrom anabranch import Param\n\n\n{text}\n"
    )
    spec = importlib.util.spec_from_file_location("mine", file)
    assert spec is not None and spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def refused(folder: Path, text: str) -> tuple[str, str]:
    """What is said of a module, and what stands in its line from the caret on."""
    with pytest.raises(LawError) as wrong:
        module(folder, text)
    file = folder / "mine.py"
    head, shown, caret = str(wrong.value).split("\n")
    place = re.fullmatch(rf"{re.escape(str(file))}:(\d+): (.*)", head)
    assert place is not None, head
    assert shown == f"    {file.read_text().splitlines()[int(place[1]) - 1]}"
    assert caret.strip(" ") == "^"
    return place[2], shown[caret.index("^") :]


def body(*lines: str) -> str:
    """A law with these lines."""
    return "\n".join(["@ab.law()", "def mine(r, paths):", *(f"    {line}" for line in lines)])


def noted(*lines: str) -> str:
    """A law with these lines and the note `calm`."""
    return body(*lines).replace("@ab.law()", "@ab.law(calm=ab.Note(0))")


def lines(event: str, *updates: str) -> list[str]:
    """A function that updates notes."""
    return [f"def {event}(r):", *(f"    {update}" for update in updates)]


def changed(event: str, *updates: str) -> str:
    """A law with the note `calm` and a function that updates it."""
    return noted(*lines(event, *updates), END)


END = "return 1 / r.w, r.w / 2"


@pytest.mark.parametrize(
    ("text", "at", "said"),
    [
        (body("if r.w > 2:", "    a = 1", END), "if", "this is no assignment `name = …`"),
        (body("for s in paths:", "    pass", END), "for", "this is no assignment"),
        (body("a = 1", "a += 2", END), "a += 2", "this is no assignment"),
        (body("a = b = 2", END), "a = b", "this is no assignment"),
        (body("a, b = 1, 2", END), "a, b", "this is no assignment"),
        (body("a = 1", "a = 2", END), "a = 2", "`a` has a value already"),
        (body("r = 2", END), "r = 2", "`r` has a value already"),
        (body("return 1 / r.cwnd, r.w / 2"), "r.cwnd", "no `cwnd`; it has w, rtt, x, l, rtt_min"),
        (body("a = max(s.y for s in paths)", END), "s.y", "a path has no `y`"),
        (body("a = beta / 2", END), "beta", "`beta` has no value here; parameters stand in @law"),
        (body("return paths, r.w / 2"), "paths, r", "`paths` is no number"),
        (body("return 1 / r, r.w / 2"), "r, r.w", "`r` is no number"),
        (body("return True, r.w / 2"), "True", "True and False are no values of a law"),
        (body("return 'x', r.w / 2"), "'x'", "laws have no such expression"),
        (body("return r.w % 2, r.w / 2"), "r.w % 2", "laws have no such expression"),
        (body("return paths[0].w, r.w / 2"), "paths[0].w", "laws have no such expression"),
        (body("a = sum(s.w for s in paths if s is r)", END), "s is r", "no such comparison"),
        (body("a = max((s.w for s in paths), default=1)", END), "max", "no such call"),
        (body("a = round(r.w)", END), "round", "no function `round`; they have min, max, abs"),
        (body("a = sum(s.w + t.w for s in paths for t in paths)", END), "(s.w", "with one name"),
        (body("a = sum(w for w in [1, 2])", END), "(w for", "a reduction runs over `paths`"),
        (body("a = sum(r.w for r in paths)", END), "(r.w for", "`r` is a path already"),
        (body("a = 2 if any(s.w > 2 for s in paths if s.x > 1) else 1", END), "(s.w", "no `if`"),
        (body("a = len([1, 2])", END), "len", "`len` is that of `paths`, of a set, or"),
        (body("a = largest(paths)", END), "largest", "write `largest(paths, key=lambda s: s.w)`"),
        (body("a = largest(paths, key=sum)", END), "largest", "write `largest(paths, key="),
        (body("a = largest([r], key=lambda s: s.w)", END), "largest", "write `largest(paths, key="),
        (body("a = 1 if r.w in paths else 2", END), "r.w in", "a path belongs before `in`"),
        (body("a = 1 if r in [1] else 2", END), "[1]", "a set such as `largest(paths, key=…)`"),
        (
            body("def f(s):", "    a = s.w", "    return a", END),
            "def f",
            "one path and one `return`",
        ),
        (body("def f(s, t):", "    return s.w", END), "def f", "one path and one `return`"),
        (body("def f(s):", "    return", END), "def f", "the function returns nothing"),
        (
            body("mine = r.w", "def f(s):", "    return s.w + mine", END),
            "mine",
            "`mine` belongs to path `r`, and this is a function of `s`",
        ),
        (
            body("a = r.w", "b = a + 1", "best = largest(paths, key=lambda s: s.w + b)", END),
            "b)",
            "`b` belongs to path `r`, and this is a function of `s`",
        ),
        (body("def f(s):", "    return s.w + r.w", END), "r.w", "laws have no such expression"),
        (body("def f(s):", "    return f(s)", END), "f(s)", "laws have no function `f`"),
        (body("return 1 / r.w"), "return", "a law ends with `return growth, backoff`"),
        (body("return 1 / r.w, r.w / 2, 3"), "return", "a law ends with `return growth, backoff`"),
        (body("return"), "return", "a law ends with `return growth, backoff`"),
        (body('"""Nothing but words."""'), "def mine", "a law ends with `return growth, backoff`"),
        (body("a = (", "    1 + r.y", ")", END), "r.y", "a path has no `y`"),
        (f"@ab.law()\ndef mine(r):\n    {END}", "def mine", "they are to be (r, paths)"),
        (
            f"@ab.law(beta=1)\ndef mine(r, paths):\n    {END}",
            "def mine",
            "the arguments are r, paths; they are to be (r, paths, beta)",
        ),
        (
            f"@ab.law(beta=1)\ndef mine(r, paths, bta):\n    {END}",
            "def mine",
            "the arguments are r, paths, bta; they are to be (r, paths, beta)",
        ),
        (f"@ab.law()\nasync def mine(r, paths):\n    {END}", "async", "write `def`"),
        ("mine = ab.law()(lambda r, paths: (1 / r.w, r.w / 2))", "mine", "write `def`"),
        (body("def on_ack(r):", "    r.calm = 1", END), "def on", "no note: declare one in @law"),
        (body("return 1 / r.acked, r.w / 2"), "r.acked", "rtt_min; `on_ack` has it"),
        (
            noted("return r.clam / r.w, r.w / 2"),
            "r.clam",
            "no `clam`; it has w, rtt, x, l, rtt_min, calm",
        ),
        (noted("a = calm + 1", END), "calm", "it is a note: write `r.calm`"),
        (noted("r.calm = 1", END), "r.calm", "notes change in `on_ack`, `on_loss`, `steady`"),
        (noted("def on_tick(r):", "    r.calm = 1", END), "def on", "`return`; notes change in"),
        (changed("on_ack", "r.w = 2"), "r.w", "`w` is no note; the notes are calm"),
        (changed("on_ack", "r.clam += 2"), "r.clam", "`clam` is no note; the notes are calm"),
        (
            changed("on_ack", "r.calm = r.w"),
            "r.w",
            "`w` in `on_ack`; it has acked, rtt, rtt_last, calm",
        ),
        (changed("on_ack", "r.calm = r.p"), "r.p", "no `p` in `on_ack`"),
        (
            changed("on_loss", "r.calm -= r.acked"),
            "r.acked",
            "no `acked` in `on_loss`; it has calm",
        ),
        (changed("on_loss", "r.calm = r.rtt"), "r.rtt", "no `rtt` in `on_loss`"),
        (changed("steady", "r.calm += 1 / r.p"), "r.calm", "no `calm` in `steady`; it has p, rtt"),
        (changed("steady", "r.calm = 1", "r.calm = 2"), "r.calm = 2", "has a steady value already"),
        (
            changed("on_ack", "if r.calm > 1:", "    r.calm = 1"),
            "if",
            "has lines such as `r.calm = …`",
        ),
        (changed("on_ack", "r.calm %= 2"), "r.calm", "`on_ack` has lines such as"),
        (changed("on_ack", "a, r.calm = 1, 2"), "a, r", "`on_ack` has lines such as"),
        (changed("on_ack", "return r.calm + r.acked"), "return", "`on_ack` has lines such as"),
        (changed("on_ack", "s.calm = 1"), "s.calm", "`on_ack` has lines such as `r.calm = …`"),
        (changed("on_ack", "r.calm = beta"), "beta", "`beta` has no value here"),
        (changed("on_ack", "r.calm = len(paths)"), "len", "`on_ack` sees one path alone"),
        (
            changed("on_ack", "r.calm = sum(s.calm for s in paths)"),
            "(s.calm",
            "sees one path alone",
        ),
        (noted("n = len(paths)", *lines("on_ack", "r.calm = n"), END), "n", "`n` depends on paths"),
        (
            noted("n = 2", *lines("on_ack", "r.calm = n", "n = 3"), END),
            "n",
            "`n` has no value here",
        ),
        (noted("a = r.calm", *lines("on_ack", "r.calm = a"), END), "a", "`a` depends on paths"),
        (
            noted(
                "best = largest(paths, key=lambda s: s.w)",
                *lines("on_ack", "r.calm = 1 if r in best else 2"),
                END,
            ),
            "best",
            "`on_ack` sees one path alone",
        ),
        (
            noted("def q(s):", "    return s.w", *lines("on_ack", "r.calm = q(r)"), END),
            "return s.w",
            "`w` is not known in an update on ack",
        ),
        (
            changed("on_ack", "old = r.calm", "older = old + 1", "r.calm = 2", "r.calm = older"),
            "older",
            "`older` is made of `calm` before it changed",
        ),
        (changed("on_ack", "new = r.acked", "r.calm = 2"), "new", "`on_ack` does not use `new`"),
        (changed("on_ack", "r.calm = r.calm > 2"), "r.calm", "a number belongs here"),
        (
            noted(*lines("on_ack", "r.calm = 1"), *lines("on_ack", "r.calm = 2"), END),
            "def on_ack",
            "`on_ack` is there already",
        ),
        (
            noted("def on_ack(r, acked):", "    r.calm += acked", END),
            "def on_ack",
            "takes the path alone, which has `r.acked`, `r.rtt`, `r.rtt_last`",
        ),
        (
            noted("def on_loss():", "    r.calm = 0", END),
            "def on",
            "`on_loss` takes the path alone",
        ),
        (noted("def on_loss(r=0):", "    r.calm = 0", END), "def on", "takes the path alone"),
        (noted("return 1 / r.calm, r.w / 2"), "return", "the divisor may be zero"),
        (
            f"@ab.law(calm=ab.Note(0))\ndef mine(r, paths, calm):\n    {END}",
            "def mine",
            "they are to be (r, paths): the own path, all paths, and the parameters of @law; a note "
            "is a value of a path: `r.calm`",
        ),
        (f"@ab.law(w=ab.Note(0))\ndef mine(r, paths):\n    {END}", "w=", "give the note another"),
        (f"@ab.law(x=0.5)\ndef mine(r, paths, x):\n    {END}", "x=", "the parameter another name"),
        (
            "@ab.law(\n"
            + "".join(f"    n{k}=ab.Note(0),\n" for k in range(9))
            + f")\ndef mine(r, paths):\n    {END}",
            "n8=",
            "more than 8 notes",
        ),
    ],
)
def test_what_the_language_does_not_have_is_refused_at_its_place(
    tmp_path: Path, text: str, at: str, said: str
) -> None:
    why, found = refused(tmp_path, text)
    assert said in why and found.startswith(at)


def test_a_function_inside_another_one_is_refused_at_its_place_too() -> None:
    lines, first = inspect.getsourcelines(inspect.currentframe())  # type: ignore[arg-type]
    with pytest.raises(LawError) as wrong:

        @ab.law()
        def mine(r, paths):
            return 1 / r.w, r.cwnd / 2

    number, line = next((k, line) for k, line in enumerate(lines) if "r.cwnd / 2" in line)
    place, shown, caret = str(wrong.value).split("\n")
    assert place.startswith(f"{__file__}:{first + number}: a path has no `cwnd`")
    assert shown == f"    {line.rstrip()}" and shown[caret.index("^") :].startswith("r.cwnd")


@pytest.mark.parametrize(
    ("growth", "said"),
    [
        ("1 / (r.w - 1)", "the divisor may be zero"),
        ("math.sqrt(r.w - 5)", "the root may be of a negative number"),
        ("(r.w > 2) * 3", "a number belongs here"),
        ("math.log(r.w, 2)", "takes one number"),
        ("max(r.w for s in paths) / r.w", "does not depend on path"),
    ],
)
def test_what_the_language_refuses_in_the_text_is_told_of_the_function(
    tmp_path: Path, growth: str, said: str
) -> None:
    why, _ = refused(tmp_path, body(f"return {growth}, r.w / 2"))
    assert said in why


@pytest.mark.parametrize(
    "text",
    [
        body("a = largest(paths, key=lambda: 3)", END),
        body("a = largest(paths, key=lambda s, t: s.w)", END),
        body(f"a = {'max(' * 8}a.w{''.join(f' for {s} in paths)' for s in 'abcdefgh')}", END),
        f"@ab.law(x=0.5)\ndef mine(r, paths, x):\n    {END}",
        f"@ab.law()\ndef mine(r, paths, *others):\n    {END}",
        f"@ab.law()\ndef größe(r, paths):\n    {END}",
    ],
    ids=["no path", "two paths", "too deep", "a word", "more", "name"],
)
def test_whatever_is_refused_is_refused_at_its_place(tmp_path: Path, text: str) -> None:
    refused(tmp_path, text)


def test_the_caret_stands_below_the_mistake_whatever_the_alphabet(tmp_path: Path) -> None:
    _, found = refused(tmp_path, body("β = 2", "a = β + r.y", END))
    assert found.startswith("r.y")


def test_a_function_may_have_words_at_the_margin(tmp_path: Path) -> None:
    text = "if True:\n    @ab.law()\n    def mine(r, paths):\n# at the margin\n        "
    assert module(tmp_path, f"{text}{END}").mine.name == "mine"


def test_a_value_may_be_called_as_the_translation_calls_a_key(tmp_path: Path) -> None:
    lines = ["best = largest(paths, key=lambda s: s.w)", "key1 = 1 if r in best else 2"]
    assert module(tmp_path, body(*lines, "return key1 / r.w, r.w / 2")).mine.name == "mine"


def test_the_default_of_a_parameter_may_come_from_an_array() -> None:
    @ab.law(beta=Param(np.float64(0.25), "(0, 1]"))
    def scaled(r, paths, beta):
        return beta / r.w, r.w / 2

    assert scaled.parameters == {"beta": 0.25}

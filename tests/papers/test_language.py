"""The expressions of ledgers: values, what is refused, and what a trace finds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anabranch.papers import PAPERS
from anabranch.papers.grid import alternatives, matching
from anabranch.papers.laboratory import NotRun
from anabranch.papers.language import UNKNOWN, Environment, Expression, Problem, definitions
from anabranch.papers.readings import BASIC
from anabranch.papers.tracing import Trace, functions

SEEDS = np.array([1.0, 2.0, 3.0])


def value(text: str, **names: object) -> object:
    """The value of an expression."""
    return Environment(names, Environment(BASIC)).evaluated(Expression.read(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 + 2 * 3", 7),
        ("[n * n for n in [1, 2, 3] if n > 1]", [4, 9]),
        ('{f"n{n}": n for n in range(1, 3)}', {"n1": 1, "n2": 2}),
        ("[a - b for a, b in zip([3, 5], [1, 2])]", [2, 3]),
        ("mean(x)", 2.0),
        ("mean(max(x, 2.5))", (2.5 + 2.5 + 3) / 3),
        ("max([1, 4, 2])", 4),
        ("1 < 2 <= 2 and not 3 > 4", True),
        ('"yes" if mean(x) > 1 else "no"', "yes"),
        ("smallest({1: x, 2: x - 1})", 2),
        ("[*[1, 2], 3][-1]", 3),
        ("mean(ratio(x, 2 * x))", 0.5),
        ("twice(mean(x))", 4.0),
    ],
)
def test_expressions_have_the_values_that_python_gives_them(text: str, expected: object) -> None:
    names = definitions({"twice(a)": "2 * a"})
    assert value(text, x=SEEDS, **names) == expected


def test_a_ratio_of_means_has_the_interval_of_the_delta_method() -> None:
    from anabranch.statistics import interval, ratio_of_means

    x, y = SEEDS, np.array([2.0, 2.5, 4.0])
    found = np.asarray(value("ratio(x, y)", x=x, y=y))
    assert interval(found) == ratio_of_means(x, y)


@pytest.mark.parametrize(
    "text",
    [
        "().__class__",
        "__import__('os')",
        "lambda: 1",
        "x.sum()",
        "(y := 1)",
        "2 ** 1000",
        "f(",
        "open('/etc/passwd')",
        "[1][5]",
        "unknown + 1",
    ],
)
def test_what_is_no_expression_is_refused(text: str) -> None:
    with pytest.raises(Problem):
        value(text, x=SEEDS)


@given(st.text(max_size=60))
@settings(max_examples=400)
def test_no_text_raises_anything_but_a_problem(text: str) -> None:
    for read in (Expression.read, Expression.template):
        try:
            Environment({"x": SEEDS}, Environment(BASIC)).evaluated(read(text))
        except Problem as error:
            assert str(error)


WORDS = st.lists(
    st.sampled_from(
        ["x", "1", "+", "*", "(", ")", "[", "]", "for", "in", "if", "else", "mean", ",", "n", '"a"', "{", "}", ":", "not"]
    ),
    max_size=14,
)  # fmt: skip


@given(WORDS)
@settings(max_examples=600)
def test_no_words_raise_anything_but_a_problem(words: list[str]) -> None:
    try:
        value(" ".join(words), x=SEEDS)
    except Problem as error:
        assert str(error)


def test_a_definition_is_evaluated_once_and_only_if_it_is_needed() -> None:
    calls: list[int] = []

    def count() -> int:
        calls.append(1)
        return 5

    names = definitions({"A": "count() + 1", "B": "nothing()"})
    env = Environment(names, Environment({"count": count}))
    assert [env.evaluated(Expression.read("A + A"))] * 2 == [12, 12] and len(calls) == 1


def test_a_definition_that_is_passed_on_keeps_the_names_of_its_place() -> None:
    outer = Environment(definitions({"twice(of, n)": "2 * of(n)", "m": "7"}), Environment(BASIC))
    inner = Environment(definitions({"own(n)": "n + here", "here": "10"}), outer)
    assert inner.evaluated(Expression.read("twice(own, 1)")) == 22


def test_circles_are_refused() -> None:
    for table in ({"A": "B", "B": "A"}, {"f(n)": "f(n - 1)"}):
        env = Environment(definitions(table), Environment(BASIC))
        with pytest.raises(Problem, match="circle"):
            env.evaluated(Expression.read("A" if "A" in table else "f(3)"))


def test_a_text_shows_intervals_points_and_formats() -> None:
    env = Environment({"x": SEEDS, "p": {"a": 1.0, "b": 2}}, Environment(BASIC))
    text = env.evaluated(Expression.template('{x}; {x:.1f}; {p}; {1 > 0}; {{}}; "{mean(x)}"'))
    assert text.strip() == '2.0 ± 2.5; 2.0; a: 1, b: 2; yes; {}; "2"'


def test_a_trace_finds_the_cells_of_calls_loops_definitions_and_cases_that_are_open() -> None:
    paper = PAPERS["khalili"]
    trace = Trace(paper.cells)
    env = paper.environment(functions(paper.measures, trace), tracing=True)
    texts = {
        'rate("c-lia-10", "multipath")': {"c-lia-10"},
        '[rate(f"c-{law}-30", "multipath") for law in ["lia", "olia"]]': {"c-lia-30", "c-olia-30"},
        'upgrade("lia", "red")': {"b-after-lia", "b-before-lia"},
        'rate("a-lia-10" if mean(rate("a-lia-5", "type1")) > 1 else "a-lia-20", "type2")': {"a-lia-5"},
        'fixed_point("a-lia-100", "type1")': set(),
    }  # fmt: skip
    for text, cells in texts.items():
        before = set(trace.read)
        found = env.evaluated(Expression.read(text))
        assert cells <= set(trace.read) - before | cells
        if cells:
            assert found is UNKNOWN or isinstance(found, list)
    assert "a-lia-100" not in trace.read and "a-lia-100" in trace.mentioned
    with pytest.raises(Problem, match="did you mean `c-lia-10`"):
        env.evaluated(Expression.read('rate("c-lai-10", "multipath")'))


def test_a_report_leaves_out_what_has_not_been_run() -> None:
    def rate(cell: str) -> float:
        if cell == "absent":
            raise NotRun(cell)
        return 1.0

    env = Environment({"rate": rate})
    text = Expression.read('{cell: rate(cell) for cell in ["there", "absent"]}')
    with pytest.raises(NotRun):
        env.evaluated(text)
    env.skips = 1
    assert env.evaluated(text) == {"there": 1.0}
    row = Expression.read('[[rate(c) for c in ["there", "absent"]], [rate("there")]]')
    rows = Expression.read(
        '[[rate(c) for c in cells] for cells in [["there", "absent"], ["there"]]]'
    )
    assert env.evaluated(rows) == [[1.0]], "a row is whole or is left out"
    env.skips = 2
    assert env.evaluated(rows) == env.evaluated(row) == [[1.0], [1.0]]


def test_patterns_mean_cells_in_their_order_and_nothing_else() -> None:
    cells = ["a-lia-10", "a-olia-10", "b-lia", "c-lia-10-each"]
    assert matching(["{b,a}-lia*", "!a-lia-10"], cells) == ["b-lia"]
    assert matching(["*-10"], cells) == ["a-lia-10", "a-olia-10"]
    with pytest.raises(Problem, match="no cell is called 'a-reno-10'"):
        matching(["a-{lia,reno}-10"], cells)


@given(st.text("ab{},- ", max_size=12))
def test_alternatives_come_to_an_end(pattern: str) -> None:
    assert alternatives(pattern)

"""Axes of sweeps: what texts and files say."""

from __future__ import annotations

from pathlib import Path

import pytest

from anabranch.sources import load
from anabranch.sweeps.axes import Axis, axis, from_values, product, together
from anabranch.sweeps.designs import axes_of
from anabranch.sweeps.expressions import Expression, derived
from anabranch.sweeps.files import is_sweep, read
from anabranch.sweeps.sweep import Sweep
from anabranch.sweeps.until import Until


def values(text: str) -> list[str]:
    return [row[0] for row in axis(text).rows]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("flow.multipath.count=5,10, 20", ["5", "10", "20"]),
        ("link.ap1.rate=5..40:8 Mb/s", [f"{5 * n} Mb/s" for n in range(1, 9)]),
        ("link.a.delay=1..1000:4 log ms", ["1 ms", "10 ms", "100 ms", "1000 ms"]),
        ("x=0..1:5", ["0", "0.25", "0.5", "0.75", "1"]),
        ("x=10..1:4", ["10", "7", "4", "1"]),
        (
            "flow.a.controller=lia,my.law:beta={0.2,0.5}",
            ["lia", "my.law:beta=0.2", "my.law:beta=0.5"],
        ),
        ("x=3..5:3 logs", ["3 logs", "4 logs", "5 logs"]),
    ],
)
def test_a_text_lists_the_values_of_an_axis(text: str, expected: list[str]) -> None:
    assert values(text) == expected


def test_keys_with_a_semicolon_change_together() -> None:
    found = axis("link.a.rate=1 Mb/s,2 Mb/s; link.b.rate=3..4:2 Mb/s")
    assert found.keys == ("link.a.rate", "link.b.rate")
    assert found.rows == (("1 Mb/s", "3 Mb/s"), ("2 Mb/s", "4 Mb/s"))


def test_axes_are_combined_with_the_last_one_fastest() -> None:
    found = list(product([axis("a=1,2"), axis("b=x,y")]))
    assert found == [
        {"a": "1", "b": "x"},
        {"a": "1", "b": "y"},
        {"a": "2", "b": "x"},
        {"a": "2", "b": "y"},
    ]
    assert list(product([])) == [{}]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("flow.count", "write KEY=V1,V2"),
        ("=1,2", "write KEY=V1,V2"),
        ("a=", "write KEY=V1,V2"),
        ("a=1,1", "each value is given, and given once"),
        ("a=1,,2", "each value is given, and given once"),
        ("a=1..1:3", "a range has two ends"),
        ("a=1..2:1", "2 to 1,000,000 values"),
        ("a=0..2:3 log", "logarithms need ends above zero"),
        ("a=1e..2:3", "are not numbers"),
        ("a=1,2; b=1,2,3", "a has 2, b has 3"),
        ("a=1,2; a=3,4", "a key is there twice"),
    ],
)
def test_what_is_wrong_with_an_axis_is_said_with_its_text(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        axis(text)


def test_a_key_is_on_one_axis() -> None:
    with pytest.raises(ValueError, match="the key 'a' is on two axes"):
        list(product([axis("a=1,2"), axis("a=3,4")]))


def test_lists_of_python_and_toml_are_values() -> None:
    assert from_values("flow.a.count", [5, 10]) == axis("flow.a.count=5,10")
    assert from_values("transport.handshake", [True, False]).rows == (("true",), ("false",))
    assert from_values("a", "1..3:3") == axis("a=1..3:3")
    with pytest.raises(ValueError, match="give a list of values"):
        from_values("a", 3)
    assert together([axis("a=1,2"), axis("b=3,4")]) == Axis(("a", "b"), (("1", "3"), ("2", "4")))


SWEEP = """
scenario = "khalili/scenario-c"
controllers = ["lia", "mine.law:beta={0.2,0.5}"]
seeds = 3
set = ["duration=10 s", "warmup=1 s"]
tables = ["links"]

[vary]
flow.multipath.count = [5, 10]
"link.ap1.rate" = "5..10:2 Mb/s"

[[together]]
"link.line.delay" = ["1 ms", "2 ms"]
"link.back.delay" = ["1 ms", "2 ms"]
"""


def test_a_file_says_all_that_a_sweep_is(tmp_path: Path) -> None:
    (tmp_path / "mine.law").write_text(
        "law mine\nparam beta = 0.5 in (0, 1]: x\ngrowth = beta/w_tot\nbackoff = w/2\n"
    )
    file = tmp_path / "mine.toml"
    file.write_text(SWEEP)
    assert is_sweep(file)
    found = read(file)
    assert [one.keys for one in found.axes] == [
        ("flow.multipath.count",),
        ("link.ap1.rate",),
        ("link.line.delay", "link.back.delay"),
    ]
    assert found.seeds == 3 and found.tables == ("links",)
    law = str(tmp_path / "mine.law")
    assert found.controllers == ("lia", f"{law}:beta=0.2", f"{law}:beta=0.5")
    assert len(found) == 2 * 2 * 2 * 3 * 3
    assert {one.label for one in found.configurations} == {"lia", "mine:beta=0.2", "mine"}


def test_a_scenario_is_no_sweep(tmp_path: Path) -> None:
    assert not is_sweep(Path("python/anabranch/scenarios/khalili/scenario-c.toml"))
    assert not is_sweep(tmp_path / "nowhere.toml")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("scenario = 3", "the field scenario is missing"),
        (
            'scenario = "khalili/scenario-c"\nseed = 3',
            "no field of a sweep 'seed'.*did you mean `seeds`",
        ),
        ('scenario = "khalili/scenario-c"\nvary = 3', "the field vary is a table"),
        ('scenario = "khalili/scenario-c"\nset = [3]', "give a list of texts"),
        ('scenario = "khalili/scenario-c"\n[vary]\na = 3', "a is 3; give a list of values"),
        ('scenario = "khalili/scenario-x"', "there is no file or shipped scenario"),
        ("scenario = [", "mine.toml: "),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_its_name(
    tmp_path: Path, text: str, said: str
) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(text)
    with pytest.raises(ValueError, match=said) as error:
        read(file)
    assert str(file) in str(error.value)


@pytest.mark.parametrize("method", ["random", "lhs", "sobol"])
def test_a_design_draws_points_within_all_ranges_together_and_the_same_ones_again(
    method: str,
) -> None:
    texts = ["link.a.rate=5..40 Mb/s", "flow.b.count=5..30", "link.c.delay=1..1000 log ms", "d=1,2"]
    plain, drawn = axes_of(texts, f"{method}:64", axis)
    assert plain == axis("d=1,2") and drawn.keys == ("link.a.rate", "flow.b.count", "link.c.delay")
    assert axes_of(texts, f"{method}:64", axis)[1] == drawn
    rates = [float(row[0].removesuffix(" Mb/s")) for row in drawn.rows]
    counts = [int(row[1]) for row in drawn.rows]
    delays = [float(row[2].removesuffix(" ms")) for row in drawn.rows]
    assert len(rates) == 64 and 5 <= min(rates) < 10 and 35 < max(rates) <= 40
    assert min(counts) <= 7 and max(counts) >= 28 and set(counts) <= set(range(5, 31))
    assert min(delays) < 3 and max(delays) > 300 and 10 < sorted(delays)[32] < 100


def test_the_first_points_of_a_sobol_sequence_are_those_of_a_longer_one() -> None:
    few, many = (axes_of(["a=0..1 s"], f"sobol:{count}", axis)[0] for count in (5, 8))
    assert many.rows[:5] == few.rows


def test_a_value_follows_from_those_of_axes() -> None:
    keys = ["flow.single-path.count", "flow.single", "link.ap1.rate"]
    values = {"flow.single-path.count": "10", "flow.single": "2", "link.ap1.rate": "5 Mb/s"}
    for text, expected in [
        ("flow.single-path.count * 1 Mb/s", "10 Mb/s"),
        ("2 * flow.single-path.count - flow.single", "18"),
        ("max(link.ap1.rate, 7) / 2 Mb/s", "3.5 Mb/s"),
        ("round(sqrt(flow.single-path.count)) packets", "3 packets"),
        ("-flow.single**2", "-4"),
    ]:
        assert Expression.read(text, keys).written(values) == expected
    for text, holds in [
        ("flow.single-path.count <= 10 and not link.ap1.rate > 5", True),
        ("1 < flow.single < 2 or flow.single == 3", False),
    ]:
        assert Expression.read(text, keys, unit=False).value(values) is holds


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("__import__('os').system('x')", "is no arithmetic over a"),
        ("b + 1", "has 'b', which is no axis"),
        ("a.real", "is no arithmetic over a"),
        ("a +", "is no arithmetic over a"),
        ("'x' * 3", "which is no number"),
        ("(lambda: a)()", "is no arithmetic over a"),
    ],
)
def test_what_is_no_arithmetic_is_refused(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Expression.read(text, ["a"])


@pytest.mark.parametrize("text", ["1 / a", "9 ** 9 ** 9 + a", "sqrt(a - 1)", "min(a)"])
def test_an_expression_without_a_value_says_where(text: str) -> None:
    with pytest.raises(ValueError, match="has no value at a = 0"):
        Expression.read(text, ["a"]).value({"a": "0"})


@pytest.mark.parametrize(
    ("axes", "sample", "said"),
    [
        (["a=1..5 s"], None, "a has a range without a count: say how many, as in a=1..5:8 s"),
        (["a=1,2"], "sobol:8", "has no range to draw from"),
        (["a=1..5"], "sobl:8", "did you mean `sobol`"),
        (["a=1..5"], "sobol", "write METHOD:COUNT"),
        (["a=1..1"], "sobol:8", "ends that differ"),
        (["a=0..1 log"], "sobol:8", "ends above zero"),
    ],
)
def test_what_is_wrong_with_a_design_is_said(
    axes: list[str], sample: str | None, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        axes_of(axes, sample, axis)


def test_a_file_has_designs_derived_values_and_conditions(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        'scenario = "khalili/scenario-c"\nsample = "sobol:32"\nonly = ["flow.multipath.count >= 10"]\n'
        'until = "throughput_bps ±5%"\nseeds = 3\n[vary]\nflow.multipath.count = "5..30"\n'
        '[derive]\n"link.ap1.rate" = "flow.multipath.count * 1 Mb/s"\n'
    )
    found = read(file)
    assert found.until == Until("throughput_bps", 0.05)
    assert 10 < len(found.points) < 26
    for point in found.points:
        assert point["link.ap1.rate"] == f"{point['flow.multipath.count']} Mb/s"
        assert int(point["flow.multipath.count"]) >= 10


@pytest.mark.parametrize("text", ["throughput_bps", "±2%", "a ±0%", "a ±2", "a ±1.2.3%", "a ±.%"])
def test_a_width_is_a_metric_and_a_part(text: str) -> None:
    with pytest.raises(ValueError, match="write a metric and a width"):
        Until.read(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("max + a", "has 'max', which is no axis"),
        ("a ** 0.5 * 0 - 1e308 * 1e308", "a finite number belongs there"),
        ("(0 - 1 - a) ** 0.5", "a finite number belongs there"),
    ],
)
def test_a_value_is_a_finite_number(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Expression.read(text, ["a"], unit=False).written({"a": "40s"})


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("derive = 3", "stands where a table of keys belongs"),
        ("together = 3", "stands where a table of keys belongs"),
        ('together = ["a"]', "stands where a table of keys belongs"),
        ("sample = 3", "has no range to draw from"),
        ("derive = { a = 3 }", "give an expression, or FILE.py:FUNCTION, as a text"),
        ('until = "throughput_bps ±2%"\nmost_seeds = 3.5', "3.5 seeds at most"),
    ],
)
def test_a_field_of_another_kind_is_named(tmp_path: Path, more: str, said: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(f'scenario = "khalili/scenario-c"\n{more}\n')
    with pytest.raises(ValueError, match=said):
        read(file)


FUNCTION = """
def rate(values):
    return f"{2 * int(values['flow.multipath.count'])} Mb/s"

def broken(values):
    return values["no such key"]

def none(values):
    return None
"""


def test_a_function_of_a_file_or_of_python_derives_a_value(tmp_path: Path) -> None:
    (tmp_path / "f.py").write_text(FUNCTION)
    text = """
scenario = "khalili/scenario-c"
[vary]
flow.multipath.count = [5, 10]
[derive]
"link.ap1.rate" = "f.py:rate"
"""
    (tmp_path / "mine.toml").write_text(text)
    found = read(tmp_path / "mine.toml").points
    assert [point["link.ap1.rate"] for point in found] == ["10 Mb/s", "20 Mb/s"]
    twice = derived(lambda values: 2 * int(values["a"]), ["a"])
    assert twice.written({"a": "4"}) == "8"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("broken", "failed at a = 1: KeyError: 'no such key'"),
        ("none", "returned None; return a number or a text"),
    ],
)
def test_a_function_that_fails_says_where(name: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "f.py").write_text(FUNCTION)
    value = derived(f"{tmp_path / 'f.py'}:{name}", ["a"])
    with pytest.raises(ValueError, match=said):
        value.written({"a": "1"})
    with pytest.raises(ValueError, match="has no function missing"):
        derived(f"{tmp_path / 'f.py'}:missing", ["a"])


def test_numbers_of_several_units_are_not_calculated_with() -> None:
    axes = (axis("link.a.rate=5 Mb/s,500 kb/s"),)
    double = {"link.b.rate": derived("link.a.rate * 2 Mb/s", ["link.a.rate"])}
    with pytest.raises(ValueError, match=r"its values have several: Mb/s, kb/s"):
        _ = Sweep(load("khalili/scenario-c"), axes, derived=double).points

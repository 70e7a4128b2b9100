"""Axes of sweeps: what texts and files say."""

from __future__ import annotations

from pathlib import Path

import pytest

from anabranch.sweeps.axes import Axis, axis, from_values, product, together
from anabranch.sweeps.files import is_sweep, read


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

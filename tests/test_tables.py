"""How numbers and tables are written."""

from __future__ import annotations

import csv
import io
import math
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from anabranch.cli.formats import FORMATS, checked_format
from anabranch.cli.tables import Table
from anabranch.statistics import (
    COUNT,
    DELAY,
    INDEX,
    PERCENT,
    RATE,
    Interval,
    Quantity,
    column,
    significant,
)

ALONE = math.inf


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (9990.4, "9990"),
        (999.6, "1000"),
        (0.0432, "0.0432"),
        (23.0, "23"),
        (5e-5, "0.00005"),
        (1e-26, "0"),
    ],
)
def test_a_number_alone_has_three_digits_and_no_exponent(value: float, text: str) -> None:
    assert significant(value) == text
    assert float(significant(value, zeros=True)) == float(text)


@pytest.mark.parametrize(
    ("values", "quantity", "cells"),
    [
        # each half-width has two digits, and its mean the same decimals
        ([(1.2737e6, 1.1e4), (0.7251e6, 9.7e3)], RATE, ["1.274 ± 0.011", "0.725 ± 0.010"]),
        ([(23.04e6, 1.1e6), (22.0e6, 1.9e6)], RATE, ["23.0 ± 1.1", "22.0 ± 1.9"]),
        # one digit where the widest is much wider
        ([(0.0112, 0.00012), (0.022, 0.014)], PERCENT, ["1.12 ± 0.01", "2.2 ± 1.4"]),
        (
            [(0.581936, 0.070473), (0.000447, 2e-6), (0.5, 0.0)],
            PERCENT,
            ["58.2 ± 7.0", "0.0447 ± 0.0002", "50.0000"],
        ),
        ([(2039.27, 164.23), (10.0, 0.04)], COUNT, ["2039 ± 164", "10.00 ± 0.04"]),
        # what lies below the resolution is left out, and so is an interval of no width
        ([(0.100013598, 8.1e-8)], DELAY, ["100"]),
        ([(0.100013598, 8.1e-8), (0.0372, 3.3e-4)], DELAY, ["100.01", "37.20 ± 0.33"]),
        ([(0.0, 0.0), (1.0, 0.0)], COUNT, ["0", "1"]),
        # without intervals the largest has three digits and the smallest two
        ([(2029.0, ALONE), (6487.4, ALONE), (10.2, ALONE)], COUNT, ["2029", "6487", "10"]),
        ([(23.0e6, ALONE), (0.0427e6, ALONE)], RATE, ["23.000", "0.043"]),
        # an index has all its decimals
        ([(1.0, 0.0), (0.9993, 0.0002)], INDEX, ["1.000", "0.999"]),
        ([(math.nan, ALONE), (1.5, ALONE)], COUNT, ["–", "1.50"]),
    ],
)
def test_a_column_has_one_unit_and_the_decimals_that_its_intervals_support(
    values: list[tuple[float, float]], quantity: Quantity, cells: list[str]
) -> None:
    assert column([Interval(mean, half, 5) for mean, half in values], quantity) == cells


MEANS = st.floats(0, 1e7)
HALVES = st.one_of(st.just(ALONE), st.just(0.0), st.floats(1e-9, 1e7))


@given(st.lists(st.tuples(MEANS, HALVES), min_size=1, max_size=8), st.integers(0, 6))
def test_cells_have_no_more_decimals_than_the_column_and_their_interval_support(
    values: list[tuple[float, float]], decimals: int
) -> None:
    cells = column([Interval(mean, half, 3) for mean, half in values], Quantity(1.0, decimals))
    alone = set()
    for (mean, half), cell in zip(values, cells, strict=True):
        shown, _, width = cell.partition(" ± ")
        assert all(re.fullmatch(r"\d+(\.\d+)?", number) for number in filter(None, (shown, width)))
        place = len(shown.partition(".")[2])
        assert place <= decimals and len(width.partition(".")[2]) == (place if width else 0)
        if not width:
            alone.add(place)
        elif place:
            assert float(width) * 10**place < 100, "two digits of a half-width that has decimals"
        assert abs(float(shown) - mean) <= 0.5001 * 10.0**-place + 1e-9 * mean
        assert not width or (half < math.inf and float(width) > 0)
    assert len(alone) <= 1, "what has no interval has the column's decimals"


TABLE = Table(
    "Rates of 2 users & more",
    ["class", "users", "rate Mb/s", "mark"],
    [["a_1", "2", "1.27 ± 0.01", "[green]good[/]"], ["b", "10", "23.0 ± 1.2", "–"]],
    left=1,
    spare=("mark",),
)


def drawn(table: Table, width: int) -> list[str]:
    """The lines of a table on a terminal."""
    out = io.StringIO()
    Console(file=out, width=width).print(table)
    return out.getvalue().splitlines()


def test_means_stand_below_means_and_half_widths_below_half_widths() -> None:
    lines = [line for line in drawn(TABLE, 80) if "±" in line]
    assert len({line.index("±") for line in lines}) == 1
    for number in (0, 1):  # the means, the half-widths
        assert len({[*re.finditer(r"\.", line)][number].start() for line in lines}) == 1


def test_a_half_width_stands_below_its_mean_where_the_table_is_narrow() -> None:
    lines = drawn(replace(TABLE, spare=()), 27)
    assert any("23.0" in line and "±" not in line for line in lines)
    assert any("± 1.2" in line for line in lines)
    assert max(map(len, lines)) <= 27


def test_columns_that_can_be_spared_are_left_out_and_named() -> None:
    lines = drawn(TABLE, 22)
    assert not any("good" in line for line in lines)
    assert "left out at 22 columns: mark" in " ".join(" ".join(lines).split())
    assert any("class" in line and "users" in line for line in lines), "it is still a table"


def test_a_table_that_cannot_be_is_written_cell_below_cell() -> None:
    lines = drawn(replace(TABLE, spare=()), 22)
    assert sum("class" in line for line in lines) == len(TABLE.rows)


def test_csv_splits_means_and_half_widths_and_leaves_dashes_empty() -> None:
    text = FORMATS["csv"](TABLE.title, TABLE.head, TABLE.plain(), TABLE.left)
    title, *lines = text.splitlines()
    assert title == f"# {TABLE.title}"
    rows = list(csv.DictReader(lines))
    assert rows[1] == {
        "class": "b",
        "users": "10",
        "rate Mb/s": "23.0",
        "rate Mb/s ±": "1.2",
        "mark": "",
    }
    assert rows[0]["mark"] == "good"


def test_latex_escapes_what_it_reads_otherwise() -> None:
    text = FORMATS["latex"](TABLE.title, TABLE.head, TABLE.plain(), TABLE.left)
    assert r"\begin{tabular}{lrrr}" in text
    assert r"a\_1 & 2 & 1.27 $\pm$ 0.01 & good \\" in text
    assert text.isascii()


def test_markdown_has_a_rule_that_aligns_numbers_to_the_right() -> None:
    text = FORMATS["markdown"](TABLE.title, TABLE.head, TABLE.plain(), TABLE.left)
    assert text.splitlines()[3:] == [
        "| --- | ---: | ---: | ---: |",
        "| a_1 | 2 | 1.27 ± 0.01 | good |",
        "| b | 10 | 23.0 ± 1.2 | – |",
    ]


def test_another_format_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(ValueError, match="--format is 'html'; it is one of text, csv, "):
        checked_format("html")

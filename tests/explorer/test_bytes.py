"""What the explorer's engine answers, beside what Python is given of the same run."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import anabranch as ab
from anabranch import _core


def parts(answer: bytes) -> tuple[dict[str, Any], np.ndarray]:
    """The header of an answer, and the numbers behind it."""
    end = 4 + int.from_bytes(answer[:4], "little")
    assert end % 8 == 0
    return json.loads(answer[4:end]), np.frombuffer(answer[end:], "<f8")


def columns(table: dict[str, Any], numbers: np.ndarray) -> dict[str, Any]:
    """The columns of a packed table by their names."""

    def one(column: dict[str, Any]) -> Any:
        if "values" in column:
            return column["values"]
        own = numbers[column["offset"] : column["offset"] + column["length"]]
        return own.reshape(table["rows"], column["width"]) if "width" in column else own

    return {column["name"]: one(column) for column in table["columns"]}


def at(run: dict[str, Any], place: str) -> Any:
    """What is in a run at a place such as `series.paths`."""
    for name in place.split("."):
        run = run[name]
    return run


@pytest.mark.parametrize(
    "name", ["khalili/scenario-c", "cs218/manet", "cs218/lte-wifi", "couple-plus/static", "wifi/up"]
)
def test_a_page_has_every_table_of_a_run_with_the_same_numbers(name: str) -> None:
    text, changes = ab.load(name).text, ["duration=8 s", "warmup=6 s"]
    (run,) = _core.simulate(text, [4], name=name, overrides=changes, series=True, events=True)
    request = {"do": "run", "text": text, "name": name, "overrides": changes, "seed": 4}
    answer = _core.page(json.dumps({**request, "series": True, "events": 100_000}))
    header, numbers = parts(answer)
    packed = header["run"]
    for key in ("seed", "digest", "events", "packet_hops", "simulated_s", "conservation"):
        assert packed[key] == run[key]
    places = {place for _, place, *_ in _core.tables() if place in packed["tables"]}
    assert {"flows", "links", "series.paths", "series.nodes.hops", "events_log"} <= places
    assert set(packed["tables"]) == places | {"series.t_s"}
    assert np.array_equal(
        columns(packed["tables"]["series.t_s"], numbers)["t_s"], at(run, "series.t_s")
    )
    for place in places:
        table = columns(packed["tables"][place], numbers)
        for column, values in table.items():
            expected = at(run, place)[column]
            if isinstance(values, list):
                assert values == expected, (place, column)
            else:
                assert values.shape == expected.shape, (place, column)
                assert np.array_equal(values, expected.astype(float), equal_nan=True), (
                    place,
                    column,
                )


def test_a_wrong_request_raises_nothing_and_says_what_is_wrong() -> None:
    header, numbers = parts(_core.page('{"do": "plan"}'))
    assert header == {"error": "`text` is missing; it must be the text of a scenario"}
    assert numbers.size == 0

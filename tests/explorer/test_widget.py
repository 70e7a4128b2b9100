"""The page in a notebook, without a browser: messages in, bytes out."""

from __future__ import annotations

import json
from typing import Any

import pytest

import anabranch as ab
from anabranch import _core
from anabranch.explorer import widget
from anabranch.explorer.data import data, request

SHORT = ["duration=8 s", "warmup=6 s"]


class Notebook:
    """Takes what the widget sends."""

    def __init__(self) -> None:
        """Nothing was sent yet."""
        self.sent: list[tuple[Any, list[bytes]]] = []

    def send(self, content: Any, buffers: list[bytes] | None = None) -> None:
        self.sent.append((content, buffers or []))


def replies(*messages: Any) -> list[tuple[Any, list[bytes]]]:
    notebook = Notebook()
    for message in messages:
        widget.answer(notebook, message, [])
    return notebook.sent


def test_a_request_is_answered_with_the_bytes_of_the_engine() -> None:
    asked = json.loads(request("khalili/scenario-c", "lia", SHORT))
    what = json.dumps({"do": "run", **asked, "seed": 1, "series": True, "events": 0})
    assert replies({"id": 7, "request": what}) == [({"id": 7}, [_core.page(what)])]


def test_theory_comes_as_a_message() -> None:
    ((found, buffers),) = replies({"id": 8, "theory": request("khalili/scenario-c", "", ())})
    assert found["id"] == 8 and found["theory"]["optimum"]["multipath"] == 1_000_000
    assert buffers == []


def test_what_is_no_message_of_the_page_is_answered_with_a_sentence() -> None:
    found = replies({"id": 9}, {"id": 10, "request": 5}, "text", {"id": 11, "theory": "["})
    assert [content["id"] for content, _ in found] == [9, 10, None, 11]
    assert all(content["error"] for content, _ in found)


def test_a_result_shows_the_page_on_its_scenario() -> None:
    pytest.importorskip("anywidget")
    result = ab.run("khalili/scenario-c", [2, 3], controller="olia", overrides=SHORT)
    shown = result.explore()
    first = data()["scenarios"][0]
    assert shown.data["scenarios"][0] == first
    assert shown.data["open"]["controller"] == "olia" and shown.data["open"]["seed"] == 2
    assert {"data", "_esm"} <= set(shown.keys)  # are sent to the notebook


def test_without_anywidget_an_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "anywidget", None)
    result = ab.run("khalili/scenario-c", overrides=SHORT)
    with pytest.raises(ImportError, match=r"anabranch\[notebook\]"):
        result.explore()

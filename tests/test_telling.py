"""How far long work is, in logs and notebooks."""

from __future__ import annotations

import io
import sys
import types
from typing import Any

import pytest

from anabranch import telling


def test_a_log_has_a_line_from_time_to_time_with_the_time_that_is_left() -> None:
    out = io.StringIO()
    lines = telling.Lines(out, "running into s")
    lines.tell(1, 10)
    assert out.getvalue() == ""  # nothing before the first interval is over
    lines.began_s -= 60
    lines.said_s -= 60
    lines.tell(2, 10, "20 of 100 runs")
    lines.tell(3, 10)
    assert out.getvalue() == "20 of 100 runs: 20%, 4 min left\n"


@pytest.mark.parametrize(
    ("done", "total", "passed_s", "said"),
    [(5, 10, 7200, "2 h left"), (0, 10, 5, ""), (10, 10, 5, ""), (1, 3, 0.5, "1 s left")],
)
def test_what_is_left_follows_from_what_has_passed(
    done: float, total: float, passed_s: float, said: str
) -> None:
    assert telling.left(done, total, passed_s) == said


class ZMQInteractiveShell:
    """What Jupyter calls the shell of a notebook."""


def test_a_notebook_shows_a_bar_that_is_gone_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []
    handle = types.SimpleNamespace(update=shown.append)
    display = types.SimpleNamespace(
        HTML=str, display=lambda first, display_id: (shown.append(first), handle)[1]
    )
    jupyter = types.SimpleNamespace(get_ipython=ZMQInteractiveShell, display=display)
    monkeypatch.setitem(sys.modules, "IPython", jupyter)
    with pytest.raises(RuntimeError), telling.telling("sweep") as tell:
        tell(3, 8, "3 of 8 <runs>")
        raise RuntimeError
    assert shown == [
        "",
        '<progress value="3" max="8"></progress> 3 of 8 &lt;runs&gt;',
        "",
    ]

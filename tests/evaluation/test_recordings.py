"""Recordings of cellular links that a user gives: cases of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

import anabranch as ab
from anabranch import ScenarioError
from anabranch.evaluation.evaluating import Evaluation

SLOW, FAST = "4\n", "1\n"
"""Opportunities each 4 ms, and each millisecond: 3 and 12 Mb/s."""


def test_a_recording_is_a_case_of_both_criteria_of_cellular_links(tmp_path: Path) -> None:
    file = tmp_path / "mine.down"
    file.write_text(SLOW)
    only = ["cellular", "cellular-delay"]
    found = ab.evaluate("lia", only=only, recordings=[str(file)], seeds=1)
    for entry in found.entries:
        assert [row.case.name for row in entry.rows] == ["computed trace", "recording mine.down"]
        shipped, own = (row.measured for row in entry.rows)
        assert shipped.values is not None and own.values is not None
        assert shipped.digests != own.digests
    delay = found.entries[1].rows[1].measured.values
    assert delay is not None
    assert 0.4 < delay[0] < 0.9, "200 packets at 3 Mb/s take 0.8 s"


def test_the_goodput_is_that_of_the_recording(tmp_path: Path) -> None:
    def goodput(text: str) -> float:
        (tmp_path / "x").write_text(text)
        override = f"link.cellular.opportunities.file={tmp_path / 'x'}"
        result = ab.run("rfc9743/recorded", 1, overrides=[override, "duration=30 s"])
        return float(result.runs[0].flows["goodput_bps"][0])

    payload = 1448 / 1500
    for text, rate in ((SLOW, 3e6), (FAST, 12e6)):
        assert goodput(text) == pytest.approx(rate * payload, rel=0.03)


def test_a_wrong_recording_is_an_error_before_anything_runs(tmp_path: Path) -> None:
    file = tmp_path / "wrong"
    file.write_text("5\n4\n")
    with pytest.raises(ScenarioError, match="wrong is wrong in line 2: time goes back"):
        ab.evaluate("lia", recordings=[str(file)], only=["cellular"], seeds=1)
    with pytest.raises(ScenarioError, match="nosuch cannot be read"):
        ab.evaluate("lia", recordings=["nosuch"], only=["cellular"], seeds=1)


def test_a_recording_that_no_criterion_uses_is_an_error() -> None:
    with pytest.raises(ValueError, match="cellular and cellular-delay do"):
        Evaluation(["lia"], recordings=["x"], only=["standing-queue"])
    with pytest.raises(ValueError, match="two recordings are called x"):
        Evaluation(["lia"], recordings=["a/x", "b/x"], only=["cellular"])

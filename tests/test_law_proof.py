"""`anabranch law prove`: statements, verdicts and exit statuses."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from anabranch.cli import lawproof
from test_cli import anabranch


def test_a_proof_states_what_it_proves_and_has_status_0(tmp_path: Path) -> None:
    file = tmp_path / "proof.json"
    done = anabranch("law", "prove", "lia", "--within", "0.02", "--json", str(file))
    assert (done.returncode, done.stderr) == (0, "")
    out = " ".join(done.stdout.split())
    assert (
        "statement: A connection under lia has 2 paths, a loss probability from 0.0001 to 0.05"
        in out
    )
    assert "at most 1.02 times the rate of a TCP with the shortest of the round trips" in out
    assert "proved, with" in out
    assert re.search(r"at 64 places of the ranges, \d+ distinct fixed points computed", out)
    assert "note: the losses and round trips are given" in out and "is not covered" in out
    content = json.loads(file.read_text())
    assert content["kind"] == "anabranch law prove" and content["verdict"] == "proved"
    assert content["statement"] in out and content["witness"] is None


def test_a_disproof_shows_its_fixed_point_and_has_status_1() -> None:
    done = anabranch("law", "prove", "reno", "--loss", "1%", "--rtt", "100 ms", "--json", "-")
    content = json.loads(done.stdout)
    assert done.returncode == 1 and content["verdict"] == "disproved"
    witness = content["witness"]
    assert witness["windows_segments"] == pytest.approx([200**0.5] * 2)
    assert witness["ratio"] == pytest.approx(2.0) and witness["certain"]
    assert witness["rates_per_s"] == pytest.approx([10 * 200**0.5] * 2)
    out = " ".join(done.stderr.split())
    assert "disproved at one of 64 places that are tried first, by the fixed point below" in out
    assert "all paths together send 282.843 segments/s, and a TCP on path 1 141.421: 2 times" in out


def test_an_open_question_has_status_3_and_says_what_is_left() -> None:
    done = anabranch(
        "law", "prove", "lia", "--claim", "best-path", "--paths", "3", "--boxes", "200"
    )
    assert done.returncode == 3
    assert "open after 200 boxes: neither proved nor disproved" in done.stdout
    assert "boxes are left, in at most" in done.stdout and "rtt 2 / rtt 1: " in done.stdout


def test_a_proof_about_nothing_is_said_to_be_one(tmp_path: Path) -> None:
    file = tmp_path / "endless.law"
    file.write_text("growth = 1\nbackoff = w\n")
    done = anabranch("law", "prove", str(file))
    assert done.returncode == 0
    assert "a statement about all of them may be one about nothing" in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--rtt", "10..x"), "--rtt is '10..x'"),
        (("--loss", "much"), "--loss is 'much': 'much' is no number, such as 0.01 or 1%"),
        (("--loss", "0.5..0.1"), "losses are from 0.5 to 0.1"),
        (("--floor", "0.5"), "the floor is 0.5 segments; it is from 1, the least window"),
        (
            ("--rtt", "1 us..3000 s"),
            "round trips are from 0.000001 to 3000 s; they are from 0.000001",
        ),
        (("--claim", "tcp"), "there is no claim 'tcp'"),
    ],
)
def test_wrong_ranges_have_status_2(words: tuple[str, ...], message: str) -> None:
    done = anabranch("law", "prove", "lia", *words)
    assert done.returncode == 2 and done.stderr.startswith(f"error: {message}")


def test_no_digit_of_what_is_proved_is_left_out() -> None:
    ranges = ("--loss", "0.00123456789..0.0123456789", "--rtt", "70.000012..100 ms")
    done = anabranch("law", "prove", "lia", "--within", "0.1234567890123", *ranges)
    out = " ".join(done.stdout.split())
    assert done.returncode == 0
    assert "from 0.00123456789 to 0.0123456789 that" in out
    assert "from 70.000012 ms to 100 ms" in out and "at most 1.1234567890123 times" in out


def test_what_is_left_is_rounded_outwards() -> None:
    down, up = lawproof.ROUND_FLOOR, lawproof.ROUND_CEILING
    assert (lawproof.digits(1.23456789, 6, down), lawproof.digits(1.23456789, 6, up)) == (
        "1.23456",
        "1.23457",
    )
    assert lawproof.digits(0.5, 3, up) == "0.5"


def test_ranges_take_units_and_percentages() -> None:
    assert lawproof.ends("--loss", "0.1%..5%", lawproof.probability) == (0.001, 0.05)
    assert lawproof.ends("--loss", "0.1..5%", lawproof.probability) == (0.001, 0.05)
    assert lawproof.ends("--loss", "1e-4", lawproof.probability) == (1e-4, 1e-4)
    seconds = lawproof._core.seconds
    assert lawproof.ends("--rtt", "20..200 ms", seconds) == (0.02, 0.2)
    assert lawproof.ends("--rtt", "20 ms..1 s", seconds) == (0.02, 1.0)

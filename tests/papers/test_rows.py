"""What `reproduce` prints: published, predicted and simulated rates side by side, and reasons."""

from dataclasses import replace

import pytest

from anabranch.cli import reproduce
from anabranch.papers import PAPERS
from anabranch.papers.findings import not_run
from anabranch.papers.row import AS_THEORY, Row, band_text, caption
from anabranch.statistics import Interval

SIMULATED = Interval(0.485, 0.003, 20)
HARMED = Row(
    scenario="C",
    setting="N1 = 30",
    controller="lia",
    users="single-path",
    published=0.38,
    fixed_point=0.485,
    optimum=1.0,
    probing_optimum=0.76,
    rates={"simulation": SIMULATED},
    goodput=SIMULATED,
    verdict="reproduced",
    configuration="c-lia-30",
    band=(0.31, 0.52),
)


def test_a_rate_that_theory_has_and_the_measurement_has_not_is_marked():
    assert HARMED.remark == AS_THEORY
    assert AS_THEORY in caption([HARMED])


@pytest.mark.parametrize(
    "changes",
    [
        {"published": 0.45},  # within 10 % of it: as measured as well
        {"fixed_point": 0.52},  # farther than 5 % from it: as neither
        {"published": None},  # nothing was measured
    ],
)
def test_other_rates_have_no_mark(changes):
    row = replace(HARMED, **changes)
    assert row.remark == ""
    assert AS_THEORY not in caption([row])


def test_the_world_that_is_judged_is_the_one_that_is_marked():
    rates = {"simulation": Interval(0.38, 0.01, 5), "linux": Interval(0.484, 0.01, 5)}
    assert replace(HARMED, rates=rates).remark == AS_THEORY
    turned = dict(reversed(rates.items()))
    assert replace(HARMED, rates=turned).remark == ""


def test_a_row_shows_its_band():
    assert "0.31 … 0.52" in HARMED.texts()
    assert band_text((None, 0.5), str) == "≤ 0.5" and band_text((2.0, None), str) == "≥ 2.0"


def test_a_claim_that_was_not_run_is_printed_with_its_reason(capsys):
    claim = PAPERS["khalili"].claims["khalili.table3.n30"]
    reproduce.show([not_run(claim, "its networks are not given")], {})
    assert "khalili.table3.n30 not run: its networks are not given" in capsys.readouterr().out

"""How a document's report words names and writes numbers."""

import math
from types import SimpleNamespace

import pytest

from anabranch.papers import PAPERS, Laboratory
from anabranch.papers.findings import finding, prose
from anabranch.papers.judging import checked
from anabranch.papers.pages import change_text, interruption, number, plain
from anabranch.papers.row import band_text
from anabranch.statistics import Interval

CLAIM = PAPERS["khalili"].claims["khalili.table1.n10"]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("lia_fails_goal", "LIA fails goal"),
        ("rate_at_1500B_150ms", "rate at 1500 B 150 ms"),
        ("p2_over_p1_n30", "p2 over p1 at N1 = 30"),
        ("a_type2_n10", "A type 2 at N1 = 10"),
        ("w1_over_w2_phi_near_0", "w1 over w2 phi near 0"),
        ("not_reproduced", "not reproduced"),
        ("rate of a backed-off path", "rate of a backed-off path"),
    ],
)
def test_identifiers_are_shown_as_words(name, shown):
    assert CLAIM.spelling.words(name) == shown


def test_texts_of_the_ledger_have_our_units_and_keep_symbols():
    assert prose("type1_rate <= 0.9 Mbps, w_r/2") == "type1 rate ≤ 0.9 Mb/s, w_r/2"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Interval(1.0, 6.4e-17, 5), "1"),
        (Interval(1.0, 2.4e-5, 5), "1.000000 ± 0.000024"),
        (Interval(1450.0, 120.0, 5), "1450 ± 120"),
        (Interval(1450.4, math.inf, 1), "1450"),
        (Interval(3e-9, 0.0, 1), "< 0.000001"),
        (Interval(12345.6, 0.0, 1), "12346"),
        (True, "holds"),
        ({"value": 0.08, "unit": "Mbps"}, "0.08 Mb/s"),
        ({"value": 1.41, "unit": "ratio"}, "1.41"),
        ({"value": "infinite", "unit": "ratio"}, "infinite"),
        (["ap", "server"], "ap, server"),
    ],
)
def test_values_are_plain_digits_and_words(value, shown):
    assert number(value) == shown


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [
        (1.22, 1.36, "1.22 … 1.36"),
        (None, 0.95, "≤ 0.95"),
        (0.0, None, "≥ 0"),
        (63, 63, "63"),
        (None, None, ""),
    ],
)
def test_bands_name_the_ends_that_they_have(low, high, shown):
    assert band_text((low, high), plain) == shown


def test_the_explanation_names_what_decides_and_the_evidence_does_not():
    checks = [
        checked("type1_n10", "", Interval(1.0, 0.0, 1), (0.9, 1.1)),
        checked("type2_n10", "", Interval(2.0, 0.0, 1), (0.9, 1.1)),
    ]
    found = finding(CLAIM, "theory", checks, unless="Small windows.")
    assert found.why == "not reproduced: type 2 at N1 = 10. Small windows."
    assert found.evidence == "Small windows."


def test_a_change_of_nothing_has_no_sign():
    base = Interval(0.5, 0.01, 10)
    assert change_text(Interval(0.4999, 0.01, 10), base) == "0.500 (0.000)"
    assert change_text(Interval(0.52, 0.01, 10), base) == "0.520 (+0.020)"
    assert change_text(None, base) == "–"


def test_an_interruption_counts_the_configurations_that_had_all_replications():
    paper = PAPERS["khalili"]
    lab = Laboratory(paper.configurations)
    found = [finding(CLAIM, "simulation", [])]
    assert interruption(paper, found, lab) == ""
    lab.interrupted = True
    for name, complete in (("a-lia-10", True), ("a-lia-10-each", False)):
        lab.results[name] = SimpleNamespace(provenance={"complete": complete})
    assert interruption(paper, found, lab) == "interrupted: 1 of 3 configurations had been run"

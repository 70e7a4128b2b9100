"""Bounded proofs: verdicts that closed forms confirm, and witnesses that theory confirms."""

import math

import numpy as np
import pytest

import anabranch as ab
from anabranch import _core
from anabranch.theory import CLAIMS, Harm, harm_of, prove, single_user, steady_states
from anabranch.theory.proof import within_of
from anabranch.written import shipped_laws

RANGES = {"losses": (1e-3, 0.02), "rtts_s": (0.02, 0.2)}


def text(law):
    """The text of a shipped law, or of a law."""
    return shipped_laws()[law].read_text() if law in shipped_laws() else law


def check(law, claim, point):
    """That theory's drift vanishes at a fixed point, or is not positive at the floor, and that the
    ratio is that of its rates.
    """
    drift = _core.drift(text(law), point.windows, point.rtts_s, point.losses)
    lost = point.losses * point.windows
    for own, size, floored in zip(drift, lost, point.at_floor, strict=True):
        assert abs(own) <= 1e-9 * size or (floored and own < 0.0)
    rates, tcp = point.rates_per_s, point.tcp_rates_per_s
    ratios = {
        "tcp-share": rates.sum() / tcp.max(),
        "do-no-harm": (rates / tcp).max(),
        "best-path": rates.sum() / tcp.max(),
    }
    assert point.ratio == pytest.approx(ratios[claim], rel=1e-9)
    low, high = point.certain
    assert low <= point.ratio <= high


def test_the_window_of_tcp_is_where_its_drift_vanishes():
    losses = np.geomspace(1e-4, 0.05, 7)
    at = np.sqrt(2.0 / losses), np.full(7, 0.1), losses
    assert np.abs(_core.drift(text("reno"), *at)).max() < 1e-12


@pytest.mark.parametrize("paths", [2, 3, 4])
def test_uncoupled_subflows_are_disproved_with_as_many_shares(paths):
    found = prove("reno", "tcp-share", paths=paths)
    assert found.verdict == "disproved" and found.witness.certain
    assert found.witness.ratio == pytest.approx(paths, rel=1e-9)
    check("reno", "tcp-share", found.witness)
    assert prove("reno", "tcp-share", paths=paths, within=paths - 0.9).verdict == "proved"


@pytest.mark.parametrize("law", ["lia", "olia", "balia", "ewtcp", "semicoupled", "fully-coupled"])
def test_coupled_laws_take_one_share_of_a_bottleneck_and_harm_no_path(law):
    for claim in ("tcp-share", "do-no-harm"):
        found = prove(law, claim, within=0.05)
        assert found.verdict == "proved" and found.witness is None, found.statement
        assert found.computed and found.nearest.ratio <= 1.0 + 1e-9
    assert prove(law, "tcp-share", rtts_s=(0.1, 0.1), within=0.01).verdict == "proved"


@pytest.mark.parametrize("law", ["reno", "lia", "olia"])
def test_a_user_gets_what_tcp_gets_on_its_best_path(law):
    assert prove(law, "best-path", within=0.1, **RANGES).verdict == "proved"


@pytest.mark.parametrize("law", ["ewtcp", "semicoupled", "gentle", "fully-coupled"])
def test_a_law_that_shares_its_windows_gets_less_than_tcp_on_its_best_path(law):
    found = prove(law, "best-path", within=0.1, **RANGES)
    assert found.verdict == "disproved"
    check(law, "best-path", found.witness)


def test_the_worse_steady_state_of_balia_is_found_and_is_one_that_theory_finds():
    found = prove("balia", "best-path", within=0.04)
    assert found.verdict == "disproved" and found.boxes > 0
    point = found.witness
    check("balia", "best-path", point)
    states = steady_states(single_user("balia", point.losses, point.rtts_s))
    windows = np.array([state.windows["user"] for state in states])
    assert np.isclose(windows, point.windows, rtol=1e-6).all(axis=1).any()
    # Two steady states up to a loss 1.09 times the better one's: a root of that in rates.
    assert 1.0 / math.sqrt(1.09) < point.ratio < 0.96
    assert prove("balia", "best-path", within=0.05, **RANGES).verdict == "proved"


def test_lia_without_its_cap_harms_a_path_and_the_cap_prevents_that():
    uncapped = prove("phi", "do-no-harm")
    assert uncapped.verdict == "disproved" and uncapped.witness.ratio > 2.0
    check("phi", "do-no-harm", uncapped.witness)
    assert prove("lia", "do-no-harm").verdict == "proved"


CORNER = """law corner: LIA, and eight times as much in a corner
note q = 0
steady q = p
own = if q > 0.0171 and q < 0.0172 and rtt > 0.09 and rtt < 0.11 then 8 else 1
growth = own * min(max_s(w_s/rtt_s^2) / sum_s(x_s)^2, 1/w)
backoff = w/2
"""


def test_a_law_that_is_unfair_in_a_corner_is_disproved_by_a_witness_there():
    ranges = {"losses": (1e-3, 0.02), "rtts_s": (0.1, 0.1)}
    found = prove(CORNER, "do-no-harm", within=0.2, **ranges)
    assert found.verdict == "disproved" and found.boxes > 0
    assert found.nearest.ratio < 1.2, "the samples miss the corner"
    point = found.witness
    check(CORNER, "do-no-harm", point)
    assert 0.0171 < point.losses[point.path] < 0.0172
    outside = prove(CORNER, "do-no-harm", within=0.2, losses=(1e-3, 0.017), rtts_s=(0.1, 0.1))
    assert outside.verdict == "proved"


@pytest.mark.parametrize(
    "condition", ["w*0.5 <= 0.5*w", "max_s(w_s)*0.5 <= 0.5*w", "not 0.3*w < w*0.3"]
)
def test_a_product_that_is_compared_with_itself_hides_no_harm(condition):
    law = f"growth = (if {condition} then 4 else 1)/w\nbackoff = w/2"
    found = prove(law, "do-no-harm", within=0.5)
    assert found.verdict == "disproved" and found.doubt is None
    assert found.witness.ratio == pytest.approx(2.0)
    check(law, "do-no-harm", found.witness)


def test_a_fixed_point_is_counted_once():
    assert prove("lia", "tcp-share", losses=(0.01, 0.01), rtts_s=(0.1, 0.1)).computed == 1


def test_a_floor_above_the_fixed_point_is_part_of_the_statement():
    # Four windows of at least 2 segments, where one TCP has sqrt(2/0.05) = 6.3.
    found = prove("lia", "tcp-share", paths=4, losses=(0.05, 0.05), rtts_s=(0.1, 0.1), floor=2.0)
    assert found.verdict == "disproved" and all(found.witness.at_floor)
    assert found.witness.ratio == pytest.approx(8.0 / math.sqrt(40.0))
    assert "at the floor of" not in found.statement and "from 2 to 2^24" in found.statement


def test_what_is_left_is_described():
    found = prove("lia", "best-path", paths=3, boxes=300)
    assert found.verdict == "open" and found.boxes == 300 and found.witness is None
    assert found.open_boxes > 0 and 0.0 < found.open_share <= 1.0
    low, high = found.open_ranges["rtt 2 / rtt 1"]
    assert 1.0 / 30.1 < low < high < 30.1


def test_a_law_that_never_rests_has_no_fixed_point_in_the_ranges():
    found = prove("growth = 1\nbackoff = w", "tcp-share")
    assert (found.verdict, found.computed, found.nearest) == ("proved", 0, None)


def test_the_same_question_has_the_same_answer():
    one, two = (prove("balia", "best-path", within=0.04) for _ in range(2))
    assert str(one.witness) == str(two.witness) and one.boxes == two.boxes


def test_the_statement_says_what_is_claimed_about_what():
    found = prove(ab.Law.load("phi", phi=0.5), "do-no-harm", within=0.25, paths=3, **RANGES)
    assert found.controller == "phi:phi=0.5"
    for words in (
        "phi:phi=0.5 has 3 paths",
        "a loss probability from 0.001 to 0.02 of its own on each",
        "a round trip from 20 ms to 200 ms of each",
        "the rate of each path is at most 1.25 times",
        "from 1 to 2^24 segments",
        "says nothing about",
    ):
        assert words in found.statement
    assert set(CLAIMS) == {"tcp-share", "do-no-harm", "best-path"}


def test_a_bound_on_harm_is_that_on_the_ratio_in_other_words():
    """Two shares beside two TCPs: each has a quarter of the link, and a third beside a TCP."""
    assert harm_of(2.0, 2) == pytest.approx(1 - (1 / 4) / (1 / 3))
    found = prove("reno", harm=0.26, others=2)
    assert found.verdict == "proved" and harm_of(found.allowed, 2) <= 0.26
    assert "each TCP has at most 26 % less than beside a TCP" in found.statement
    broken = prove("reno", harm=0.24, others=2)
    assert broken.verdict == "disproved" and harm_of(broken.witness.ratio, 2) > 0.24
    one = prove("lia", "do-no-harm", harm=0.05)
    assert one.verdict == "proved" and one.harm == Harm(0.05, 1)
    assert "the TCP has at most 5 % less" in one.statement


@pytest.mark.parametrize(("harm", "others"), [(0.003, 1), (0.05, 7), (0.5, 3), (0.97, 40)])
def test_a_ratio_that_is_allowed_does_no_more_harm_than_was_asked(harm, others):
    ratio = 1.0 + within_of(harm, others)
    assert harm * (1 - 1e-9) < harm_of(ratio, others) <= harm


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"harm": 0.0}, "harm is 0; it is a part of a TCP's rate"),
        ({"harm": 0.1, "others": 0}, "others is 0; harm is done to one TCP or more"),
        ({"harm": 0.1, "claim": "best-path"}, "harm is given; best-path says nothing about"),
        ({"claim": "tcp-shares"}, "there is no claim 'tcp-shares'; did you mean `tcp-share`"),
        ({"paths": 9}, "paths is 9; a proof is of 1 to 8 paths"),
        ({"losses": (0.1, 0.01)}, "losses are from 0.1 to 0.01; they are probabilities"),
        ({"losses": (0.0, 0.01)}, "losses are from 0 to 0.01"),
        ({"losses": (1e-10, 0.01)}, "losses are from 0.0000000001 to 0.01; they are probabilities"),
        ({"rtts_s": (0.0, 0.1)}, "round trips are from 0 to 0.1 s"),
        (
            {"rtts_s": (0.1, 2148.0)},
            "round trips are from 0.1 to 2148 s; they are from 0.000001 to",
        ),
        ({"within": -0.1}, "within is -0.1; it is 0 or above"),
        ({"within": float("nan")}, "within is NaN"),
        ({"floor": 7.0}, "the floor is 7 segments; it is from 1, the least window"),
        ({"floor": 0.5}, "the floor is 0.5 segments; it is from 1, the least window"),
        ({"boxes": 0}, "boxes is 0"),
        ({"boxes": -1}, "boxes is -1; a proof looks at one at least"),
        ({"paths": -1}, "paths is -1; a proof is of 1 to 8 paths"),
        ({"law": "cubic"}, "'cubic' is no law in text"),
    ],
)
def test_wrong_input_is_named(wrong, message):
    with pytest.raises(ValueError) as error:
        prove(**({"law": "lia"} | wrong))
    assert str(error.value).startswith(message)

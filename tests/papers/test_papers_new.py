"""The folders on Balia and on harm: their bands and sources, and what their measures compute."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.papers import Laboratory, Paper, check
from anabranch.papers.paper import shipped
from anabranch.papers.peng_2016 import measures as balia
from anabranch.papers.ware_2019 import measures as harm

FOLDERS = {"peng-2016": shipped("peng_2016"), "ware-2019": shipped("ware_2019")}
RATES = st.floats(0.01, 1e3)


@pytest.fixture(params=FOLDERS)
def paper(request: pytest.FixtureRequest) -> Paper:
    """A folder."""
    return FOLDERS[request.param]


def bands(paper: Paper) -> list[tuple[str, dict[str, Any]]]:
    """The entries of claims that have a band, with the claim and the name of each."""
    return [
        (f"{claim.id}: {name}", entry)
        for claim in paper.claims.values()
        for name, entry in claim.expected.items()
        if isinstance(entry, dict) and {"min", "max"} & set(entry)
    ]


def test_nothing_is_wrong_with_a_folder(paper: Paper) -> None:
    check(paper)
    assert 8 <= len(paper.claims) <= 20
    assert all(id.startswith(f"{paper.key}.") for id in paper.claims)


def test_a_band_has_its_published_number(paper: Paper) -> None:
    for where, entry in bands(paper):
        value = entry.get("value")
        if isinstance(value, int | float) and "about" not in entry:
            assert entry.get("min", value) <= value <= entry.get("max", value), where


def test_every_claim_has_a_source_and_every_bound_a_reason(paper: Paper) -> None:
    for claim in paper.claims.values():
        assert claim.source and claim.statement.endswith("."), claim.id
        assert claim.tolerance, claim.id


def test_no_statement_is_there_twice(paper: Paper) -> None:
    statements = [claim.statement for claim in paper.claims.values()]
    assert len(set(statements)) == len(statements)


# ---- Balia


@given(st.lists(st.tuples(st.floats(1, 300), st.floats(0.005, 1)), min_size=1, max_size=5))
def test_both_forms_of_balias_increase_are_equal(paths: list[tuple[float, float]]) -> None:
    w, rtt = np.array(paths).T
    assert np.allclose(balia.section2(w, rtt), balia.section4(w, rtt), rtol=1e-9)
    if len(paths) == 1:
        assert np.allclose(balia.section2(w, rtt), 1 / w)


def test_another_law_is_not_taken_for_balia() -> None:
    assert (
        balia.growth_error("balia", "section 2")
        < 1e-9
        < 0.1
        < balia.growth_error("lia", "section 2")
    )
    assert balia.decrease_factors("lia") == {"least": 1.0, "most": 1.0}
    assert balia.decrease_error("lia", 1.5) > 0.1 and balia.decrease_error("lia", 1.0) < 1e-9


def test_a_window_comes_back_when_it_reaches_its_mean() -> None:
    t_s = np.linspace(80.0, 200.0, 1201)
    assert balia.reached_s(t_s, np.linspace(1.0, 61.0, 1201)) == pytest.approx(60.0)
    step = np.where(t_s < 95.0, 2.0, 50.0)
    assert balia.reached_s(t_s, step) == pytest.approx(15.0)
    assert balia.reached_s(t_s, np.full(1201, 7.0)) == 0.0


def of_windows(windows: np.ndarray[Any, Any], step_s: float = 1.0) -> Laboratory:
    """A laboratory with one cell whose first user has these windows, shape (samples, paths)."""
    series = SimpleNamespace(
        t_s=np.arange(len(windows)) * step_s, paths=SimpleNamespace(column=lambda name: windows)
    )
    paths = [None] * windows.shape[1]
    plan = SimpleNamespace(warmup_s=10.0, classes=[SimpleNamespace(name="user", paths=paths)])
    result = SimpleNamespace(plan=plan, runs=[SimpleNamespace(series=series)])
    return cast(Laboratory, {"cell": result})


def test_windows_between_two_times_and_their_oscillation() -> None:
    even = np.full((100, 2), 8.0)
    swinging = even + np.where(np.arange(100) % 2, 4.0, -4.0)[:, None]
    even[:10], swinging[:10] = 500.0, 500.0  # before the warm-up ends
    cell = cast(Any, "cell")
    assert balia.oscillation(of_windows(even), cell) == pytest.approx([0.0])
    assert balia.oscillation(of_windows(swinging), cell) == pytest.approx([0.5])
    assert balia.window_between(of_windows(even), cell, 1, 0.0, 10.0) == pytest.approx([500.0])
    assert balia.window_between(of_windows(even), cell, 1, 10.0, 20.0) == pytest.approx([8.0])


def test_the_larger_path_of_each_user_counts_not_that_of_the_class() -> None:
    rates = [np.array([[3.0, 1.0]]), np.array([[1.0, 3.0]])]  # two users, each with 3 to 1
    result = SimpleNamespace(
        plan=SimpleNamespace(classes=[SimpleNamespace(name="user", paths=[None, None])]),
        path=lambda users, path, metric: rates[path],
    )
    found = balia.larger_part(
        cast(Laboratory, {"cell": result}), cast(Any, "cell"), cast(Any, "user")
    )
    assert found == pytest.approx([0.75])


# ---- Harm


@given(alone=RATES, part=st.floats(0.0, 1.0), scale=RATES)
def test_harm_is_the_part_that_is_lost(alone: float, part: float, scale: float) -> None:
    found = harm.harm_where_more_is_better(alone, alone * (1 - part))
    assert found == pytest.approx(part, abs=1e-9)
    assert harm.harm_where_more_is_better(alone * scale, alone * (1 - part) * scale) == (
        pytest.approx(found, abs=1e-6)
    )


@given(alone=RATES, times=st.floats(1.0, 1e3))
def test_harm_of_a_delay_is_the_part_that_others_add(alone: float, times: float) -> None:
    found = harm.harm_where_less_is_better(alone, alone * times)
    assert found + 1e-12 >= 0.0 and found < 1.0
    assert found == pytest.approx(1 - 1 / times, abs=1e-9)


@given(capacity=st.floats(1.0, 100.0), cap=st.floats(0.5, 200.0))
def test_max_min_shares_fill_the_link_and_keep_to_caps(capacity: float, cap: float) -> None:
    found = harm.max_min_mbps(capacity, {"limited": cap, "other": 1000.0})
    assert found["limited"] == pytest.approx(min(cap, capacity / 2), rel=1e-6)
    assert sum(found.values()) == pytest.approx(capacity, rel=1e-6)


@given(st.lists(RATES, min_size=2, max_size=2))
def test_jains_index_does_not_know_who_has_what(rates: list[float]) -> None:
    assert harm.jain_of(rates) == pytest.approx(harm.jain_of(rates[::-1]))

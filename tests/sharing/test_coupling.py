"""What laws with `+sbd` take: no more than the law where paths share, as much as uncoupled paths
where they do not.
"""

from __future__ import annotations

import pytest

from anabranch.sharing import closed_loop


@pytest.mark.parametrize("law", ["lia", "olia", "balia"])
@pytest.mark.parametrize("subflows", [2, 8])
def test_at_a_shared_bottleneck_it_takes_at_most_1_1_tcps(law: str, subflows: int) -> None:
    taken = closed_loop.of_a_tcp(subflows, f"{law}+sbd")
    assert taken.mean + taken.half <= 1.1


@pytest.mark.parametrize("law", ["lia", "olia", "balia"])
def test_on_disjoint_paths_it_takes_what_uncoupled_paths_take(law: str) -> None:
    taken = closed_loop.of_uncoupled(2, f"{law}+sbd")
    assert taken.mean + taken.half >= 0.95
    assert closed_loop.of_uncoupled(2, law).high < 0.95


def test_paths_that_begin_to_share_are_coupled_within_30_s() -> None:
    for subflows in (2, 4):
        assert max(closed_loop.regrouped(subflows, "lia+sbd")["together"]) <= 30


def test_30_s_after_the_bottleneck_moved_it_takes_what_it_should() -> None:
    for subflows in (2, 4):
        taken, always = (closed_loop.moved(subflows, law) for law in ("lia+sbd", "lia"))
        _, of_uncoupled = taken["apart"]
        assert of_uncoupled.mean >= 0.95
        (of_a_tcp, _), (of_lia, _) = taken["again"], always["again"]
        assert of_a_tcp.mean <= 1.1 * of_lia.mean

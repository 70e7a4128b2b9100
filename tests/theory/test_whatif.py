"""What-if grids: every cell is the equilibrium of its own scenario."""

import numpy as np
import pytest

from anabranch import ScenarioError, load
from anabranch.theory import Axis, Network, TheoryError, axis_from, equilibrium, khalili, what_if

SCENARIO = load("khalili/scenario-c")
RATE = Axis("link.ap1.rate", ("5 Mb/s", "10 Mb/s", "20 Mb/s"))
USERS = Axis("flow.multipath.count", ("10", "20"))


def test_each_cell_is_the_equilibrium_of_its_own_scenario():
    found = what_if(SCENARIO.text, [RATE, USERS])
    assert found.shape == (3, 2) and not found.failures
    for i, rate in enumerate(RATE.values):
        for j, count in enumerate(USERS.values):
            overrides = [f"link.ap1.rate={rate}", f"flow.multipath.count={count}"]
            network = Network.from_plan(SCENARIO.plan(overrides=overrides))
            alone = equilibrium(network, rtt="queueing")
            assert found.rates_bps[i, j] == pytest.approx(list(alone.class_rates_bps.values()))
            assert found.counts[i, j].tolist() == [float(count), 10.0]


def test_along_an_axis_the_closed_form_is_followed():
    found = what_if(SCENARIO.text, [USERS], rtt="base", overrides=["link.ap1.rate=10 Mb/s"])
    for j, count in enumerate((10, 20)):
        expected = khalili.scenario_c_lia(count, 10, 10.0 / count)
        assert found.rates_bps[j] / 1e6 == pytest.approx([*expected], rel=1e-3)


def test_more_capacity_is_more_for_all_users_together():
    total = what_if(SCENARIO.text, [RATE]).quantity("total")["all users"]
    assert total == pytest.approx([15.0, 20.0, 30.0], rel=1e-5)


def test_jains_index_is_one_where_all_users_have_the_same():
    poor = Axis("link.ap1.rate", ("1 Mb/s", "20 Mb/s"))
    jain = what_if(SCENARIO.text, [poor]).quantity("jain")["all users"]
    assert jain[0] == pytest.approx(1.0, abs=1e-6)
    assert 0.5 < jain[1] < 0.95


def test_the_controller_is_that_of_every_cell():
    found = what_if(SCENARIO.text, [USERS], controller="reno")
    more = what_if(SCENARIO.text, [USERS], controller="lia")
    assert (found.rates_bps[:, 1] < more.rates_bps[:, 1]).all()


def test_a_grid_knows_the_controllers_that_its_cells_have():
    axis = axis_from("flow.multipath.controller=lia,kernel:lia,OLIA")
    found = what_if(SCENARIO.text, [axis, USERS], controller="balia")
    assert found.controllers == {
        "multipath": ("lia", "kernel:lia", "olia"),
        "single-path": ("reno",),
    }
    alone = what_if(SCENARIO.text, [USERS], controller="balia")
    assert alone.controllers == {"multipath": ("balia",), "single-path": ("reno",)}
    crowd = Axis("flow.single-path.count", ("10", "2000"))
    failed = what_if(SCENARIO.text, [crowd, axis], rtt="base", floor=1.0)
    assert failed.failures and failed.controllers["multipath"] == ("lia", "kernel:lia", "olia")


def test_a_cell_without_an_equilibrium_keeps_the_reason_and_the_others_their_numbers():
    crowd = Axis("flow.single-path.count", ("10", "2000"))
    found = what_if(SCENARIO.text, [crowd], rtt="base", floor=1.0)
    assert np.isfinite(found.rates_bps[0]).all() and np.isnan(found.rates_bps[1]).all()
    assert "'ap2'" in found.failures[(1,)]


def test_a_grid_without_any_equilibrium_is_an_error():
    crowd = Axis("flow.single-path.count", ("2000", "3000"))
    with pytest.raises(TheoryError, match="no cell has an equilibrium"):
        what_if(SCENARIO.text, [crowd], rtt="base", floor=1.0)


def test_news_of_the_work_counts_every_cell():
    heard = []
    what_if(SCENARIO.text, [RATE, USERS], tell=lambda done, total: heard.append((done, total)))
    assert heard == [(k, 6) for k in range(1, 7)]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("link.ap1.rate=5 Mb/s, 10 Mb/s", ("5 Mb/s", "10 Mb/s")),
        ("link.ap1.rate=2..20:4 Mb/s", ("2 Mb/s", "8 Mb/s", "14 Mb/s", "20 Mb/s")),
        ("link.line.delay=0.5..1.5:3 ms", ("0.5 ms", "1 ms", "1.5 ms")),
        ("flow.a.count=1..10:4", ("1", "4", "7", "10")),
        ("flow.a.count=1..8:3", ("1", "4", "8")),
        ("link.ap1.rate=20..10:3 Mb/s", ("20 Mb/s", "15 Mb/s", "10 Mb/s")),
    ],
)
def test_axes_are_lists_or_evenly_spaced(text, values):
    assert axis_from(text).values == values


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("link.ap1.rate", "write KEY=V1,V2"),
        ("=5", "write KEY=V1,V2"),
        ("link.ap1.rate=", "write KEY=V1,V2"),
        ("a.b=1,1", "given once"),
        ("a.b=1,,2", "given once"),
        ("a.b=1..5:1", "2 to 1,000,000 values"),
        ("a.b=e..5:3", "are not numbers"),
    ],
)
def test_axes_that_are_none_are_refused_with_what_would_be_one(text, message):
    with pytest.raises(ValueError, match=message):
        axis_from(text)


@pytest.mark.parametrize(
    ("axes", "error", "message"),
    [
        ([], ValueError, "no axis"),
        ([RATE, RATE], ValueError, "on two axes"),
        (
            [Axis("flow.multipath.count", tuple(map(str, range(10_001))))],
            ValueError,
            "at most 10000",
        ),
        ([Axis("link.ap9.rate", ("1 Mb/s",))], ScenarioError, "ap9"),
        ([Axis("link.ap1.rate", ("1 parsec",))], ScenarioError, "parsec"),
    ],
)
def test_grids_that_cannot_be_are_refused(axes, error, message):
    with pytest.raises(error, match=message):
        what_if(SCENARIO.text, axes)


def test_an_unknown_quantity_is_refused_with_those_that_there_are():
    with pytest.raises(ValueError, match="rate, total, jain"):
        what_if(SCENARIO.text, [USERS]).quantity("delay")

"""From a plan to what theory sees of it."""

import math
import subprocess
import sys

import numpy as np
import pytest
from plans import link, plan, red, scenario_a, users

from anabranch.planned_network import Codel, GilbertElliott
from anabranch.theory import DropTail, Network, Queue, left_out, single_user


def test_a_plan_becomes_capacities_counts_and_incidence():
    network = Network.from_plan(scenario_a(30))
    assert network.capacities_bps == pytest.approx([30e6, 10e6])
    assert network.counts == pytest.approx([30, 30, 10])
    assert network.incidence.tolist() == [[1, 1, 0], [0, 1, 1]]
    assert [c.name for c in network.classes] == ["type1", "type2"]


def test_a_link_per_user_is_one_link_of_the_class_with_its_users_rates_added():
    home = link("home", 5.0, per_user=True)
    classes = [users("a", 4, "lia", [[0], [1]]), users("b", 2, "reno", [[0]])]
    network = Network.from_plan(plan("p", [home, link("core", 50.0)], classes))
    by_name = {link.name: link for link in network.links}
    assert by_name["home[a]"].capacity_bps == 20e6
    assert by_name["home[b]"].capacity_bps == 10e6
    assert by_name["home[a]"].copies == 4
    assert by_name["home[a]"].queue_delay_s(0.05) == by_name["home[b]"].queue_delay_s(0.05)


def test_a_link_without_a_rate_is_a_pure_delay():
    network = Network.from_plan(
        plan("p", [link("wire", None), link("core", 5.0)], [users("a", 1, "reno", [[0, 1]])])
    )
    assert math.isinf(network.capacities_bps[0])


def test_random_losses_add_along_a_path():
    links = [link("air", None, loss=0.01), link("core", 5.0, loss=0.002)]
    network = Network.from_plan(plan("p", links, [users("a", 1, "lia", [[0, 1], [1]])]))
    assert network.random_losses == pytest.approx([0.012, 0.002])


def test_a_controller_is_exchanged_in_multipath_classes_only():
    network = Network.from_plan(scenario_a(10)).with_controller("olia")
    assert [c.controller for c in network.classes] == ["olia", "reno"]
    named = network.with_controller("ewtcp", ["type2"])
    assert [c.controller for c in named.classes] == ["olia", "ewtcp"]
    with pytest.raises(ValueError, match="type1, type2"):
        network.with_controller("olia", ["type3"])


@pytest.mark.parametrize(
    ("loss", "packets"), [(0.004, 26), (0.05, 37.5), (0.1, 50), (0.28, 60), (0.55, 75), (1.0, 100)]
)
def test_red_queues_are_the_inverse_of_the_drop_curve(loss, packets):
    queue = Queue.from_plan(red(10e6))
    assert queue.length_packets(loss, 1500) == pytest.approx(packets)
    assert queue.length_packets(0.0, 1500) == 0.0


def test_red_with_count_spacing_needs_half_the_marking_for_the_same_loss():
    queue = Queue.from_plan(red(10e6, spacing="count"))
    # 2 p_b / (1 + p_b) at p_b = 0.02.
    assert queue.length_packets(0.04 / 1.02, 1500) == pytest.approx(25 + 25 * 0.02 / 0.1)


def test_a_congested_droptail_queue_is_taken_as_full():
    queue = DropTail(limit_packets=50)
    assert queue.length_packets(0.01, 1500) == 50
    assert queue.delay_s(0.01, 10e6, 1500) == pytest.approx(0.060)
    assert DropTail(limit_bytes=30_000).length_packets(0.01, 1500) == 20
    assert DropTail().length_packets(0.01, 1500) == 0


def test_numbers_out_of_range_are_refused_by_name():
    with pytest.raises(ValueError, match="'core'"):
        Network.from_plan(
            plan("p", [link("core", -1.0, queue=None)], [users("a", 1, "reno", [[0]])])
        )
    with pytest.raises(ValueError, match="at least one class"):
        Network.from_plan(plan("p", [link("core", 1.0)], []))
    with pytest.raises(ValueError, match="'a'"):
        Network.from_plan(plan("p", [link("core", 1.0)], [users("a", 1, "reno", [[0]], [0.0])]))
    with pytest.raises(ValueError, match="3 losses"):
        single_user("lia", [0.1, 0.1, 0.1], [0.1, 0.1])


def test_networks_keep_their_arrays_when_controllers_change():
    network = Network.from_plan(scenario_a(10))
    assert np.array_equal(network.incidence, network.with_controller("olia").incidence)


def test_importing_theory_imports_neither_scipy_nor_cvxpy():
    code = "import sys, anabranch.theory; print('scipy' in sys.modules, 'cvxpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_a_queue_that_theory_does_not_know_is_named_with_its_link():
    codel = Codel(target_s=0.005, interval_s=0.1, ecn=False, limit_packets=100)
    links = [link("core", 5.0, queue=codel)]
    with pytest.raises(ValueError, match="link 'core': theory knows queues of kind 'red' and"):
        Network.from_plan(plan("p", links, [users("a", 1, "reno", [[0]])]))


def test_what_theory_does_not_see_of_a_link_is_said():
    chain = GilbertElliott(to_bad=0.003, to_good=0.3, good=0.0, bad=1.0)
    links = [link("air", 5.0, loss=0.01, loss_chain=chain, reorder=0.1, duplicate=0.0)]
    said = left_out(plan("p", links, [users("a", 1, "reno", [[0]])]))
    assert "that random losses come in bursts" in said
    assert "packets that are held back or copied" in said
    assert left_out(scenario_a(10)) == []


@pytest.mark.parametrize("packets", [10.0, 26.0, 40.0, 50.0, 70.0, 99.0])
@pytest.mark.parametrize("spacing", ["independent", "count"])
def test_the_curve_and_its_inverse_agree(packets, spacing):
    queue = Queue.from_plan(red(10e6, spacing=spacing))
    loss = queue.loss_at(packets)
    assert queue.length_packets(loss, 1500) == pytest.approx(packets if packets > 25 else 0.0)

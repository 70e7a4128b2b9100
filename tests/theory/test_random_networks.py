"""The random networks on which theory and simulation are held against each other."""

from random_networks import LARGEST_WINDOW, LEAST_WINDOW, SEEDS, scenario_text

from anabranch import Scenario
from anabranch.planned_network import Red
from anabranch.theory import Network, equilibrium


def test_every_random_network_is_a_scenario_with_an_equilibrium_of_large_windows():
    texts = {seed: scenario_text(seed) for seed in SEEDS}
    assert len(set(texts.values())) == len(texts) == 20
    for seed, text in texts.items():
        plan = Scenario.parse(text, f"random-{seed}").plan()
        network = Network.from_plan(plan)
        congestible = [item for item in plan.links if item.rate_bps]
        assert 2 <= len(congestible) <= 4 and 2 <= len(network.classes) <= 4
        assert all(isinstance(item.queue, Red) for item in congestible)
        assert {len(c.paths) for c in network.classes} <= {1, 2}
        found = equilibrium(network, rtt="queueing")
        windows = [float(w) for each in found.windows.values() for w in each]
        assert min(windows) >= LEAST_WINDOW and max(windows) <= LARGEST_WINDOW, seed
        for index, item in enumerate(network.links):
            load_bps = found.link_loads_bps[item.name]
            assert load_bps <= network.capacities_bps[index] * (1 + 1e-6), seed


def test_the_same_number_gives_the_same_network():
    assert scenario_text(7) == scenario_text(7)
    names = {Scenario.parse(scenario_text(seed)).plan().name for seed in (1, 2)}
    assert names == {"random-1", "random-2"}

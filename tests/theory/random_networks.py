"""Small random networks as scenario files, on which theory and simulation can be held against each
other.

Two to four links with RED queues, two to four classes of users, each over one or two paths of one
or two links, at least one class over two. Every window at equilibrium is at least six segments, for
below that real losses end in timeouts, of which theory knows nothing; and at most sixty, for a
window takes a round trip for each segment to get there. The same number always gives the same text.
"""

from __future__ import annotations

import random

from anabranch.scenario import Scenario
from anabranch.theory import Network, equilibrium

SEEDS = range(1, 21)

LEAST_WINDOW, LARGEST_WINDOW = 6.0, 60.0
"""Segments."""

FACTORS = (1.0, 1.5, 2.0, 3.0, 4.0)
"""By which all rates grow until the windows are large enough."""

ATTEMPTS = 100
"""Networks that are drawn for a number until one has such windows."""

LAWS = ("reno", "ewtcp", "semicoupled", "lia", "balia")
"""Laws that use all paths: of the others a window may be as small as it likes."""

BACK_MS = 5
"""Delay of the links that acknowledgements take."""


def scenario_text(seed: int) -> str:
    """The scenario of a number, in TOML."""
    for attempt in range(ATTEMPTS):
        draw = random.Random(f"{seed}/{attempt}")
        links = [(f"l{i}", draw.choice([4, 6, 8, 10])) for i in range(draw.randint(2, 4))]
        delays_ms = [draw.choice([5, 10, 20, 30]) for _ in links]
        flows = [flow(draw, index, len(links)) for index in range(draw.randint(2, 4))]
        if not any(len(paths) == 2 for _, _, _, paths in flows):
            continue
        for factor in FACTORS:
            text = written(seed, links, delays_ms, flows, factor)
            smallest, largest = windows_of(text)
            if largest > LARGEST_WINDOW:
                break
            if smallest >= LEAST_WINDOW:
                return text
    raise AssertionError(f"no network with such windows was drawn for {seed}")


def windows_of(text: str) -> tuple[float, float]:
    """The smallest and the largest window at equilibrium, in segments."""
    network = Network.from_plan(Scenario.parse(text).plan())
    found = equilibrium(network, rtt="queueing")
    every = [float(w) for windows in found.windows.values() for w in windows]
    return min(every), max(every)


def flow(draw: random.Random, index: int, links: int) -> tuple[str, int, str, list[list[int]]]:
    """Name, users, law and paths of a class; a path crosses one or two links, two paths are not the
    same.
    """
    count = draw.randint(1, 4)
    paths: list[list[int]] = []
    for _ in range(draw.randint(1, 2)):
        crossed = sorted(draw.sample(range(links), draw.randint(1, 2)))
        if crossed not in paths:
            paths.append(crossed)
    law = draw.choice(LAWS[1:]) if len(paths) > 1 else "reno"
    return f"c{index}", count, law, paths


def written(
    seed: int,
    links: list[tuple[str, int]],
    delays_ms: list[int],
    flows: list[tuple[str, int, str, list[list[int]]]],
    factor: float,
) -> str:
    """The scenario with all rates times `factor`, in Mb/s."""
    lines = [f'name = "random-{seed}"', 'duration = "120 s"', 'warmup = "30 s"', ""]
    for (name, rate), delay_ms in zip(links, delays_ms, strict=True):
        rate = rate * factor
        # The draft's curve, scaled with the rate: 25, 50 and a limit of 200 packets per 10 Mb/s.
        red = f'min = "{rate * 2.5:g} packets", max = "{rate * 5:g} packets", max_p = 0.1'
        red += f', weight = 0.0625, spacing = "independent", limit = "{rate * 20:g} packets"'
        lines += [
            "[[link]]",
            f'name = "{name}"',
            f'rate = "{rate:g} Mb/s"',
            f'delay = "{delay_ms} ms"',
        ]
        lines += [f"queue = {{ red = {{ {red} }} }}", ""]
    lines += ["[[link]]", 'name = "back"', f'delay = "{BACK_MS} ms"', ""]
    for name, count, law, paths in flows:
        lines += ["[[flow]]", f'name = "{name}"', f"count = {count}", f'controller = "{law}"']
        lines += ['spread = "5 s"', ""]
        for path in paths:
            crossed = ", ".join(f'"{links[i][0]}"' for i in path)
            lines += ["[[flow.path]]", f"links = [{crossed}]", 'back = ["back"]', ""]
    return "\n".join(lines)

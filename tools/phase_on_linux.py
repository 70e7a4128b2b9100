"""Reno beside CUBIC on a short queue: kernel and simulation, with little and with much jitter.

    sudo .venv/bin/python tools/phase_on_linux.py    # 4 minutes

The link is the second one of pair 19 of tools/advise_on_linux.py. Jitter is that of each flow's own
line before it: a quarter of a packet's time, and four packets' times.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import anabranch
from advise_on_linux import draw
from anabranch import Scenario, linux
from anabranch.advice.candidates import MINE, Span, document
from anabranch.statistics import interval
from at_once import together

PAIR = 19
OWN_LINES = ("second-near", "second-others")
JITTER_US = (306, 5000)
COPIES = 8
"""Networks that run at once on the kernel, and replications of the simulation."""
SPAN = Span(80, 20)
SIMULATED = {"reno": "cubic", "kernel:reno": "kernel:coupled-cubic"}
"""Controllers as RFCs have them, and in whole numbers; Coupled CUBIC on one path is CUBIC."""


def network(mine: str, others: str, jitter_us: int) -> dict[str, Any]:
    """The link with a flow of each, as a scenario."""
    situation, _ = draw(PAIR)
    made = document(situation, mine, [1], SPAN)
    for link in made["link"]:
        if link["name"] in OWN_LINES:
            link["jitter"] = f"{jitter_us} us"
    for flow in made["flow"]:
        if flow["name"] != MINE:
            flow["controller"] = others
    return made


def told(world: str, jitter_us: int, mine: list[float], others: list[float]) -> None:
    """Prints a line: means and intervals of 95 %."""
    rates = [interval(np.array(each) / 1e6) for each in (mine, others)]
    shown = ", ".join(f"{each.mean:.2f} ± {each.half:.2f}" for each in rates)
    print(f"{world}, jitter {jitter_us} us: {shown} Mb/s", flush=True)


def main() -> None:
    """Kernel and simulation for each jitter."""
    for jitter_us in JITTER_US:
        some = {f"n{place}": network("reno", "cubic", jitter_us) for place in range(COPIES)}
        found = linux.run(Scenario.written(together("phase", some)), (1,))
        names = [planned.name for planned in found.plan.classes]
        rates = {name: float(found.rate(name).mean()) for name in names}
        mine = [rate for name, rate in rates.items() if name.endswith(f"-{MINE}")]
        told(
            "kernel, reno and cubic", jitter_us, mine, [r for r in rates.values() if r not in mine]
        )
        for controller, others in SIMULATED.items():
            scenario = Scenario.written(network(controller, others, jitter_us))
            result = anabranch.run(scenario, range(1, COPIES + 1))
            each = [list(result.rate(planned.name)) for planned in result.plan.classes]
            told(f"simulation, {controller} and {others}", jitter_us, each[0], each[1])


if __name__ == "__main__":
    main()

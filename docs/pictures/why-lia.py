"""Draws docs/pictures/why-lia.png: how much of its window a law keeps on the worse path, and what
that leaves to the users who have no other.

Run it from the root of the repository: .venv/bin/python docs/pictures/why-lia.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

import anabranch as ab
from anabranch import theory
from anabranch.plot import style

LAWS = {"uncoupled": "a TCP on each path", "lia": "LIA", "olia": "OLIA"}
LOOKS = {
    "uncoupled": (style.FAINT, ":", "^"),
    "lia": ("#D55E00", "-", "o"),
    "olia": ("#0072B2", "--", "s"),
}
RATIOS = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
"""Loss of the worse path over that of the better one."""
BETTER = 0.005
"""Loss probability of the better path."""
SEEDS = 3
CROWD = 10.0
"""Mb/s of the access point that both classes use in scenario C."""


def overrides(ratio: float) -> list[str]:
    """Two paths without a rate to speak of, one of which loses so many times more packets."""
    losses = {"good": BETTER, "bad": BETTER * ratio}
    return [f"link.{name}.loss.probability={loss:g}" for name, loss in losses.items()]


def expected(law: str, ratio: float) -> float:
    """Part of the windows that the fixed point of a law has on the worse path."""
    plan = ab.load("khalili/two-lossy-paths").plan(controller=law, overrides=overrides(ratio))
    better, worse = theory.equilibrium(theory.Network.from_plan(plan)).windows["user"]
    return float(worse / (better + worse))


def simulated(law: str, ratio: float) -> float:
    """The same, packet by packet."""
    name, given = "khalili/two-lossy-paths", overrides(ratio)
    result = ab.run(name, range(1, SEEDS + 1), controller=law, overrides=given)
    better, worse = (result.path("user", n, "cwnd_segments").mean() for n in range(2))
    return float(worse / (better + worse))


def draw_windows(ax: Axes) -> None:
    """Lines of theory, markers of simulation."""
    ratios = np.linspace(RATIOS[0], RATIOS[-1], 60)
    for law, label in LAWS.items():
        colour, line, marker = LOOKS[law]
        ax.plot(ratios, [expected(law, one) for one in ratios], color=colour, linestyle=line)
        found = [simulated(law, one) for one in RATIOS]
        look = {"color": colour, "marker": marker, "linestyle": "none", "markersize": 5.5}
        ax.plot(RATIOS, found, label=label, **look)
    ax.set_ylim(0, 0.55)
    ax.set_xlabel("Loss of the worse path over that of the better")
    ax.set_ylabel("Part of the window on the worse path")
    ax.set_title("What a user keeps on the worse path")
    ax.legend(title="simulated; lines: fixed points", alignment="left")


def draw_rates(ax: Axes) -> None:
    """What becomes of the access point that both classes use."""
    bars = []
    for name, law in (
        ("before", None),
        ("OLIA", "olia"),
        ("LIA", "lia"),
        ("a TCP on\neach path", "uncoupled"),
    ):
        source = "khalili/scenario-c" if law else "khalili/scenario-c-before"
        result = ab.run(source, range(1, SEEDS + 1), controller=law)
        users = result.plan.classes[result.classes.index("single-path")].count
        bars.append((name, users * result.mean("single-path").mean / 1e6))
    for place, (_, own) in enumerate(bars):
        ax.bar(place, own, 0.7, color=style.tint("#444444"), edgecolor="#444444")
        ax.text(place, own / 2, f"{own:.1f}", ha="center", va="center")
        if CROWD - own > 0.2:
            taken = {"bottom": own, "color": style.tint("#D55E00"), "edgecolor": "#D55E00"}
            ax.bar(place, CROWD - own, 0.7, hatch="//", **taken)
            ax.text(place, (CROWD + own) / 2, f"{CROWD - own:.1f}", ha="center", va="center")
    ax.set_xticks(range(len(bars)), [name for name, _ in bars])
    ax.set_ylim(0, 1.18 * CROWD)
    ax.set_ylabel("Mb/s of the shared access point")
    ax.set_title("What that leaves to the others")
    parts = [("#444444", "ten single-path users", ""), ("#D55E00", "ten second paths", "//")]
    keys = [
        Patch(facecolor=style.tint(colour), edgecolor=colour, label=label, hatch=hatch)
        for colour, label, hatch in parts
    ]
    ax.legend(handles=keys, ncols=2, loc="upper center")


def main() -> None:
    """Runs, draws, saves."""
    with style.context():
        figure = Figure(figsize=(9.0, 3.8), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=(1.1, 1))
        draw_windows(left)
        draw_rates(right)
    ab.plot.save(figure, Path(__file__).with_suffix(".png"), dpi=110)


if __name__ == "__main__":
    main()

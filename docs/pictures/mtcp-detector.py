"""Draws docs/pictures/mtcp-detector.png and prints the table of the page.

From measurements/mtcp-detector.json, which tools/map_mtcp_detector.py writes. Run it from the root
of the repository: .venv/bin/python docs/pictures/mtcp-detector.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

HERE = Path(__file__).resolve().parent
FROM = HERE.parents[1] / "measurements" / "mtcp-detector.json"


def values(cells: list[dict[str, Any]], key: str) -> list[Any]:
    """What a parameter of the grid takes, in its order."""
    return list(dict.fromkeys(cell[key] for cell in cells))


def shares(cells: list[dict[str, Any]]) -> float:
    """In how many of all runs a shared bottleneck was found, as a part."""
    return sum(cell["found"] for cell in cells) / sum(cell["runs"] for cell in cells)


def draw(cells: list[dict[str, Any]]) -> None:
    """A panel for each queue and sharing; each cell says in which part of its runs one was found."""
    sharings, queues = values(cells, "sharing"), values(cells, "queue")
    longer, traffic = values(cells, "longer_ms"), values(cells, "traffic")
    figure, grid = plt.subplots(
        len(sharings),
        len(queues),
        figsize=(12, 5.6),
        sharex=True,
        sharey=True,
        layout="constrained",
    )
    for axes, (sharing, queue) in zip(
        grid.flat, [(s, q) for s in sharings for q in queues], strict=True
    ):
        own = [c for c in cells if (c["sharing"], c["queue"]) == (sharing, queue)]
        part = np.zeros((len(traffic), len(longer)))
        for cell in own:
            place = traffic.index(cell["traffic"]), longer.index(cell["longer_ms"])
            part[place] = cell["found"] / cell["runs"]
        image = axes.imshow(part, vmin=0, vmax=1, cmap="cividis", aspect="auto")
        for (row, column), value in np.ndenumerate(part):
            colour = "white" if value < 0.55 else "black"
            axes.text(column, row, f"{value:.2f}", ha="center", va="center", color=colour)
        axes.set_title(f"{queue}: {sharing}", fontsize=10)
        axes.set_xticks(range(len(longer)), [f"+{ms}" for ms in longer])
        axes.set_yticks(range(len(traffic)), traffic)
    figure.supxlabel("one-way delay of the second path beyond the first path's 25 ms, in ms")
    figure.supylabel("other traffic on each bottleneck")
    figure.colorbar(image, ax=grid, label="part of the runs in which mTCP coalesced the paths")
    figure.savefig(HERE / "mtcp-detector.png", dpi=110)


def main() -> None:
    """Draws the map and prints its margins."""
    cells = json.loads(FROM.read_text(encoding="utf-8"))
    draw(cells)
    print("| queue | found where it is shared | found where it is not |\n|---|---|---|")
    for queue in values(cells, "queue"):
        of_queue = [cell for cell in cells if cell["queue"] == queue]
        parts = [
            shares([cell for cell in of_queue if cell["sharing"] == sharing])
            for sharing in values(cells, "sharing")
        ]
        print(f"| {queue} | {parts[0]:.3f} | {parts[1]:.3f} |")


if __name__ == "__main__":
    main()

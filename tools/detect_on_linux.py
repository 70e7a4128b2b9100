"""Has the kernel's subflows find shared bottlenecks on emulated links, where the answer is known.

    sudo .venv/bin/python tools/detect_on_linux.py [NETWORKS]

Networks are those of `anabranch.sharing.draw`, of what the emulator and the kernel can be; each
runs in real time, 20 of them in a quarter of an hour. It prints what was found of each, and writes
measurements/detectors-on-linux.json.
"""

from __future__ import annotations

import json
import platform
import sys
from pathlib import Path

from anabranch import Scenario, linux
from anabranch.files import atomic_write
from anabranch.sharing import Ranges, Rate, document, draw

OUT = Path("measurements/detectors-on-linux.json")
SEED = 1
RANGES = Ranges().changed(
    rate_bps=(4e6, 40e6),
    queues=("droptail",),
    paths=(2,),
    rival_controllers=("reno",),
    short_load=(0.0,),
    side_load=(0.0,),
)


def main(networks: int) -> None:
    """Runs each network and compares."""
    rows = []
    for number in range(networks):
        network = draw(number, SEED, RANGES)
        scenario = Scenario.written(document(network, "lia+sbd"))
        result = linux.run(scenario, (1,), keep_invalid=True)
        run = result.runs[0]
        ((groups,),) = run.kernel.groups.values()
        found = len(groups) == 2 and groups[0] == groups[1]
        row = {"number": number, "shared": network.shared, "found": found, "valid": run.valid}
        rows.append(row)
        print(row, flush=True)
    right = Rate(sum(row["found"] == row["shared"] for row in rows), len(rows))
    print(f"right: {right.count} of {right.of}")
    content = {"seed": SEED, "kernel": platform.release(), "networks": rows}
    atomic_write(OUT, json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)

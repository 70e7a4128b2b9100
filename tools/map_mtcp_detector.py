"""Where mTCP's detector finds a shared bottleneck, and where it finds one that is not there.

Writes measurements/mtcp-detector.json: for each cell of a grid, how many runs found one. Run it
from the root of the repository (five minutes on two cores): .venv/bin/python
tools/map_mtcp_detector.py. With --quick, three seeds.

Two paths of one connection share a link of 5 Mb/s, or have one each. The second path is longer.
Found is found when, in any look of the detector, that is for 15 s, one of the paths carries less
than 3 % of both.
"""

from __future__ import annotations

import argparse
import itertools
import json
from pathlib import Path

import numpy as np

import anabranch as ab

OUT = Path("measurements/mtcp-detector.json")
SEEDS = 20
LOOK_S = 15
UNUSED = 0.03

SHARING = {"one bottleneck": ("a", "a"), "two bottlenecks": ("a", "b")}
QUEUES = {
    "drop-tail": 'droptail = { packets = "21 packets" }',
    "drop-tail, 4 BDP": 'droptail = { packets = "83 packets" }',
    "RED": 'red = { min = "5.2 packets", max = "15.6 packets", max_p = 0.1, weight = 0.002, '
    'limit = "42 packets" }',
    "CoDel": 'codel = { limit = "1000 packets" }',
}
LONGER_MS = (0, 5, 25, 75)
"""One way, beyond 25 ms."""
TRAFFIC = {
    "none": "",
    "on–off UDP": "udp",
    "one TCP": "tcp 1",
    "four TCPs": "tcp 4",
}

HEAD = """
name = "mtcp-detector"
duration = "300 s"
warmup = "10 s"
sample = "1 s"
[transport]
delayed_ack = "0 s"
"""


def link(name: str, queue: str) -> str:
    """A bottleneck."""
    return f'[[link]]\nname = "{name}"\nrate = "5 Mb/s"\ndelay = "25 ms"\nqueue = {{ {QUEUES[queue]} }}\n'


def traffic(kind: str, name: str) -> str:
    """What else uses a bottleneck."""
    if not kind:
        return ""
    path = f'path = [{{ links = ["{name}"] }}]\n'
    if kind == "udp":
        pauses = (
            'app_rate = "2 Mb/s"\npauses = { on = "500 ms", off = "500 ms" }\nprotocol = "udp"\n'
        )
        return f'[[flow]]\nname = "u-{name}"\n{pauses}{path}'
    count = kind.split()[1]
    return f'[[flow]]\nname = "t-{name}"\ncount = {count}\nspread = "1 s"\n{path}'


def scenario(sharing: str, queue: str, longer_ms: int, kind: str) -> ab.Scenario:
    """One cell of the grid."""
    ways = SHARING[sharing]
    names = sorted(set(ways))
    text = HEAD + "".join(link(name, queue) for name in names)
    text += f'[[link]]\nname = "detour"\ndelay = "{longer_ms} ms"\n'
    text += "".join(traffic(TRAFFIC[kind], name) for name in names)
    first, second = ways
    text += (
        '[[flow]]\nname = "mtcp"\ncontroller = "mtcp"\nstart = "1 s"\n'
        f'path = [{{ links = ["{first}"] }}, {{ links = ["detour", "{second}"] }}]\n'
    )
    return ab.Scenario.parse(text)


def found(arrived: np.ndarray) -> bool:
    """Whether one of two paths rests for the length of a look; bytes arrived, a row each second."""
    carried = arrived[LOOK_S:] - arrived[:-LOOK_S]
    least = carried.min(axis=1) / np.maximum(carried.sum(axis=1), 1)
    return bool((least[LOOK_S:] < UNUSED).any())


def main() -> None:
    """Runs the grid."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="three seeds, and nothing is written")
    quick = parser.parse_args().quick
    seeds = range(1, 4 if quick else SEEDS + 1)
    cells = []
    for place in itertools.product(SHARING, QUEUES, LONGER_MS, TRAFFIC):
        result = ab.run(scenario(*place), seeds, series=True)
        runs = [np.asarray(run.series.paths.arrived_bytes)[:, -2:] for run in result.runs]
        cells.append(dict(zip(("sharing", "queue", "longer_ms", "traffic"), place, strict=True)))
        cells[-1] |= {"found": sum(map(found, runs)), "runs": len(runs)}
        print(*cells[-1].values(), flush=True)
    if not quick:
        OUT.write_text(json.dumps(cells, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

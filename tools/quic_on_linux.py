"""Measures files over QUIC between namespaces, on emulated links: unmodified noq from the registry,
under our controllers and under its own, beside itself and beside the kernel's TCP and MPTCP.

    sudo .venv/bin/python tools/quic_on_linux.py shared [TIMES]     # 45 s each; goes on
    sudo .venv/bin/python tools/quic_on_linux.py apart [TIMES]      # 45 s each; goes on
    sudo .venv/bin/python tools/quic_on_linux.py beside [TIMES]     # 45 s each; goes on
    sudo .venv/bin/python tools/quic_on_linux.py jitter [TIMES]     # 45 s each; goes on
    sudo .venv/bin/python tools/quic_on_linux.py causes [TIMES]     # 45 s each; goes on
    sudo .venv/bin/python tools/quic_on_linux.py delayed [TIMES]    # 45 s each; goes on
    sudo .venv/bin/python tools/quic_on_linux.py failing [BYTES]    # 1 GB: 2.5 minutes

`shared`: two paths through one link of 20 Mb/s beside one connection under noq's NewReno; under
`reno`, ours, a single path.
`apart`: two paths over links of 20 and 10 Mb/s, and one path over a link of 20 Mb/s.
`beside`: a pair over QUIC beside the kernel's TCP Reno on one link, and beside MPTCP on two.
`jitter`: as `shared`, with jitter of 5 ms on each path's own line before the link.
`causes`: a pair and a single path over QUIC beside the kernel's TCP Reno on one link, with that
jitter, with RED instead of drop-tail, and with the kernel's pacing of its TCP.
`delayed`: the same pairs with drop-tail, where TCP delays its acknowledgements by up to 40 ms. In
all other forms it acknowledges each segment.
`failing`: a file over two links of 50 Mb/s, one of which is down for 20 s, compared byte for byte.
Networks of a form do not touch and run at once. Prints intervals and writes
measurements/quic-on-linux.json.
"""

from __future__ import annotations

import filecmp
import itertools
import json
import os
import platform
import random
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anabranch import Scenario
from anabranch.files import atomic_write
from anabranch.linux.quic import Asked, Measured, run
from anabranch.statistics import interval
from at_once import together

OUT = Path("measurements/quic-on-linux.json")
COUPLED = ("lia", "olia", "balia")
NEWRENO, RENO = "noq:newreno", "reno"
"""noq's NewReno, and ours: on one path each, they show how far our shell differs from noq's."""
DURATION_S, WARMUP_S = 45, 10
QUEUE_PACKETS = 80
LARGE = 1_000_000_000
DOWN_S = (30, 50)


def link(name: str, rate_mbps: float, **more: Any) -> dict[str, Any]:
    """A link of 20 ms with a drop-tail queue."""
    queue = {"droptail": {"packets": f"{QUEUE_PACKETS} packets"}}
    return {
        "name": name,
        "rate": f"{rate_mbps:g} Mb/s",
        "delay": "20 ms",
        "queue": queue,
        **more,
    }


def jittered(document: dict[str, Any]) -> dict[str, Any]:
    """The same network with a line for each path before its link, whose delay jitters by 5 ms."""
    lines, flows = [], []
    for each in document["flow"]:
        paths = []
        for number, path in enumerate(each["path"]):
            name = f"{each['name']}-{number}"
            lines.append({"name": name, "delay": "5 ms", "jitter": "5 ms"})
            paths.append({"links": [name, *path["links"]]})
        flows.append(each | {"path": paths})
    links = [one | {"delay": "15 ms"} for one in document["link"]]
    return document | {"link": [*links, *lines], "flow": flows}


def with_red(document: dict[str, Any]) -> dict[str, Any]:
    """The same network with RED on its links."""
    limits = {"min": "20 packets", "max": "60 packets", "limit": "160 packets"}
    red = {"red": limits | {"max_p": 0.02, "weight": 0.002, "gentle": True}}
    return document | {"link": [one | {"queue": red} for one in document["link"]]}


def delayed(document: dict[str, Any]) -> dict[str, Any]:
    """The same network, in which TCP delays its acknowledgements."""
    flows = [one | {"transport": {"delayed_ack": "40 ms"}} for one in document["flow"]]
    return document | {"flow": flows}


def flow(name: str, *paths: str, controller: str = "reno") -> dict[str, Any]:
    """A user with a path over each of these links; the controller is the kernel's."""
    path = [{"links": [one]} for one in paths]
    return {"name": name, "controller": controller, "spread": "0.5 s", "path": path}


def network(links: Sequence[dict[str, Any]], flows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A scenario of these."""
    return {
        "name": "quic",
        "duration": f"{DURATION_S} s",
        "warmup": f"{WARMUP_S} s",
        "link": list(links),
        "flow": list(flows),
    }


def plain(controller: str) -> str:
    """A name for a network."""
    return controller.replace("noq:", "noq-")


Form = tuple[dict[str, dict[str, Any]], dict[str, str]]
"""The networks, and the controllers of the classes that are over QUIC."""


def shared() -> Form:
    """A pair beside one, for each controller of the pair; and a single path under our Reno."""
    one = [link("link", 20)], [flow("pair", "link", "link"), flow("one", "link")]
    networks = {plain(name): network(*one) for name in (*COUPLED, NEWRENO)}
    networks[RENO] = network([link("link", 20)], [flow("pair", "link"), flow("one", "link")])
    over = {f"{plain(name)}-pair": name for name in (*COUPLED, NEWRENO, RENO)}
    return networks, over | {f"{network}-one": NEWRENO for network in networks}


def apart() -> Form:
    """A pair over two links, for each controller; and one path over the better link alone."""
    pair = [link("better", 20), link("worse", 10)], [flow("pair", "better", "worse")]
    networks = {plain(name): network(*pair) for name in (*COUPLED, NEWRENO)}
    networks["alone"] = network([link("better", 20)], [flow("one", "better")])
    over = {f"{plain(name)}-pair": name for name in (*COUPLED, NEWRENO)}
    return networks, over | {"alone-one": NEWRENO}


def beside() -> Form:
    """A pair over QUIC under LIA beside the kernel's TCP on one link, and beside MPTCP under LIA on
    two; and one QUIC connection under NewReno beside the kernel's TCP.
    """
    mptcp = flow("mptcp", "first", "second", controller="lia")
    networks = {
        "tcp": network([link("link", 20)], [flow("pair", "link", "link"), flow("tcp", "link")]),
        "mptcp": network(
            [link("first", 20), link("second", 20)], [flow("pair", "first", "second"), mptcp]
        ),
        "single": network([link("link", 20)], [flow("one", "link"), flow("tcp", "link")]),
    }
    return networks, {"tcp-pair": "lia", "mptcp-pair": "lia", "single-one": NEWRENO}


def jitter() -> Form:
    """The pairs of `shared`, with jitter."""
    networks, over = shared()
    networks = {name: jittered(networks[name]) for name in map(plain, (*COUPLED, NEWRENO))}
    return networks, {name: one for name, one in over.items() if not name.startswith(RENO)}


CAUSES = {"jitter": jittered, "red": with_red, "paced": dict, "delayed": delayed}
"""What is done to a network. `paced` leaves it as it is: the TCP in it is paced."""

CAUSES_OF = {"causes": ("jitter", "red", "paced"), "delayed": ("delayed",)}


def causes(of: str) -> Form:
    """The networks of `beside` with one link, after each of the causes of a form."""
    before, asked = beside()
    networks, over = {}, {}
    for cause, (kind, quic) in itertools.product(
        CAUSES_OF[of], (("tcp", "pair"), ("single", "one"))
    ):
        networks[f"{cause}-{kind}"] = CAUSES[cause](before[kind])
        over[f"{cause}-{kind}-{quic}"] = asked[f"{kind}-{quic}"]
    return networks, over


FORMS = {"shared": shared, "apart": apart, "beside": beside, "jitter": jitter} | {
    form: partial(causes, form) for form in CAUSES_OF
}


def summed(users: Sequence[Measured]) -> dict[str, Any]:
    """The only user of a class."""
    (user,) = users
    row: dict[str, Any] = {"rate_bps": round(user.rate_bps)}
    if user.report:
        lanes = user.report["lanes"]
        row["shares"] = [round(lane["share"], 4) for lane in lanes]
        row["lost"] = [lane["lost_packets"] for lane in lanes]
        row["sent"] = [lane["sent_packets"] for lane in lanes]
        row["events"] = [lane["congestion_events"] for lane in lanes]
    return row


def measure(form: str, times: int) -> list[dict[str, Any]]:
    """Runs what is missing; returns the rows."""
    kept: dict[str, Any] = json.loads(OUT.read_text()) if OUT.exists() else {}
    kept["kernel"] = platform.release()
    rows: list[dict[str, Any]] = kept.setdefault(form, [])
    networks, over = FORMS[form]()
    scenario = Scenario.written(together("quic", networks))
    kernels = [one.name for one in scenario.plan().classes if one.name not in over]
    paced = [name for name in kernels if name.startswith("paced-")]
    for seed in range(len(rows) + 1, times + 1):
        asked = {name: Asked(one) for name, one in over.items()}
        found = run(scenario, asked, paced=paced, seed=seed)
        row = {"seed": seed, "invalid_because": found.invalid_because}
        rows.append(row | {name: summed(users) for name, users in found.users.items()})
        print(rows[-1], flush=True)
        atomic_write(OUT, json.dumps(kept, indent=1) + "\n")
    return rows


def told(form: str, rows: Sequence[dict[str, Any]]) -> list[str]:
    """A line for each network, with intervals over repetitions."""

    def of(name: str) -> NDArray[np.float64]:
        return np.array([row[name]["rate_bps"] for row in rows], float)

    def part(first: str, second: str) -> str:
        taken, left = of(first), of(second)
        return f"{interval(taken / (taken + left))} of both, {interval((taken + left) / 1e6)} Mb/s"

    if form in ("shared", "jitter"):
        pairs = (*COUPLED, NEWRENO, *([RENO] if form == "shared" else []))
        return [f"{name}: {part(f'{plain(name)}-pair', f'{plain(name)}-one')}" for name in pairs]
    if form in CAUSES_OF:
        return [
            line
            for cause in CAUSES_OF[form]
            for line in (
                f"{cause}, QUIC pair beside TCP: {part(f'{cause}-tcp-pair', f'{cause}-tcp-tcp')}",
                f"{cause}, one QUIC path beside TCP: "
                f"{part(f'{cause}-single-one', f'{cause}-single-tcp')}",
            )
        ]
    if form == "apart":
        alone = of("alone-one")
        return [
            f"pair under {name}: {interval(of(f'{plain(name)}-pair') / alone)} of one path alone, "
            f"which takes {interval(alone / 1e6)} Mb/s"
            for name in (*COUPLED, NEWRENO)
        ]
    return [
        f"QUIC pair beside TCP: {part('tcp-pair', 'tcp-tcp')}",
        f"QUIC pair beside MPTCP: {part('mptcp-pair', 'mptcp-mptcp')}",
        f"one QUIC path beside TCP: {part('single-one', 'single-tcp')}",
    ]


def failing(size: int) -> dict[str, Any]:
    """A file over two links, the second of which is down for a while in the midst."""
    ends = [{"at": f"{at} s", "up": up} for at, up in zip(DOWN_S, (False, True), strict=True)]
    document = network(
        [link("first", 50), link("second", 50, change=ends)],
        [flow("pair", "first", "second")],
    )
    document |= {"duration": f"{round(size * 8 / 20e6) + 60} s", "warmup": "0 s"}
    with tempfile.TemporaryDirectory(prefix="anabranch-") as folder:
        file, output = Path(folder) / "file", Path(folder) / "fetched"
        with file.open("wb") as out:
            stream = random.Random(1)
            for at in range(0, size, 1 << 20):
                out.write(stream.randbytes(min(1 << 20, size - at)))
        asked = {"pair": Asked("lia", file, output)}
        (user,) = run(Scenario.written(document), asked).users["pair"]
        equal = filecmp.cmp(file, output, shallow=False) if output.exists() else False
    assert user.report is not None
    return {"equal": equal, **user.report}


def show_failing(size: int) -> None:
    """Runs it, keeps it, and says what came."""
    kept: dict[str, Any] = json.loads(OUT.read_text()) if OUT.exists() else {}
    found = kept["failing"] = failing(size)
    atomic_write(OUT, json.dumps(kept, indent=1) + "\n")
    print(
        f"{found['size_bytes']} bytes, {'equal' if found['equal'] else 'NOT EQUAL'}, in "
        f"{found['duration_s']:.1f} s, {found['goodput_bps'] / 1e6:.2f} Mb/s"
    )
    for lane in found["lanes"]:
        print(
            f"{lane['local']}: {lane['received_bytes']} bytes, opened {lane['opened']} times, failed "
            f"{lane['failures']} times"
        )
    counts = [sample["received_bytes"] for sample in found["samples"]]
    print("Mb/s by second:", *(f"{8e-6 * (b - a):.0f}" for a, b in itertools.pairwise(counts)))


def main() -> None:
    """Runs what the words of the command ask for."""
    words = sys.argv[1:]
    if not words or words[0] not in (*FORMS, "failing") or os.geteuid() != 0:
        sys.exit(__doc__)
    if words[0] == "failing":
        show_failing(int(words[1]) if words[1:] else LARGE)
        return
    rows = measure(words[0], int(words[1]) if words[1:] else 8)
    print("\n".join(told(words[0], rows)))


if __name__ == "__main__":
    main()

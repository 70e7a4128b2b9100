"""Scenarios for laws with `+sbd`: what a connection takes where its paths share, where they do not,
and where the bottleneck moves. tools/map_detectors.py runs them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import result
from ..result import Result
from ..runs import Run
from ..scenario import Scenario
from ..statistics import Interval, interval, ratio_of_means
from .errors import GROUP, published

WARMUP_S, DURATION_S = 30, 150
MOVES_AT_S = (75, 150)
SETTLED_S = 30
"""From a move until rates count."""
SPANS = {
    "together": (WARMUP_S, MOVES_AT_S[0]),
    "apart": (MOVES_AT_S[0] + SETTLED_S, MOVES_AT_S[1]),
    "again": (MOVES_AT_S[1] + SETTLED_S, sum(MOVES_AT_S)),
}
"""Where the bottleneck moves: it is common, the subflows' own, and common again; in seconds."""
SEEDS = 8
TCPS = 4


def _line(name: str, delay_ms: float, **more: Any) -> dict[str, Any]:
    return {"name": name, "delay": f"{delay_ms:g} ms", "jitter": "1 ms", **more}


def _link(
    name: str, rate_mbps: float, packets: int, *, red: bool = False, **more: Any
) -> dict[str, Any]:
    queue: dict[str, Any] = {"droptail": {"packets": f"{packets} packets"}}
    if red:
        low, most = f"{packets // 4} packets", f"{2 * packets} packets"
        queue = {"red": {"min": low, "max": f"{packets} packets", "max_p": 0.1, "limit": most}}
    return {"name": name, "rate": f"{rate_mbps:g} Mb/s", "queue": queue, **more}


def shared(subflows: int) -> dict[str, Any]:
    """So many subflows and four TCPs over one link of 20 Mb/s."""
    lines = [_line(f"near-{n}", 20 + 7 * n) for n in range(subflows)]
    links = [_link("link", 20, 80), _line("tcp", 20, per_user=True), *lines]
    flows = [
        {"name": "subject", "path": [{"links": [line["name"], "link"]} for line in lines]},
        {
            "name": "tcp",
            "controller": "reno",
            "count": TCPS,
            "spread": "2 s",
            "path": [{"links": ["tcp", "link"]}],
        },
    ]
    return _document("shared", links, flows, DURATION_S)


def disjoint(subflows: int) -> dict[str, Any]:
    """Each subflow has a link of its own with two TCPs on it: 10 Mb/s, 15 Mb/s and so on."""
    links: list[dict[str, Any]] = []
    flows: list[dict[str, Any]] = []
    for n in range(subflows):
        links += [_link(f"link-{n}", 10 + 5 * n, 60), _line(f"near-{n}", 10 + 5 * n)]
        links.append(_line(f"tcp-{n}", 10 + 5 * n, per_user=True))
        flows.append(_tcp(f"tcp-{n}", 2, [f"tcp-{n}", f"link-{n}"]))
    paths = [{"links": [f"near-{n}", f"link-{n}"]} for n in range(subflows)]
    return _document("disjoint", links, [{"name": "subject", "path": paths}, *flows], DURATION_S)


def moving(subflows: int, *, red: bool = False) -> dict[str, Any]:
    """The bottleneck is a common link, then links of the subflows' own, then the common one. Its
    queue is drop-tail, or RED.
    """
    away, back = (f"{at_s} s" for at_s in MOVES_AT_S)
    change = [{"at": away, "rate": "200 Mb/s"}, {"at": back, "rate": "20 Mb/s"}]
    links = [_link("common", 20, 80, red=red, change=change)]
    flows: list[dict[str, Any]] = []
    for n in range(subflows):
        change = [{"at": away, "rate": "12 Mb/s"}, {"at": back, "rate": "100 Mb/s"}]
        own = _link(f"own-{n}", 100, 60, red=red, change=change)
        links += [own, _line(f"near-{n}", 10 + 5 * n)]
        links.append(_line(f"tcp-{n}", 10 + 5 * n, per_user=True))
        flows.append(_tcp(f"tcp-{n}", 1, [f"tcp-{n}", f"own-{n}", "common"]))
    paths = [{"links": [f"near-{n}", f"own-{n}", "common"]} for n in range(subflows)]
    flows.insert(0, {"name": "subject", "path": paths})
    return _document("moving", links, flows, MOVES_AT_S[1] + MOVES_AT_S[0])


def _tcp(name: str, count: int, links: list[str]) -> dict[str, Any]:
    path = [{"links": links}]
    return {"name": name, "controller": "reno", "count": count, "spread": "2 s", "path": path}


def _document(name: str, links: list[Any], flows: list[Any], duration_s: int) -> dict[str, Any]:
    flows[0] |= {"controller": "reno", "subject": True}
    return {
        "name": name,
        "duration": f"{duration_s} s",
        "warmup": f"{WARMUP_S} s",
        "sample": "1 s",
        "link": links,
        "flow": flows,
    }


def run(document: dict[str, Any], controller: str, series: bool = False) -> Result:
    """The scenario under a controller of the subject."""
    scenario = Scenario.written(document)
    return result.run(scenario, SEEDS, controller=controller, series=series)


def of_a_tcp(subflows: int, controller: str) -> Interval:
    """What the subject takes at a shared bottleneck, in rates of a TCP there."""
    found = run(shared(subflows), controller)
    return interval(found.rate("subject") / found.rate("tcp"))


def of_uncoupled(subflows: int, controller: str) -> Interval:
    """What the subject takes on disjoint paths, in what it takes uncoupled."""
    document = disjoint(subflows)
    uncoupled = run(document, "reno").rate("subject")
    return interval(run(document, controller).rate("subject") / uncoupled)


def regrouped(subflows: int, controller: str) -> dict[str, list[float]]:
    """Seconds from each move of the bottleneck until the groups are right, by seed."""
    found: dict[str, list[float]] = {"apart": [], "together": []}
    for one in run(moving(subflows), controller, series=True).runs:
        groups = np.array(published(one, "subject")[GROUP])
        number = np.array([len(set(column)) for column in groups.T])
        away, back = MOVES_AT_S
        found["apart"].append(_until(number[:back] == subflows, away))
        found["together"].append(_until(number == 1, back))
    return found


def rates_by_span(run: Run) -> dict[str, dict[str, float]]:
    """The rate of each class in bit/s in each of `SPANS`, all its users together, from a run with
    series over the network `moving`.
    """
    times_s, arrived = np.asarray(run.series.t_s), np.asarray(run.series.paths.arrived_bytes)
    classes = np.asarray(run.flows.class_)[np.asarray(run.paths.flow)]
    found: dict[str, dict[str, float]] = {}
    for name, (since_s, until_s) in SPANS.items():
        first, last = np.searchsorted(times_s, (since_s, until_s - 1e-9))
        bits = 8.0 * (arrived[last] - arrived[first]) / (times_s[last] - times_s[first])
        found[name] = {
            one: float(bits[classes == one].sum()) for one in sorted(set(classes.tolist()))
        }
    return found


def moved(
    subflows: int, controller: str, *, red: bool = False
) -> dict[str, tuple[Interval, Interval]]:
    """What the subject takes in each of `SPANS`: in rates of the fastest TCP beside it, and of what
    it takes uncoupled.
    """
    document = moving(subflows, red=red)
    mine, uncoupled = (
        [rates_by_span(one) for one in run(document, name, series=True).runs]
        for name in (controller, "reno")
    )
    found = {}
    for span in SPANS:
        rates = {name: np.array([one[span][name] for one in mine]) for name in mine[0][span]}
        subject = rates.pop("subject")
        alone = np.array([one[span]["subject"] for one in uncoupled])
        fastest = max(rates.values(), key=np.mean)
        found[span] = ratio_of_means(subject, fastest), ratio_of_means(subject, alone)
    return found


def _until(right: NDArray[np.bool_], since_s: int) -> float:
    """Seconds from then until it is right for the first time; infinite if it never is."""
    places = np.flatnonzero(right[since_s:])
    return float(places[0]) if len(places) else float("inf")

"""The thesis' networks as configurations: each is a shipped scenario, a controller and overrides
that a user can type.

A configuration's name says what it is, so that figures that share a configuration find the same
one. RED's thresholds follow from B, the bandwidth-delay product at the base round trip but at least
20 packets.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..laboratory import Configuration

PACKET_BITS = 12_000
RTT_S = 0.05
MBPS = 5.0
"""Capacity of a link where nothing else is said."""

PATHS = (1, 2, 4, 8, 12, 16)
"""Numbers of paths in sweeps up to sixteen."""
MOST = 16
CAPACITIES = (1.0, 2.0, 5.0, 10.0, 20.0)
"""Mb/s in Figures 3-1 and 3-2."""
CONTESTED = (0, 1, 2, 4, 6, 8, 10, 12, 14, 15, 16)
"""Paths with a TCP in Figure 4-5."""
SECOND_MBPS = (1.5, 2.5, 3.5, 4.5, 5.0, 5.5, 6.5, 7.5, 8.5)
"""Capacity of the second path in Figure 4-6."""
SECOND_MS = (25.0, 28.0, 50.0, 75.0, 100.0, 125.0, 150.0)
"""One-way delay of the second path in Figure 4-7."""
SECOND_LOSS = (0.001, 0.003, 0.01, 0.03, 0.1)
"""Random loss of the second path in Figure 4-8."""
HETERO = (
    *(("capacity", value) for value in SECOND_MBPS),
    *(("delay", value) for value in SECOND_MS if value != 25.0),
    *(("loss", value) for value in SECOND_LOSS),
)
"""Settings of Figures 4-6 to 4-8; the delay of 25 ms is the capacity of 5 Mb/s."""
RATES = (2.0, 5.0, 10.0)
"""Mb/s of both links in Figure 4-10."""
BUSY_PATHS = (1, 2, 4, 8, 12, 16)
"""Paths over the contested link in Figure 4-10."""
USERS = (0, 1, 2, 3, 4, 6, 8)
"""TCPs on the contested path in Figure 4-11."""

TCP = "reno"
BILEVEL = "bilevel-tfrc"
FRACTION = "tfrc:fractional"
WITHOUT = "without"
"""In place of a controller: the network without the ensemble."""

Configurations = dict[str, Configuration]


def red(link: str, mbps: float, rtt_s: float = RTT_S) -> tuple[str, ...]:
    """Overrides that give a link a rate, and RED with the thresholds that belong to it."""
    b = max(mbps * 1e6 * rtt_s / PACKET_BITS, 20.0)
    key = f"link.{link}.queue.red"
    return (
        f"link.{link}.rate={mbps:g} Mb/s",
        f"{key}.min={0.25 * b:.4g} packets",
        f"{key}.max={0.75 * b:.4g} packets",
        f"{key}.limit={round(2 * b)} packets",
    )


def buffer_packets(mbps: float, rtt_s: float) -> int:
    """One bandwidth-delay product, but at least ten packets."""
    return max(round(mbps * 1e6 * rtt_s / PACKET_BITS), 10)


def drop_tail(link: str, mbps: float, rtt_s: float = RTT_S) -> tuple[str, ...]:
    """Overrides that give a link a rate, and a buffer of one bandwidth-delay product but at least
    ten packets.
    """
    b = buffer_packets(mbps, rtt_s)
    return (
        f"link.{link}.rate={mbps:g} Mb/s",
        f'link.{link}.queue={{droptail={{packets="{b} packets"}}}}',
    )


def priority(link: str, mbps: float, rtt_s: float = RTT_S) -> tuple[str, ...]:
    """Overrides that give a link a rate, and strict priorities with the buffer of `drop_tail` for
    each class.
    """
    b = buffer_packets(mbps, rtt_s)
    return (
        f"link.{link}.rate={mbps:g} Mb/s",
        f'link.{link}.queue={{strict-priority={{limit="{b} packets"}}}}',
    )


def codel(link: str, mbps: float) -> tuple[str, ...]:
    """Overrides that give a link a rate and CoDel with its own defaults."""
    return (f"link.{link}.rate={mbps:g} Mb/s", f"link.{link}.queue={{codel={{}}}}")


QUEUES = {"red": red, "drop-tail": drop_tail, "codel": codel}


def over(*links: str) -> str:
    """The override that gives the ensemble one path over each link in `links`."""
    return f"flow.ensemble.path=[{', '.join(f'{{links=[{chr(34)}{link}{chr(34)}]}}' for link in links)}]"


def under(controller: str) -> str:
    """The override that gives the ensemble its controller, or takes it away."""
    if controller == WITHOUT:
        return "flow.ensemble.count=0"
    return f'flow.ensemble.controller="{controller}"'


def on_shared_link(controller: str, n: int, queue: str = "red", mbps: float = MBPS) -> str:
    """The name of a configuration with `n` paths and a TCP over one link."""
    return f"shared-{queue}-{mbps:g}-{controller}-{n}"


def shared(controller: str, n: int, queue: str = "red", mbps: float = MBPS) -> Configurations:
    """The configuration that `on_shared_link` names. With one path all that begin with a TCP are
    one.
    """
    given = (queue, mbps) != ("red", MBPS)
    network = QUEUES[queue]("bottleneck", mbps) if given else ()
    paths = () if n == MOST else (over(*["bottleneck"] * n),)
    configuration = Configuration(
        "tse/shared", None, (*network, *paths, under(controller)), weight=mbps / MBPS
    )
    return {on_shared_link(controller, n, queue, mbps): configuration}


def alone(queue: str = "red", mbps: float = MBPS) -> Configurations:
    """A TCP in place of the ensemble without other flows; named `shared-…-alone`."""
    network = QUEUES[queue]("bottleneck", mbps)
    change = (*network, over("bottleneck"), under(TCP), "flow.tcp.count=0")
    return {
        f"shared-{queue}-{mbps:g}-alone": Configuration(
            "tse/shared", None, change, weight=mbps / MBPS
        )
    }


def on_independent_links(controller: str, n: int, k: int) -> str:
    """The name of a configuration with `n` paths over separate links, `k` of which carry a TCP."""
    return f"independent-{controller}-{n}-contested-{k}"


def independent(controller: str, n: int, k: int) -> Configurations:
    """The configuration that `on_independent_links` names; the base flow is on the first contested
    path.
    """
    empty = tuple(f"flow.tcp-{i}.count=0" for i in range(k + 1, MOST + 1))
    paths = () if n == MOST else (over(*(f"link-{i}" for i in range(1, n + 1))),)
    change = (*empty, *paths, under(controller))
    return {
        on_independent_links(controller, n, k): Configuration(
            "tse/independent", None, change, weight=float(n + k / 2)
        )
    }


FIRST, SECOND, BOTH = "first", "second", ("first", "second")
"""Paths of the network of two, and with its base on the first."""


def at(what: str, value: float) -> str:
    """The name of a setting of the network with two paths."""
    plain = {"capacity": MBPS, "delay": 25.0}
    return "equal" if plain.get(what) == value else f"{what}-{value:g}"


def _setting(what: str, value: float) -> tuple[str, ...]:
    """Overrides of a setting."""
    if at(what, value) == "equal":
        return ()
    match what:
        case "capacity":
            return red("second", value)
        case "delay":
            rtt_s = 2e-3 * value
            return (f"link.second.delay={value:g} ms", *red("second", MBPS, rtt_s))
        case "loss":
            return (f"link.second.loss={{probability={value:g}}}",)
        case "users":
            return (f"flow.tcp-on-first.count={value:g}", "flow.tcp-on-second.count=0")
    raise ValueError(f"there is no setting {what!r}")


def on_two_paths(controller: str, what: str, value: float, base: str = FIRST) -> str:
    """The name of a configuration with two paths; `base` is the path of the base flow."""
    name = f"two-{at(what, value)}-{controller}"
    return name if controller == WITHOUT else f"{name}-on-{base}"


def two(controller: str, what: str, value: float, base: str = FIRST) -> Configurations:
    """The configuration that `on_two_paths` names."""
    paths = () if base == FIRST or controller == WITHOUT else (over(SECOND, FIRST),)
    change = (*_setting(what, value), *paths, under(controller))
    return {
        on_two_paths(controller, what, value, base): Configuration(
            "tse/two-paths", None, change, weight=2
        )
    }


def in_place(what: str, value: float, path: str) -> str:
    """The name of the configuration with one TCP in place of the ensemble, on one of two paths."""
    return f"two-{at(what, value)}-tcp-on-{path}"


def twins(what: str, value: float) -> Configurations:
    """References for a setting of two paths: one TCP on either path, and no ensemble."""
    configurations = two(WITHOUT, what, value)
    for path in BOTH:
        change = (*_setting(what, value), over(path), under(TCP))
        configurations[in_place(what, value, path)] = Configuration(
            "tse/two-paths", None, change, weight=2
        )
    return configurations


def placed_worst(m: int, mbps: float) -> str:
    """The name of a configuration of Figure 4-10: `m` paths over the contested link and one over
    the empty.
    """
    return f"worst-{mbps:g}-{m}"


def _ideal_setting(what: str, value: float) -> tuple[str, ...]:
    """Overrides of a setting with strict priorities on both links."""
    first = priority("first", MBPS)
    match what:
        case "capacity":
            return (*first, *priority("second", value))
        case "delay":
            second = priority("second", MBPS, 2e-3 * value)
            return (f"link.second.delay={value:g} ms", *first, *second)
    return (*first, *priority("second", MBPS), *_setting(what, value))


def with_ideal_background(what: str, value: float, base: str) -> str:
    """The name of the configuration with a TCP on `base` and, on the other of two paths, a TCP that
    strict priority keeps from all others.
    """
    return f"ideal-{at(what, value)}-on-{base}"


def without_background(what: str, value: float, path: str) -> str:
    """The name of the configuration with one TCP in place of the ensemble, over such links."""
    return f"ideal-{at(what, value)}-tcp-on-{path}"


def without_ensemble(what: str, value: float) -> str:
    """The name of the configuration without the ensemble, over such links."""
    return f"ideal-{at(what, value)}-{WITHOUT}"


def ideal(what: str, value: float) -> Configurations:
    """The configurations that the three functions above name."""
    setting = _ideal_setting(what, value)
    changes: dict[str, tuple[str, ...]] = {without_ensemble(what, value): (under(WITHOUT),)}
    for base, other in (BOTH, BOTH[::-1]):
        paths = f'[{{links=["{base}"]}},{{links=["{other}"],lower_effort=true}}]'
        ensemble = (f"flow.ensemble.path={paths}", under(TCP))
        changes[with_ideal_background(what, value, base)] = ensemble
        changes[without_background(what, value, base)] = (over(base), under(TCP))
    return {
        name: Configuration("tse/two-paths", None, (*setting, *change), weight=2)
        for name, change in changes.items()
    }


def worst(m: int, mbps: float, controller: str = "bilevel-tfrc") -> Configurations:
    """The configuration that `placed_worst` names."""
    network = (*red("empty", mbps), *red("contested", mbps))
    change = (*network, over("empty", *["contested"] * m), under(controller))
    return {
        placed_worst(m, mbps): Configuration(
            "tse/worst-placement", None, change, weight=2 * mbps / MBPS
        )
    }


def worst_twins(mbps: float) -> Configurations:
    """References: a TCP in place of the ensemble on either link, and no ensemble."""
    network = (*red("empty", mbps), *red("contested", mbps))
    ways: dict[str, Sequence[str]] = {
        f"worst-{mbps:g}-tcp-on-empty": (over("empty"), under(TCP)),
        f"worst-{mbps:g}-tcp-on-contested": (over("contested"), under(TCP)),
        f"worst-{mbps:g}-without": (under(WITHOUT),),
    }
    return {
        name: Configuration("tse/worst-placement", None, (*network, *change), weight=mbps / MBPS)
        for name, change in ways.items()
    }


def five(controller: str) -> Configurations:
    """Five paths, one of them large."""
    return {
        f"five-{controller}": Configuration("tse/five-paths", None, (under(controller),), weight=4)
    }


FIVE = ("large", "small-1", "small-2", "small-3", "small-4")


def five_twins() -> Configurations:
    """References: a TCP in place of the ensemble on the large and on a small path, and no
    ensemble.
    """
    configurations = five(WITHOUT)
    for link in FIVE[:2]:
        change = (over(link), under(TCP))
        configurations[f"five-tcp-on-{link}"] = Configuration(
            "tse/five-paths", None, change, weight=4
        )
    return configurations


def merged(*groups: Configurations) -> Configurations:
    """Configurations of several groups; a configuration in several groups appears once."""
    together: Configurations = {}
    for group in groups:
        together |= group
    return together

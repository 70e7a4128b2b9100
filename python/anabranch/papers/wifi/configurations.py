"""The chapter's testbed as configurations: each is a shipped scenario, a controller and overrides
that a user can type.
"""

from __future__ import annotations

from ..laboratory import Configuration

Configurations = dict[str, Configuration]

COUPLED, RENO = "lia", "reno"
"""Controllers of the multipath client: "Coupled" of the chapter, and New Reno on each path."""
UP, DOWN = "up", "down"

FIVE, TWO_FOUR, BOTH = "5", "2.4", "2.4+5"
BANDS = (FIVE, TWO_FOUR, BOTH)
"""GHz of the two networks."""

ADDED_S = 0.1
"""Round-trip time that the server adds."""
SLOW_NETWORK = ("medium.first.rate=24 Mb/s",)
"""Gives the first network about 0.6 of the second one's goodput."""
PER_PACKET = 6e-4
"""Residual loss by packet: about the loss by a burst every 2 s at 10 Mb/s."""

BDP_BYTES = 25_000
"""The chapter's bandwidth-delay product: 20 ms at 10 Mb/s."""
FIXED = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Imposed windows in BDPs."""

SMALL = "16 KiB"
"""The limit of TCP Small Queues that the ledger recommends."""


def standards(bands: str) -> tuple[str, ...]:
    """Overrides that put the networks on these bands; the scenarios have both at 5 GHz."""
    first = ("medium.first.standard=g", "medium.first.channel=1")
    second = ("medium.second.standard=g", "medium.second.channel=11")
    return {FIVE: (), TWO_FOUR: (*first, *second), BOTH: first}[bands]


def two(direction: str, controller: str, bands: str = FIVE) -> str:
    """The name of a configuration with two networks."""
    return f"{direction}-{bands}-{controller}"


def networks(direction: str, controller: str, bands: str = FIVE) -> Configurations:
    """The configuration that `two` names."""
    configuration = Configuration(f"wifi/{direction}", controller, standards(bands), series=True)
    return {two(direction, controller, bands): configuration}


def changed(name: str, controller: str, *overrides: str, direction: str = UP) -> Configurations:
    """The two networks with one thing done differently."""
    return {name: Configuration(f"wifi/{direction}", controller, overrides, series=True)}


def delayed() -> tuple[str, ...]:
    """The server adds 100 ms."""
    return tuple(f"link.wire-back-{i}.delay=104.7 ms" for i in (1, 2))


def clients(*loss: str) -> tuple[str, ...]:
    """Overrides that give all clients this residual loss and no other; access points stay as they
    are.
    """
    found = []
    for i, medium in ((1, "first"), (2, "second")):
        hosts = [f'{{name="{host}",{",".join(loss)}}}' for host in ("client", f"other-{i}")]
        queue = '{droptail={packets="49 packets"}}'
        hosts.append(f'{{name="ap-{i}",queue={queue},ring="1 packets"}}')
        found.append(f"medium.{medium}.station=[{','.join(hosts)}]")
    return tuple(found)


def by_packet() -> tuple[str, ...]:
    """Overrides that lose packets by their number instead of by time."""
    return clients(f"residual_loss={PER_PACKET:g}")


def at_hosts(queue: str, ring: int, *, everywhere: bool = False) -> tuple[str, ...]:
    """Overrides that give the multipath client, or all clients, another queueing discipline and
    driver's ring.
    """
    found = []
    for i, medium in ((1, "first"), (2, "second")):
        for host in ("client", f"other-{i}") if everywhere else ("client",):
            key = f"medium.{medium}.station.{host}"
            found += [f"{key}.queue={queue}", f"{key}.ring={ring} packets"]
    return tuple(found)


def small_queue(limit: str) -> tuple[str, ...]:
    """TCP Small Queues with this limit for all hosts; "off" takes them away."""
    if limit == "off":
        return ('transport={delayed_ack="linux",handshake=true}',)
    return (f"transport.small_queue={limit}",)


def window(bdps: float) -> str:
    """The name of a configuration with imposed windows."""
    return f"window-{bdps:g}"


def windows() -> Configurations:
    """The configurations that `window` names."""
    return {
        window(bdps): Configuration(
            "wifi/fixed-window",
            None,
            tuple(
                f"flow.fixed-{i}.transport.receive_buffer={bdps * BDP_BYTES / 1e3:g} kB"
                for i in (1, 2)
            ),
        )
        for bdps in FIXED
    }


def call(limit: str) -> str:
    """The name of a configuration with a call and a bulk flow, under TCP Small Queues."""
    return f"call-{limit.replace(' ', '')}"


NOBODY = ("flow.bulk.count=0", "flow.parallel.count=0")
"""The network of calls with nothing but the call."""


def idle() -> Configurations:
    """An idle network, and one with 100 ms added at the server."""
    return {
        "idle": Configuration("wifi/one-network", None, NOBODY),
        "idle-100": Configuration(
            "wifi/one-network", None, (*NOBODY, "link.wire-back.delay=104.7 ms")
        ),
    }


def calls() -> Configurations:
    """A call and a bulk flow with several limits, and the call without the flow."""
    found = {
        call(limit): Configuration(
            "wifi/one-network", None, small_queue(limit) if limit != "off" else (), series=True
        )
        for limit in ("off", "131072 B", SMALL)
    }
    found["call-without-bulk"] = Configuration("wifi/one-network", None, NOBODY[:1])
    still = (
        'medium.only.station=[{name="ap",queue={droptail={packets="49 packets"}},ring="1 packets"}]'
    )
    found["call-saturated"] = Configuration("wifi/one-network", None, (still,))
    return found


def backlogged() -> Configurations:
    """Two stations of one network that always have something to send."""
    change = [
        f"flow.{name}.{what}"
        for name in ("bulk", "parallel")
        for what in ("protocol=udp", "app_rate=40 Mb/s")
    ]
    return {"backlogged": Configuration("wifi/one-network", None, (*change, "flow.probe.count=0"))}


def alone(controller: str) -> str:
    """The name of a configuration in which the multipath client has one path."""
    return f"one-path-{controller}"


def one_path() -> Configurations:
    """The configurations that `alone` names; all flows have the controller."""
    way = 'flow.multipath.path=[{links=["wire-back-1","down-1"],back=["up-1","wire-1"]}]'
    return {alone(c): Configuration("wifi/down", c, (way,), series=True) for c in (COUPLED, RENO)}


def cross_band() -> Configurations:
    """Downlink over 2.4 and 5 GHz: with other clients now and then, without, and each band's
    goodput.
    """
    nobody = tuple(f"flow.guest-{i}.count=0" for i in (1, 2, 3, 4))
    empty = (*nobody, "flow.parallel-1.count=0", "flow.parallel-2.count=0")
    return {
        "cross-band": Configuration("wifi/cross-band", COUPLED, series=True, weight=2),
        "cross-band-reno": Configuration("wifi/cross-band", RENO, series=True, weight=2),
        "cross-band-no-parallel": Configuration("wifi/cross-band", COUPLED, empty[4:], series=True),
        "cross-band-empty": Configuration("wifi/cross-band", RENO, empty),
    }


def deep() -> Configurations:
    """Slow lines behind the access points, without and with bursts of noise."""
    noise = clients('noise="2 s"')
    return {
        "deep": Configuration("wifi/deep-bottleneck", COUPLED, weight=0.6),
        "deep-reno": Configuration("wifi/deep-bottleneck", RENO, weight=0.6),
        "deep-noise": Configuration("wifi/deep-bottleneck", COUPLED, noise, weight=0.6),
    }


SHARED_WIRE = tuple(
    change
    for i in (1, 2)
    for change in (
        f"link.up-{i}.rate=1 Gb/s",
        f"link.other-up-{i}.rate=1 Gb/s",
        f"link.wire-{i}.rate=20 Mb/s",
    )
)
"""Both hosts of a network share a wire of 20 Mb/s with a queue that drops."""

FAIR_WIRE = (
    *SHARED_WIRE,
    *(
        f'link.wire-{i}.queue={{fq-codel={{target="100 s",interval="100 s",limit="4000 packets"}}}}'
        for i in (1, 2)
    ),
)
"""The same with a scheduler that serves hosts in turn and does not drop."""


def wired() -> Configurations:
    """The wired analogues."""
    return {
        "wired": Configuration("wifi/wired", COUPLED, series=True),
        "wired-reno": Configuration("wifi/wired", RENO, series=True),
        "wired-fair": Configuration("wifi/wired", COUPLED, FAIR_WIRE, series=True, weight=2),
        "wired-shared": Configuration("wifi/wired", COUPLED, SHARED_WIRE, series=True, weight=2),
    }


CANDIDATES: dict[str, tuple[str, tuple[str, ...]]] = {
    "TCP Small Queues, 16 KiB": (COUPLED, small_queue(SMALL)),
    "TCP Small Queues, 1 ms": (COUPLED, ("transport.small_queue_time=1 ms",)),
    "TCP Small Queues, 8 ms": (COUPLED, ("transport.small_queue_time=8 ms",)),
    "CoDel, ring of 64": (COUPLED, at_hosts("{codel={}}", 64)),
    "CoDel, ring of 1": (COUPLED, at_hosts("{codel={}}", 1)),
    "CoDel at all hosts, ring of 1": (COUPLED, at_hosts("{codel={}}", 1, everywhere=True)),
    "CoDel with ECN, ring of 1": (
        COUPLED,
        (*at_hosts("{codel={ecn=true}}", 1), "transport.ecn=true"),
    ),
    "FQ-CoDel, ring of 1": (COUPLED, at_hosts("{fq-codel={}}", 1)),
    "window clamp to the BDP": (COUPLED, ("flow.multipath.transport.receive_buffer=50 kB",)),
    "wVegas": ("wvegas", ()),
    "BALIA": ("balia", ()),
    "OLIA": ("olia", ()),
    "BBR": ("bbr", ()),
    "fully coupled": ("fully-coupled", ()),
    "rates coupled (best-path)": ("best-path", ()),
}
"""Candidates that could restore the feedback on the uplink: controller and overrides."""


TIGHT = next(iter(CANDIDATES))
"""The candidate that wifi-tsq has too."""


def small(controller: str) -> str:
    """The name of the uplink configuration with small queues."""
    return f"up-small-{controller}"


def smalls() -> Configurations:
    """The configurations that `small` names."""
    return merged(*(changed(small(c), c, *small_queue(SMALL)) for c in (COUPLED, RENO)))


def solution(name: str) -> str:
    """The name of a candidate's configuration."""
    return small(COUPLED) if name == TIGHT else f"candidate: {name}"


def solutions() -> Configurations:
    """The configurations of the candidates."""
    found = {
        solution(name): Configuration("wifi/up", controller, change)
        for name, (controller, change) in CANDIDATES.items()
    }
    return found | {small(COUPLED): smalls()[small(COUPLED)]}


OPEN: dict[str, tuple[str, ...]] = {
    "loss by packet": by_packet(),
    "an ACK for each packet": ("transport.delayed_ack=0 s",),
    "ACKs wait 40 ms": ("transport.delayed_ack=40 ms",),
    "TCP Small Queues off": small_queue("off"),
    "bursts every 1 s": tuple(
        f"medium.{medium}.station.{host}.noise=1 s"
        for i, medium in ((1, "first"), (2, "second"))
        for host in ("client", f"other-{i}")
    ),
    "access point queue of 200": tuple(
        f'medium.{medium}.station.ap-{i}.queue={{droptail={{packets="199 packets"}}}}'
        for i, medium in ((1, "first"), (2, "second"))
    ),
}
"""Parameters that the chapter leaves open, set otherwise."""


def other(variant: str, added: bool, controller: str) -> str:
    """The name of an uplink configuration with an open parameter set otherwise."""
    return f"{variant}, {'100 ms added, ' if added else ''}{controller}"


def others() -> Configurations:
    """The configurations that `other` names."""
    return {
        other(variant, added, controller): Configuration(
            "wifi/up", controller, (*change, *(delayed() if added else ()))
        )
        for variant, change in OPEN.items()
        for added in (False, True)
        for controller in (COUPLED, RENO)
    }


def merged(*groups: Configurations) -> Configurations:
    """Configurations of several groups; a configuration in several groups appears once."""
    together: Configurations = {}
    for group in groups:
        together |= group
    return together

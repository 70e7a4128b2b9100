"""The report's networks as configurations: each is a shipped scenario, a controller and overrides
that a user can type.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..laboratory import Configuration

Configurations = dict[str, Configuration]

CS218, CAPPED = "cs218", "cs218:capped"
"""CS218_ALGO with up to twice the increment of RTT Compensator, and with the boost inside the cap
1/w.
"""
LIA, RENO, COUPLED = "lia", "uncoupled", "fully-coupled"
FOUR = (CS218, RENO, LIA, COUPLED)
"""The algorithms of the report's tables."""
FIVE = (*FOUR, CAPPED)
EWTCP = "ewtcp:literal"
CALLED = {
    CS218: "CS218_ALGO",
    CAPPED: "CS218_ALGO within the cap",
    LIA: "RTT Compensator",
    RENO: "Uncoupled",
    COUPLED: "Fully Coupled",
    EWTCP: "EWTCP, as printed",
}

TCP = "tcp"
"""In the names of configurations: a TCP in place of the connection, on one path."""
NOBODY = "nobody"
"""In the names of configurations: nothing in place of the connection."""


def under(network: str, controller: str) -> str:
    """The name of the configuration of a network under a controller."""
    return f"{network}-{controller}"


def sweep(
    network: str,
    scenario: str,
    controllers: Sequence[str] = FOUR,
    overrides: tuple[str, ...] = (),
    *,
    series: bool = False,
    weight: float = 1.0,
) -> Configurations:
    """A network under several controllers: what `paired.Sweep` reads, with the same seeds for all
    of them.
    """
    return {
        under(network, c): Configuration(scenario, c, overrides, series=series, weight=weight)
        for c in controllers
    }


FAIRNESS = "fairness"
"""The shared bottleneck as the ledger recommends it: drop-tail."""
RED = (
    'link.bottleneck.queue={red={min="10.4 packets",max="31.2 packets",max_p=0.1,'
    'weight=0.002,limit="84 packets"}}',
)
"""RED of a bandwidth-delay product B: thresholds 0.25 B and 0.75 B, limit 2 B; gentle, spaced by
count.
"""


def processing(time: str) -> tuple[str, ...]:
    """Overrides that have hosts take up to so much time for each packet, at random."""
    return tuple(f"link.line-{flow}.jitter={time}" for flow in ("0", "1", "tcp"))


QUEUES: dict[str, tuple[str, ...]] = {
    FAIRNESS: (),
    "fairness-red": RED,
    "fairness-1.2ms": processing("1.2 ms"),
    "fairness-6ms": processing("6 ms"),
    "fairness-deep": (
        'link.bottleneck.queue={droptail={packets="167 packets"}}',
        *processing("6 ms"),
    ),
}
"""Networks with one bottleneck: its queue, and how much time hosts take at random."""
WORDS = {
    FAIRNESS: "drop-tail",
    "fairness-red": "RED",
    "fairness-1.2ms": "drop-tail, hosts take up to 1.2 ms",
    "fairness-6ms": "drop-tail, hosts take up to 6 ms",
    "fairness-deep": "drop-tail of four bandwidth-delay products, hosts take up to 6 ms",
}
ONE_PATH = 'flow.multipath.path=[{links=["line-0","bottleneck"],back=["back"]}]'


def fairness(network: str, controllers: Sequence[str] = FIVE) -> Configurations:
    """The shared bottleneck under several controllers."""
    return sweep(network, "cs218/fairness", controllers, QUEUES[network])


def twins(network: str) -> Configurations:
    """The shared bottleneck with a TCP in place of the connection, and with the TCP alone."""
    queue = QUEUES[network]
    return {
        under(network, TCP): Configuration("cs218/fairness", "reno", (*queue, ONE_PATH)),
        under(network, NOBODY): Configuration(
            "cs218/fairness", None, (*queue, "flow.multipath.count=0")
        ),
    }


RAMP = "ramp"


def ramps(*controllers: str) -> Configurations:
    """The empty fast path, sampled."""
    return sweep(RAMP, "cs218/ramp", controllers, series=True, weight=6)


def ramp_of_tcp() -> Configurations:
    """A TCP in place of the connection, on the fast path."""
    path = 'flow.multipath.path=[{links=["fast"]}]'
    return {under(RAMP, TCP): Configuration("cs218/ramp", "reno", (path,), series=True, weight=6)}


LOSS = "random-loss"


def losses(*controllers: str) -> Configurations:
    """The two paths that lose by chance."""
    return sweep(LOSS, "cs218/random-loss", controllers, weight=2)


def loss_of_tcp() -> Configurations:
    """A TCP in place of the connection, on one of the two."""
    path = 'flow.multipath.path=[{links=["first"]}]'
    return {under(LOSS, TCP): Configuration("cs218/random-loss", "reno", (path,))}


INTERFACES, LOSING = "interfaces", "interfaces-losing"


def interfaces() -> Configurations:
    """A host on a wire and in two radio networks; and one of these losing packets permanently."""
    loss = "medium.first.station.host.residual_loss=0.02"
    return {
        INTERFACES: Configuration("cs218/interfaces", CS218),
        LOSING: Configuration("cs218/interfaces", CS218, (loss,)),
    }


MORE = ("cubic", "wvegas", "olia", "balia", "compound")
"""Controllers that the report lacks: CUBIC and Compound TCP on every path, the others coupled."""


def merged(*groups: Configurations) -> Configurations:
    """Configurations of several groups; a configuration in several groups appears once."""
    together: Configurations = {}
    for group in groups:
        together |= group
    return together

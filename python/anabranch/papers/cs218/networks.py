"""The report's MANET, bus, combined networks and wishes as configurations, and further ones.

The MANET is moving and static, under the algorithms of the tables. In the configurations of
`OTHERWISE` one parameter that the report leaves open is changed. They are not judged.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..laboratory import Configuration
from .configurations import (
    CAPPED,
    COUPLED,
    CS218,
    FIVE,
    FOUR,
    LIA,
    MORE,
    NOBODY,
    RENO,
    Configurations,
    merged,
    sweep,
    under,
)

MANET = "cs218/manet"
MOBILE, STATIC = "mobile", "static"
VARIANTS: dict[str, tuple[str, ...]] = {MOBILE: (), STATIC: ("area.moves=still",)}
"""The MANET with and without mobility."""

THRESHOLDS = {n: f"{CS218}:acks-{n}" for n in (1, 3, 10, 20)} | {5: CS218}
"""CS218_ALGO by the number of acknowledgements in a row beyond which it boosts."""


def manet(variant: str, controllers: Sequence[str] = FOUR) -> Configurations:
    """A variant of the MANET, sampled."""
    return sweep(variant, MANET, controllers, VARIANTS[variant], series=True)


def thresholds() -> Configurations:
    """The moving MANET with every threshold; that with 5 is sampled for figures."""
    others = tuple(name for n, name in THRESHOLDS.items() if n != 5)
    return merged(manet(MOBILE, (CS218,)), sweep(MOBILE, MANET, others))


ON_ONE = 'flow.udp.path=[{links=["ping"],back=["pong"],channel=1}]'
TEN_TIMES = 'flow.udp.app_rate="409600 b/s"'
AODV = 'medium.air.routing="aodv"'
TODAY = (
    "transport.sack=true",
    "transport.initial_window=10",
    "transport.initial_ssthresh=1000000",
    'transport.delayed_ack="40 ms"',
)
CONVERGED = ('duration="25 s"', 'warmup="15 s"', 'flow.multipath.start="15 s"')
LONG = ('duration="60 s"',)

CROWDED = "all UDP clients on channel 1"
CROWDED_TENFOLD = "ten times the UDP load, all on channel 1"
FREE = "slow start until the first loss"
OTHERWISE: dict[str, tuple[str, ...]] = {
    FREE: ("transport.initial_ssthresh=1000000",),
    "AODV": (AODV,),
    "OLSR, the connection from 15 s on": ('medium.air.routing="olsr"', *CONVERGED),
    CROWDED: (ON_ONE,),
    "ten times the UDP load": (TEN_TIMES,),
    CROWDED_TENFOLD: (ON_ONE, TEN_TIMES),
    "RTO as ns-3 has it: at least 200 ms in all": ('transport.rto_floor="total"',),
    "today's TCP": TODAY,
    "today's TCP, 60 s": (*TODAY, *LONG),
    "60 s": LONG,
    "300 m × 300 m, 10 dBm, AODV: several hops": (
        "area.width=300",
        "area.height=300",
        "medium.air.radio.power_dbm=10",
        AODV,
    ),
}
"""Changes of parameters that the report leaves open: overrides of the MANET."""


def otherwise() -> Configurations:
    """The algorithms with each of these."""
    return merged(
        *(
            sweep(name, MANET, FIVE, extra, weight=6.0 if LONG[0] in extra else 1.0)
            for name, extra in OTHERWISE.items()
        )
    )


def free() -> Configurations:
    """The moving MANET whose slow start ends with a loss, so that losses can be compared."""
    return sweep(FREE, MANET, (CS218, LIA), OTHERWISE[FREE])


def empty(variant: str) -> Configurations:
    """A variant of the MANET without the connection: UDP clients alone."""
    extra = (*VARIANTS[variant], "flow.multipath.count=0")
    return {under(variant, NOBODY): Configuration(MANET, None, extra)}


STILL_ALONE = "static-alone"
LIGHT, LOADED = under(CROWDED, RENO), under(CROWDED_TENFOLD, RENO)


def structure() -> Configurations:
    """Channels without UDP clients; and a load on the first one only, which must not affect the
    others.
    """
    return {
        STILL_ALONE: Configuration(MANET, CS218, (*VARIANTS[STATIC], "flow.udp.count=0")),
        LIGHT: Configuration(MANET, RENO, (ON_ONE,)),
        LOADED: Configuration(MANET, RENO, (ON_ONE, TEN_TIMES)),
    }


CSMA, MIXED, MESH, QUIET = "csma", "mixed", "full-mesh", "full-mesh-quiet"


def wired_and_not(network: str) -> Configurations:
    """The bus, the MANET with a bus, or the full mesh."""
    return sweep(network, f"cs218/{network}")


def quiet() -> Configurations:
    """The full mesh without UDP clients."""
    nobody = tuple(f"flow.udp-{group}.count=0" for group in (1, 2, 3))
    return {QUIET: Configuration("cs218/full-mesh", CS218, nobody)}


LTE, BESIDE = "lte-wifi", "lte-wifi-shared"
LTE_WIFI = "cs218/lte-wifi"
WIFI_ONLY, LTE_ONLY = "wifi", "lte"
SINGLE = {
    WIFI_ONLY: 'flow.multipath.path=[{links=["to-ap","wifi-down"],back=["wifi-up","from-ap"]}]',
    LTE_ONLY: 'flow.multipath.path=[{links=["to-base","lte-down"],back=["lte-up","from-base"]}]',
}
OWN_SINGLE = ("cubic", "wvegas", "compound")
"""Controllers that are no Reno on a single path."""
EVERY = (*FIVE, "olia", "balia", "ewtcp", *OWN_SINGLE)
NEIGHBOURS = ("flow.neighbour.count=1", "flow.user.count=1")


def single(network: str, path: str, controller: str = "reno") -> str:
    """The name of the configuration with one path instead of two."""
    return under(f"{network}-{path}", controller)


def alone(controller: str) -> str:
    """The controller that corresponds to `controller` on a single path."""
    return controller if controller in OWN_SINGLE else "reno"


def singles(network: str, controllers: Sequence[str], *extra: str) -> Configurations:
    """Either path alone."""
    return {
        single(network, path, c): Configuration(LTE_WIFI, c, (override, *extra))
        for path, override in SINGLE.items()
        for c in controllers
    }


def dual() -> Configurations:
    """The client with LTE and Wi-Fi under the algorithms of the report, and a TCP on either."""
    return merged(sweep(LTE, LTE_WIFI), singles(LTE, ("reno",)))


def dual_beside() -> Configurations:
    """The same under every controller, and with a neighbour on Wi-Fi and another user of
    the cell.
    """
    others = tuple(c for c in EVERY if c not in FOUR)
    return merged(
        sweep(LTE, LTE_WIFI, others),
        singles(LTE, OWN_SINGLE),
        sweep(BESIDE, LTE_WIFI, EVERY, NEIGHBOURS),
        singles(BESIDE, ("reno",), *NEIGHBOURS),
        {
            under(BESIDE, NOBODY): Configuration(
                LTE_WIFI, None, (*NEIGHBOURS, "flow.multipath.count=0")
            )
        },
    )


VANET, LARGE = "vanet", "large"
ROADSIDE_ONLY, CELL_ONLY = "roadside", "cell"
CARS = {
    ROADSIDE_ONLY: 'flow.cars.path=[{links=["to-roadside","wifi-down"],back=["wifi-up","from-roadside"]}]',
    CELL_ONLY: 'flow.cars.path=[{links=["to-base","cell-down"],back=["cell-up","from-base"]}]',
}


def vanet(controllers: Sequence[str] = FOUR) -> Configurations:
    """The platoon, sampled."""
    return sweep(VANET, "cs218/vanet", controllers, series=True, weight=2)


def vanet_singles() -> Configurations:
    """The platoon with a TCP on either network."""
    return {
        single(VANET, path): Configuration(
            "cs218/vanet", "reno", (override,), series=True, weight=2
        )
        for path, override in CARS.items()
    }


def large() -> Configurations:
    """The network of seven subnets."""
    return sweep(LARGE, "cs218/large", weight=5)


def unclaimed() -> Configurations:
    """All configurations that are not judged."""
    every = merged(
        sweep(MOBILE, MANET, (CAPPED, *MORE)),
        sweep(STATIC, MANET, (CAPPED,), VARIANTS[STATIC]),
        *(empty(variant) for variant in VARIANTS),
        otherwise(),
        dual_beside(),
        vanet((CAPPED, "olia", "balia", "cubic")),
        vanet_singles(),
    )
    claimed = {**structure(), **free()}
    return {name: configuration for name, configuration in every.items() if name not in claimed}


TABLED = {"cs218": CS218, "uncoupled": RENO, "rtt_compensator": LIA, "fully_coupled": COUPLED}
"""Controllers by the names that the ledger's tables have for them."""

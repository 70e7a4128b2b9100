"""The thesis' experiments as configurations; the ids are those of the claims ledger."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..document import Paper
from ..laboratory import Configuration
from . import configurations, open_choices
from .configurations import (
    BILEVEL,
    BUSY_PATHS,
    CAPACITIES,
    CONTESTED,
    FIRST,
    FRACTION,
    MOST,
    PATHS,
    RATES,
    SECOND,
    SECOND_LOSS,
    SECOND_MBPS,
    SECOND_MS,
    TCP,
    USERS,
    WITHOUT,
    Configurations,
    merged,
)

BASE = "multi-priority"
NAIVE = "multi-priority:naive"
SWITCHING = "multi-priority:switching"
TRIAL = "multi-priority:trial"
NICE = "multi-priority:nice"
POOLED = "bilevel-tfrc:pooled"
HACKER = "hacker"
MOVING_HACKER = "hacker-switching"
DISCOUNTING = {BILEVEL: "bilevel-tfrc:discounting", FRACTION: "tfrc:fractional-discounting"}
"""The same with history discounting (RFC 5348 §5.5), which is optional."""

NAMES = {
    BASE: "Multi-Priority TCP",
    NAIVE: "naive Multi-Priority",
    SWITCHING: "Multi-Priority, switching",
    TRIAL: "Multi-Priority, trial",
    NICE: "Multi-Priority over TCP Nice",
    BILEVEL: "Bilevel TFRC",
    POOLED: "Bilevel TFRC, pooled",
    "bilevel": "Bilevel TCP",
    HACKER: "reduced aggression",
    MOVING_HACKER: "reduced aggression, switching",
    FRACTION: "fractional TFRC",
    TCP: "a TCP on each path",
    "mtcp": "mTCP",
}
"""Names of controllers in figures and tables."""

CHAPTER_4 = (BASE, BILEVEL, HACKER)
"""The schemes of the ranking."""


def first_paths(controller: str, n: int) -> str:
    """On a shared link: with one path, schemes that begin with a TCP are the TCP."""
    return TCP if n == 1 and controller in (BASE, NAIVE, NICE, HACKER, TCP) else controller


def shared_name(
    controller: str, n: int, queue: str = "red", mbps: float = configurations.MBPS
) -> str:
    """The configuration with `n` paths over the shared link."""
    return configurations.on_shared_link(first_paths(controller, n), n, queue, mbps)


def _shared(
    controllers: Iterable[str],
    numbers: Iterable[int],
    queue: str = "red",
    mbps: float = configurations.MBPS,
) -> Configurations:
    """A curve for each controller over the number of paths."""
    every = list(numbers)
    return merged(
        *(
            configurations.shared(first_paths(controller, n), n, queue, mbps)
            for controller in controllers
            for n in every
        )
    )


def _figure3(queue: str) -> Configurations:
    """Figures 3-1 and 3-2."""
    return merged(*(_shared((BASE, NAIVE), PATHS, queue, mbps) for mbps in CAPACITIES))


def _figure4_2() -> Configurations:
    """Figure 4-2, and the same over a drop-tail queue for the proposed schemes."""
    return merged(
        _shared((BASE, BILEVEL, HACKER, FRACTION, TCP), PATHS),
        _shared((BASE, BILEVEL), PATHS, "drop-tail"),
    )


def independent_name(controller: str, n: int, k: int) -> str:
    """The configuration with `n` paths over links of their own, `k` with a TCP."""
    return configurations.on_independent_links(first_paths(controller, n), n, k)


def _independent(controllers: Iterable[str], points: Iterable[tuple[int, int]]) -> Configurations:
    every = list(points)
    return merged(
        *(
            configurations.independent(first_paths(controller, n), n, k)
            for controller in controllers
            for n, k in every
        )
    )


def _two(
    controllers: Iterable[str], what: str, values: Iterable[float], *bases: str
) -> Configurations:
    every = list(values)
    return merged(
        *(
            configurations.two(controller, what, value, base)
            for controller in controllers
            for value in every
            for base in bases
        )
    )


def _twins(what: str, values: Iterable[float]) -> Configurations:
    return merged(*(configurations.twins(what, value) for value in values))


def _figure4_6() -> Configurations:
    """Figure 4-6; Bilevel's paths are equal, and swapped only where a claim asks for it."""
    return merged(
        _two((BASE, HACKER), "capacity", SECOND_MBPS, FIRST, SECOND),
        _two((BILEVEL, FRACTION, TCP), "capacity", SECOND_MBPS, FIRST),
        _two((BILEVEL,), "capacity", (SECOND_MBPS[0], SECOND_MBPS[-1]), SECOND),
        _twins("capacity", SECOND_MBPS),
    )


def _figure4_8() -> Configurations:
    """Figure 4-8; a TCP on each path is its reference."""
    return merged(
        _two((BASE,), "loss", SECOND_LOSS, FIRST, SECOND),
        _two((BILEVEL, HACKER, FRACTION, TCP), "loss", SECOND_LOSS, FIRST),
        _twins("loss", SECOND_LOSS),
    )


def _figure4_10() -> Configurations:
    """Figure 4-10."""
    return merged(
        *(configurations.worst(m, mbps) for mbps in RATES for m in BUSY_PATHS),
        *(configurations.worst_twins(mbps) for mbps in RATES),
    )


MISPLACED: tuple[tuple[str, float, str, str], ...] = (
    ("capacity", 1.5, FIRST, SECOND),
    ("capacity", 8.5, SECOND, FIRST),
    ("loss", 0.01, FIRST, SECOND),
    ("loss", 0.1, FIRST, SECOND),
    ("users", 2, FIRST, SECOND),
    ("users", 4, FIRST, SECOND),
)
"""Settings of Figures 4-6, 4-8 and 4-11: the changed parameter, and the right and the wrong path of
the base flow.
"""


def _switching() -> Configurations:
    """Placements that are wrong at first, with the base flow at rest and free to move."""
    settings = [
        merged(
            configurations.two(BASE, what, value, right),
            *(configurations.two(c, what, value, wrong) for c in (BASE, SWITCHING, TRIAL)),
            configurations.twins(what, value),
        )
        for what, value, right, wrong in MISPLACED
    ]
    return merged(*settings)


def _wishes() -> Configurations:
    """Configurations for the thesis' wishes that have no experiment of their own."""
    moving = [
        merged(
            configurations.two(HACKER, what, value, right),
            *(configurations.two(c, what, value, wrong) for c in (HACKER, MOVING_HACKER)),
        )
        for what, value, right, wrong in MISPLACED
    ]
    return merged(
        *moving,
        *(_shared((NICE,), PATHS, "red", mbps) for mbps in CAPACITIES),
        _shared(("nice",), (1,)),
        _shared((POOLED,), PATHS),
        _independent((POOLED,), ((n, 0) for n in PATHS)),
        _independent((NICE,), ((MOST, 0),)),
        _later(POOLED),
    )


STRIPED_MS = (25.0, 50.0, 75.0, 100.0)
"""One-way delay of the far path; the near one's is 25 ms."""


def _striping() -> Configurations:
    """One TCP in turn over two paths, and a TCP on each."""
    found = {}
    for ms in STRIPED_MS:
        far = (f"link.far.delay={ms:g} ms",)
        found[f"striped-{ms:g}"] = Configuration(
            "tse/striping", None, (*far, "flow.ensemble.striped=true"), weight=2
        )
        found[f"unstriped-{ms:g}"] = Configuration("tse/striping", None, far, weight=2)
    return found


def _loss_free() -> Configurations:
    """The same where buffers never fill, as a receive window holds back all that would."""
    found = {}
    for name in ("striped", "unstriped"):
        change = (
            'link.near.queue={droptail={packets="1000 packets"}}',
            'link.far.queue={droptail={packets="1000 packets"}}',
            "flow.ensemble.transport.receive_buffer=90 kB",
        )
        striped = ("flow.ensemble.striped=true",) if name == "striped" else ()
        found[f"{name}-loss-free"] = Configuration(
            "tse/striping", None, (*change, *striped), weight=2
        )
    return found


def _robustness() -> Configurations:
    """Queue by paths by sharing, for every scheme; what it is compared with comes from single
    links.
    """
    return {name: configuration for _, _, _, _, name, configuration in matrix()}


ROBUST_QUEUES = ("red", "drop-tail", "codel")
ROBUST_PATHS = (2, 4, 8, 16)
SHARING = (0.0, 0.5, 1.0)
ROBUST = (BASE, BILEVEL, HACKER, FRACTION, "mtcp", "bilevel", "lia", "olia", "balia", TCP)
SHORT = ("duration=180 s", "warmup=60 s")
"""The matrix has many configurations: they are shorter than the figures'."""


def matrix() -> list[tuple[str, int, float, str, str, Configuration]]:
    """Queue, paths, part of the paths that share a link, controller, name and configuration."""
    found = []
    for queue in ROBUST_QUEUES:
        for n in ROBUST_PATHS:
            for sharing in SHARING:
                if n * sharing == 1:
                    continue  # a single path shares its link with no other
                ways = shared_ways(n, sharing)
                links = list(dict.fromkeys(ways))
                empty = [f"flow.tcp-{i}.count=0" for i in range(len(links) + 1, MOST + 1)]
                kinds = [
                    change
                    for link in links
                    if queue != "red"
                    for change in configurations.QUEUES[queue](link, configurations.MBPS)
                ]
                for controller in ROBUST:
                    name = f"robust-{queue}-{n}-{sharing:g}-{controller}"
                    change = (
                        *empty,
                        *kinds,
                        configurations.over(*ways),
                        configurations.under(controller),
                        *SHORT,
                    )
                    configuration = Configuration(
                        "tse/independent", None, change, weight=1.5 * len(links)
                    )
                    found.append((queue, n, sharing, controller, name, configuration))
    return found


def shared_ways(n: int, sharing: float) -> list[str]:
    """The link of each of `n` paths; a fraction `sharing` of them uses the first link."""
    together = round(n * sharing)
    own = max(n - together, 0)
    first = 1 if together else 0
    return ["link-1"] * together + [f"link-{i}" for i in range(1 + first, own + 1 + first)]


def _robust_twins() -> Configurations:
    """For each queue one link with a TCP in place of the ensemble, and with the other TCP alone."""
    found = {}
    for queue in ROBUST_QUEUES:
        kind = configurations.QUEUES[queue]("bottleneck", configurations.MBPS)
        for name, change in (
            ("tcp", (configurations.over("bottleneck"), configurations.under(TCP))),
            (WITHOUT, (configurations.under(WITHOUT),)),
        ):
            found[f"robust-{queue}-{name}"] = Configuration(
                "tse/shared", None, (*kind, *change, *SHORT)
            )
    return found


def _single_links() -> Configurations:
    """Reference runs on one link: a TCP with a competing one, a TCP alone, the competing
    one alone.
    """
    return merged(
        configurations.shared(TCP, 1),
        configurations.alone(),
        {"shared-red-5-without": _nobody("red", configurations.MBPS)},
    )


def _nobody(queue: str, mbps: float) -> Configuration:
    """The TCP of the shared link without an ensemble."""
    change = (*configurations.QUEUES[queue]("bottleneck", mbps), configurations.under(WITHOUT))
    return Configuration("tse/shared", None, change)


def _wraparound() -> Configurations:
    """More than 600,000 packets of TFRC at a constant random loss of 1 %."""
    change = (
        *configurations.drop_tail("bottleneck", 100.0, 0.01),
        "link.bottleneck.delay=5 ms",
        "link.bottleneck.loss={probability=0.01}",
        configurations.over("bottleneck"),
        configurations.under("tfrc"),
        "flow.tcp.count=0",
        "flow.ensemble.start=0 s",
        "duration=600 s",
        "warmup=5 s",
    )
    return {"tfrc-constant-loss": Configuration("tse/shared", None, change, series=True, weight=4)}


def later(controller: str) -> str:
    """The configuration of a scheme on sixteen empty paths ten times as long as others."""
    return f"independent-{controller}-16-later"


def _later(controller: str) -> Configurations:
    """The last five of fifty minutes."""
    name = independent_name(controller, MOST, 0)
    configuration = _independent((controller,), ((MOST, 0),))[name]
    change = (*configuration.overrides, "duration=3000 s", "warmup=2700 s")
    return {
        later(controller): replace(
            configuration, overrides=change, weight=10 * configuration.weight
        )
    }


def _imposed(name: str, controller: str, losses: tuple[float, ...]) -> Configurations:
    """An ensemble alone on links that are never full, with these random losses."""
    links = configurations.BOTH[: len(losses)]
    change = [f"link.{link}.rate=100 Mb/s" for link in links]
    change += [
        f"link.{link}.loss={{probability={loss:g}}}"
        for link, loss in zip(links, losses, strict=True)
    ]
    nobody = ("flow.tcp-on-first.count=0", "flow.tcp-on-second.count=0")
    way = () if len(links) == 2 else (configurations.over(*links),)
    return {
        name: Configuration(
            "tse/two-paths", None, (*change, *nobody, *way, configurations.under(controller))
        )
    }


def _lone() -> Configurations:
    """TCP-LP with a competing TCP, and alone."""
    drop_tail = configurations.drop_tail("bottleneck", configurations.MBPS)
    return merged(
        configurations.shared("lp", 1),
        configurations.alone("drop-tail"),
        {
            "lp-alone-drop-tail": Configuration(
                "tse/shared",
                None,
                (
                    *drop_tail,
                    configurations.over("bottleneck"),
                    configurations.under("lp"),
                    "flow.tcp.count=0",
                ),
            ),
            "lp-alone": Configuration(
                "tse/shared",
                None,
                (configurations.over("bottleneck"), configurations.under("lp"), "flow.tcp.count=0"),
            ),
        },
    )


def _summary() -> Configurations:
    """All configurations of Chapter 4 for the schemes of the ranking."""
    return merged(
        _shared(CHAPTER_4, PATHS),
        _independent(CHAPTER_4, ((n, 0) for n in PATHS)),
        _independent(CHAPTER_4, ((MOST, k) for k in CONTESTED)),
        _two((BASE, HACKER), "capacity", SECOND_MBPS, FIRST, SECOND),
        _two((BILEVEL,), "capacity", SECOND_MBPS, FIRST),
        _twins("capacity", SECOND_MBPS),
        _two(CHAPTER_4, "delay", SECOND_MS, FIRST),
        _twins("delay", SECOND_MS),
        _two((BASE,), "loss", SECOND_LOSS, FIRST, SECOND),
        _two((BILEVEL, HACKER), "loss", SECOND_LOSS, FIRST),
        _twins("loss", SECOND_LOSS),
        _two(CHAPTER_4, "users", USERS[1:], FIRST, SECOND),
        _twins("users", USERS[1:]),
        _single_links(),
    )


BRIEF = (
    "def.tcp_compatible",
    "def.tcp_fair",
    "def.stringent",
    "mech.striping_single_tcp",
    "mech.per_subflow_loss_detection",
    "mech.multiple_tcps_unfair",
    "mech.tfrc_wraparound",
    "mech.red_vs_droptail",
    "alg.fractional_tfrc",
    "theory.fractional_underuse",
    "alg.multi_priority",
    "alg.tcp_lp",
    "alg.bilevel_tfrc",
    "alg.bilevel_reliability",
    "topology.shared",
    "topology.hetero",
    "fig4-2.multi_priority",
    "fig4-2.bilevel",
    "fig4-2.hacker",
    "fig4-6.multi_priority",
    "fig4-6.bilevel",
    "fig4-7.flat",
    "fig4-7.bilevel",
    "fig4-8.reference",
    "fig4-8.multi_priority",
    "fig4-8.others",
    "fig4-11.base_contested",
    "fig4-11.background_contested",
)
"""Claims whose configurations a quick run simulates; it also judges other claims that need only
these configurations.
"""

PAPER = Paper(
    key="tse",
    title="TCP Fairness in Multipath Transport Protocols (R. H. Tse, honors thesis, 2006)",
    experiments={
        "tse-fig3-1": _figure3("drop-tail"),
        "tse-fig3-2": _figure3("red"),
        "tse-fig4-2": _figure4_2(),
        "tse-fig4-4": _independent((BASE, BILEVEL, HACKER, FRACTION, TCP), ((n, 0) for n in PATHS)),
        "tse-fig4-5": _independent((BASE, BILEVEL, HACKER, TCP), ((MOST, k) for k in CONTESTED)),
        "tse-fig4-6": _figure4_6(),
        "tse-fig4-7": _two((BASE, BILEVEL, HACKER, FRACTION), "delay", SECOND_MS, FIRST),
        "tse-fig4-8": _figure4_8(),
        "tse-fig4-10": _figure4_10(),
        "tse-fig4-11": _two((BASE,), "users", USERS, FIRST, SECOND),
        "tse-five-paths": merged(
            configurations.five(FRACTION), configurations.five(BASE), configurations.five_twins()
        ),
        "tse-striping": _striping(),
        "tse-link-failure": {
            "cut": Configuration("tse/link-failure", None, (configurations.under(BILEVEL),))
        },
        "tse-switching": _switching(),
        "tse-robustness": _robustness(),
        "tse-summary": _summary(),
    },
    auxiliary=merged(
        _single_links(),
        _lone(),
        _later(BILEVEL),
        _later(FRACTION),
        _wishes(),
        _independent(DISCOUNTING.values(), ((MOST, 0),)),
        _loss_free(),
        _wraparound(),
        _imposed("bilevel-tfrc-equal-loss", BILEVEL, (0.01, 0.01)),
        _imposed("tfrc-equal-loss", "tfrc", (0.01,)),
        _imposed("bilevel-tfrc-unequal-loss", BILEVEL, (0.005, 0.02)),
        _robust_twins(),
        open_choices.on_empty_paths(),
        merged(*(configurations.ideal(what, value) for what, value in configurations.HETERO)),
    ),
    unclaimed=_shared(("bilevel", "mtcp"), PATHS[1:]),
    sensitivity=open_choices.sensitivity(),
    sensitivity_text=open_choices.TEXT,
    moved=open_choices.moved,
    brief=BRIEF,
)

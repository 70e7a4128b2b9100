"""The paper's networks as configurations: each is a shipped scenario, a controller and overrides
that a user can type.
"""

from __future__ import annotations

from ..laboratory import Configuration

Configurations = dict[str, Configuration]

LIA, COUPLE = "lia", "couple-plus"
"""RTT Compensator, and the paper's own scheme."""
BOTH = (LIA, COUPLE)
COUNTED = "couple-plus:counted"
"""Our variant: congestion is a loss beyond what the redundancy covers."""
CALLED = {LIA: "RTT Compensator", COUPLE: "Couple+", COUNTED: "counted"}

POINTS: dict[float, tuple[float, ...]] = {
    0.01: (1.02, 1.05, 1.10, 1.15, 1.20, 1.25),
    0.05: (1.06, 1.10, 1.15, 1.20, 1.25),
    0.10: (1.12, 1.15, 1.20, 1.25, 1.30),
}
"""Redundancies at each loss of the wireless link, all at least 1/(1 - p); 1.05 is the paper's, the
rest the ledger's.
"""
EVERY = tuple((p, r) for p, redundancies in POINTS.items() for r in redundancies)
PRINTED = (0.01, 1.05)
"""The point (loss, redundancy) whose numbers the text gives."""
WINDOW = 6
WINDOWS = (2, WINDOW, 12)

OTHERS = ("ewtcp", "fully-coupled", "semicoupled", "wvegas", "dwc")
"""The rest of the family on the coded path."""
ALTERNATIVES = ("wvegas", "dwc")
"""Cited as alternatives, and not compared."""
FAMILY = ("ewtcp", "semicoupled", "fully-coupled", LIA)
"""Loss-based controllers of Section II-A."""

LIMIT = "duration=100 s"
"""Longer than any competition of two transfers of 5 MB lasts."""
ALONE = "flow.tcp.count=0"
ENDLESS = ("flow.multipath.transfer=1 GB", "flow.tcp.transfer=1 GB")
LONG = (*ENDLESS, "duration=600 s", "warmup=100 s")
ROOM = "flow.multipath.transport.receive_buffer=4 MB"
"""More than the other path ever brings while a path stalls."""
UNCODED = (
    'flow.multipath.path=[{links=["first-0","second-0","last-0"]},'
    '{links=["first-1","shared","wireless"]}]'
)
CLEAN = "link.wireless.loss.probability=0"


def point(controller: str, p: float, r: float, w: int = WINDOW) -> str:
    """The name of a configuration with the TCP."""
    return f"{controller}-p{p:g}-r{r:g}" + ("" if w == WINDOW else f"-w{w}")


def coded(p: float, r: float, w: int = WINDOW) -> tuple[str, ...]:
    """Overrides for a loss, a redundancy and a coding window."""
    path = "flow.multipath.path.1.coding"
    return (
        f"link.wireless.loss.probability={p:g}",
        f"{path}.redundancy={r:g}",
        f"{path}.window={w}",
    )


def points(
    controller: str, w: int = WINDOW, chosen: tuple[tuple[float, float], ...] = EVERY
) -> Configurations:
    """The configurations that `point` names."""
    return {
        point(controller, p, r, w): Configuration(
            "couple-plus/static", controller, (LIMIT, *coded(p, r, w)), series=True
        )
        for p, r in chosen
    }


def alone(controller: str, p: float, r: float) -> str:
    """The name of a configuration without the TCP."""
    return f"alone-{point(controller, p, r)}"


def bare(p: float) -> str:
    """The name of the configuration of standard MPTCP without TCP and without coding."""
    return f"alone-uncoded-p{p:g}"


def without_tcp() -> Configurations:
    """The configurations that `alone` and `bare` name."""
    found = {
        alone(c, p, r): Configuration(
            "couple-plus/static", c, (LIMIT, ALONE, *coded(p, r)), series=True
        )
        for c in BOTH
        for p, r in EVERY
    }
    for p in POINTS:
        loss = f"link.wireless.loss.probability={p:g}"
        found[bare(p)] = Configuration(
            "couple-plus/static", LIA, (LIMIT, ALONE, UNCODED, loss), series=True
        )
    return found


RED = '{red={min="5 packets",max="15 packets",max_p=0.1,limit="50 packets"}}'
HOSTS = ("first-0", "first-1", "first-tcp")
LINKS = (*HOSTS, "second-0", "last-0", "shared", "wireless", "last-tcp")


def queues(packets: int) -> tuple[str, ...]:
    """Overrides that give every link a drop-tail queue of the given number of packets."""
    return tuple(
        f'link.{name}.queue={{droptail={{packets="{packets} packets"}}}}' for name in LINKS
    )


NO_JITTER = tuple(f"link.{name}.jitter=0 s" for name in HOSTS)

OPEN: dict[str, tuple[str, ...]] = {
    "long run": (*LONG, ROOM),
    "long run without random processing time": (*LONG, ROOM, *NO_JITTER),
    "no random processing time": (LIMIT, *NO_JITTER),
    "receive buffer 64 kB": (LIMIT, "flow.multipath.transport.receive_buffer=64 kB"),
    "receive buffer 64 packets, no random processing time": (
        LIMIT,
        "flow.multipath.transport.receive_buffer=64 kB",
        *NO_JITTER,
    ),
    "receive buffer 4 MB": (LIMIT, ROOM),
    "queues of 20 packets": (LIMIT, *queues(20)),
    "queues of 100 packets": (LIMIT, *queues(100)),
    "RED at the shared link": (LIMIT, f"link.shared.queue={RED}"),
    "losses in bursts of 2 (Gilbert–Elliott)": (LIMIT, "link.wireless.loss.burst=2"),
    "SACK": (LIMIT, "transport.sack=true"),
    "hosts' first links of 10 Mb/s": (LIMIT, *(f"link.{name}.rate=10 Mb/s" for name in HOSTS)),
}
"""Open choices of the paper, set otherwise, at the point whose numbers the text gives."""

READINGS = {
    "decoding alone decides": "couple-plus:decode-only",
    "twnd at 3/4": "couple-plus:twnd-3/4",
    "twnd at 19/20": "couple-plus:twnd-19/20",
}
"""Other readings of Couple+."""

LASTING = tuple(name for name, change in OPEN.items() if "warmup=100 s" in change)
"""Variants that are measured in the long run and not in the competition period."""


def other(variant: str, controller: str) -> str:
    """The name of a configuration with something open set otherwise."""
    return f"{variant}, {controller}"


def others(*chosen: str) -> Configurations:
    """The configurations that `other` names, of all variants or of those chosen; long runs keep no
    series.
    """
    return {
        other(variant, c): Configuration(
            "couple-plus/static",
            c,
            (*change, *coded(*PRINTED)),
            series=variant not in LASTING,
            weight=8 if variant in LASTING else 1,
        )
        for variant, change in OPEN.items()
        for c in BOTH
        if not chosen or variant in chosen
    }


def readings() -> Configurations:
    """Other readings of Couple+ at the point whose numbers the text gives."""
    return merged(*(points(c, chosen=(PRINTED,)) for c in READINGS.values()))


def mobile(controller: str) -> str:
    """The name of a configuration with the mobile terminal."""
    return f"mobile-{controller}"


def closed(controller: str) -> str:
    """The name of a configuration with the mobile terminal, whose sender suspends paths."""
    return "mobile-closed" if controller == COUPLE else f"mobile-closed-{controller}"


SELECTED = "flow.multipath.transport.suspend=true"
"""The rule that leaves and rejoins a path: see `tcp/sender/selection.rs` in crates/transport."""


def mobiles() -> Configurations:
    """The configurations that `mobile` and `closed` name."""
    fine = ("sample=50 ms",)
    found = {mobile(c): Configuration("couple-plus/mobile", c, fine, series=True) for c in BOTH}
    for c in BOTH:
        found[closed(c)] = Configuration("couple-plus/mobile", c, (*fine, SELECTED), series=True)
    return found


HIDING = 0.1
"""Imposed loss that stands for congestion."""
HIDDEN: tuple[tuple[int, float], ...] = (
    *((w, r) for r in (1.02, 1.05) for w in WINDOWS),
    *((w, 1.08) for w in WINDOWS[1:]),
)
"""Coding windows and redundancies below 1/(1 - p) = 1.11."""


def hidden(w: int = 0, r: float = 0.0) -> str:
    """The name of a configuration with one path and an imposed loss; without coding if the window
    is zero.
    """
    return f"hidden-w{w}-r{r:g}" if w else "hidden-uncoded"


def hiding() -> Configurations:
    """The configurations that `hidden` names."""
    found = {}
    for w, r in ((0, 0.0), *HIDDEN):
        coding = f",coding={{redundancy={r:g},window={w}}}" if w else ""
        path = f'flow.multipath.path=[{{links=["first-1","shared","wireless"]{coding}}}]'
        loss = f"link.wireless.loss.probability={HIDING:g}"
        change = (path, loss, ALONE, ENDLESS[0], "duration=300 s", "warmup=20 s")
        found[hidden(w, r)] = Configuration("couple-plus/static", LIA, change, weight=3)
    return found


def delays() -> Configurations:
    """RTT Compensator and the TCP without wireless loss, with path 1 coded and not."""
    change = (*ENDLESS, ROOM, CLEAN, "duration=300 s", "sample=50 ms")
    return {
        "delay-coded": Configuration("couple-plus/static", LIA, change, series=True, weight=4),
        "delay-uncoded": Configuration(
            "couple-plus/static", LIA, (*change, UNCODED), series=True, weight=4
        ),
    }


SINGLE = (0.001, 0.005, 0.02)
"""Imposed losses of a single TCP."""


def single(p: float) -> str:
    """The name of a configuration with a TCP alone under an imposed loss, on links that are never
    full.
    """
    return f"single-p{p:g}"


def singles() -> Configurations:
    """The configurations that `single` names."""
    wide = tuple(f"link.{name}.rate=100 Mb/s" for name in ("first-tcp", "shared", "last-tcp"))
    change = (
        "flow.multipath.count=0",
        "flow.tcp.transfer=10 GB",
        "link.first-tcp.jitter=0 s",
        *wide,
    )
    length = ("duration=600 s", "warmup=60 s")
    return {
        single(p): Configuration(
            "couple-plus/static",
            None,
            (*change, *length, f"link.last-tcp.loss.probability={p:g}"),
            weight=8,
        )
        for p in SINGLE
    }


def unequal(controller: str) -> str:
    """The name of a configuration without coding whose second path has twice the random loss of the
    first.
    """
    return f"unequal-{controller}"


def lossy() -> Configurations:
    """The configurations that `unequal` names; links are never full."""
    wide = tuple(f"link.{name}.rate=100 Mb/s" for name in LINKS if "tcp" not in name)
    loss = ("link.last-0.loss.probability=0.005", "link.wireless.loss.probability=0.01")
    change = (ALONE, UNCODED, "flow.multipath.transfer=10 GB", *NO_JITTER, *wide, *loss)
    length = ("duration=300 s", "warmup=30 s")
    return {
        unequal(c): Configuration("couple-plus/static", c, (*change, *length), weight=8)
        for c in FAMILY
    }


def congested(controller: str) -> str:
    """The name of a configuration without coding or wireless loss, in the long run."""
    return f"uncoded-{controller}"


def family() -> Configurations:
    """The configurations that `congested` names."""
    change = (*LONG, ROOM, CLEAN, UNCODED)
    return {congested(c): Configuration("couple-plus/static", c, change, weight=8) for c in FAMILY}


TCP_ONLY = {
    "tcp-on-0": 'flow.multipath.path=[{links=["first-0","second-0","last-0"]}]',
    "tcp-on-1": 'flow.multipath.path=[{links=["first-1","shared","wireless"]}]',
}
"""A TCP in place of the multipath flow, on either path."""


def in_place() -> Configurations:
    """A TCP in place of the multipath flow; on path 1 without wireless loss, which coding is to
    hide.
    """
    return {
        name: Configuration("couple-plus/static", "reno", (LIMIT, CLEAN, path), series=True)
        for name, path in TCP_ONLY.items()
    }


def lonely(p: float) -> str:
    """The name of a configuration with one TCP alone on path 1, without coding."""
    return f"tcp-alone-p{p:g}"


def lonelies() -> Configurations:
    """The configurations that `lonely` names."""
    return {
        lonely(p): Configuration(
            "couple-plus/static",
            "reno",
            (LIMIT, ALONE, TCP_ONLY["tcp-on-1"], f"link.wireless.loss.probability={p:g}"),
            series=True,
        )
        for p in POINTS
    }


MARGIN = 0.03
"""The ledger's margin of redundancy above 1/(1 - p)."""
VARYING = (0.01, 0.05, 0.10, 0.05, 0.01)
"""Successive losses of the wireless link: those of the paper, up and down again."""
LASTS_S = 40
"""Duration of each: the time that 5 MB, the paper's transfers, take at 1 Mb/s."""
MOST = 1.3
"""Bound of redundancy that adapts: the largest of `POINTS`."""
FIXED = tuple(round(1 / (1 - p) + MARGIN, 3) for p in (min(POINTS), max(POINTS)))
"""Redundancy by the rule at the least and at the largest loss, kept for the whole time."""


def varying(r: float = 0.0) -> str:
    """The name of a configuration whose wireless loss varies; redundancy adapts, or is `r`."""
    return f"varying-r{r:g}" if r else "varying-adaptive"


def varyings() -> Configurations:
    """The configurations that `varying` names, under Couple+."""
    steps = ",".join(f'{{at="{n * LASTS_S} s",loss={p:g}}}' for n, p in enumerate(VARYING) if n > 0)
    general = (
        *ENDLESS,
        f"duration={LASTS_S * len(VARYING)} s",
        f"link.wireless.change=[{steps}]",
    )
    adaptive = f"flow.multipath.path.1.coding.up_to={MOST:g}"
    found = {
        varying(r): Configuration(
            "couple-plus/static", COUPLE, (*general, *coded(VARYING[0], r)), series=True, weight=4
        )
        for r in FIXED
    }
    found[varying()] = Configuration(
        "couple-plus/static",
        COUPLE,
        (*general, *coded(VARYING[0], FIXED[0]), adaptive),
        series=True,
        weight=4,
    )
    return found


def measurement() -> Configurations:
    """The measurement, over Wi-Fi and over a wired hop; also with independent losses of 0.01 and
    0.05.
    """
    found = {"measurement": Configuration("couple-plus/measurement")}
    for p in (0.01, 0.05):
        change = (f"link.wifi.loss={{probability={p:g}}}",)
        found[f"measurement-p{p:g}"] = Configuration("couple-plus/measurement", None, change)
    return found


def merged(*groups: Configurations) -> Configurations:
    """Configurations of several groups; a configuration in several groups appears once."""
    together: Configurations = {}
    for group in groups:
        together |= group
    return together

"""The configurations of the draft: scenarios A, B and C and the smaller experiments."""

from __future__ import annotations

from ..document import Paper
from ..laboratory import Configuration
from . import wireless
from .variants import each_packet, of_a_mebibyte, variants

SIZES = (10, 30)
"""N1 in the tables."""

SWEEP = (5, 10, 20, 30, 50, 100)
"""N1 in the sweep of Section 4."""

PHIS = (0.25, 0.5, 1.0, 1.5, 2.0)
"""phi in the sweep of the trade-off."""


def resized(link: str, group: str, n1: int) -> tuple[str, ...]:
    """Overrides that give `group` n1 users and `link` n1 Mb/s, RED scaled in proportion."""
    red = f"link.{link}.queue.red"
    packets = {"min": 2.5, "max": 5.0, "limit": 20.0}
    return (
        f"flow.{group}.count={n1}",
        f"link.{link}.rate={n1} Mb/s",
        *(f"{red}.{key}={per_mbps * n1:g} packets" for key, per_mbps in packets.items()),
    )


def scenario_a(n1: int) -> tuple[str, ...]:
    """Overrides for N1 type 1 users; C1 = 1 Mb/s."""
    return resized("server", "type1", n1)


def scenario_c(n1: int) -> tuple[str, ...]:
    """Overrides for N1 multipath users; C1 = 1 Mb/s."""
    return resized("ap1", "multipath", n1)


def _weighted(file: str, law: str | None, n1: int, overrides: tuple[str, ...]) -> Configuration:
    """A configuration of scenario A or C, whose work grows with N1."""
    return Configuration(f"khalili/{file}", law, overrides, weight=n1 / 10)


def _a() -> dict[str, Configuration]:
    """Scenario A: Tables 1 and 4."""
    configurations = {}
    for n1 in SIZES:
        configurations[f"a-before-{n1}"] = _weighted("scenario-a-before", None, n1, scenario_a(n1))
        for law in ("lia", "olia"):
            configurations[f"a-{law}-{n1}"] = _weighted("scenario-a", law, n1, scenario_a(n1))
    return configurations


def _a_sweep() -> dict[str, Configuration]:
    """Scenario A over N1; two of the configurations are also Table 1's."""
    return {f"a-lia-{n1}": _weighted("scenario-a", "lia", n1, scenario_a(n1)) for n1 in SWEEP}


def _b() -> dict[str, Configuration]:
    """Scenario B: Tables 2 and 5."""
    return {
        f"b-{when}-{law}": Configuration(f"khalili/{file}", law, weight=5)
        for when, file in (("before", "scenario-b-before"), ("after", "scenario-b"))
        for law in ("lia", "olia")
    }


def _c() -> dict[str, Configuration]:
    """Scenario C: Tables 3 and 6."""
    return {
        f"c-{law}-{n1}": _weighted("scenario-c", law, n1, scenario_c(n1))
        for n1 in SIZES
        for law in ("lia", "olia")
    }


def _phi() -> dict[str, Configuration]:
    """Section 2: windows at twice the loss."""
    return {
        f"phi-{phi:g}": Configuration("khalili/two-lossy-paths", f"phi:{phi:g}", weight=0.3)
        for phi in (0.1, 1, 2)
    }


def _flap() -> dict[str, Configuration]:
    """Flapping between equal paths, and how soon freed capacity is used."""
    configurations = {
        f"flap-{law}": Configuration("khalili/two-equal-paths", law, series=True, weight=3)
        for law in ("fully-coupled", "lia", "olia", "uncoupled")
    }
    for law in ("lia", "olia"):
        configurations[f"freed-{law}"] = Configuration(
            "khalili/freed-path", law, series=True, weight=2
        )
    return configurations


def _baseline() -> dict[str, Configuration]:
    """Section 1: intended behaviour of plain TCP and LIA."""
    equal = ("link.far.delay=37.5 ms", "link.far-back.delay=37.5 ms")
    configurations = {
        "tcp-equal": Configuration("khalili/tcp-shares", overrides=equal),
        "tcp-unequal": Configuration("khalili/tcp-shares"),
        "shared-lia": Configuration("khalili/shared-bottleneck", "lia"),
        "shared-uncoupled": Configuration("khalili/shared-bottleneck", "uncoupled"),
    }
    for ratio, delay in ((1, 50), (2, 100), (4, 200)):
        slower = (f"link.far.delay={2 * delay - 50} ms",)  # the way back stays at 50 ms
        configurations[f"goal1-{ratio}"] = Configuration("khalili/two-bottlenecks", "lia", slower)
        for path, way in (("empty", '["near", "empty"]'), ("busy", '["far", "busy"]')):
            alone = (*slower, f'flow.user.path=[{{ links = {way}, back = ["back"] }}]')
            configurations[f"goal1-{ratio}-{path}"] = Configuration(
                "khalili/two-bottlenecks", None, (*alone, "flow.user.controller=reno")
            )
    return configurations


def _auxiliary() -> dict[str, Configuration]:
    """Configurations of no experiment of the ledger: they serve claims that name none."""
    far_apart = ("link.good.loss.probability=0.0005", "link.bad.loss.probability=0.02")
    configurations = {
        "backed-off": Configuration("khalili/two-lossy-paths", "olia", far_apart, weight=0.3),
        "phi-0.1-floor1": Configuration(
            "khalili/two-lossy-paths", "phi:0.1", ("transport.min_ssthresh=1",), weight=0.3
        ),
    }
    for phi in PHIS:
        law = f"phi:{phi:g}"
        configurations[f"freed-phi-{phi:g}"] = Configuration(
            "khalili/freed-path", law, series=True, weight=2
        )
        configurations[f"a-phi-{phi:g}"] = Configuration("khalili/scenario-a", law)
    return configurations


def _tables_of_a_and_c() -> dict[str, Configuration]:
    """Tables 1, 3, 4 and 6."""
    return {
        f"{key}-{law}-{n1}": _weighted(f"scenario-{key}", law, n1, change(n1))
        for n1 in SIZES
        for key, change in (("a", scenario_a), ("c", scenario_c))
        for law in ("lia", "olia")
    }


def _explaining() -> dict[str, Configuration]:
    """Tables 1, 3, 4 and 6 with an ACK for each packet, and under LIA with a floor of ssthresh of
    one segment too.
    """
    return each_packet(_tables_of_a_and_c())


def _unclaimed() -> dict[str, Configuration]:
    """Configurations beyond the draft: its tables under uncoupled control and with a receive buffer
    of 1 MiB, scenario C under Reno in the shell of the kernel's controllers, and without SACK,
    where neither simulation nor kernel detects losses by timing. All of these except the small
    buffer also run with an ACK for each packet.
    """
    configurations = {
        f"b-{when}-uncoupled": Configuration(f"khalili/{file}", "uncoupled", weight=5)
        for when, file in (("before", "scenario-b-before"), ("after", "scenario-b"))
    }
    for n1 in SIZES:
        for key, change in (("a", scenario_a(n1)), ("c", scenario_c(n1))):
            configurations[f"{key}-uncoupled-{n1}"] = _weighted(
                f"scenario-{key}", "uncoupled", n1, change
            )
        whole, plain = scenario_c(n1), (*scenario_c(n1), "transport.sack=false")
        configurations[f"c-kernel-reno-{n1}"] = _weighted("scenario-c", "kernel:reno", n1, whole)
        for law in ("uncoupled", "lia"):
            configurations[f"c-{law}-{n1}-nosack"] = _weighted("scenario-c", law, n1, plain)
    before = {name: _a()[name] for name in _a() if name.startswith("a-before")}
    each = each_packet({**before, **_b(), **configurations})
    return configurations | each | _grown()


def _grown() -> dict[str, Configuration]:
    """The tables of A and C with a receive buffer of 1 MiB, whose window has grown when the warm-up
    ends. Under OLIA users of B wait for such a buffer.
    """
    return of_a_mebibyte(_tables_of_a_and_c())


def _measured() -> tuple[str, ...]:
    """Tables 1 to 6 and the same under uncoupled control, the shortest claims first; those of A and
    C with a small receive buffer; the same with an ACK for each packet; then the explaining
    configurations.
    """
    laws = ("uncoupled", "lia", "olia")
    explaining = tuple(_explaining())
    each = tuple(name for name in _unclaimed() if name.endswith("-each") or "-floor1" in name)
    grown = tuple(_grown())
    return (
        *(f"c-{law}-{n1}" for n1 in SIZES for law in laws),
        *(f"a-{law}-{n1}" for n1 in SIZES for law in ("before", *laws)),
        *(f"b-{when}-{law}" for when in ("before", "after") for law in laws),
        *grown,
        *each,
        *explaining,
    )


def _sensitivity() -> dict[str, Configuration]:
    """Configurations that vary the parameters that the draft leaves open."""
    configurations = {}
    for key, change, words in (
        ("a", scenario_a, (("server", "ap"), "type1", "type2")),
        ("c", scenario_c, (("ap1", "ap2"), "multipath", "single-path")),
    ):
        for name, variant in variants(*words).items():
            for law in ("lia", "olia"):
                for n1 in SIZES:
                    overrides = (*change(n1), *variant.overrides)
                    controller = variant.controller(law)
                    configurations[f"{name} | {key} | {law} | {n1}"] = _weighted(
                        f"scenario-{key}", controller, n1, overrides
                    )
    return configurations


PAPER = Paper(
    key="khalili",
    title="Performance Issues with MPTCP (draft-khalili-mptcp-performance-issues-04)",
    experiments={
        "khalili-a": _a(),
        "khalili-a-sweep": _a_sweep(),
        "khalili-b": _b(),
        "khalili-b-theory": {},  # solved, not simulated
        "khalili-c": _c(),
        "khalili-c-theory": {},
        "khalili-phi": _phi(),
        "khalili-flap": _flap(),
        "khalili-wireless-optional": wireless.configurations(),
        "khalili-baseline": _baseline(),
    },
    auxiliary=_auxiliary(),
    explaining=_explaining(),
    unclaimed=_unclaimed(),
    measured=_measured(),
    sampled=("c-uncoupled-10", "c-lia-10", "c-olia-10", "a-lia-10"),
    shortened=("duration=45 s", "warmup=15 s"),
    sensitivity=_sensitivity(),
    sensitivity_text="Rate of the harmed class (type 2 users in A, single-path users in C) in Mb/s for N1 = 10 and 30 "
    "when one open parameter is set otherwise; in brackets the change.",
)

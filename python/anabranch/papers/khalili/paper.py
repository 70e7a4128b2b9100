"""The cells of the draft: scenarios A, B and C and the smaller experiments."""

from __future__ import annotations

from ..laboratory import Cell
from ..registry import Paper

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


def _cells() -> dict[str, Cell]:
    cells: dict[str, Cell] = {}
    for n1 in SIZES:
        cells[f"a-before-{n1}"] = Cell(
            "khalili/scenario-a-before", overrides=scenario_a(n1), weight=n1 / 10
        )
        cells[f"a-olia-{n1}"] = Cell("khalili/scenario-a", "olia", scenario_a(n1), weight=n1 / 10)
        for law in ("lia", "olia"):
            cells[f"c-{law}-{n1}"] = Cell("khalili/scenario-c", law, scenario_c(n1), weight=n1 / 10)
    for n1 in SWEEP:
        cells[f"a-lia-{n1}"] = Cell("khalili/scenario-a", "lia", scenario_a(n1), weight=n1 / 10)
    floor = ("transport.min_ssthresh=2",)  # RFC 6356 keeps RFC 5681's floor of two segments
    for n1 in SIZES:
        cells[f"a-lia-{n1}-floor2"] = Cell(
            "khalili/scenario-a", "lia", (*scenario_a(n1), *floor), weight=n1 / 10
        )
        cells[f"c-lia-{n1}-floor2"] = Cell(
            "khalili/scenario-c", "lia", (*scenario_c(n1), *floor), weight=n1 / 10
        )
    for law in ("lia", "olia"):
        cells[f"b-before-{law}"] = Cell("khalili/scenario-b-before", law, weight=5)
        cells[f"b-after-{law}"] = Cell("khalili/scenario-b", law, weight=5)
    for phi in (0.1, 1, 2):
        cells[f"phi-{phi:g}"] = Cell("khalili/two-lossy-paths", f"phi:{phi:g}", weight=0.3)
    far_apart = ("link.good.loss.probability=0.0005", "link.bad.loss.probability=0.02")
    cells["backed-off"] = Cell("khalili/two-lossy-paths", "olia", far_apart, weight=0.3)
    for law in ("fully-coupled", "lia", "olia", "uncoupled"):
        cells[f"flap-{law}"] = Cell("khalili/two-equal-paths", law, series=True, weight=3)
    for law in ("lia", "olia"):
        cells[f"freed-{law}"] = Cell("khalili/freed-path", law, series=True, weight=2)
    for phi in PHIS:
        cells[f"freed-phi-{phi:g}"] = Cell(
            "khalili/freed-path", f"phi:{phi:g}", series=True, weight=2
        )
        cells[f"a-phi-{phi:g}"] = Cell("khalili/scenario-a", f"phi:{phi:g}")
    cells |= _baseline()
    return cells


def _baseline() -> dict[str, Cell]:
    """Section 1: what plain TCP and LIA should do."""
    equal = ("link.far.delay=37.5 ms", "link.far-back.delay=37.5 ms")
    cells = {
        "tcp-equal": Cell("khalili/tcp-shares", overrides=equal),
        "tcp-unequal": Cell("khalili/tcp-shares"),
        "shared-lia": Cell("khalili/shared-bottleneck", "lia"),
        "shared-uncoupled": Cell("khalili/shared-bottleneck", "uncoupled"),
    }
    for ratio, delay in ((1, 50), (2, 100), (4, 200)):
        slower = (f"link.far.delay={2 * delay - 50} ms",)  # the way back stays at 50 ms
        cells[f"goal1-{ratio}"] = Cell("khalili/two-bottlenecks", "lia", slower)
        for path, way in (("empty", '["near", "empty"]'), ("busy", '["far", "busy"]')):
            alone = (*slower, f'flow.user.path=[{{ links = {way}, back = ["back"] }}]')
            cells[f"goal1-{ratio}-{path}"] = Cell(
                "khalili/two-bottlenecks", None, (*alone, "flow.user.controller=reno")
            )
    return cells


def _sensitivity() -> dict[str, Cell]:
    """What the parameters move that the draft leaves open."""
    reds = ("server", "ap"), ("ap1", "ap2")

    def queue(links: tuple[str, ...], **fields: object) -> tuple[str, ...]:
        return tuple(
            f"link.{link}.queue.red.{key}={value}"
            for link in links
            for key, value in fields.items()
        )

    variants: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {"as chosen": ((), ())}
    for weight, name in ((1.0, "1"), (0.0625, "1/16"), (0.002, "0.002")):
        for spacing in ("independent", "count"):
            both = tuple(queue(links, weight=weight, spacing=f'"{spacing}"') for links in reds)
            variants[f"RED weight {name}, drops {spacing}"] = (both[0], both[1])
    plain = {
        "ssthresh floor of 2 for coupled paths": ("transport.min_ssthresh=2",),
        "slow start drops what is left at ssthresh": ("transport.slow_start_carry_over=false",),
        "delayed ACKs, 40 ms": ("transport.delayed_ack=40 ms",),
        "RTO floor on the whole (RFC 6298)": ("transport.rto_floor=total",),
        "RTO minimum 1 s": ("transport.rto_min=1 s",),
        "no limited transmit": ("transport.limited_transmit=false",),
        "NewReno, no SACK": ("transport.sack=false",),
        "base RTT 150 ms": ("link.line.delay=75 ms", "link.back.delay=75 ms"),
        "base RTT 80 ms": ("link.line.delay=40 ms", "link.back.delay=40 ms"),
    }
    variants |= {name: (change, change) for name, change in plain.items()}
    cells = {}
    for name, (for_a, for_c) in variants.items():
        for law in ("lia", "olia"):
            for n1 in SIZES:
                cells[f"{name} | a | {law} | {n1}"] = Cell(
                    "khalili/scenario-a", law, (*scenario_a(n1), *for_a), weight=n1 / 10
                )
                cells[f"{name} | c | {law} | {n1}"] = Cell(
                    "khalili/scenario-c", law, (*scenario_c(n1), *for_c), weight=n1 / 10
                )
    return cells


PAPER = Paper(
    key="khalili",
    title="Performance Issues with MPTCP (draft-khalili-mptcp-performance-issues-04)",
    cells=_cells(),
    sensitivity=_sensitivity(),
)

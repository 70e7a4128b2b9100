"""Wishes of the authors, as far as a wire and single radio hops can show them."""

from __future__ import annotations

import numpy as np

from ... import _core
from ...scenario import load, shipped
from ...statistics import interval
from ..findings import Finding, finding, holds, within
from ..laboratory import Laboratory
from ..ledger import Claim
from .configurations import CALLED, CS218, FAIRNESS, FOUR, INTERFACES, LOSING, MORE, under
from .paper import PAPER
from .reading import MULTIPATH, TCP, mbps

LEAST = 0.05
"""The part of the packets from which on a path counts as used."""
NETWORKS = ("first", "second")


@PAPER.claim("wish.own_implementation", *(under(FAIRNESS, c) for c in FOUR))
def own_implementation(claim: Claim, lab: Laboratory) -> Finding:
    """A connection with two paths and a TCP in one run, both delivering."""
    rates = {c: (mbps(lab[under(FAIRNESS, c)]), mbps(lab[under(FAIRNESS, c)], TCP)) for c in FOUR}
    alive = all((values > 0).all() for pair in rates.values() for values in pair)
    checks = [holds("contains", claim.expected["contains"], alive)]
    rows = "; ".join(f"{CALLED[c]} {interval(a)} and {interval(b)}" for c, (a, b) in rates.items())
    why = f"Connection and TCP over one link, Mb/s: {rows}. LTE is a wish of its own."
    return finding(claim, lab.world.name, checks, why)


@PAPER.claim("wish.more_controllers", *(under(FAIRNESS, c) for c in MORE))
def more_controllers(claim: Claim, lab: Laboratory) -> Finding:
    """Controllers that the report lacks, in each of its scenarios that are shipped."""
    names = [name for name in shipped() if name.startswith("cs218/")]
    for name in names:
        for controller in MORE:
            load(name).plan(controller=controller)  # refuses what it cannot have
    moving = [c for c in MORE if (lab[under(FAIRNESS, c)].rate(MULTIPATH) > 0).all()]
    known = {law["name"] for law in _core.controllers()}
    checks = [holds("contains", claim.expected["contains"], len(set(moving) & known) >= 2)]
    rows = ", ".join(
        f"{c} {interval(mbps(lab[under(FAIRNESS, c)]))} and {interval(mbps(lab[under(FAIRNESS, c)], TCP))}"
        for c in MORE
    )
    why = (
        f"Each can be chosen in {', '.join(names)}. Beside a TCP on one link, connection and TCP in Mb/s: {rows}. CUBIC and "
        f"Compound TCP are on every path by themselves; wVegas, OLIA and BALIA are coupled. In all there are {len(known)}."
    )
    return finding(claim, lab.world.name, checks, why)


@PAPER.claim("wish.true_multipath", INTERFACES, LOSING)
def true_multipath(claim: Claim, lab: Laboratory) -> Finding:
    """A host on a wire and in two radio networks; and with one of these losing packets."""

    def rates(configuration: str) -> list[np.ndarray]:
        return [
            lab[configuration].path(MULTIPATH, p, "throughput_bps")[:, 0] / 1e6 for p in range(3)
        ]

    own = rates(INTERFACES)
    whole = np.sum(own, axis=0)
    checks = [
        within(f"part of {name}", "all three are used", rate / whole, LEAST, None)
        for name, rate in zip(("the wire", "the first radio", "the second radio"), own, strict=True)
    ]
    lost = {n: lab[LOSING].station(n, "host", "failed_packets") for n in NETWORKS}
    offered = {n: lab[INTERFACES].station(n, "host", "offered_packets") for n in NETWORKS}
    apart = (lost["first"] > 0).all() and (lost["second"] == 0).all()
    checks.append(holds("contains", claim.expected["contains"], bool(apart)))
    rows = "; ".join(
        f"{name}: {' / '.join(str(interval(rate)) for rate in rates(configuration))} Mb/s"
        for name, configuration in (
            ("as they are", INTERFACES),
            ("the first radio loses 2 %", LOSING),
        )
    )
    why = (
        f"Wire / first radio / second radio under {CALLED[CS218]}, {rows}. Each radio interface has a MAC and a queue of its "
        f"own: {interval(offered['first'])} and {interval(offered['second'])} packets were offered to them; where the first "
        f"gives up {interval(lost['first'])}, the second gives up {interval(lost['second'])}."
    )
    return finding(claim, lab.world.name, checks, why)

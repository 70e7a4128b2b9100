"""Use of links of all rates."""

from ..criterion import PERCENT, Case, Criterion
from ..measures import used
from ..one_link import SCENARIO, link, steady, times
from .drop_tail import ENOUGH


def _steady(rate_bps: float) -> Case:
    """One flow at a rate, for three cycles of Reno or more."""
    setting = (*link(rate_bps, flows=1), *steady(rate_bps))
    return Case(f"{rate_bps / 1e6:g} Mb/s", SCENARIO, setting)


CRITERION = Criterion(
    name="wired-rates",
    title="Rates from 0.1 Mb/s to 1 Gb/s",
    section="6.3",
    level="SHOULD",
    question="Does a flow of the controller use links of all rates?",
    method=(
        "Goodput of one flow, headers added, over the capacity, at 40 ms with a drop-tail queue of "
        "one bandwidth-delay product, and of at least four packets. Up to 100 Mb/s at least three "
        "cycles of Reno from loss to loss are measured. At 1 Gb/s a cycle takes 200 s; measured "
        "are the 10 s after the first 5, in which Reno climbs after slow start and loses nothing."
    ),
    unit=PERCENT,
    cases=(
        Case("0.1 Mb/s", SCENARIO, (*link(0.1e6, flows=1), *times(200, 20))),
        _steady(1e6),
        _steady(10e6),
        _steady(100e6),
        Case(
            "1 Gb/s, 10 s after slow start",
            SCENARIO,
            (*link(1e9, flows=1), *times(15, 5)),
            seeds=2,
        ),
    ),
    measure=used(),
    goal=ENOUGH,
    why=(
        "RFC 9743 §6 asks for a representative range of bandwidths. A flow that halves its window "
        "uses three quarters of a link that has no queue at all."
    ),
)

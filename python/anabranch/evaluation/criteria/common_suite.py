"""The basic scenarios of the common TCP evaluation suite."""

from ..criterion import SECONDS, Case, Criterion
from ..goals import NoWorse
from ..measures import typical_completion
from ..one_link import drop_tail, milliseconds, rate, times

SCENARIO = "common-suite/dumbbell"
PAIRS = tuple(f"{left}-{right}" for left in "123" for right in "456")
NODES = range(1, 7)
SHORT_LINES = (10e-6, 10e-6, 100e-6, 10e-6, 100e-6, 100e-6)
"""One-way delays of the data center's six edge links in seconds."""


def _load(rate_bps: float, part: float, bytes_: float) -> tuple[str, ...]:
    """Transfers on each of the nine paths, so that all of them offer a part of the rate."""
    arrivals = part * rate_bps / 8 / bytes_ * 1448 / 1500 / len(PAIRS)
    each = (
        (f"flow.{pair}.arrivals={arrivals:.4g}", f"flow.{pair}.transfer={bytes_ / 1e3:g} kB")
        for pair in PAIRS
    )
    return tuple(one for pair in each for one in pair)


def _central(rate_bps: float, delay_s: float, queue_s: float) -> tuple[str, ...]:
    """The link in the middle, with a queue of so many seconds."""
    return (
        f"link.central.rate={rate(rate_bps)}",
        f"link.central.delay={milliseconds(delay_s)}",
        drop_tail(queue_s * rate_bps / 12000, "central"),
    )


def _edges(rate_bps: float) -> tuple[str, ...]:
    """The links at both ends."""
    return tuple(f"link.node-{node}.rate={rate(rate_bps)}" for node in NODES)


CRITERION = Criterion(
    name="common-suite",
    title="Common TCP evaluation suite",
    section="6",
    level="SHOULD",
    question="How long do transfers take over a representative range of networks?",
    method=(
        "Geometric mean of the completion times of all transfers, all under the controller, in the "
        "suite's basic scenarios (draft-irtf-iccrg-tcpeval-01, section 4.4): nine paths of 8 "
        "to 204 ms share a central link. Transfers have heavy-tailed sizes around 100 kB (more at 1 "
        "Gb/s, 10 kB on the dial-up link) and begin at random; they stand for its traces."
    ),
    unit=SECONDS,
    cases=(
        Case("access link, 60 %", SCENARIO, _load(100e6, 0.6, 100e3)),
        Case("access link, 85 %", SCENARIO, _load(100e6, 0.85, 100e3)),
        Case("access link, 110 %", SCENARIO, _load(100e6, 1.1, 100e3)),
        Case(
            "data center, 60 %",
            SCENARIO,
            (
                *_central(1e9, 0, 0.01),
                *_edges(1e9),
                *(
                    f"link.node-{node}.delay={milliseconds(delay)}"
                    for node, delay in zip(NODES, SHORT_LINES, strict=True)
                ),
                *_load(1e9, 0.6, 300e3),
                *times(6, 1),
            ),
        ),
        Case(
            "trans-oceanic link, 60 %",
            SCENARIO,
            (*_central(1e9, 0.065, 0.1), *_edges(1e9), *_load(1e9, 0.6, 1e6), *times(10, 3)),
            seeds=3,
        ),
        Case(
            "geostationary satellite, 85 %",
            SCENARIO,
            (*_central(40e6, 0.3, 0.1), *_load(40e6, 0.85, 100e3), *times(60, 20)),
        ),
        Case(
            "dial-up link, 60 %",
            SCENARIO,
            (*_central(64e3, 0.005, 1.25), *_load(64e3, 0.6, 10e3), *times(600, 100)),
        ),
    ),
    measure=typical_completion(),
    goal=NoWorse(),
    why=(
        "RFC 9743 §6 asks for a representative range of bandwidths, delays and queue depths. The "
        "suite compares with standard TCP and names no threshold; a tenth is the tolerance."
    ),
)

"""Bounded proofs: over ranges of losses and round trips, no fixed point of a law breaks a claim, or
one that does is given.

The law is its text, read into a list of operations that is evaluated over intervals with outward
rounding. Boxes of windows, round trips and losses are bisected until in each of them a drift cannot
be zero, or the claim holds: `crates/proof`. The ranges are of losses and not of capacities: a loss
is the price of a link, and a proof for all prices is one for every capacity and all competing
traffic that leads to them. docs/explanation/bounded-proofs.md says what that covers and what not.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from .. import _core
from ..offers import lookup
from ..written import shipped_law, shipped_laws
from .network import Floats


@dataclass(frozen=True)
class Claim:
    """A claim about all fixed points of a connection."""

    meaning: str
    """What it says, in a line."""
    bounded: str
    """What its statement bounds; {times} is the ratio to TCP's rate that is allowed."""
    one_path: bool = False
    """Whether it is about a path by itself; else about all together."""
    shares_loss: bool = False
    """Whether all paths meet one loss; else each has its own."""
    is_upper: bool = True
    """Whether it bounds the ratio to TCP's rate from above."""


CLAIMS = {
    "tcp-share": Claim(
        "through one bottleneck all paths together send at most as much as one TCP",
        "the sum of its rates is at most {times} the rate of a TCP with the shortest of the round trips",
        shares_loss=True,
    ),
    "do-no-harm": Claim(
        "no path sends more than a TCP in its place (RFC 6356, goal 2)",
        "the rate of each path is at most {times} the rate of a TCP with the loss and the round trip of that path",
        one_path=True,
    ),
    "best-path": Claim(
        "all paths together send at least as much as a TCP on the best one (RFC 6356, goal 1)",
        "the sum of its rates is at least {times} the rate of a TCP on the path where that is largest",
        is_upper=False,
    ),
}
"""Claims by name."""

LOSSES = (1e-4, 0.05)
RTTS_S = (0.01, 0.3)
BOXES = 200_000
MOST_BOXES = 1 << 63
MOST_PATHS = 8
MOST_WINDOW = 1 << 24
"""Segments: the largest window of the language of laws."""


@dataclass(frozen=True)
class FixedPoint:
    """Windows in segments at which a law rests, at given round trips and losses, (n,) each.

    `at_floor` says which windows the floor holds. `path` is the one that the claim is about: that
    of the largest ratio (`do-no-harm`), of the shortest round trip (`tcp-share`), of the fastest
    TCP (`best-path`). `ratio` is the rate that the claim bounds over TCP's. `certain` is None for a
    number without proof; else there provably is a fixed point, its windows are these within 1e-6,
    and its ratio lies between these two.
    """

    windows: Floats
    rtts_s: Floats
    losses: Floats
    at_floor: tuple[bool, ...]
    path: int
    ratio: float
    certain: tuple[float, float] | None

    @property
    def rates_per_s(self) -> Floats:
        """(n,) segments per second."""
        return np.asarray(self.windows / self.rtts_s)

    @property
    def tcp_rates_per_s(self) -> Floats:
        """(n,) segments per second of a TCP in the place of each path, sqrt(2/p)/rtt."""
        return np.asarray(np.sqrt(2.0 / self.losses) / self.rtts_s)

    def __str__(self) -> str:
        """The fixed point in words."""
        parts = zip(self.windows, self.rtts_s * 1e3, self.losses, self.at_floor, strict=True)
        return "; ".join(
            f"path {number}: rtt {rtt:.4g} ms, loss {loss:.4g}, window {window:.5g}{' (floor)' * floor}"
            for number, (window, rtt, loss, floor) in enumerate(parts, 1)
        )


def harm_of(ratio: float, others: int) -> float:
    """The part of its rate that each of `others` TCPs loses to a connection with so many times a
    TCP's rate, beside what it has with a TCP in the connection's place.

    They fill a link and have the round trip of the connection's path on it. With the connection
    each has 1/(others + ratio) of the link, with a TCP in its place 1/(others + 1).
    """
    return (ratio - 1.0) / (others + ratio)


def within_of(harm: float, others: int) -> float:
    """The `within` of a claim for which `harm_of` is at most `harm`: its inverse, less what
    rounding may have added. Raises ValueError for a part or a number that cannot be.
    """
    if not 0.0 < harm < 1.0:
        raise ValueError(f"harm is {harm:g}; it is a part of a TCP's rate, above 0 and below 1")
    if others < 1:
        raise ValueError(f"others is {others}; harm is done to one TCP or more")
    return (1.0 - 1e-12) * harm * (others + 1) / (1.0 - harm)


@dataclass(frozen=True)
class Harm:
    """What a claim says about TCPs on a link: each has at most a part `most` less."""

    most: float
    others: int


@dataclass(frozen=True)
class Proof:
    """The outcome of `prove`.

    `verdict` is `proved`, `disproved` or `open`. `witness` breaks the claim; under `open` it is a
    number without proof. `nearest` is of the `computed` distinct fixed points that were found at 64
    places of the ranges the one with the least room to the claim; a proof about a law without any
    says nothing. `doubt` says where the operations that were evaluated and the law's own program
    differ; the verdict is then `open` unless a fixed point of both breaks the claim. `open_share`
    is the part of the ranges' volume in logarithms, at most, in which the search had not come to an
    end, and `open_ranges` what contains all of that. `harm` is what was asked about other TCPs.
    """

    controller: str
    claim: str
    within: float
    paths: int
    losses: tuple[float, float]
    rtts_s: tuple[float, float]
    floor: float
    verdict: str
    boxes: int
    computed: int
    witness: FixedPoint | None
    nearest: FixedPoint | None
    doubt: str | None
    open_boxes: int
    open_share: float
    open_ranges: dict[str, tuple[float, float]]
    harm: Harm | None = None

    @property
    def allowed(self) -> float:
        """The ratio to TCP's rate that the claim allows."""
        return 1.0 + self.within if CLAIMS[self.claim].is_upper else 1.0 - self.within

    @property
    def statement(self) -> str:
        """What is claimed, about what, over which ranges, and what it leaves out: one paragraph.
        Numbers have all digits of those that the proof is about.
        """
        model = _MODEL.format(floor=exactly(self.floor))
        return " ".join(filter(None, (self._ranges, self._claimed, self._harmed, model)))

    @property
    def _harmed(self) -> str:
        if self.harm is None:
            return ""
        shared = CLAIMS[self.claim].shares_loss
        link = "the bottleneck" if shared else "a link of one of its paths"
        rtt = "the shortest round trip" if shared else "the round trip of that path"
        many = self.harm.others > 1
        return (
            f"So where the connection and {self.harm.others} TCP{'s' * many} with {rtt} fill {link}, "
            f"{'each' if many else 'the'} TCP has at most {exactly(self.harm.most, 100)} % less than beside a TCP "
            "with that round trip in the connection's place."
        )

    @property
    def _ranges(self) -> str:
        many = self.paths > 1
        loss = _range(self.losses, 1, "")
        rtt = _range(self.rtts_s, 1000, " ms")
        paths = f"{self.paths} paths" if many else "one path"
        shared = "a loss probability {} that all of them meet" if many else "a loss probability {}"
        own = "a loss probability {} of its own on each" if many else "a loss probability {}"
        met = (shared if CLAIMS[self.claim].shares_loss else own).format(loss)
        each = " of each" if many else ""
        return f"A connection under {self.controller} has {paths}, {met}, and a round trip {rtt}{each}."

    @property
    def _claimed(self) -> str:
        what = CLAIMS[self.claim].bounded.format(times=f"{exactly(self.allowed)} times")
        return f"At every fixed point, {what}, sqrt(2/p)/rtt in the same model."

    @property
    def note(self) -> str:
        """What a reader may take the proof for, and it is not."""
        return _NOTE if self.harm is None else _HARM_NOTE


_MODEL = (
    "A fixed point is windows from {floor} to 2^24 segments at which the drift, growth - p (w - backoff), "
    "is zero on every path, or not above zero where the window is at the floor; where the law jumps, it is a "
    "mean of the drifts next to the jump. Losses and round trips are any constants of the ranges, so the "
    "statement holds for every capacity, queue and number of other flows that lead to such losses and round "
    "trips. It says nothing about whether and how fast windows come to rest, packets, bursts of losses, "
    "timeouts, slow start, whole numbers of segments, or limits by the receiver or the application."
)

_NOTE = (
    "the losses and round trips are given, and the TCP is compared at the same ones; how they follow from "
    "capacities, and what others had before the connection came and have with it, is not covered"
)
_HARM_NOTE = (
    "the TCPs are compared with the same link and a TCP in the connection's place; what they had before anybody "
    "came, and links with other users, are not covered"
)


def prove(
    law: str,
    claim: str = "tcp-share",
    *,
    within: float = 0.1,
    paths: int = 2,
    losses: tuple[float, float] = LOSSES,
    rtts_s: tuple[float, float] = RTTS_S,
    floor: float = 1.0,
    boxes: int = BOXES,
    harm: float | None = None,
    others: int = 1,
) -> Proof:
    """Proves that no fixed point of a law breaks a claim, or gives one that does.

    `law` is a text, such as `anabranch.Law`, a file of one, or the name of a shipped text. `claim`
    is one of `CLAIMS`, and may be missed by the part `within` of TCP's rate. `paths` is from 1 to
    8; losses are probabilities, round trips seconds, each from the least to the most. `floor` is
    the least window in segments, from 1 to that of a TCP at the largest loss. All are within the
    domain of the language of laws: round trips from 1 us to 2147 s, 1/loss below 2^32. After
    `boxes` boxes the rest is `open`. `harm`, instead of `within`, is the largest part of its rate
    that each of `others` TCPs on a link may lose to the connection (`harm_of`).

    The same arguments give the same answer, bit by bit.

    Raises ScenarioError for an unknown law, ValueError for another controller, an unknown claim or
    wrong ranges.
    """
    known = lookup("claim", claim, CLAIMS, "the claims are")
    text = _text(law)
    if harm is not None:
        if not CLAIMS[known].is_upper:
            raise ValueError(f"harm is given; {known} says nothing about what others lose")
        within = within_of(harm, others)
    # Beyond these the numbers do not fit into those of the extension.
    if not 1 <= paths <= MOST_PATHS:
        raise ValueError(f"paths is {paths}; a proof is of 1 to {MOST_PATHS} paths")
    if not 1 <= boxes < MOST_BOXES:
        raise ValueError(f"boxes is {boxes}; a proof looks at one at least, and at less than 2^63")
    found = _core.prove(
        text,
        known,
        within=within,
        paths=paths,
        losses=losses,
        rtts_s=rtts_s,
        floor=floor,
        boxes=boxes,
    )
    return Proof(
        controller=_core.controller_name(text),
        claim=known,
        within=float(within),
        paths=paths,
        losses=(float(losses[0]), float(losses[1])),
        rtts_s=(float(rtts_s[0]), float(rtts_s[1])),
        floor=float(floor),
        verdict=found["verdict"],
        boxes=found["boxes"],
        computed=found["computed"],
        witness=_point(found["witness"]),
        nearest=_point(found["nearest"]),
        doubt=found["doubt"],
        open_boxes=found["open_boxes"],
        open_share=found["open_share"],
        open_ranges={name: (low, high) for name, low, high in found["open_ranges"]},
        harm=None if harm is None else Harm(harm, others),
    )


def _text(law: str) -> str:
    """The text of a law that is named or given."""
    if law in shipped_laws():
        return shipped_law(law).read_text(encoding="utf-8")
    named = _core.controller(law)
    if not named["written"]:
        raise ValueError(
            f"{named['text']!r} is no law in text, so there is nothing to evaluate over intervals; the texts that "
            f"ship are {', '.join(shipped_laws())}, and anabranch.Law.load gives one with parameters"
        )
    return named["source"]


def _point(found: _core.Rest | None) -> FixedPoint | None:
    if found is None:
        return None
    return FixedPoint(
        windows=np.array(found["windows"]),
        rtts_s=np.array(found["rtts_s"]),
        losses=np.array(found["losses"]),
        at_floor=tuple(found["at_floor"]),
        path=found["path"],
        ratio=found["ratio"],
        certain=found["certain"],
    )


def exactly(value: float, unit: int = 1) -> str:
    """A number times a unit with all of its digits: over the unit, the text is that double again."""
    # Decimal digits are multiplied, for a product of doubles would be rounded.
    text = format(Decimal(repr(float(value))) * unit, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _range(ends: tuple[float, float], unit: int, name: str) -> str:
    low, high = (f"{exactly(end, unit)}{name}" for end in ends)
    return f"of {low}" if low == high else f"from {low} to {high}"

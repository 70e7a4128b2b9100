"""Algorithms: the packets that a coded path sends, its feedback and its verdicts, read from
captures and logs of small runs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np

from ... import _core
from ...result import run
from ...scenario import load
from ...theory import coding
from ..findings import Check, Finding, finding, hold_together, holds, measured, within
from ..laboratory import Laboratory
from ..ledger import Claim
from .configurations import (
    ALONE,
    CLEAN,
    COUPLE,
    FAMILY,
    POINTS,
    READINGS,
    ROOM,
    alone,
    congested,
    family,
    lossy,
    unequal,
)
from .logs import Captured, captured
from .paper import PAPER
from .reading import SUB0, SUB1, competition, exact, listed

CYCLE = 21
"""ΔT at a redundancy of 1.05, in packets."""
BYTES = 2e-3
"""Windows are logged in whole bytes of 1000-byte segments."""
FACTORS = {COUPLE: 0.875, READINGS["twnd at 3/4"]: 0.75, READINGS["twnd at 19/20"]: 0.95}
FLOOR = 2.0
"""No halving goes below so many segments: RFC 6356 keeps the floor of RFC 5681."""
TESTS = "crates/control/src/schemes/couple_plus.rs"

LONELY = ("flow.multipath.spread=0 s", ALONE, CLEAN)


def _coded(r: float, w: int) -> tuple[str, ...]:
    path = "flow.multipath.path.1.coding"
    return (f"{path}.redundancy={r:g}", f"{path}.window={w}")


def lossless(r: float, w: int) -> Captured:
    """Six seconds of both paths without wireless loss: slow start, and nothing lost until queues
    are full.
    """
    return captured((*LONELY, *_coded(r, w), "duration=6 s"), COUPLE)


def before_loss(log: Captured) -> list[tuple[int, int]]:
    """First segment and count of each packet that was sent before the first loss."""
    first = min([*log.events.t_s, math.inf])
    return [(c.base, c.count) for c in log.sent if c.t_s < first]


@PAPER.claim("theory.max_transmissions")
def max_transmissions(claim: Claim, lab: Laboratory) -> Finding:
    """In how many packets of a capture each segment takes part."""
    checks: list[Check] = []
    rows = []
    for w, r in ((4, 1.25), (6, 1.05), (2, 1.5)):
        sent = before_loss(lossless(r, w))
        last = sent[-1][0] + sent[-1][1]
        counts = np.zeros(last, dtype=int)
        for base, count in sent:
            counts[base : base + count] += 1
        inner = counts[2 * w : -2 * w]
        if (w, r) == (4, 1.25):
            low, high = claim.band("participations")
            for name, value in (("fewest", inner.min()), ("most", inner.max())):
                published = claim.expected["participations"]
                checks.append(within(f"participations, {name}", published, exact(value), low, high))
            checks.append(within("most, with the ends", "5 + 1", exact(counts.max()), None, 6))
        else:
            checks.append(
                within(
                    f"most at W = {w}, R = {r:g}",
                    f"{w * r:g}",
                    exact(inner.max()),
                    None,
                    math.ceil(w * r),
                )
            )
        rows.append(f"W = {w}, R = {r:g}: {inner.min()} to {inner.max()} of {len(inner)} segments")
    why = f"Headers of all coded packets of a capture before the first loss: {'; '.join(rows)}."
    return finding(claim, "structure", checks, why)


@PAPER.claim("def.redundant_cycle")
def redundant_cycle(claim: Claim, lab: Laboratory) -> Finding:
    """The formula, and the spacing of packets that cover nothing new."""
    checks: list[Check] = []
    rows = []
    for r, key in ((1.25, "size_r_1_25"), (1.05, "size_r_1_05")):
        checks.append(measured(claim, key, exact(round(float(coding.redundant_cycle(r)), 9))))
        covered, redundant = 0, []
        for number, (base, count) in enumerate(before_loss(lossless(r, 6))):
            if base + count <= covered:
                redundant.append(number)
            covered = max(covered, base + count)
        gaps = np.diff([-1, *redundant])
        checks.append(
            holds(
                f"spacing of redundant packets at r = {r:g}",
                claim.expected[key]["value"],
                set(gaps) == {claim.expected[key]["value"]},
            )
        )
        rows.append(f"r = {r:g}: {len(gaps)} cycles of {sorted({int(g) for g in gaps})} packets")
    why = f"Sent, in a capture without loss: {'; '.join(rows)}. Other sizes are rounded up."
    return finding(claim, "structure", checks, why)


@PAPER.claim("alg.online_coding", *(alone(COUPLE, p, rs[-2]) for p, rs in POINTS.items()))
def online_coding(claim: Claim, lab: Laboratory) -> Finding:
    """Counters in acknowledgements, and that a transfer decodes with as many innovative packets as
    it has segments.
    """
    log = captured((ALONE, "duration=20 s", *_coded(1.2, 6)), COUPLE)
    ranks = np.array([a.rank for a in log.told])
    lost = np.array([a.lost for a in log.told])
    steps = np.diff(ranks)
    seen = int(((steps == 1) & (lost[1:] > 0)).sum())
    equal, spare = True, []
    for p, redundancies in POINTS.items():
        for one in lab[alone(COUPLE, p, redundancies[-2])].runs:
            table = one.coding
            equal &= int(table.innovative_packets[0]) == int(table.decoded_segments[0])
            spare.append(float(table.arrived_packets[0]) / float(table.innovative_packets[0]))
    checks = [
        holds("ack_semantics", claim.expected["ack_semantics"], set(steps) <= {0, 1} and seen > 0),
        holds(
            "decoded with as many innovative packets as segments",
            "as soon as there are as many",
            equal,
        ),
        within(
            "arrived over innovative packets",
            "above 1: the rest is redundancy",
            exact(min(spare)),
            1.0,
            None,
        ),
    ]
    why = (
        f"{len(ranks)} acknowledgements in a capture of 20 s: each reports one degree of freedom more, or none; {seen} of "
        "them "
        f"while something could not be decoded. {len(spare)} transfers of 5 MB decode {'' if equal else 'not '}exactly "
        "what was "
        f"innovative; arrived over innovative {min(spare):.3f} to {max(spare):.3f}. Coefficients are of GF(256). Exact "
        "tests: crates/coding/src/decoder."
    )
    return finding(claim, "structure", checks, why)


ONE = 'flow.multipath.path=[{links=["first-1","shared","wireless"],coding={redundancy=1.05,window=6}}]'
SCRIPTED = (
    ONE,
    *LONELY,
    *(f"link.{name}.rate=10 Mb/s" for name in ("first-1", "shared", "wireless")),
    "link.first-1.jitter=0 s",
    "flow.multipath.transport.initial_ssthresh=20",
    "duration=5 s",
)
"""One coded path with twenty segments in flight, no queue and scripted losses."""
PACKET_MS = 0.8512


def scripted(
    lost: int, *, far: bool = False, controller: str = COUPLE, more: tuple[str, ...] = ()
) -> Captured:
    """So many packets in a row are lost at 3 s; `far`: after the round trip has more than
    doubled.
    """
    for quarters in range(4):
        end = 3.01 + (lost - 0.5 + quarters / 4) * PACKET_MS / 1e3
        change = [f'link.wireless.change=[{{at="3.01 s",loss=1}},{{at="{end:.5f} s",loss=0}}]']
        if far:
            change.append('link.shared.change=[{at="2.5 s",delay="75 ms"}]')
        log = captured((*SCRIPTED, *change, *more), controller, 0)
        if len(log.events.times("loss")) == lost:
            return log
    raise ValueError(f"no interval loses {lost} packets")


@PAPER.claim("alg.loss_flag")
def loss_flag(claim: Claim, lab: Laboratory) -> Finding:
    """Two packets lost between two acknowledgements."""
    log = scripted(2)
    first = next(i for i, a in enumerate(log.told) if a.flag)
    before, after = log.told[first - 1], log.told[first]
    flags = all(a.flag == (a.rank < a.highest) for a in log.told)
    checks = [
        measured(claim, "losses_reported", exact(after.lost - before.lost)),
        within("packets lost on the air", 2, exact(len(log.events.times("loss"))), 2, 2),
        holds("the flag is set exactly while less was received than was covered", "one bit", flags),
    ]
    why = (
        f"Acknowledgements in a capture: {before.rank} received of {before.highest}, then {after.rank} of {after.highest} "
        "with "
        f"the flag. {len(log.told)} acknowledgements have the flag as the two numbers say."
    )
    return finding(claim, "structure", checks, why)


def verdicts(log: Captured) -> list[tuple[float, str, bool]]:
    """Time and name of what Couple+ did, and whether a timeout was the cause."""
    timeouts = set(log.events.times("timeout"))
    return [
        (float(t), kind, t in timeouts)
        for t, kind in zip(log.events.t_s, log.events.kind, strict=True)
        if kind in ("asked", "noise", "congestion")
    ]


@dataclass(frozen=True)
class Step:
    """A step of the state machine in a log, in segments."""

    off: float
    """The window after it less what the rule makes of the one before."""
    grown: float
    """The most by which the acknowledgement of the same time lets the window grow: by what it
    acknowledges in slow start, by 1/w of it in avoidance.
    """
    unchanged: float
    """`off` if the rule had left the window as it was."""

    def fits(self, off: float) -> bool:
        """Whether that growth and rounding to whole bytes explain a deviation."""
        return -4 * BYTES <= off <= self.grown + 4 * BYTES


def _changes(controller: str) -> dict[str, list[Step]]:
    """The steps of Couple+ in a log of 60 s, by kind."""
    log, factor = captured(("duration=60 s",), controller), FACTORS[controller]
    steps: dict[str, list[Step]] = {"asked": [], "noise": [], "congestion": []}
    held = 0.0
    for t, kind, timeout in verdicts(log):
        before, after = log.window(t, before=True), log.window(t)
        grown = log.acknowledged(t) / (1.0 if log.in_slow_start(t) else before)
        if kind == "asked":
            steps[kind].append(Step(after / factor - before, grown, before / factor - before))
            held = after / factor - after
        elif kind == "noise":
            steps[kind].append(Step(after - before - held, grown, -held))
        elif not timeout:
            half = max(before / 2, FLOOR)
            steps[kind].append(Step(2 * (after - half), grown, 2 * (before - half)))
    return steps


@PAPER.claim("alg.transient_state")
def transient_state(claim: Claim, lab: Laboratory) -> Finding:
    """Windows at each step of the state machine, in logs of 60 s with the TCP."""
    checks, rows = [], []
    names = {"asked": "on_enter", "noise": "on_noncongestion", "congestion": "on_congestion"}
    for controller, factor in FACTORS.items():
        steps = _changes(controller)
        told = []
        for kind, key in names.items():
            fits = all(step.fits(step.off) for step in steps[kind])
            telling = sum(not step.fits(step.unchanged) for step in steps[kind])
            checks.append(holds(f"{key}, {controller}", claim.expected[key], fits and telling >= 2))
            told.append(f"{telling} of {len(steps[kind])} {kind}")
        worst = max(float(np.median([abs(s.off) for s in own])) for own in steps.values())
        rows.append(
            f"{controller}: twnd at {factor:g} cwnd, {', '.join(told)}, median deviation at most {worst:.3f} segments"
        )
    checks.append(holds("limit", claim.expected["limit"], _limited()))
    why = (
        f"The window that limits sending, before and after each step, less the rule; what remains is at most "
        "the growth by the same ACK. Counted are steps that would not fit had the window stayed as it was. "
        f"{'; '.join(rows)}. Exact tests of the state machine: {TESTS}."
    )
    return finding(claim, "structure", checks, why)


def _limited() -> bool:
    """Whether the scripted run sends no new data while more than twnd is in flight."""
    log = scripted(1)
    (asked,) = [t for t, kind, _ in verdicts(log) if kind == "asked"]
    (noise,) = [t for t, kind, _ in verdicts(log) if kind == "noise"]
    inside = sum(asked <= c.t_s < noise for c in log.sent)
    told = sum(asked <= a.t_s < noise for a in log.told)
    held = log.window(asked, before=True) - log.window(asked)
    return told - inside >= held - 2


def counted(log: Captured) -> list[tuple[float, int, int, bool]]:
    """Episodes that neither decoding nor loss recovery ended. For each: its time, the counter then
    and one ACK earlier, and whether the verdict was congestion."""
    found = []
    steps = verdicts(log)
    recoveries = set(log.events.times("recovery"))
    for (asked, kind, _), (end, verdict, timeout) in pairwise(steps):
        if kind != "asked" or verdict == "asked" or timeout:
            continue
        inside = [a for a in log.told if asked - 1e-9 <= a.t_s <= end + 1e-9]
        if (verdict == "noise" and inside[-1].lost == 0) or (
            verdict == "congestion" and end not in recoveries
        ):
            continue
        *_, before, final = [inside[0], *inside]
        if final.first_unseen == before.first_unseen:
            continue  # a duplicate: it is for duplicate acknowledgements that this was congestion
        counter = last = 0
        for previous, ack in pairwise(inside):
            if ack.first_unseen > previous.first_unseen:
                last, counter = counter, counter + 1 + max(ack.lost - previous.lost, 0)
        found.append((end, counter, last, verdict == "congestion"))
    return found


@PAPER.claim("alg.transient_counter")
def transient_counter(claim: Claim, lab: Laboratory) -> Finding:
    """The counter, made of acknowledgements in captures, at the verdicts that it brings about."""
    checks, rows = [], []
    for r in (1.05, 1.25):
        cycle = math.ceil(float(coding.redundant_cycle(r)) - 1e-9)
        logs = [captured((ROOM, "duration=60 s", *_coded(r, 6)), COUPLE)]
        if r == 1.05:
            logs += [scripted(2), scripted(3), scripted(3, far=True)]
        rest = [row for log in logs for row in counted(log)]
        right = [last < cycle <= counter for _, counter, last, _ in rest]
        checks.append(
            holds(
                f"verdicts at {cycle} of the counter at r = {r:g}",
                "ΔT = r/(r - 1), +1, or +1 and what is newly lost",
                all(right) and len(right) >= 3,
            )
        )
        rows.append(
            f"r = {r:g}: {sum(right)} of {len(rest)}, counters {sorted({row[1] for row in rest})}"
        )
    why = (
        "Adding 1 for each acknowledgement that is not a duplicate, and what it reports newly lost, the counter reaches "
        "ΔT with "
        f"the very acknowledgement that brings the verdict. {'; '.join(rows)}. Exact test: {TESTS}."
    )
    return finding(claim, "structure", checks, why)


def first_verdict(log: Captured) -> str:
    """The verdict on the first question, and its cause."""
    steps = verdicts(log)
    asked = next((t for t, kind, _ in steps if kind == "asked"), math.inf)
    end, kind, timeout = next(step for step in steps if step[0] > asked)
    told = [a for a in log.told if a.t_s <= end + 1e-9]
    decoded = bool(told) and told[-1].lost == 0
    return "timeout" if timeout else f"{kind}, decoded" if kind == "noise" and decoded else kind


DECODE_ONLY = READINGS["decoding alone decides"]


@PAPER.claim("alg.congestion_decision")
def congestion_decision(claim: Claim, lab: Laboratory) -> Finding:
    """Scripted losses: how many, with a round trip that is long or not; and everything in logs with
    the TCP.
    """
    table = {
        "one loss": (scripted(1), "noise, decoded"),
        "one loss, long round trip": (scripted(1, far=True), "noise, decoded"),
        "three losses, short round trip": (scripted(3), "noise"),
        "three losses, long round trip": (scripted(3, far=True), "congestion"),
        "three losses, short round trip, decoding alone decides": (
            scripted(3, controller=DECODE_ONLY),
            "congestion",
        ),
        "one loss, long round trip, decoding alone decides": (
            scripted(1, far=True, controller=DECODE_ONLY),
            "noise, decoded",
        ),
        "eight losses (beyond the window: duplicate ACKs)": (scripted(8), "congestion"),
        "one loss, and everything after it": (_silence(), "timeout"),
    }
    found = {name: first_verdict(log) for name, (log, _) in table.items()}
    checks = []
    for name, (_, want) in table.items():
        key = KEYS.get(name)
        label = f"{key}: {name}" if key else name
        checks.append(holds(label, claim.expected[key] if key else want, found[name] == want))
    steps = [kind for _, kind, _ in verdicts(captured(("duration=60 s",), COUPLE))]
    pairs = all((a == "asked") != (b == "asked") for a, b in pairwise(steps))
    checks.append(holds("each question has one verdict", "one", pairs and steps[0] == "asked"))
    early, none = early_verdicts("64 kB"), early_verdicts("4 MB")
    checks.append(
        holds(
            "buffer_nearly_full", claim.expected["buffer_nearly_full"], len(early) > 0 == len(none)
        )
    )
    rows = "; ".join(f"{name}: {got}" for name, got in found.items())
    why = (
        f"One coded path (r = 1.05, ΔT = 21, W = 6), twenty segments under way, losses scripted: {rows}. With the TCP for "
        "60 s and a "
        f"receive buffer of 64 kB {len(early)} verdicts of congestion come before ΔT and without duplicates or a timeout, "
        "since less "
        f"than a tenth of the window is left to send; {len(none)} with 4 MB. What is left counts data under way: the "
        "receiver held "
        f"{min(early, default=0):.0f} to {max(early, default=0):.0f} kB then. The table of all combinations is tested in "
        f"{TESTS}."
    )
    return finding(claim, "structure", checks, why)


KEYS = {
    "one loss": "decoded_before_threshold",
    "three losses, long round trip": "undecoded_and_rtt_ge_2min",
    "one loss, and everything after it": "dupack_or_timeout",
}


@cache
def early_verdicts(buffer: str) -> list[float]:
    """Data held by the receiver, in kB, at each verdict of congestion that neither ΔT nor loss
    recovery explains.
    """
    change = (f"flow.multipath.transport.receive_buffer={buffer}", "flow.multipath.transfer=1 GB")
    log = captured((*change, "duration=60 s", "sample=10 ms"), COUPLE)
    series = log.result.runs[0].series
    held = np.asarray(series.flows.held_bytes)[:, 0] / 1e3
    found = []
    for end, counter, _, congestion in counted(log):
        if congestion and counter < CYCLE:
            found.append(float(np.interp(end, series.t_s, held)))
    return found


def _silence() -> Captured:
    """One packet is lost, then everything."""
    change = 'link.wireless.change=[{at="3.01 s",loss=1},{at="3.0105 s",loss=0},{at="3.013 s",loss=1},{at="4.5 s",loss=0}]'
    return captured((*SCRIPTED, change), COUPLE, 0)


@PAPER.claim("alg.family", *family(), *lossy())
def family_order(claim: Claim, lab: Laboratory) -> Finding:
    """Exact increments, and shares of the path that a TCP shares, without coding."""
    random = np.random.default_rng(9)
    exactly = {name: True for name in ("ewtcp", "semicoupled", "fully-coupled", "lia")}
    for _ in range(100):
        n = int(random.integers(2, 5))
        w, rtt, p = random.uniform(2, 60, n), random.uniform(0.02, 0.2, n), np.full(n, 0.01)
        alpha = w.sum() * (w / rtt**2).max() / (w / rtt).sum() ** 2
        rules = {
            "ewtcp": (1 / n**2 / w, w / 2),
            "semicoupled": (np.full(n, 1 / n / w.sum()), w / 2),
            "fully-coupled": (np.full(n, 1 / w.sum()), w - w.sum() / 2),
            "lia": (np.minimum(alpha / w.sum(), 1 / w), w / 2),
        }
        for name, (grow, fall) in rules.items():
            exactly[name] &= bool(np.allclose(_core.growth(name, w, rtt, p), grow, rtol=1e-9))
            exactly[name] &= bool(np.allclose(_core.backoff(name, w, rtt, p), fall, rtol=1e-9))
    shares, beside = {}, {}
    for c in FAMILY:
        own = [lab[unequal(c)].path("multipath", p, "goodput_bps")[:, 0] for p in (0, 1)]
        shares[c] = own[1] / (own[0] + own[1])
        rates = competition(lab, congested(c))
        beside[c] = rates[:, SUB1] / (rates[:, SUB0] + rates[:, SUB1])
    order = [("ewtcp", "semicoupled"), ("semicoupled", "fully-coupled")]
    checks = [
        *(
            holds(f"increments and decreases of {name}", "as in the notes", ok)
            for name, ok in exactly.items()
        ),
        hold_together(
            "used_path_order",
            claim.expected["used_path_order"],
            [(shares[a] - shares[b], 0.0, None) for a, b in order],
        ),
    ]
    why = (
        "Share of the path that loses 0.01, beside one that loses 0.005, both by chance and never full: "
        f"{listed(shares)}. On the "
        "paper's network without coding and wireless loss, share of the path beside the TCP in the long run: "
        f"{listed(beside)}; there "
        "no loss is imposed, and what grows slowest is squeezed out by the TCP's full queue. "
        "EWTCP's weight is 1/n², with which it is one TCP in total; `ewtcp:literal` has the 1/√n of the notes."
    )
    return finding(claim, lab.world.name, checks, why)


@cache
def _starts() -> dict[str, tuple[np.ndarray, float, float]]:
    """Each controller on two empty paths: windows of path 0 until its first recovery, and the
    thresholds after it.
    """
    found = {}
    for c in ("reno", *FAMILY, COUPLE):
        change = (ALONE, CLEAN, "flow.multipath.spread=0 s", "duration=10 s", "sample=10 ms")
        (one,) = run(
            load("couple-plus/static"),
            (1,),
            controller=c,
            overrides=change,
            series=True,
            events=True,
        ).runs
        log = one.events_log
        first = min(
            t for t, kind in zip(log.t_s, log.kind, strict=True) if kind in ("recovery", "timeout")
        )
        t_s = np.asarray(one.series.t_s)
        windows = np.asarray(one.series.paths.cwnd_segments)[t_s < first, 0]
        threshold = np.asarray(one.series.paths.ssthresh_segments)
        path = np.argmax(np.isfinite(threshold[np.searchsorted(t_s, first) + 1]))
        after = float(threshold[np.searchsorted(t_s, first) + 1, path])
        found[c] = (windows, after, float(first))
    return found


@PAPER.claim("alg.slow_start_unmodified")
def slow_start(claim: Claim, lab: Laboratory) -> Finding:
    """Windows until the first recovery, and the threshold that it sets, against New Reno on each
    path.
    """
    found = _starts()
    windows, threshold, at = found["reno"]
    checks = [
        holds(
            f"slow start of {c} is New Reno's",
            claim.expected["changed"],
            np.array_equal(found[c][0], windows) and found[c][2] == at,
        )
        for c in FAMILY
    ]
    halves = [c for c in FAMILY if c != "fully-coupled"]
    checks.append(
        holds(
            "the first fast recovery's threshold is New Reno's",
            "halves",
            all(found[c][1] == threshold for c in halves),
        )
    )
    checks.append(
        holds("COUPLED's is lower", "and COUPLED's decrease", found["fully-coupled"][1] < threshold)
    )
    rows = ", ".join(f"{c} {found[c][1]:g}" for c in found)
    why = (
        f"Both paths empty, sampled every 10 ms up to the first recovery at {at:.2f} s, where the window is "
        f"{windows[-1]:g} "
        f"segments. Thresholds after it: {rows}. Couple+ on its path without coding is RTT Compensator."
    )
    return finding(claim, "structure", checks, why)

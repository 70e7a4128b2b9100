"""Chapters 2 and 3: update rules and accounting of the schemes, read from logs of small runs."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np

from ... import _core, theory
from ...statistics import interval, judge
from ..findings import Check, Finding, finding, holds, measured, within, words
from ..laboratory import Laboratory
from ..ledger import Claim
from . import reasons
from .configurations import MOST, over, under
from .definitions import WEIGHTS, mean_interval, weights
from .logs import PathLog, changes, logged
from .paper import BASE, PAPER, shared_name
from .reading import Floats, exact, on_path, share, used

BYTE = 2 / 1448
"""Windows are logged in whole bytes of payload: a difference of two errs by so many segments."""

AVOIDING = "congestion_avoidance"


@PAPER.claim("alg.multi_priority", shared_name(BASE, MOST))
def multi_priority(claim: Claim, lab: Laboratory) -> Finding:
    """One flow is a TCP, all others are in the background."""
    configuration = shared_name(BASE, MOST)
    windows = [on_path(lab, configuration, p, "cwnd_segments").mean() for p in range(MOST)]
    sent = [on_path(lab, configuration, p, "sent_packets").mean() for p in range(MOST)]
    base = sum(window > 2 for window in windows)
    checks = [
        holds("base_flows", claim.expected["base_flows"], base == 1),
        holds("background_flows", claim.expected["background_flows"], MOST - base == MOST - 1),
        holds("data on every path", "striped over all", min(sent) > 0),
    ]
    why = (
        f"Sixteen paths beside a TCP: the base flow's mean window is {windows[0]:.1f} segments, those of the other "
        f"{MOST - 1} are at most {max(windows[1:]):.2f}; they send {sent[0]:.0f} and {min(sent[1:]):.0f} to "
        f"{max(sent[1:]):.0f} packets."
    )
    return finding(claim, lab.world.name, checks, why)


@PAPER.claim("alg.reduced_aggression")
def reduced_aggression(claim: Claim, lab: Laboratory) -> Finding:
    """Growth in a round trip, and the answer to a loss, of the shipped law."""
    rtt, p = np.full(16, 0.1), np.full(16, 0.01)
    points: dict[str, Floats] = {}
    halves = True
    for n in (2, 4, 16):
        w = np.random.default_rng(n).uniform(2, 60, n)
        growth = _core.growth("hacker", w, rtt[:n], p[:n]) * w  # in a round trip
        after = _core.backoff("hacker", w, rtt[:n], p[:n])
        points[f"N = {n}"] = growth[1:] * n
        halves &= bool(np.all(after == w / 2)) and abs(growth[0] - 1) < 1e-9
    worst = max(float(np.max(np.abs(values - 1))) for values in points.values())
    checks = [
        within(
            "growth of a reduced flow in a round trip times N, less 1",
            claim.expected["reduced_increase"],
            exact(worst),
            None,
            0.05,
        ),
        holds(
            "the first flow is a TCP, and a loss halves the flow that saw it",
            claim.expected["loss_response"],
            halves,
        ),
    ]
    why = f"Largest deviation from 1/N segments in a round trip over random windows: {worst:.1e}."
    return finding(claim, "structure", checks, why)


LP_CONFIGURATIONS = (
    shared_name("lp", 1),
    "lp-alone",
    "shared-red-5-alone",
    "lp-alone-drop-tail",
    "shared-drop-tail-5-alone",
)


@cache
def _lp_log() -> PathLog:
    """Log of TCP-LP with a competing TCP on a drop-tail queue."""
    _, (log,) = logged(
        "tse/shared", (over("bottleneck"), under("lp"), "duration=60 s", "warmup=0 s")
    )
    return log


@PAPER.claim("alg.tcp_lp", *LP_CONFIGURATIONS)
def tcp_lp(claim: Claim, lab: Laboratory) -> Finding:
    """Rate of TCP-LP with a competing TCP and alone, and its state machine from a log."""
    log = _lp_log()
    times, before, after = changes(log)
    falls = [(t, b, a) for t, b, a in zip(times, before, after, strict=True) if a < b - BYTE]
    legal = all(abs(a - max(b / 2, 1)) < BYTE or abs(a - 1) < BYTE for _, b, a in falls)
    starts = [t for t, *_ in falls]
    rtt = log.mean_rtt(5, 60)
    rises = [t for t, b, a in zip(times, before, after, strict=True) if a > b + BYTE]
    early = sum(any(s < t < s + 2.5 * rtt for s in starts) for t in rises)
    second = [
        (b, a, t2 - t1)
        for (t1, *_), (t2, b, a) in pairwise(falls)
        if t2 - t1 < 3 * rtt and b > 1 + BYTE
    ]
    at_one = [t for t in log.sent_s if log.window(t) <= 1 + BYTE and t > 10]
    gaps = np.diff(at_one)
    per_rtt = rtt / float(np.median(gaps)) if len(gaps) else float("nan")
    low, high = claim.band("share_vs_tcp")
    checks: list[Check] = [
        within("share_vs_tcp", 0.0, share(lab, LP_CONFIGURATIONS[0]), low, 0.15),
        measured(claim, "empty_link_utilisation", used(lab, LP_CONFIGURATIONS[1], "bottleneck")),
        holds(
            "an indication halves the window, or takes it to one",
            "as stated",
            legal and bool(falls),
        ),
        holds(
            "a second one within 3 round trips takes it to one",
            "as stated",
            all(abs(a - 1) < BYTE for _, a, _ in second),
        ),
        holds("no growth in the inference phase", "as stated", early == 0),
        within("packets in a round trip at window one", "1", exact(per_rtt), 0.85, 1.15),
    ]
    why = (
        f"In a log of 60 s beside a TCP: {len(falls)} reductions, {len(second)} of them within three round trips of the "
        f"one before and from more than one segment; {len(rises)} increases. The share is held against 0.15; the ledger's "
        f"0.10 would be {words(judge(interval(share(lab, LP_CONFIGURATIONS[0])), low, high))}."
    )
    return finding(claim, lab.world.name, checks, why, unless=reasons.own_queue(lab))


@cache
def _lp_yields(window: int) -> tuple[float, float, float]:
    """A TCP-LP with `window` segments in flight on an idle link whose delay grows permanently: its
    window before, round trips from the first indication to one segment, and its round trip then."""
    change = (
        "link.bottleneck.rate=1 Gb/s",
        'link.bottleneck.queue={droptail={packets="1000 packets"}}',
        # Losses in the outage end the first slow start, in which TCP-LP only learns delays.
        'link.bottleneck.change=[{at="8 s", up=false}, {at="8.05 s", up=true}, {at="20 s", delay="45 ms"}]',
        f"flow.ensemble.transport.receive_buffer={window * 1448} B",
        f"flow.ensemble.transport.initial_ssthresh={window}",
        over("bottleneck"),
        under("lp"),
        "flow.tcp.count=0",
        "duration=40 s",
        "warmup=0 s",
    )
    _, (log,) = logged("tse/shared", change)
    times, before, after = changes(log)
    late = times >= 20
    falls = [
        (t, b, a)
        for t, b, a in zip(times[late], before[late], after[late], strict=True)
        if a < b - BYTE
    ]
    first = falls[0]
    reached = next(t for t, _, a in falls if a <= 1 + BYTE)
    rtt = log.mean_rtt(first[0], reached)
    return first[1], (reached - first[0]) / rtt, rtt


@PAPER.claim("mech.lp_faster_than_tcp")
def lp_faster(claim: Claim, lab: Laboratory) -> Finding:
    """Halvings that a TCP needs, and round trips that TCP-LP needs."""
    halvings: dict[int, int] = {}
    rounds: list[Check] = []
    low, high = claim.band("lp_rtts")
    for exponent, window in ((3, 8), (5, 32), (7, 128)):
        w, count = float(window), 0
        while w > 1:
            w = float(_core.backoff("reno", np.array([w]), np.array([0.1]), np.array([0.01]))[0])
            count += 1
        halvings[exponent] = count
        _, needed, _ = _lp_yields(window)
        rounds.append(within(f"lp_rtts from {window} segments", 3, exact(needed), low, high))
    checks = [
        holds(
            "tcp_rtts", claim.expected["tcp_rtts"], all(k == count for k, count in halvings.items())
        ),
        *rounds,
    ]
    starts = ", ".join(
        f"{_lp_yields(w)[0]:.0f} segments: {_lp_yields(w)[1]:.2f}" for w in (8, 32, 128)
    )
    why = (
        "An idle link's delay grows by 20 ms for good. Round trips from TCP-LP's first indication to one segment, by its "
        f"window before: {starts}. A TCP that halves once per round trip needs 3, 5 and 7 from 8, 32 and 128 segments."
    )
    return finding(claim, "structure", checks, why)


@cache
def _ensemble_log() -> tuple[PathLog, PathLog]:
    """Multi-Priority TCP whose base path is the slower of two, so that answers to probes come
    between its turns.
    """
    change = ("link.first.delay=50 ms", under(BASE), "duration=120 s", "warmup=0 s")
    _, (base, other) = logged("tse/two-paths", change)
    return base, other


def _accounts() -> tuple[Floats, Floats, Floats]:
    """Deviations of the base window from the rule: when a probe was lent, at slow and at fast
    answers.
    """
    base, other = _ensemble_log()
    own = {t: (float(b), float(a)) for t, b, a in zip(*changes(other), strict=True)}
    base_acks, other_acks = set(base.acked_s), set(other.acked_s)
    lent, slow, fast = [], [], []
    for t, before, after in zip(*changes(base), strict=True):
        if base.state(t) != AVOIDING or t not in own:
            continue
        was, now = own[t]
        if t in base_acks and t not in other_acks and (was, now) == (0.0, 1.0):
            lent.append(after - before - (1 / before - 1))  # its own growth, less the lent segment
        elif t in other_acks and t not in base_acks and was == 1:
            earned = 1 / (before + 1)  # w_B has the packet that is lent
            if now == 0:
                slow.append(after - before - (1 + earned))
            elif now == 2:
                fast.append(after - before - 1)
    return np.array(lent), np.array(slow), np.array(fast)


@PAPER.claim("alg.packet_borrowing")
def borrowing(claim: Claim, lab: Laboratory) -> Finding:
    """Each probe takes one packet off the base window, which never falls below one."""
    base, _ = _ensemble_log()
    lent, _, _ = _accounts()
    least = float(base.windows[base.changed_s > 5.0].min())
    checks = [
        within(
            "charge for a probe less 1 packet, largest of all",
            claim.expected["charge"],
            exact(float(np.max(np.abs(lent)))),
            None,
            BYTE,
        ),
        within("smallest base window", "never below 1", exact(least), 1.0, None),
        holds("probes seen", "many", len(lent) >= 100),
    ]
    why = (
        f"{len(lent)} probes in a log of 120 s, by windows in whole bytes; the growth by the base flow's own ACK at that "
        "moment is subtracted."
    )
    return finding(claim, "structure", checks, why)


@PAPER.claim("alg.packet_returning")
def returning(claim: Claim, lab: Laboratory) -> Finding:
    """The packet comes back with its answer, and 1/cwnd_B more if that is slow."""
    _, slow, fast = _accounts()
    checks = [
        within(
            "slow answer: change less (1 + 1/cwnd_B)",
            "1/cwnd_B",
            exact(float(np.max(np.abs(slow)))),
            None,
            BYTE,
        ),
        within(
            "fast answer: change less 1",
            "0, the LP window grows",
            exact(float(np.max(np.abs(fast)))),
            None,
            BYTE,
        ),
        holds("answers of both kinds seen", "many", min(len(slow), len(fast)) >= 20),
    ]
    why = (
        f"{len(slow)} slow and {len(fast)} fast answers in a log of 120 s. The packet is charged while it is outstanding and "
        "returns with its answer, which is how the two sentences of Sections 3.1.1 and 3.1.2 agree; taken for good "
        "(`multi-priority:literal`) the base flow ends at a third of a shared link."
    )
    return finding(claim, "structure", checks, why)


@PAPER.claim("alg.probe_rate_limit")
def probe_limit(claim: Claim, lab: Laboratory) -> Finding:
    """Packets of fifteen backed-off flows in a round trip of the base flow, over every ten
    seconds.
    """
    _, logs = logged("tse/shared", (under(BASE), "duration=120 s", "warmup=0 s"))
    base, others = logs[0], logs[1:]
    lent, free, repairs = probes_of(others, 20)

    def most(probes: list[float]) -> float:
        """Probes in a round trip of the base flow, in the ten seconds that have most of them."""
        per_rtt = (
            sum(start <= t < start + 10 for t in probes) * base.mean_rtt(start, start + 10) / 10
            for start in range(20, 111)
        )
        return float(max(per_rtt))

    probes = lent + free
    low, high = claim.band("ensemble_probes_per_rtt")
    checks = [
        within("ensemble_probes_per_rtt: most in any 10 s", 1.0, exact(most(probes)), low, high)
    ]
    why = (
        f"{len(probes)} probes in 100 s, {len(probes) * base.mean_rtt(20, 120) / 100:.2f} in a round trip of the base flow "
        f"on average. Packets that are sent again after a loss are repairs and not probes: {len(repairs)} more."
    )
    moments = set(free)
    down = sum(base.window(t) <= 1 + BYTE for t in moments)
    beyond = (
        f"{len(free)} of the probes leave at {len(moments)} moments at which no background flow waits for a turn; the base "
        f"window is one segment at {down} of them. After a timeout of the base flow this controller has no window to "
        "borrow from, and lets each flow probe for itself until the base flow's next ACK. The sentence of the thesis "
        "knows no such exception. Probes that are sent in turn are at most "
        f"{most(lent):.3f} in a round trip, which is {'in' if high is None or most(lent) <= high else 'beyond'} the band."
    )
    return finding(claim, "structure", checks, why, unless=beyond)


def probes_of(
    others: list[PathLog], after_s: float
) -> tuple[list[float], list[float], list[float]]:
    """Send times of background flows at window one, in three lists: segments lent to them in turn;
    new data while all of them could send, so that none waited for a turn; retransmissions.
    """
    lent: list[float] = []
    free: list[float] = []
    repairs: list[float] = []
    for log in others:
        seen: set[float] = set()
        for t, offset in zip(log.sent_s, log.offsets, strict=True):
            if t > after_s and log.window(t) <= 1 + BYTE:
                nobody_waits = all(other.window(t) >= 1 - BYTE for other in others)
                (repairs if offset in seen else free if nobody_waits else lent).append(t)
            seen.add(offset)
    return lent, free, repairs


@cache
def _bilevel_log() -> list[PathLog]:
    _, logs = logged("tse/two-paths", (under("bilevel"), "duration=120 s", "warmup=0 s"))
    return logs


@PAPER.claim("alg.bilevel_tcp")
def bilevel_tcp(claim: Claim, lab: Laboratory) -> Finding:
    """Actual windows add up to the master's, grow with it, and both levels halve at a loss."""
    logs = _bilevel_log()
    times = np.unique(np.concatenate([log.changed_s for log in logs]))
    windows = np.array([[log.window(t) for log in logs] for t in times])
    total = windows.sum(axis=1)
    acks = [set(log.acked_s) for log in logs]
    grown, shares, halved = [], [], []
    last = -1.0
    for i in range(1, len(times)):
        t = float(times[i])
        if t < 10 or windows[i - 1 : i + 1].min() <= 1 + BYTE:  # less is sent one at a time
            continue
        by = [t in a for a in acks]
        rtt = max(log.mean_rtt(t - 1, t) for log in logs)
        avoiding = all(log.state(t) == AVOIDING for log in logs)
        began = [p for p, log in enumerate(logs) if log.begins("recovery", t)]
        alone = sum(by) == 1 and avoiding  # one path's ACK, and no path in recovery
        if alone and len(began) == 1 and t - last > 2 * rtt:
            p = began[0]
            f = windows[i - 1][p] / total[i - 1]
            halved.append(total[i] / total[i - 1] - 0.5)
            shares.append(windows[i][p] / total[i] - (f / 2) / (1 - f / 2))
        if began:
            last = t
        elif alone and total[i] > total[i - 1]:
            grown.append(total[i] - total[i - 1] - 1 / total[i - 1])
    worst = [float(np.max(np.abs(v))) if len(v) else float("nan") for v in (grown, halved, shares)]
    checks = [
        within(
            "growth of all windows by an ACK less 1/cwnd_M, median",
            claim.expected["on_ack_i"],
            exact(float(np.median(np.abs(grown)))),
            None,
            BYTE,
        ),
        within(
            "all windows after a loss over before, less 1/2, largest",
            claim.expected["on_loss_i"],
            exact(worst[1]),
            None,
            BYTE,
        ),
        within(
            "part of the path that lost, less (f/2)/(1 - f/2), largest",
            claim.expected["actual_cwnd_i"],
            exact(worst[2]),
            None,
            BYTE,
        ),
    ]
    why = (
        f"{len(grown)} ACKs and {len(halved)} losses in a log of 120 s of Bilevel TCP on two paths; f is the path's part of "
        "all windows before the loss."
    )
    return finding(claim, "structure", checks, why)


def _estimated() -> float:
    """The rate of a TFRC at random loss, over the response function of the loss events that its log
    has.
    """
    change = (
        "link.bottleneck.rate=100 Mb/s",
        "link.bottleneck.loss={probability=0.005}",
        over("bottleneck"),
        under("tfrc"),
        "flow.tcp.count=0",
        "duration=120 s",
        "warmup=0 s",
    )
    _, (log,) = logged("tse/shared", change)
    rtt = float(np.median(log.rtts_s))
    _, again = np.unique(log.offsets[::-1], return_index=True)
    last = len(log.offsets) - 1 - again
    lost = np.setdiff1d(np.arange(len(log.offsets)), last)  # segments that are retransmitted later
    starts: list[int] = []
    for number in lost:
        if not starts or log.sent_s[number] - log.sent_s[starts[-1]] > rtt:
            starts.append(int(number))
    ratios = []
    for t in log.acked_s[log.acked_s > 30]:
        arrived = int(np.searchsorted(log.sent_s, t - rtt, side="right"))  # when the report left
        known = [start for start in starts if start < arrived - 3]
        if len(known) < 10:
            continue
        intervals = [float(arrived - known[-1]), *(float(b - a) for a, b in pairwise(known))][::1]
        intervals = [intervals[0], *intervals[:0:-1]]
        predicted = theory.tfrc_rate_bps(1 / mean_interval(intervals), rtt) / 12_000
        ratios.append(log.window(t) / rtt / predicted)
    return float(np.median(ratios))


@PAPER.claim("alg.tfrc_loss_estimator")
def loss_estimator(claim: Claim, lab: Laboratory) -> Finding:
    """The printed weights, the estimator on synthetic intervals, and how often reports come."""
    change = (over("bottleneck"), under("tfrc"), "flow.tcp.count=0", "duration=60 s", "warmup=0 s")
    _, (log,) = logged("tse/shared", change)
    rtt = log.mean_rtt(10, 60)
    reports = np.diff([t for t in log.acked_s if t > 10])
    checks = [
        holds(
            "the weights below are those of the ledger and of the printed formula, a definition",
            claim.expected["weights"],
            list(WEIGHTS) == claim.expected["weights"]
            and np.allclose(weights(8), WEIGHTS, atol=1e-12),
        ),
        within("reports in a round trip", "1", exact(rtt / float(np.median(reports))), 0.9, 1.1),
        within(
            "rate over that of the loss events in the log by eq. 3.2, median over reports",
            "estimate is 1/mean",
            exact(_estimated()),
            0.98,
            1.02,
        ),
    ]
    return finding(
        claim,
        "structure",
        checks,
        f"Reports come every {np.median(reports) * 1e3:.1f} ms, with a round trip of {rtt * 1e3:.1f} ms.",
    )


@PAPER.claim(
    "alg.bilevel_tfrc", "bilevel-tfrc-equal-loss", "tfrc-equal-loss", "bilevel-tfrc-unequal-loss"
)
def bilevel_tfrc(claim: Claim, lab: Laboratory) -> Finding:
    """Rates of two paths with imposed losses, compared with eq. 3.1 and 3.3."""
    same, one = (
        lab[name].rate("ensemble") for name in ("bilevel-tfrc-equal-loss", "tfrc-equal-loss")
    )
    configuration = "bilevel-tfrc-unequal-loss"
    rates = np.array([on_path(lab, configuration, p) for p in (0, 1)])
    loss = np.array([on_path(lab, configuration, p, "loss") for p in (0, 1)])
    rtt = np.array([on_path(lab, configuration, p, "srtt_s") for p in (0, 1)])
    response = np.vectorize(lambda p, r: theory.tfrc_rate_bps(p, r))
    nominal = response(loss, rtt)
    combined = (loss * nominal).sum(axis=0) / nominal.sum(axis=0)
    master = response(combined, (rtt * nominal).sum(axis=0) / nominal.sum(axis=0))
    checks = [
        within(
            "two paths of one loss over one path of it",
            "combined loss is that loss",
            same / one,
            0.9,
            1.1,
        ),
        within(
            "rates of two paths over each other, over R_1/R_2",
            claim.expected["subflow_rate"],
            (rates[0] / rates[1]) / (nominal[0] / nominal[1]),
            0.9,
            1.1,
        ),
        within(
            "sum of rates over X(f_M)",
            claim.expected["f_lost_master"],
            rates.sum(axis=0) / master,
            0.9,
            1.1,
        ),
    ]
    summed = response(loss.sum(axis=0), rtt.mean(axis=0))
    why = (
        f"With 0.5 and 2 % of loss the paths have {interval(rates[0] / 1e6)} and {interval(rates[1] / 1e6)} Mb/s; eq. 3.1 "
        f"and 3.3 with the measured losses and round trips give {interval(master / 1e6)} in all, a plain sum of loss "
        f"rates would give {interval(summed / 1e6)}. Bands of 10 % allow for the noise of loss estimates over eight intervals."
    )
    return finding(claim, lab.world.name, checks, why)

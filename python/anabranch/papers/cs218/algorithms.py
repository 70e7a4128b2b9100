"""Algorithms: laws against formulas typed out here, and schemes at every acknowledgement of small
runs.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ... import _core
from ..findings import Finding, finding, holds, measured, within
from ..laboratory import Laboratory
from ..ledger import Claim
from . import logs, small
from .configurations import CALLED, CAPPED, COUPLED, CS218, EWTCP, LIA, RENO
from .logs import BYTE, Log, Step, replayed
from .paired import Floats
from .paper import PAPER
from .reading import exact

EXACT = 1e-9
"""Relative error allowed for update rules."""
STATES = 2000
"""Random states at which rules are compared."""
TESTS = "crates/control/src/laws/cs218.rs"
BYTES_ALLOWED = 1.0
"""Windows are logged in whole bytes: growth is known within one."""

Rule = Callable[[Floats, Floats], Floats]
"""A function of windows in segments and RTTs in s, shape (paths,) each, with a value per path."""


def off(controller: str, grow: Rule, fall: Rule) -> tuple[float, float]:
    """Largest relative deviations of growth and of the window after a loss from two rules, over
    random states.
    """
    random = np.random.default_rng(218)
    worst = np.zeros(2)
    for _ in range(STATES):
        n = int(random.integers(2, 9))
        w, rtt = random.uniform(1, 200, n), random.uniform(0.01, 0.5, n)
        p = np.full(n, 0.01)
        got = (_core.growth(controller, w, rtt, p), _core.backoff(controller, w, rtt, p))
        for number, (have, rule) in enumerate(zip(got, (grow, fall), strict=True)):
            want = rule(w, rtt)
            scale = np.maximum(np.abs(want), 1e-6)
            worst[number] = max(worst[number], float(np.max(np.abs(have - want) / scale)))
    return float(worst[0]), float(worst[1])


def half(w: Floats, rtt: Floats) -> Floats:
    """A loss halves the window."""
    return w / 2


def judged(claim: Claim, controller: str, grow: Rule, fall: Rule, why: str) -> Finding:
    """Both rules of a law, and its evidence."""
    grown, fallen = off(controller, grow, fall)
    checks = [
        holds("increase", claim.expected["increase"], grown < EXACT),
        holds("decrease", claim.expected["decrease"], fallen < EXACT),
    ]
    numbers = (
        f"`{controller}` in {STATES} random states of two to eight paths: growth within {grown:.1e} and window after a loss "
        f"within {fallen:.1e} of the formula."
    )
    return finding(claim, "structure", checks, f"{numbers} {why}")


@PAPER.claim("alg.ewtcp")
def ewtcp(claim: Claim, lab: Laboratory) -> Finding:
    """a/w_r with a = 1/√n, and half."""
    why = (
        "With a = 1/√n two paths take 2^¾ = 1.68 TCPs where both lose alike, which is not the fairness that the report "
        "ascribes to EWTCP; `ewtcp` has a = 1/n² and is one TCP in total."
    )
    return judged(claim, EWTCP, lambda w, rtt: 1 / np.sqrt(len(w)) / w, half, why)


@PAPER.claim("alg.fully_coupled")
def fully_coupled(claim: Claim, lab: Laboratory) -> Finding:
    """1/w_total, less half of the total, and the floor."""
    grown, fallen = off(
        COUPLED, lambda w, rtt: np.full(len(w), 1 / w.sum()), lambda w, rtt: w - w.sum() / 2
    )
    floors = [_core.window_after_loss(COUPLED, w, n) for w in (2.0, 8.0, 50.0) for n in (2, 3)]
    checks = [
        holds("increase", claim.expected["increase"], grown < EXACT),
        holds("decrease", claim.expected["decrease"], fallen < EXACT and set(floors) == {2.0}),
    ]
    why = (
        f"`{COUPLED}` in {STATES} random states: growth within {grown:.1e}, window after a loss, before its floor, within "
        f"{fallen:.1e}; of two or three equal paths none keeps more than the floor of 2 segments, "
        "that of RFC 5681; the report does not state one."
    )
    return finding(claim, "structure", checks, why)


@PAPER.claim("alg.uncoupled")
def uncoupled(claim: Claim, lab: Laboratory) -> Finding:
    """1/w_r, and half."""
    why = "NewReno on each path; ssthresh is at least 2 segments there (RFC 5681, equation 4)."
    return judged(claim, RENO, lambda w, rtt: 1 / w, half, why)


def equation_2(w: Floats, rtt: Floats) -> Floats:
    """Equations (1) and (2) of the report, for a segment."""
    alpha = w.sum() * (w / rtt**2).max() / (w / rtt).sum() ** 2
    return np.asarray(np.minimum(alpha / w.sum(), 1 / w))


@PAPER.claim("alg.rtt_compensator")
def rtt_compensator(claim: Claim, lab: Laboratory) -> Finding:
    """Equations (1) and (2), and half."""
    printed, _ = off(LIA, lambda w, rtt: np.minimum(1 / np.sqrt(len(w)) / w.sum(), 1 / w), half)
    why = (
        "Section 1 prints a = 1/√n for RTT Compensator as well. That is EWTCP's and contradicts equation (1), which gives up "
        f"to {1 + printed:.0f} times as much in these states."
    )
    return judged(claim, LIA, equation_2, half, why)


@PAPER.claim("alg.compound_window")
def compound_window(claim: Claim, lab: Laboratory) -> Finding:
    """Two windows that are reckoned apart, against the one that a run has, before and after a queue
    forms.
    """
    rows = logs.compound(small.drained("compound"))
    wrong = max(abs(row.cwnd + row.dwnd - row.logged) for row in rows) / BYTE
    peak = max(range(len(rows)), key=lambda i: rows[i].dwnd)
    least = min(row.dwnd for row in rows[peak:])
    checks = [
        holds("form", claim.expected["form"], wrong <= BYTES_ALLOWED),
        holds(
            "the delay-based part grows while there is no queue, and retreats when one forms",
            "growing fast on underused paths and retreating",
            rows[0].dwnd == 0.0
            and rows[peak].dwnd > rows[peak].cwnd
            and least < rows[peak].dwnd / 2,
        ),
    ]
    why = (
        f"A path of 100 Mb/s and 100 ms that falls to 40 Mb/s at 5 s, {len(rows)} acknowledgements without a loss: Reno's "
        "window and `dwnd` as Tan et al. define them, each reckoned by itself from the logged round trips, add up to the "
        f"logged window within {wrong:.2f} bytes. `dwnd` reaches {rows[peak].dwnd:.0f} segments beside a Reno's window of "
        f"{rows[peak].cwnd:.0f}, and falls to {least:.0f} as the queue forms. CS218_ALGO keeps no such window: its DWND is "
        "made anew at each acknowledgement."
    )
    return finding(claim, "structure", checks, why)


def first_boosted(log: Log) -> list[int]:
    """After each loss: the number of the first acknowledgement at which the window grows beyond
    LIA's, by a byte.
    """
    steps = replayed(log, logs.lia)
    ends = [loss.t_s for loss in log.losses[1:]] + [np.inf]
    found = []
    for loss, end in zip(log.losses, ends, strict=True):
        own = (s for s in steps if s.moment.path == loss.path and loss.t_s < s.moment.t_s <= end)
        found.append(next((s.count for s in own if s.off > BYTE), 0))
    return found


def most_bytes(steps: list[Step]) -> float:
    """The largest deviation at an acknowledgement, in bytes."""
    return max(abs(step.off) for step in steps) / BYTE


def halved(controller: str) -> tuple[float, int]:
    """Largest deviation of a window after a loss from half, in bytes, and the number of losses."""
    losses = small.watched(controller).losses
    return max(abs(loss.after - loss.before / 2) for loss in losses) / BYTE, len(losses)


@PAPER.claim("alg.cs218")
def cs218(claim: Claim, lab: Laboratory) -> Finding:
    """The pseudo code, replayed at every acknowledgement of a run with scripted losses."""
    rules = {CS218: logs.twice, CAPPED: logs.capped}
    steps = {c: replayed(small.watched(c), rule) for c, rule in rules.items()}
    worst = {c: most_bytes(steps[c]) for c in rules}
    firsts = first_boosted(small.watched(CS218))
    wrong, events = halved(CS218)
    low, high = claim.band("first_ack_with_dwnd")
    published = claim.expected["first_ack_with_dwnd"]
    checks = [
        holds("dwnd", claim.expected["dwnd"], worst[CS218] <= BYTES_ALLOWED),
        *(
            within(f"first ack with dwnd, {name}", published, exact(value), low, high)
            for name, value in (("earliest", min(firsts)), ("latest", max(firsts)))
        ),
        holds("decrease", claim.expected["decrease"], wrong <= BYTES_ALLOWED and events > 0),
        holds(
            f"`{CAPPED}`: α + DWND inside min(., 1/w_r)",
            "kept as an option",
            worst[CAPPED] <= BYTES_ALLOWED,
        ),
    ]
    log = small.watched(CS218)
    others = {
        CALLED[CAPPED]: most_bytes(replayed(log, logs.capped)),
        "RTT Compensator": most_bytes(replayed(log, logs.lia)),
        "a threshold of 4": most_bytes(replayed(log, logs.twice, 4)),
        "a threshold of 6": most_bytes(replayed(log, logs.twice, 6)),
    }
    alphas = [2 * logs.linked(m.before, m.srtts_s) * m.before.sum() for m in log.moments]
    why = (
        f"Two paths of 50 and 200 ms, {events} losses: each of {len(steps[CS218])} acknowledgements in congestion avoidance "
        f"moves the window as RTT Compensator's increment times 1 + DWND/α does, within {worst[CS218]:.2f} bytes (windows are "
        f"logged in whole ones); `{CAPPED}` its own rule within {worst[CAPPED]:.2f}. Other rules are off by up to "
        f"{', '.join(f'{name} {value:.0f}' for name, value in others.items())} bytes at one. As printed, CWND = α + DWND "
        f"would be a window of {max(alphas):.2f} segments at most. A new smallest round trip counts as one "
        "that equals it, where the literal order would give more than twice for one acknowledgement. Exact tests: "
        f"{TESTS}."
    )
    return finding(claim, "structure", checks, why)


def factor(steps: list[Step]) -> float:
    """Growth relative to that of RTT Compensator."""
    return sum(step.grown for step in steps) / sum(step.expected for step in steps)


@PAPER.claim("theory.best_worst")
def best_worst(claim: Claim, lab: Laboratory) -> Finding:
    """Growth over RTT Compensator's at acknowledgements with the best round trip, and with 10,000
    times that.
    """
    near = [
        step
        for step in replayed(small.watched(CS218), logs.lia)
        if step.boost == 1.0 and (step.moment.srtts_s > 0).all()
    ]
    far = [step for step in replayed(small.far(CS218), logs.lia) if 0 < step.boost <= 1.0001e-4]
    checks = [
        measured(claim, "factor_best", exact(factor(near))),
        measured(claim, "factor_worst", exact(factor(far))),
    ]
    why = (
        f"Growth of the logged windows over what equations (1) and (2) give: {factor(near):.5f} at {len(near)} "
        f"acknowledgements whose round trip is the best, {factor(far):.5f} at {len(far)} with 10 s after 1 ms. The "
        'text has the best case where the last round trip is "greater than or equal" to the best; it is where it equals it.'
    )
    return finding(claim, "structure", checks, why)


@PAPER.claim("mech.reduction_same")
def reduction_same(claim: Claim, lab: Laboratory) -> Finding:
    """Windows after a loss."""
    laws = {c: off(c, lambda w, rtt: w, half)[1] for c in (EWTCP, RENO, LIA)}
    found = {c: halved(c) for c in (CS218, CAPPED)}
    checks = [
        *(holds(f"new window, {CALLED[c]}", "old/2", wrong < EXACT) for c, wrong in laws.items()),
        *(
            holds(f"new window, {CALLED[c]}", "old/2", events > 0 and wrong <= BYTES_ALLOWED)
            for c, (wrong, events) in found.items()
        ),
    ]
    rows = ", ".join(
        f"`{c}` {events} losses within {w:.2f} bytes" for c, (w, events) in found.items()
    )
    why = (
        f'In logs: {rows}. Laws in {STATES} random states. "The same as others" is the same as all but Fully Coupled, '
        "which Section 1 has give up half of the total."
    )
    return finding(claim, "structure", checks, why)

"""Why something did not come out: the best explanation, with numbers from the runs at hand."""

from __future__ import annotations

from ..laboratory import Laboratory
from . import oracle
from .paper import SIZES, scenario_a

FLAPPY = (
    "Fully coupled control is dominated by one path far more often than all others, whose fractions "
    "are nearly zero: the claim's point holds, but the order of numbers that small says little."
)

SHORTEST_TIMER_S = 0.04
"""The shortest timer of Linux's delayed ACK (`TCP_ATO_MIN`)."""

UNRESPONSIVE = (
    "OLIA's freed path stays near one segment: its rate term is (w_2/rtt^2)/(x_1+x_2)^2, tiny "
    "beside a full path with a large window, and its second term needs the path to "
    "be a best one, that is to acknowledge more between losses than the other path does, which takes "
    "minutes at one segment per round trip. Peng et al. 2016 call OLIA unresponsive for this reason. "
    "The published statement rests on a companion paper's scenario that this document does not give."
)


def olia(lab: Laboratory, scenario: str, harmed: str) -> str:
    """OLIA's gain over LIA under the rule, and the effect of the ssthresh floor and
    delayed ACKs.
    """
    needed = [f"{scenario}-{name}" for n1 in SIZES for name in _steps(n1)]
    if any(name not in lab.results for name in needed):
        return ""
    gains = []
    for n1 in SIZES:
        floored, each, rule = (
            _mean(lab, f"{scenario}-{other}", harmed) - _mean(lab, f"{scenario}-{lia}", harmed)
            for lia, other in zip(_steps(n1)[:3], _steps(n1)[3:], strict=True)
        )
        gains.append(f"{floored:.2f}, {each:.2f} and {rule:.2f} Mb/s at N1 = {n1}")
    return (
        "OLIA's gain over LIA with an ACK for each packet and a floor of ssthresh of one segment under "
        "both, with each law's own floor, and with delayed ACKs as well: "
        f"{'; '.join(gains)}. {_waits(lab, scenario)}"
    )


def _waits(lab: Laboratory, scenario: str) -> str:
    """Whether segments on OLIA's second path wait for the delayed-ACK timer, at N1 = 30."""
    each, rule = (_second_round_trip_s(lab, f"{scenario}-olia-30{end}") for end in ("-each", ""))
    seen = (
        f"OLIA's second path has a round trip of {each * 1e3:.0f} ms with an ACK for each packet, and of "
        f"{rule * 1e3:.0f} ms where the receiver may delay it (N1 = 30)."
    )
    if rule - each > SHORTEST_TIMER_S / 2:
        return f"{seen} A lone segment waits for the timer, and OLIA leaves that path alone."
    seen += (
        " So lone segments do not wait for the timer here, and OLIA does not leave that path alone."
    )
    grown = f"{scenario}-olia-30-1mib"
    if grown not in lab.results:
        return seen
    return (
        f"{seen} With a receive buffer of 1 MiB, whose window stops growing, it has "
        f"{_second_round_trip_s(lab, grown) * 1e3:.0f} ms: Linux sends ACKs at once while the window grows."
    )


def _second_round_trip_s(lab: Laboratory, configuration: str) -> float:
    """The mean srtt of the second path of users with two paths."""
    users = "type1" if configuration.startswith("a-") else "multipath"
    return float(lab[configuration].path(users, 1, "srtt_s").mean())


def _mean(lab: Laboratory, configuration: str, users: str) -> float:
    """The mean rate of a class over all replications, in Mb/s. Measurements may have lost some."""
    return float(lab[configuration].rate(users).mean()) / 1e6


def _steps(n1: int) -> tuple[str, ...]:
    """Configurations under LIA, and then under OLIA, from an ACK for each packet to the rule."""
    return (
        f"lia-{n1}-each-floor1",
        f"lia-{n1}-each",
        f"lia-{n1}",
        f"olia-{n1}-each",
        f"olia-{n1}-each",
        f"olia-{n1}",
    )


def scenario_a_lia(lab: Laboratory, n1: int) -> str:
    """Scenario A: the effect of the second path's longer RTT and small windows."""
    configuration = lab[f"a-lia-{n1}"]
    rtt = [configuration.path("type1", path, "srtt_s").mean() * 1e3 for path in (0, 1)]
    equal = oracle.fixed_point("scenario-a", "lia", scenario_a(n1))["type2"]
    queues = oracle.fixed_point_with_queues("scenario-a", "lia", scenario_a(n1))["type2"]
    return (
        f"Type 1's second path crosses both queues: its round trip is {rtt[1]:.0f} ms against "
        f"{rtt[0]:.0f} ms of the first. Theory with equal round trips gives type 2 {equal:.3f} Mb/s, "
        f"with these {queues:.3f}. {small_windows(lab, n1)}"
    )


def small_windows(lab: Laboratory, n1: int = 30) -> str:
    """Scenario A: the second path's window, and the effect of the ssthresh floor and
    delayed ACKs.
    """
    configuration = lab[f"a-lia-{n1}"]
    window = configuration.path("type1", 1, "cwnd_segments").mean()
    timeouts = configuration.path("type1", 1, "timeouts").mean()
    watched_s = configuration.plan.duration_s - configuration.plan.warmup_s
    known = (
        f"At N1 = {n1} the second path's window is {window:.1f} segments, with {timeouts:.0f} timeouts "
        f"per user in {watched_s:g} s, which theory does not know."
    )
    names = [f"a-lia-{n1}{end}" for end in ("-each-floor1", "-each", "")]
    if any(name not in lab.results for name in names):
        return known
    one, own, rule = (lab[name].rate("type2").mean() / 1e6 for name in names)
    return (
        f"{known} Type 2 has {one:.2f} Mb/s with an ACK for each packet and a floor of ssthresh of one "
        f"segment, {own:.2f} with LIA's own floor of two, which makes the second path more aggressive, "
        f"and {rule:.2f} with delayed ACKs as well."
    )

"""Balance of congestion: what users of one path have left."""

from ..criterion import PERCENT, Case, Criterion
from ..goals import at_least
from ..multipath_measures import link, of_optimum

MEASURED = ("duration=120 s", "warmup=30 s")
SCENARIO_C = ("flow.tcp-on-first.count=0", "flow.tcp-on-second.count=10")
SCENARIO_A = (
    "flow.subject.count=10",
    "flow.tcp.count=10",
    'flow.tcp.path=[{ links = ["second-line", "second-access"], back = ["back"] }]',
    "link.first-access.rate=100 Mb/s",
    *link("second-access", 10),
)


def _scenario_c(users: int) -> Case:
    """Users with a link of their own and one that others need."""
    overrides = (*MEASURED, *SCENARIO_C, f"flow.subject.count={users}")
    return Case(f"scenario C, {users} users", "rfc9743/two-links", overrides)


CRITERION = Criterion(
    name="balance",
    title="Rate of single-path users over the optimum",
    section="7.10",
    level="SHOULD",
    question="Do users leave a congested path to those who have no other?",
    method=(
        "Mean rate of 10 Reno TCPs on a link of 10 Mb/s, over their rate in the optimum of theory: "
        "proportional fairness, in which every path carries at least one segment in a round trip. "
        "Users of the controller have this link beside one of their own (scenario C of "
        "draft-khalili-mptcp-performance-issues-04), or before a link that limits them anyway "
        "(its scenario A)."
    ),
    unit=PERCENT,
    cases=(
        _scenario_c(10),
        _scenario_c(30),
        Case("scenario A, 10 users", "rfc9743/partly-shared", (*MEASURED, *SCENARIO_A)),
    ),
    measure=of_optimum,
    goal=at_least(0.9),
    why=(
        "RFC 6356 Section 2, goal 3: balance congestion. The draft calls more than a fair share for "
        "users with several paths problem P2; a tenth is the margin of `fairness.p2`."
    ),
    theory=True,
)

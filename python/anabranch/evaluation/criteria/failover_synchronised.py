"""Users that fail over at once."""

from ..criterion import PERCENT, Case, Criterion
from ..goals import at_least
from ..mixed_measures import worst_share
from ..multipath_measures import BACKUP, FAILS, FIRST, link

SCENARIO = "rfc9743/two-links"
USERS = (
    *FAILS,
    *link("first", 20),
    *link("second", 20),
    "flow.subject.count=8",
    "flow.tcp-on-first.count=0",
    "flow.tcp-on-second.count=8",
)
CASES = (
    Case("both paths in use", SCENARIO, USERS),
    Case("to a backup", SCENARIO, (*USERS, f"flow.subject.path=[{FIRST}, {BACKUP}]")),
)

CRITERION = Criterion(
    name="failover-synchronised",
    title="TCPs on a link to which 8 users fail over",
    section="7.10",
    level="advice",
    question="Does a TCP starve when eight users fail over to its link at once?",
    method=(
        "Goodput of the worst of 8 Reno TCPs on a link of 20 Mb/s in the 10 s after the other "
        "path of 8 users of the controller goes down, over its fair share, a sixteenth of the link."
    ),
    unit=PERCENT,
    cases=CASES,
    measure=worst_share("tcp-on-second", "second", "goodput_bps"),
    goal=at_least(0.1),
    why=(
        "RFC 9743 §7.10: synchronised failover can harm and reduce fairness. The bound is that of "
        "starvation."
    ),
)

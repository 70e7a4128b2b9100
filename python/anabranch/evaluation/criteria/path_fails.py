"""A path that fails for good."""

from ..criterion import PERCENT, Case, Criterion
from ..goals import at_least
from ..multipath_measures import BACKUP, FAILS, FIRST, FOUR, link, worst_goodput_over

SCENARIO = "rfc9743/two-links"
USERS = (*FOUR, *FAILS)
LONG_WAY = ("link.second-line.delay=150 ms",)

CRITERION = Criterion(
    name="path-fails",
    title="Goodput after a path has failed",
    section="7.10",
    level="MUST",
    question="Does a user starve when one of its two paths fails for good?",
    method=(
        "Goodput of the worst of 4 users in the 10 s after the first of two paths goes down, over "
        "the mean of the 4 Reno TCPs on the other path in the same time. 40 Mb/s and 100 ms with 4 "
        "TCPs on each path; the path that remains is alike, narrow (8 Mb/s), long (200 ms), or was a "
        "backup."
    ),
    unit=PERCENT,
    cases=(
        Case("alike", SCENARIO, USERS),
        Case("narrow path remains", SCENARIO, (*USERS, *link("second", 8))),
        Case("long path remains", SCENARIO, (*USERS, *LONG_WAY)),
        Case("backup", SCENARIO, (*USERS, f"flow.subject.path=[{FIRST}, {BACKUP}]")),
    ),
    measure=worst_goodput_over("tcp-on-second"),
    goal=at_least(0.1),
    why=(
        "RFC 9743 §7.10: failover must not result in flow starvation, which is as for starvation "
        "less than a tenth of what others have. A flow that begins with one segment and grows by one "
        "in a round trip has about half of its rivals' goodput over 10 s here, 80 round trips at "
        "windows of 55."
    ),
    linux=("alike", "narrow path remains"),
)

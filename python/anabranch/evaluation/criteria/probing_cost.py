"""Traffic on a path that should carry least."""

from ..criterion import Case, Criterion, Unit
from ..goals import at_most
from ..multipath_measures import LONG, segments_in_round_trip

SCENARIO = "rfc9743/two-links"

CRITERION = Criterion(
    name="probing-cost",
    title="Traffic on a path that should carry least",
    section="7.10",
    level="advice",
    question="How much does a user with a free path keep sending on a congested one?",
    method=(
        "Segments in a round trip, the mean of the smoothed one with its queueing, on a link of 10 "
        "Mb/s and 100 ms that 8 Reno TCPs use, for a user who has another of 10 Mb/s to itself. "
        "The optimum has one segment, the least that shows the path's state; an uncoupled subflow "
        "has the window of a TCP."
    ),
    unit=Unit("segments"),
    cases=(
        Case(
            "8 TCPs on the second path, none on the first",
            SCENARIO,
            (*LONG, "flow.tcp-on-first.count=0", "flow.tcp-on-second.count=8"),
        ),
    ),
    measure=segments_in_round_trip(1),
    goal=at_most(3.0),
    why=(
        "A window whose threshold rests at RFC 5681's least of 2 segments moves between 2 and 4: "
        "3 in the mean, and this window is sent in each round trip with its queueing. Goal 3 of RFC "
        "6356 asks to move traffic off the most congested path."
    ),
    theory=True,
)

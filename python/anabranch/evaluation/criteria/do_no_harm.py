"""What a user takes on each path."""

from ..criterion import PERCENT, Criterion
from ..goals import at_most
from ..multipath_measures import excess_on_worst_path
from .best_path_gain import CASES

CRITERION = Criterion(
    name="do-no-harm",
    title="Rate on a path over that of a TCP",
    section="7.10",
    level="SHOULD",
    question="Does a user take more on one of its paths than a TCP would there?",
    method=(
        "Rate on a path over that of a Reno TCP in the user's place there, on the path where that is "
        "most, in the runs of best-path-gain."
    ),
    unit=PERCENT,
    cases=CASES,
    measure=excess_on_worst_path,
    goal=at_most(1.1),
    why=(
        "RFC 6356 Section 2, goal 2: on none of its paths more than a single-path flow would take; "
        "a tenth is the tolerance."
    ),
    theory=True,
)

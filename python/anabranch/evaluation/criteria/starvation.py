"""Whether a rival starves."""

from ..criterion import PERCENT, Case, Criterion
from ..goals import at_least
from ..mixed_measures import CONSTRAINED, RIVAL, worst_share
from ..one_link import drop_tail

SCENARIO = "prudentia/rivals"
SHALLOW = drop_tail(8)
MANY = ("flow.subject.count=16",)
LATE = ("flow.rival.start=30 s", "warmup=60 s")


def _under(name: str, *overrides: str) -> tuple[Case, ...]:
    """A case with Reno and one with CUBIC as the rival."""
    return tuple(
        Case(
            name.format(shown),
            SCENARIO,
            (*CONSTRAINED, f"flow.rival.controller={controller}", *overrides),
        )
        for controller, shown in (("reno", "Reno"), ("cubic", "CUBIC"))
    )


CRITERION = Criterion(
    name="starvation",
    title="Starvation of rivals",
    section="5.2",
    level="MUST",
    question="Does a Reno or CUBIC flow starve beside users of the controller?",
    method=(
        "Mean rate of the worst rival over its fair share, which is the capacity divided by the "
        "number of users. Prudentia's link of 8 Mb/s and 50 ms with a queue of 4 BDP or of a "
        "quarter of the BDP; one rival among 16 subjects, 16 rivals of one subject, and a rival "
        "that comes when the subject has the link."
    ),
    unit=PERCENT,
    cases=(
        *_under("16 subjects, 1 {}", *MANY),
        *_under("1 subject, 16 {}", "flow.rival.count=16"),
        *_under("0.25 BDP, 1 subject, 1 {}", SHALLOW),
        *_under("1 subject, 1 {} that comes later", *LATE),
    ),
    measure=worst_share(RIVAL, "bottleneck"),
    goal=at_least(0.1),
    why=(
        "A Reno flow of 200 ms has a tenth of the rate of one of 20 ms at the same loss, which is "
        "as unequal as standard flows on common paths are. Less than that is starvation."
    ),
)

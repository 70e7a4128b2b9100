"""Users that change their windows at once."""

from ..criterion import PERCENT, Case, Criterion
from ..goals import NoWorse
from ..multipath_measures import aggregate_variation, link
from ..one_link import drop_tail

SCENARIO = "rfc9743/two-links"
NO_TCPS = ("flow.tcp-on-first.count=0", "flow.tcp-on-second.count=0", "flow.subject.count=16")


def _drop_tail(packets: int) -> tuple[str, ...]:
    """Overrides that give both links such queues."""
    return tuple(drop_tail(packets, name) for name in ("first", "second"))


USERS = ("duration=120 s", "warmup=20 s", *NO_TCPS, *link("first", 20), *link("second", 20))

CRITERION = Criterion(
    name="synchronisation",
    title="Variation of what 16 users send",
    section="7.10",
    level="advice",
    question="Do users with the same paths move in step?",
    method=(
        "Coefficient of variation over time of the rate at which 16 users send together, in means "
        "over 100 ms. All have the same two links of 20 Mb/s and 100 ms, with RED, and with "
        "drop-tail of a quarter of the BDP and of 1 BDP."
    ),
    unit=PERCENT,
    cases=(
        Case("RED", SCENARIO, USERS, series=True),
        Case("drop-tail, 0.25 BDP", SCENARIO, (*USERS, *_drop_tail(42)), series=True),
        Case("drop-tail, 1 BDP", SCENARIO, (*USERS, *_drop_tail(167)), series=True),
    ),
    measure=aggregate_variation,
    goal=NoWorse(factor=1.25),
    why=(
        "RFC 9743 §7.10: synchronisation can harm. Independent flows vary less in the sum than "
        "flows in step (Appenzeller et al., SIGCOMM 2004). Uncoupled Reno and CUBIC users have the "
        "same paths; a quarter is the tolerance."
    ),
)

"""A link whose rate varies."""

from pathlib import Path

from ..criterion import PERCENT, Case, Criterion
from ..goals import NoWorse
from ..measures import used

CASES = (Case("computed trace", "rfc9743/cellular"),)


def recorded(file: str) -> Case:
    """The case of a recording in the format of mahimahi."""
    override = f"link.cellular.opportunities.file={file}"
    return Case(f"recording {Path(file).name}", "rfc9743/recorded", (override,))


CRITERION = Criterion(
    name="cellular",
    title="Use of a cellular link",
    section="6.4",
    level="advice",
    question="How much of a link whose rate varies does a flow use?",
    method=(
        "Goodput of one flow, headers added, over what the link could carry in 55 s. Its rate "
        "varies from 1.3 to 17 Mb/s with a pace of seconds and is zero for 2 s, its queue has 200 "
        "packets. The trace is computed, at the scale of LTE links: no recording whose licence is "
        "free ships with the laboratory. `--recording FILE` adds a case for one of your own, of which "
        "120 s are run."
    ),
    unit=PERCENT,
    cases=CASES,
    recording=recorded,
    measure=used("cellular"),
    goal=NoWorse(more_is_worse=False),
    why=(
        "RFC 9743 §6.4 asks for capacity that varies over time, and names no threshold. A tenth "
        "less than the lower of Reno's and CUBIC's is the tolerance."
    ),
)

"""Backoff when all feedback is lost."""

from ..criterion import Case, Criterion, Unit
from ..goals import at_most
from ..measures import backoff
from ..one_link import SCENARIO, down, link, times


def silence(name: str, seconds: float, of: str) -> Case:
    """A case in which a link is down for that time."""
    setting = (*link(flows=1), *times(25 + seconds, 5), "sample=20 ms")
    return Case(name, SCENARIO, (*setting, down(20, 20 + seconds, of)), series=True)


CRITERION = Criterion(
    name="timeout-backoff",
    title="Backoff at timeouts",
    section="5.2",
    level="MUST",
    question="Does a sender that hears nothing back off exponentially?",
    method=(
        "Packets that one flow sends in the second half of the time in which the path, or the way "
        "back alone, is down: 10 or 30 s. Timeouts that double bring one in that half, however long "
        "it is; gaps that grow by a factor b bring log 2 / log b. 20 Mb/s and 40 ms. The transport "
        "doubles its timeouts itself, so that this is a question to controllers that send at a rate "
        "of their own; after-timeout asks for the windows of others."
    ),
    unit=Unit("packets"),
    cases=(
        silence("path down for 10 s", 10, "bottleneck"),
        silence("path down for 30 s", 30, "bottleneck"),
        silence("way back down for 30 s", 30, "back"),
    ),
    measure=backoff(),
    goal=at_most(4),
    why=(
        "RFC 9743 §5.2: loss of all feedback must result in backoff. §5.1.1 describes it: down to "
        "one packet in a round trip, from where the time between packets grows exponentially; it "
        "need not be that of RFC 6298, and when it begins is left to the algorithm. So what is sent "
        "on the way down is not counted, and any base will do: four packets are gaps that grow by a "
        "fifth. TFRC, which halves its rate whenever its timer without feedback ends (RFC 5348 "
        "§4.4), backs off in this sense. A packet in each second, RFC 6298's least timeout, would "
        "be 5 and 15."
    ),
)

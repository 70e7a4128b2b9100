"""What is sent again after a timeout."""

from ..criterion import RATIO, Criterion
from ..goals import at_most
from ..measures import sent_in_silence
from .timeout_backoff import silence

CRITERION = Criterion(
    name="after-timeout",
    title="Packets sent after a timeout",
    section="5.1.1",
    level="advice",
    question="How much does a sender send again at its timeouts, before it hears anything?",
    method=(
        "Packets that one flow sends while the path is down for 2 or 10 s, over the number that "
        "doubling timeouts bring in that time: log2(outage / (RTT + 200 ms) + 1), rounded down. "
        "Counted from 200 ms after the link went down on, before any timeout. 20 Mb/s and 40 ms, "
        "with windows of some 100 segments: a sender that ignores a timeout sends all of them again."
    ),
    unit=RATIO,
    cases=(
        silence("path down for 2 s", 2, "bottleneck"),
        silence("path down for 10 s", 10, "bottleneck"),
    ),
    measure=sent_in_silence(),
    goal=at_most(2),
    why=(
        "RFC 9743 §5.1.1 has full backoff go down to one packet in a round trip, and leaves to the "
        "algorithm when. TCP does at its first timeout. Timeouts that grow by a factor of 1.5 "
        "instead of 2, each with one packet, bring less than twice as many. TFRC, which only halves "
        "its rate whenever its timer without feedback ends (RFC 5348 §4.4), sends hundreds of "
        "packets on the way down: it misses this, and meets timeout-backoff."
    ),
)

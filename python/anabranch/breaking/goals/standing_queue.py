"""A queue that stands."""

from __future__ import annotations

import numpy as np

from ..drawing import Needs
from ..kind import Aspects, Goal, Part
from ..trial import Trial
from ..variants import RENO, reno_on_every_path


def score(trial: Trial) -> Aspects:
    """How many round trips the median delay of each queue of the subject is above that with Reno."""
    found = {}
    for place, link in enumerate(trial.plan.links):
        rtts_s = [path.base_rtt_s for path in trial.subject.paths if place in path.links]
        if link.rate_bps is None or not rtts_s:
            continue
        own, twin = (
            trial.link(link.name, "queue_delay_p50_s", *variant) for variant in ((), (RENO,))
        )
        found[link.name] = [Part((own - twin) / float(np.mean(rtts_s)))]
    return found


GOAL = Goal(
    name="standing-queue",
    meaning="The median delay of a queue that the user crosses is longer than with Reno on every path in its place.",
    limit=0.5,
    why="RFC 9743 §5.1.2 has no number; half a round trip more is what every other user of the link feels as half a link more.",
    score=score,
    told="{controller} keeps the queue of link {aspect} {value} longer than Reno does",
    twins=reno_on_every_path,
    needs=Needs(event="never"),
    percent=False,
    unit="round trips",
)

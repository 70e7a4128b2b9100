"""No recovery after an outage or a step of a link's rate."""

from __future__ import annotations

import numpy as np

from ..drawing import Needs
from ..kind import Aspects, Goal, Part
from ..trial import ITSELF, Trial, Values
from ..variants import RENO, RENO_SETTLED, SETTLED, before_and_after

ROUND_TRIPS = 50
LEAST_S = 5.0
"""Time to recover after the event: so many round trips of the subject's longest path, as full
queues make it, and at least so long."""


def late_rate(trial: Trial, variant: str, from_s: float) -> Values:
    """The subject's rate from a time on, in byte/s."""
    total = np.zeros(len(trial.seeds))
    for path in trial.paths:
        for n, (t_s, arrived) in enumerate(trial.arrived(path, variant)):
            first = int(np.searchsorted(t_s, from_s))
            total[n] += (arrived[-1] - arrived[first]) / (t_s[-1] - t_s[first])
    return total


def score(trial: Trial) -> Aspects:
    """What is missing of the rate in the settled network, more than with Reno."""
    ends = [change.at_s for link in trial.plan.links for change in link.changes]
    if not ends:
        return {}
    planned = next(c for c in trial.plan.classes if c.name == "subject")
    rtt_s = max(path.base_rtt_s for path in planned.paths)
    slowest_s = rtt_s + max(
        float(trial.link(name, "queue_delay_p99_s").max()) for name in trial.links
    )
    from_s = max(ends) + max(LEAST_S, ROUND_TRIPS * slowest_s)
    if from_s > trial.plan.duration_s - LEAST_S:
        return {}
    own, calm, reno, reno_calm = (
        late_rate(trial, variant, from_s) for variant in (ITSELF, SETTLED, RENO, RENO_SETTLED)
    )
    if min(calm.mean(), reno_calm.mean()) <= 0:
        return {}
    return {"all paths": [Part(reno / reno_calm.mean() - own / calm.mean())]}


GOAL = Goal(
    name="no-recovery",
    meaning="Fifty round trips after an outage or a step of a link's rate, the user has less of what it would have "
    "without the event than Reno on every path has of its own.",
    limit=0.3,
    why="RFC 9743 §7.8 and §7.9 have no number; who misses a third after fifty round trips has not recovered.",
    score=score,
    told="fifty round trips after the event, {controller} misses {value} more of its rate than Reno",
    twins=before_and_after,
    needs=Needs(event="always"),
    series=True,
    lasting=False,
)

"""No recovery after an outage or a step of a link's rate."""

from __future__ import annotations

import numpy as np

from ...statistics import linearised
from ..drawing import Needs
from ..kind import Aspects, Goal, Part
from ..timing import LEAST_RECOVERY_S, RECOVERY_ROUND_TRIPS
from ..trial import ITSELF, Trial, Values
from ..variants import RENO, RENO_SETTLED, SETTLED, before_and_after


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
    from_s = max(ends) + max(LEAST_RECOVERY_S, RECOVERY_ROUND_TRIPS * trial.full_rtt_s())
    if from_s > trial.plan.duration_s - LEAST_RECOVERY_S:
        return {}
    own, calm, reno, reno_calm = (
        late_rate(trial, variant, from_s) for variant in (ITSELF, SETTLED, RENO, RENO_SETTLED)
    )
    return {"all paths": [Part(linearised(reno, reno_calm) - linearised(own, calm))]}


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

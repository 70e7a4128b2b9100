"""The goals. A goal is a file here and a line below; goals that share a score stand in one file."""

from __future__ import annotations

from . import (
    delays_transfers,
    everybody_loses,
    fixed_points,
    harm_without_gain,
    less_than_best_path,
    loses,
    more_on_a_path,
    more_than_tcp,
    no_recovery,
    oscillates,
    standing_queue,
    starves,
    theory_differs,
    unfair_to_itself,
    wastes,
)

_ALL = (
    less_than_best_path.GOAL,
    more_than_tcp.GOAL,
    more_on_a_path.GOAL,
    starves.GOAL,
    harm_without_gain.GOAL,
    everybody_loses.GOAL,
    unfair_to_itself.GOAL,
    wastes.GOAL,
    delays_transfers.GOAL,
    loses.GOAL,
    standing_queue.GOAL,
    oscillates.GOAL,
    no_recovery.GOAL,
    fixed_points.NONE,
    fixed_points.SEVERAL,
    fixed_points.UNSTABLE,
    theory_differs.GOAL,
)

GOALS = {goal.name: goal for goal in _ALL}
"""Every goal by its name."""

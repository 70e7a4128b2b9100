"""Another user is starved."""

from __future__ import annotations

from dataclasses import replace

from . import more_than_tcp

GOAL = replace(
    more_than_tcp.GOAL,
    name="starves",
    meaning="Another user has less than a quarter of what it has beside a TCP in the user's place. "
    "No link has FQ-CoDel, for which each subflow is a flow of its own.",
    limit=0.75,
    why="a quarter is what a fourth flow leaves of a link that one flow had: nobody would call that the harm of one user.",
)

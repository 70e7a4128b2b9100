"""The world `quic`: a scenario whose TCP users speak QUIC, with a shipped stack at both ends.

Links, queues and all other users are those of the simulation. Users of UDP stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .controller import ControllerLike
from .scenario import Scenario

WORLD = "quic"
"""The name of the world in results."""


_TURNED = re.compile(r"flow\..*\.protocol=quic")


def without(overrides: Sequence[str]) -> list[str]:
    """The overrides without those that the world has added."""
    return [text for text in overrides if not _TURNED.fullmatch(text)]


def overrides_for(
    scenario: Scenario,
    *,
    controller: ControllerLike | None = None,
    overrides: Sequence[str] = (),
) -> list[str]:
    """The overrides, and those that turn each class over TCP into one over QUIC.

    Raises ScenarioError for what the stack cannot do: schedulers, coded or striped paths, options
    of TCP in the table of a class, and controllers that need more than acknowledgements.
    """
    given = list(overrides)
    # Controllers that QUIC alone has are refused until all of their classes are QUIC.
    classes = scenario.plan(overrides=given).classes
    tcp = [one.name for one in classes if one.protocol == "tcp"]
    turned = [*given, *(f"flow.{name}.protocol=quic" for name in tcp)]
    scenario.plan(controller=controller, overrides=turned)
    return turned

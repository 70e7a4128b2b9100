"""What theory says of a scenario that the page shows: rates in equilibrium and at the optimum."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any, TypedDict

from .. import _core
from ..plan import Plan

HEAD_BYTES = 4
"""In front of an answer of the engine: the length of its header, little-endian."""

SOLVING = threading.Lock()
"""Solvers are not made for several threads at once."""

LOOK_S = 0.2
"""While another answer is made: how often to look whether this one is still wanted."""


class Theory(TypedDict):
    """Rates in bit/s for a user of each class; None where theory has no answer."""

    equilibrium: dict[str, int] | None
    optimum: dict[str, int] | None
    why: str
    """Why there is none; empty if there are both."""
    left_out: list[str]
    """Parts of the plan that theory ignores."""


def theory(request: str, wanted: Callable[[], bool] = lambda: True) -> Theory:
    """The equilibrium, as `anabranch theory` computes it, and the proportionally fair allocation of
    the scenario in a request of the page. `wanted` is called while other answers are made.

    Raises ValueError for a request that is not an object in JSON, and what `wanted` raises.
    """
    header = answered(request, "plan")
    if "error" in header:
        why = sentence(header["error"])
        return Theory(equilibrium=None, optimum=None, why=why, left_out=[])
    while not SOLVING.acquire(timeout=LOOK_S):
        wanted()
    try:
        return solved(Plan.from_json(header["plan"]))
    finally:
        SOLVING.release()


def solved(plan: Plan) -> Theory:
    """Both allocations of a plan."""
    from .. import theory as oracle

    found: dict[str, dict[str, int] | None] = {"equilibrium": None, "optimum": None}
    why: dict[str, None] = {}  # in order, each once
    for name in found:
        try:
            network = oracle.Network.from_plan(plan)
            state = (
                oracle.equilibrium(network, rtt="queueing")
                if name == "equilibrium"
                else oracle.optimum(network)
            )
            found[name] = {users: round(bps) for users, bps in state.class_rates_bps.items()}
        except ValueError as error:  # TheoryError is one
            why[sentence(str(error))] = None
    return Theory(
        equilibrium=found["equilibrium"],
        optimum=found["optimum"],
        why=" ".join(why),
        left_out=oracle.left_out(plan),
    )


def answered(request: str, what: str) -> dict[str, Any]:
    """The header of the engine's answer to a request whose `do` is `what`. Raises ValueError if it
    is not an object in JSON.
    """
    try:
        asked = json.loads(request)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the request is not JSON: {error}") from None
    if not isinstance(asked, dict):
        raise ValueError(f"the request is {asked!r:.60}; it must be an object")
    return header_of(_core.page(json.dumps(asked | {"do": what})))


def header_of(answer: bytes) -> dict[str, Any]:
    """The header of an answer of the engine."""
    length = int.from_bytes(answer[:HEAD_BYTES], "little")
    header: dict[str, Any] = json.loads(answer[HEAD_BYTES : HEAD_BYTES + length])
    return header


def sentence(text: str) -> str:
    """An error in one line, with a full stop."""
    return f"{' '.join(text.split()).rstrip('.')}."

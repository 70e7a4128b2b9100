"""Controllers: their names, formulas and options, as `anabranch list controllers` has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from anabranch import _core

from .markdown import table


def parts() -> dict[str, str]:
    """Laws, what is no law, and what may stand before and behind a name."""
    every = _core.controllers()
    laws = [one for one in every if one["law"]]
    return {
        "laws": described("growth and backoff", laws),
        "slow starts": described("rule", _core.slow_starts()),
        "detectors": described("rule", _core.detectors()),
        "schemes": described("rule", [one for one in every if not one["law"]]),
        "options of laws": options(every),
        "kernel laws": ", ".join(f"`kernel:{one['name']}`" for one in every if one["kernel"]),
        "laws that jump": ", ".join(f"`{one['name']}`" for one in every if one["set_valued"]),
    }


def described(rule: str, controllers: Sequence[Mapping[str, Any]]) -> str:
    """A table of controllers; `rule` is what their formula is called."""
    rows = (
        [
            ", ".join(f"`{name}`" for name in [one["name"], *one["aliases"]]),
            one["summary"].rstrip("."),
            one["formula"],
            one["source"],
        ]
        for one in controllers
    )
    return table(["name", "what it is", rule, "source"], rows)


def options(controllers: list[dict[str, Any]]) -> str:
    """A table of the options of all controllers."""
    rows = (
        [f"`{one['name']}:{option}`", meaning]
        for one in controllers
        for option, meaning in one["options"]
    )
    return table(["option", "what it changes"], rows)

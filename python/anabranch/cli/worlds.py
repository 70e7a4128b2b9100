"""`anabranch run` in the world that is asked for."""

from __future__ import annotations

from ..offers import chosen
from .simulate import WIRE, WORLDS, RunOptions, run_command


def run_in_world(source: str, options: RunOptions) -> None:
    """Runs a scenario. Raises UnknownName for a world that is not there."""
    if chosen("--world", options.world, WORLDS) == WIRE:
        from .realtime import wire_command

        wire_command(source, options)
    else:
        run_command(source, options)

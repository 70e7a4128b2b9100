"""What a sweep runs: configurations, and the seeds of each.

A configuration is a scenario with a controller and overrides. What tells it from others is the
hash of its plan: equal plans are equal runs, however they were asked for.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from .. import _core
from ..controller import FILE, label
from ..plan import Plan
from ..plot.labels import studied
from ..scenario import Scenario

SIMULATION = "simulation"
"""The world that a configuration is of unless it says another."""

DIGITS = 16
"""Of a hash that names something: 10^7 configurations have two alike with probability 10^-6."""

PROSE = ("name", "title", "source", "choices", "warnings")
"""Of a plan, what no run depends on."""


def digest(*parts: str) -> str:
    """A hash of texts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:DIGITS]


@dataclass(frozen=True)
class Configuration:
    """A scenario with the values of a sweep's axes, and what the sweep calls it.

    `values` are those of the axes by their keys, as tables have them; `overrides` are all that is
    set, axes among it. `controller` is what gives it again: a name, the text of a law, or a class
    as `FILE.py:CLASS`; empty for those of the scenario.
    """

    text: str
    name: str
    values: dict[str, str] = field(default_factory=dict)
    controller: str = ""
    overrides: tuple[str, ...] = ()
    world: str = SIMULATION
    """A name of `worlds.WORLDS`: what makes its rows."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """What that world knows beside the plan, by name."""

    @property
    def scenario(self) -> Scenario:
        """Its scenario."""
        return Scenario(self.text, self.name)

    @cached_property
    def plan(self) -> Plan:
        """Its plan. Raises ScenarioError."""
        return self.scenario.plan(controller=self.controller or None, overrides=self.overrides)

    @cached_property
    def key(self) -> str:
        """The hash of all that its runs depend on beside their seed. Raises ScenarioError."""
        own = FILE.match(self.controller) if "\n" not in self.controller else None
        named = None if own or not self.controller else self.controller
        text = _core.plan(self.text, self.name, overrides=self.overrides, controller=named)
        content: dict[str, Any] = json.loads(text)
        left = {key: value for key, value in content.items() if key not in PROSE}
        if content["media"]:
            left["written"] = self._media()
        source = Path(own["file"]).read_text(encoding="utf-8") if own else ""
        how = json.dumps([self.world, self.settings], sort_keys=True)
        parts = (json.dumps(left, sort_keys=True), self.controller if own else "", source)
        return digest(*parts, *([how] if self.world != SIMULATION else []))

    def _media(self) -> dict[str, Any]:
        """The tables of media and nodes as they are written: a plan as JSON lacks which nodes are
        access points.
        """
        named = self.controller if self.controller and not FILE.match(self.controller) else None
        document = self.scenario.document(controller=named, overrides=self.overrides)
        kinds = ("node", *(kind["name"] for kind in _core.media()))
        return {kind: document[kind] for kind in kinds if kind in document}

    def check(self) -> None:
        """Raises ValueError if the file of its controller is another one since its key was made."""
        if self.controller.partition(":")[0].endswith(".py") and replace(self).key != self.key:
            raise ValueError("the file of the controller was changed while the sweep ran")

    @cached_property
    def fixed(self) -> str:
        """What is set in it but for the values of axes, in a line; of laws of one's own a hash."""
        axes = {f"{key}={value}" for key, value in self.values.items()}
        texts = (text for text in self.overrides if text not in axes)
        return "; ".join(
            f"{text.partition('=')[0]}={digest(text)}" if "\n" in text else text for text in texts
        )

    @cached_property
    def source(self) -> str:
        """A hash of the text of its controller, if that is a law or a class of one's own."""
        if own := FILE.match(self.controller) if "\n" not in self.controller else None:
            return digest(self.controller, Path(own["file"]).read_text(encoding="utf-8"))
        return digest(self.controller) if "\n" in self.controller else ""

    @cached_property
    def label(self) -> str:
        """What tables call its controller: the one that was asked for, else the one under study."""
        return label(self.controller) if self.controller else studied(self.plan)


@dataclass(frozen=True)
class Task:
    """Runs that are made one after the other: configurations, each with some of its seeds."""

    parts: tuple[tuple[Configuration, tuple[int, ...]], ...]
    tables: tuple[str, ...]
    version: str

    def __len__(self) -> int:
        """How many runs it is."""
        return sum(len(seeds) for _, seeds in self.parts)

    def apart(self) -> list[Task]:
        """A task for each of its runs."""
        return [
            Task(((one, (seed,)),), self.tables, self.version)
            for one, seeds in self.parts
            for seed in seeds
        ]

    def name(self, failed: Collection[tuple[str, int]] = ()) -> str:
        """The hash of the runs that it is to give, without those that failed."""
        runs = [(one.key, seed) for one, seeds in self.parts for seed in seeds]
        made = [f"{key}:{seed}" for key, seed in runs if (key, seed) not in failed]
        return digest(self.version, ",".join(self.tables), *made)


def source(controller: str) -> str:
    """What gives a controller again wherever it is run: the text of a law, not its file."""
    own = FILE.match(controller) if "\n" not in controller else None
    return controller if own else str(_core.controller(controller)["source"])


def resolved(override: str) -> str:
    """An override with texts in place of files: of a law, of a trace. Raises ScenarioError."""
    key, equals, value = override.partition("=")
    if key.strip().endswith(".file"):
        return _core.with_file(override)
    if not equals or not key.strip().lower().endswith("controller"):
        return override
    return f"{key}={source(unquoted(value.strip()))}"


def unquoted(text: str) -> str:
    """A text without the quotes that TOML may have around it."""
    if text[:1] not in ('"', "'"):
        return text
    try:
        return str(tomllib.loads(f"value = {text}")["value"])
    except tomllib.TOMLDecodeError:
        return text

"""The worlds in real time, `linux` and `wire`, as worlds of configurations: every replication is
kept in a file as soon as it is measured.

A measurement takes hours. A restarted one measures only the missing replications. The files in a
directory can be judged without measuring, on any machine.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .. import _core
from ..files import write_json
from ..plan import Plan
from ..records import plain
from ..result import Result
from ..scenario import load
from .laboratory import Configuration, NoResult, ReportProgress

LINUX, WIRE = "linux", "wire"
REAL = (LINUX, WIRE)

Measure = Callable[..., Result]
"""`anabranch.linux.running.run`, or a function with the same arguments."""

OVERHEAD_S = 2.0
"""Time to build, calibrate and tear down, in addition to the duration of a scenario."""

MOST_FAILURES = 3
"""Replications in a row that may fail before a measurement is given up."""

DIGITS = 6
"""Significant digits kept of measured values."""

TEXTS = ("name", "title", "source", "choices", "warnings")
"""Parts of a plan that do not affect a measurement."""


def on_kernel(*words: Any, **options: Any) -> Result:
    """Runs a scenario on the real kernel. Raises LinuxError where that cannot be."""
    from ..linux.running import run

    return run(*words, **options)


def on_wire(*words: Any, **options: Any) -> Result:
    """Runs a scenario with our endpoints on the wire. Raises LinuxError where that cannot be."""
    return on_kernel(*words, world=WIRE, **options)


MEASURES: Mapping[str, Measure] = {LINUX: on_kernel, WIRE: on_wire}


def silent(text: str) -> None:
    """Says nothing."""


@dataclass
class Measurements:
    """Configurations in a world in real time, their replications in the files
    `directory`/CONFIGURATION/SEED.json.gz.
    """

    directory: Path
    measure: Measure | None = on_kernel
    """Measures a scenario; None to take only the files in the directory, with all their seeds."""
    say: Callable[[str], object] = silent
    """Called with messages: replications that do not count, with the reason, and the time left."""
    name: str = LINUX
    _read: dict[Path, Result | None] = field(default_factory=dict)
    _failed: int = 0

    def file(self, name: str, seed: int) -> Path:
        """The file of a replication."""
        return self.directory / name / f"{seed}.json.gz"

    def work(self, name: str, configuration: Configuration, seeds: int) -> float:
        """Seconds to measure the missing replications of a configuration."""
        if self.measure is None:
            return 0.0
        return len(self._missing(name, configuration, seeds)) * _seconds(configuration)

    def begin(self, configurations: Mapping[str, Configuration], seeds: int, work: float) -> None:
        """Says how long it takes, if anything is to be measured.

        Raises LinuxError before that without the right to measure on this kernel.
        """
        if work > 0:
            if self.measure in MEASURES.values():
                from ..linux.testbed import checked_rights

                checked_rights()
            self.say(f"measuring in real time takes about {spoken(work)}; files: {self.directory}")

    def run(
        self, name: str, configuration: Configuration, seeds: int, tell: ReportProgress
    ) -> Result:
        """The result of a configuration; missing replications are measured and kept, seed by seed.

        Raises ValueError for a file that is not a result, LinuxError when the kernel cannot run the
        configuration, and NoResult when there are no replications of it.
        """
        if self.measure is None:
            wanted = self._seeds_there(name)
            return _joined([self._kept(name, configuration, seed) for seed in wanted], wanted)
        wanted = list(range(1, seeds + 1))
        missing = self._missing(name, configuration, seeds)
        stopped = False
        for number, seed in enumerate(missing):
            what = f", replication {len(wanted) - len(missing) + number + 1} of {len(wanted)}"

            def told(now: float, whole: float, what: str = what, number: int = number) -> None:
                tell(number + now / whole, len(missing), what)

            try:
                self._take(name, configuration, seed, told)
            except KeyboardInterrupt:
                stopped = True
                break
        parts = [self._kept(name, configuration, seed) for seed in wanted]
        if stopped and not any(parts):
            raise KeyboardInterrupt
        return _joined(parts, wanted, complete=not stopped)

    def _take(
        self, name: str, configuration: Configuration, seed: int, told: Callable[..., object]
    ) -> None:
        """Measures a replication and keeps it. One that does not come out valid is left out.

        Raises LinuxError when the kernel cannot run the configuration, and after some in a row that
        were not valid.
        """
        from ..linux import NotValid

        assert self.measure is not None
        told(0.0, 1.0)
        try:
            result = self.measure(
                load(configuration.scenario),
                [seed],
                controller=configuration.controller,
                overrides=list(configuration.overrides),
                progress=told,
            )
        except NotValid as error:
            self._failed += 1
            if self._failed >= MOST_FAILURES:
                raise
            self.say(f"{name}, seed {seed} is left out: {error}")
            return
        self._failed = 0
        file = self.file(name, seed)
        file.parent.mkdir(parents=True, exist_ok=True)
        content = result.to_json()
        write_json(file, content | {"runs": rounded(content["runs"])})
        self._read[file] = Result.load(file)

    def _missing(self, name: str, configuration: Configuration, seeds: int) -> list[int]:
        """Seeds that are still to be measured."""
        return [
            seed for seed in range(1, seeds + 1) if self._kept(name, configuration, seed) is None
        ]

    def _kept(self, name: str, configuration: Configuration, seed: int) -> Result | None:
        """The replication of a seed if it lies there and counts. Raises ValueError."""
        file = self.file(name, seed)
        if file not in self._read:
            self._read[file] = self._checked(file, configuration, seed) if file.exists() else None
        return self._read[file]

    def _checked(self, file: Path, configuration: Configuration, seed: int) -> Result | None:
        """The result in a file; None, with a message, if it is not of the configuration."""
        try:
            result = Result.load(file)
            why = unlike(result, configuration, seed, self.name) or (
                self._outdated(result) if self.measure else ""
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"{file} is damaged: {error}\nhelp: move it away, and its replication is measured anew"
            ) from None
        if not why:
            return result
        fate = "it is left out" if self.measure is None else "it is measured anew"
        self.say(f"{file} does not count: {why}; {fate}")
        return None

    def _outdated(self, result: Result) -> str:
        """Why a replication cannot be combined with new measurements; empty if it can."""
        from ..linux.controllers import sources
        from ..linux.testbed import TESTBED

        origin = result.provenance
        if origin["kernel"] != platform.release():
            return f"it is of kernel {origin['kernel']}, this is {platform.release()}"
        if (earlier := origin.get("testbed", 1)) != TESTBED:
            return f"it is of testbed {earlier}, this is {TESTBED}"
        loaded = result.runs[0].kernel.controllers
        if loaded and origin.get("controllers") != sources():
            return f"its controllers ({', '.join(loaded)}) were compiled from other sources"
        return ""

    def _seeds_there(self, name: str) -> list[int]:
        """Seeds of a configuration that have a file."""
        files = (self.directory / name).glob("*.json.gz")
        stems = (file.name.removesuffix(".json.gz") for file in files)
        return sorted(int(stem) for stem in stems if stem.isdecimal())


def unlike(result: Result, configuration: Configuration, seed: int, world: str = LINUX) -> str:
    """How a replication differs from a configuration; empty if it belongs to it.

    Controllers are compared in the plans: a cell that was run by its name has its controller in the
    scenario.
    """
    wanted = {"world": (result.world, world), "seed": (result.seeds, [seed])}
    for what, (found, asked) in wanted.items():
        if found != asked:
            return f"its {what} is {found}, not {asked}"
    plan = load(configuration.scenario).plan(
        overrides=list(configuration.overrides), controller=configuration.controller
    )
    if other := _difference(_conditions(result.plan), _conditions(plan)):
        return other
    return "" if result.runs[0].valid else "it is not valid"


def _conditions(plan: Plan) -> dict[str, Any]:
    """The settings of a plan as nested data without descriptive texts."""
    content: dict[str, Any] = plain(plan)
    for text in TEXTS:
        content.pop(text, None)
    for c in content["classes"]:
        own = _core.controller(c["controller"])["min_ssthresh"] if c["controller"] else None
        asked = c.pop("min_ssthresh", None)
        coupled = own is not None and len(c["paths"]) > 1
        c["min_ssthresh"] = (own if asked is None else asked) if coupled else None
    return content


def _difference(found: Any, asked: Any, where: str = "") -> str:
    """The first place at which two plans differ, in words; empty if they are the same."""
    if isinstance(found, dict) and isinstance(asked, dict):
        for key in dict.fromkeys((*found, *asked)):
            place = f"{where}.{key}" if where else key
            if other := _difference(found.get(key), asked.get(key), place):
                return other
        return ""
    if isinstance(found, list) and isinstance(asked, list) and len(found) == len(asked):
        for at, (one, other) in enumerate(zip(found, asked, strict=True)):
            name = one.get("name", at) if isinstance(one, dict) else at
            if text := _difference(one, other, f"{where}.{name}"):
                return text
        return ""
    if found == asked:
        return ""
    nested = isinstance(found, dict | list) or isinstance(asked, dict | list)
    return f"its {where} differ" if nested else f"its {where} is {found}, not {asked}"


def _joined(parts: list[Result | None], seeds: list[int], complete: bool = True) -> Result:
    """One result from the existing replications. Raises NoResult if there are none."""
    own = [part for part in parts if part is not None]
    if not own:
        raise NoResult(
            "nothing measured lies there" if not seeds else "nothing that lies there counts"
        )
    origin = own[0].provenance | {
        "seeds": seeds,
        "complete": complete,
        "rejected": [row for part in own for row in part.provenance["rejected"]],
        "failed": [seed for seed, part in zip(seeds, parts, strict=True) if part is None],
        "kernel": _different(own, "kernel"),
        "controllers": _different(own, "controllers"),
    }
    return replace(own[0], runs=[run for part in own for run in part.runs], provenance=origin)


def _different(parts: list[Result], key: str) -> str:
    """Values of a provenance key over replications, each once."""
    return ", ".join(dict.fromkeys(str(part.provenance.get(key, "unknown")) for part in parts))


def _seconds(configuration: Configuration) -> float:
    """Real time that a replication takes."""
    plan = load(configuration.scenario).plan(
        overrides=list(configuration.overrides), controller=configuration.controller
    )
    return float(plan.duration_s) + OVERHEAD_S


def spoken(seconds: float) -> str:
    """A length of time in hours and minutes."""
    minutes = max(round(seconds / 60), 1)
    hours = f"{minutes // 60} h " if minutes >= 60 else ""
    return f"{hours}{minutes % 60} min"


def rounded(value: Any) -> Any:
    """Nested numbers with the digits that are kept."""
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value

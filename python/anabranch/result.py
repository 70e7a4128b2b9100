"""Results: numbers of a world for a scenario, with their provenance.

All worlds share one shape: scenario, provenance, scalars with units in their names, series as
columns. Metrics are defined in docs/reference/metrics.md.
"""

from __future__ import annotations

import gzip
import json
import platform
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from .controller import ControllerLike, given_name, label, outside
from .files import beside, check_writable, write_json
from .frames import dataset, frame, places_of
from .markup import html_table
from .offers import UnknownName, lookup
from .plan import Class, Plan
from .quic import WORLD as QUIC
from .quic import without
from .records import Composed, Missing, Numbers, Table, restored
from .remarks import ShortPath, counts_events, floor_texts, late_text, short_paths, short_text
from .runs import JudgedFlow, Run
from .scenario import Scenario, shipped
from .seeds import Seeds, checked_seeds, consecutive
from .statistics import DELAY, PERCENT, RATE, Interval, column, interval, jain
from .subjects import subjects
from .tables import Coding, Paths

if TYPE_CHECKING:
    import pandas
    import xarray

    from .explorer.data import Opened

FORMAT = 1
"""Version of the file format; readers of a newer one refuse older readers' guesses."""

MOST_CLASSES = 4
"""Classes that the short form of a result names."""


@dataclass(frozen=True, repr=False)
class Result(Composed):
    """The result of one world for one scenario under one controller.

    `runs` has one entry for each replication. Theory has one run, without a seed, with the columns
    that it knows; `theory` holds results that only theory has. `fairness` has the judgements on
    flows with `fair`.
    """

    scenario: Scenario
    plan: Plan
    runs: list[Run]
    world: str = "simulation"
    provenance: dict[str, Any] = field(default_factory=dict)
    theory: dict[str, Any] = field(default_factory=dict)
    fairness: list[JudgedFlow] = field(default_factory=list)
    file: str = field(default="", compare=False)
    """Name of the file that it was read from, without directory and suffix; figures call it so."""

    @property
    def seeds(self) -> list[int]:
        """The seeds of the replications; empty for theory."""
        return [run.seed for run in self.runs if run.has("seed")]

    @property
    def classes(self) -> list[str]:
        """Names of the classes of users, in the scenario's order."""
        return [c.name for c in self.plan.classes]

    @property
    def rates_bps(self) -> dict[str, int]:
        """The rates of the links that have one, by name."""
        return {link.name: link.rate_bps for link in self.plan.links if link.rate_bps is not None}

    def users(self, name: str, metric: str = "throughput_bps") -> NDArray[np.float64]:
        """A flow metric of every user of a class, shape (replications, users).

        Raises KeyError for an unknown class or metric.
        """
        name = self._class(name).name
        rows = [np.asarray(run.flows.class_) == name for run in self.runs]
        return np.array(
            [_numbers(run.flows, metric)[row] for run, row in zip(self.runs, rows, strict=True)]
        )

    def rate(self, name: str, metric: str = "throughput_bps") -> NDArray[np.float64]:
        """Mean rate per user of a class, shape (replications,)."""
        return np.asarray(self.users(name, metric).mean(axis=1), dtype=float)

    def link(self, name: str, metric: str) -> NDArray[np.float64]:
        """A link metric, shape (replications,). Raises KeyError for an unknown link or metric."""
        names = [link.name for link in self.plan.links]
        place = names.index(lookup("link", name, names, "the links are"))
        return np.array([_numbers(run.links, metric)[place] for run in self.runs], dtype=float)

    def station(self, medium: str, name: str, metric: str) -> NDArray[np.float64]:
        """A metric of a station of a medium, shape (replications,). Raises KeyError for an unknown
        one.
        """
        known = [f"{m.name}/{station.name}" for m in self.plan.media for station in m.stations]
        place = known.index(lookup("station", f"{medium}/{name}", known, "the stations are"))
        return np.array([_numbers(run.stations, metric)[place] for run in self.runs], dtype=float)

    def path(self, name: str, path: int, metric: str) -> NDArray[np.float64]:
        """A path metric of every user of a class, shape (replications, users).

        Paths count from 0. Raises KeyError for an unknown class or metric and IndexError for a path
        that the class does not have.
        """
        return self._of_paths([run.paths for run in self.runs], name, path, metric)

    def coding(self, name: str, path: int, metric: str) -> NDArray[np.float64]:
        """A metric of a coded path of every user of a class, shape (replications, users);
        (replications, 0) if the path is not coded.

        Raises KeyError and IndexError as `path` does.
        """
        return self._of_paths([run.coding for run in self.runs], name, path, metric)

    def _of_paths(
        self, tables: Sequence[Paths | Coding], name: str, path: int, metric: str
    ) -> NDArray[np.float64]:
        planned = self._class(name)
        name, count = planned.name, len(planned.paths)
        if isinstance(path, bool) or path not in range(count):
            paths = "one path, number 0" if count == 1 else f"{count} paths, numbered from 0"
            raise IndexError(f"class {name!r} has {paths}; there is no path {path!r}")
        columns = []
        for run, rows in zip(self.runs, tables, strict=True):
            flows = np.asarray(run.flows.class_)[rows.flow]
            row = (flows == name) & (rows.path == path)
            columns.append(_numbers(rows, metric).astype(float)[row])
        return np.array(columns)

    def _class(self, name: str) -> Class:
        """A class of the plan. Raises KeyError."""
        found = lookup("class", name, self.classes, "the classes are")
        return self.plan.classes[self.classes.index(found)]

    def mean(self, name: str, metric: str = "throughput_bps") -> Interval:
        """Mean of a flow metric over the users of a class, with its interval over replications."""
        return interval(self.rate(name, metric))

    def summary(self) -> list[ClassSummary]:
        """One row for each class."""
        return [self._of_class(index) for index in range(len(self.classes))]

    def _of_class(self, index: int) -> ClassSummary:
        """A row of the summary; NaN where this world has no such column."""
        c = self.plan.classes[index]
        paths = range(len(c.paths))

        def total(metric: str) -> NDArray[np.float64]:
            return sum((self.path(c.name, p, metric).sum(axis=1) for p in paths), np.zeros(1))

        return ClassSummary(
            name=c.name,
            users=c.count,
            controller="–" if c.protocol == "udp" else c.controller,
            throughput_bps=self.mean(c.name),
            jain=interval(jain(self.users(c.name))),
            goodput_bps=known(lambda: self.rate(c.name, "goodput_bps")),
            rtt_s=interval([run.classes.rtt_mean_s[index] for run in self.runs]),
            loss=known(lambda: total("lost_packets") / np.maximum(total("sent_packets"), 1)),
            timeouts=known(lambda: total("timeouts") / c.count),
        )

    def table(self) -> str:
        """The summary as text; below it the reason why a class has more goodput than throughput."""
        head, rows = self._cells()
        widths = [max(len(r[i]) for r in [head, *rows]) for i in range(len(head))]
        lines = [
            "  ".join(cell.ljust(w) for cell, w in zip(r, widths, strict=True))
            for r in [head, *rows]
        ]
        return "\n".join([*(line.rstrip() for line in lines), *self._late()])

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        """Head and rows of the summary."""
        head = ["class", "users", "controller", "Mb/s per user", "goodput", "RTT ms", "loss %"]
        found = self.summary()
        columns = [
            [row.name for row in found],
            [str(row.users) for row in found],
            [row.controller for row in found],
            column([row.throughput_bps for row in found], RATE),
            column([row.goodput_bps for row in found], RATE),
            column([row.rtt_s for row in found], DELAY),
            column([row.loss for row in found], PERCENT),
        ]
        rows = [list(row) for row in zip(*columns, strict=True)]
        return head, rows

    def command(self) -> list[str]:
        """The words of the command that repeats the run; SCENARIO stands for a file of the user's.

        A command takes seeds that follow one another. Where they do not, it repeats the first seed
        alone.
        """
        files = shipped().items()
        own = (name for name, file in files if file.read_text("utf-8") == self.scenario.text)
        words = ["anabranch", *(["linux"] if self.world == "linux" else []), "run"]
        words.append(self.provenance.get("cell") or next(own, "SCENARIO"))
        if self.provenance.get("controller"):
            words += ["--controller", str(self.provenance["controller"])]
        overrides = self.provenance.get("overrides", ())
        if self.world == QUIC:
            overrides = without(overrides)
        if self.world in (QUIC, "wire"):
            words += ["--world", self.world]
        for override in overrides:
            words += ["--set", override]
        if self.seeds and self.world != "linux":
            first, count = (
                (min(self.seeds), len(self.seeds))
                if consecutive(sorted(self.seeds))
                else (self.seeds[0], 1)
            )
            words += ["--seed", str(first), "--repeat", str(count)]
        return words

    def __repr__(self) -> str:
        """World, seeds and the rates of the first classes, in one line."""
        rows = self.summary()
        rates = [
            f"{row.name} ({row.controller}) {rate} Mb/s"
            for row, rate in zip(rows, column([r.throughput_bps for r in rows], RATE), strict=True)
        ]
        more = len(rates) - MOST_CLASSES
        rates = [*rates[:MOST_CLASSES], f"{more} more"] if more > 0 else rates
        return f"<Result of {self.plan.name}: {self._origin()}; {', '.join(rates)}>"

    def _repr_html_(self) -> str:
        """The summary as a table, for notebooks."""
        plan = self.plan
        measured = (
            ""
            if self.world == "theory"
            else f", {plan.duration_s - plan.warmup_s:g} s measured after {plan.warmup_s:g} s"
        )
        notes = [f"{plan.name}: {self._origin()}{measured}", *plan.warnings, *self.remarks()]
        title, words = plan.title or plan.name, ("class", "controller")
        return html_table(*self._cells(), words=words, title=title, notes=notes)

    def _origin(self) -> str:
        """World and seeds in a few words."""
        return ", ".join(words for words in (self.world, _counted(self.seeds)) if words)

    def to_frame(self, table: str = "classes") -> pandas.DataFrame:
        """A table of all replications as a tidy frame: one row for each observation.

        `table` is a table of docs/reference/metrics.md, such as "flows", "paths", "links" or
        "series.paths"; tables of series have one row for each sample of each path, link or other
        entity, with its time `t_s`. Columns have their units in their names and in
        `attrs["units"]`; the first columns are the seed and the names of the row's class, user,
        path, link or node. Rows of classes also have the means of their users' rates.

        Raises KeyError for an unknown table, ValueError for a table that the result lacks, and
        ImportError without pandas.
        """
        return frame(self.plan, self.runs, table)

    def to_xarray(self) -> xarray.Dataset:
        """The series of all replications, with dimensions seed, t_s (seconds) and path, flow, link,
        station or node.

        Variables are columns of the series with what they belong to before their names, such as
        `path_cwnd_segments`, and have `units` and `long_name`. Paths, flows and stations have
        labels such as "multipath.0.1", and coordinates with the parts of these: `path_class`,
        `path_user`, `path_number`.

        Raises ValueError for a result without series, or with replications that were sampled at
        different times, and ImportError without xarray.
        """
        about = {"title": self.plan.title, "scenario": self.plan.name, "world": self.world}
        controller = self.provenance.get("controller")
        if controller:
            # For laws and classes, use the name in the plan; their files may be gone.
            written = (
                c.controller for c in self.plan.classes if c.law or c.controller.startswith("py:")
            )
            controller = next(written, None) or label(controller)
        return dataset(
            self.plan, self.runs, about | ({"controller": controller} if controller else {})
        )

    def short_paths(self) -> list[ShortPath]:
        """The paths with fewer than ten congestion events after the warm-up: the rates of their
        class depend on where the run ends.
        """
        return short_paths(self.plan, self.runs)

    def remarks(self) -> list[str]:
        """Remarks that the numbers do not show by themselves, as sentences."""
        return [*filter(None, [self.too_short()]), *self._late(), *floor_texts(self.plan)]

    def too_short(self) -> str:
        """A sentence on the paths of `short_paths`; empty if there are no such paths."""
        short = self.short_paths()
        return short_text(short, all(map(counts_events, self.runs))) if short else ""

    def _late(self) -> list[str]:
        """Explains, for each class with more goodput than throughput, why."""
        texts = (
            late_text(self.plan, c, row.throughput_bps.mean, row.goodput_bps.mean)
            for c, row in zip(self.plan.classes, self.summary(), strict=True)
        )
        return [*filter(None, texts)]

    def json_parts(self) -> dict[str, Any]:
        """The content of the result file; runs stay records."""
        content = {
            "format": FORMAT,
            "kind": "anabranch result",
            "world": self.world,
            "provenance": self.provenance,
            "scenario": self.scenario.text,
            "plan": self.plan,
            "runs": self.runs,
        }
        more = {
            "theory": self.theory,
            "fairness": self.fairness,
            "too_short": [path.to_json() for path in self.short_paths()],
        }
        return content | {key: value for key, value in more.items() if value}

    def explore(self) -> Any:
        """The explorer's page as a widget for Jupyter and marimo, on the scenario, controller,
        overrides and seeds of the result; this process answers it.

        Raises ValueError for a controller that is a Python class, and ModuleNotFoundError without
        anywidget.
        """
        from .explorer.widget import explorer

        return explorer(self.opening())

    def opening(self) -> Opened:
        """What the explorer shows first: the result's scenario, controller, overrides and seeds.
        The page simulates; for a result of another world its note says so.

        Raises ValueError for a controller that is a Python class.
        """
        from .explorer.data import opened

        given, overrides = (self.provenance.get(key) for key in ("controller", "overrides"))
        replaced = subjects(self.plan.classes)
        if given and replaced and replaced[0].law:
            given = replaced[0].law  # its file may have changed since the run
        other = self.world != "simulation"
        note = f"The result is of {self.world}; the page simulates its scenario." if other else ""
        return opened(self.scenario, given, without(overrides or ()), self.seeds, note)

    def save(self, path: str | Path) -> None:
        """Writes JSON, compressed when the name ends in .gz; never leaves half a file."""
        write_json(path, self)

    @classmethod
    def load(cls, path: str | Path) -> Result:
        """Reads a file that `save` wrote. Raises ValueError when it is not a result."""
        content = read_json(path)
        if (kind := kind_of(content)) in COMPARISONS:
            names = " and ".join(content[COMPARISONS[kind]])
            raise ValueError(
                f"{path} is not a result but a comparison of {names}, made by `anabranch compare`; "
                "take what `anabranch run --json` and `anabranch theory --json` write instead; "
                "`anabranch plot`, and in Python `Result.load_all`, take all of its results"
            )
        return cls._from(content, path)

    @classmethod
    def load_all(cls, path: str | Path) -> list[Result]:
        """The results of a comparison, which `anabranch compare --json` wrote, in its order; of a
        file with one result that one. Raises ValueError for another file.
        """
        content = read_json(path)
        if (kind := kind_of(content)) in COMPARISONS:
            _check_format(content, path)
            return [cls._from(each, path) for each in content[COMPARISONS[kind]].values()]
        return [cls._from(content, path)]

    @classmethod
    def _from(cls, content: Any, path: str | Path) -> Result:
        """The result from the JSON of a file. Raises ValueError if it is not a result."""
        if kind_of(content) != "anabranch result":
            raise ValueError(NOT_A_RESULT.format(path))
        _check_format(content, path)
        scenario = Scenario.parse(content["scenario"], name=content["plan"]["name"])
        return cls(
            scenario,
            Plan.from_json(content["plan"]),
            [Run.from_json(run) for run in content["runs"]],
            content["world"],
            content["provenance"],
            columns(content.get("theory", {})),
            [JudgedFlow.from_json(one) for one in content.get("fairness", [])],
            file=Path(path).name.removesuffix(".gz").removesuffix(".json"),
        )


@dataclass(frozen=True)
class ClassSummary:
    """Rates of a class of users over replications."""

    name: str
    users: int
    controller: str
    """A dash for UDP, which has no congestion control."""
    throughput_bps: Interval
    jain: Interval
    """Jain's index of its users' throughputs."""
    goodput_bps: Interval
    rtt_s: Interval
    loss: Interval
    timeouts: Interval
    """Per user."""


@dataclass(frozen=True)
class Recording:
    """Packet captures and logs that a run writes at the sending hosts.

    `pcap` is a capture (pcapng) and `qlog` a log of every path, both up to `until_s` seconds; a
    capture keeps the first `keep_bytes` bytes of each packet, or all of them. `qlog_version` is
    "0.3", for qvis, or "draft", the current drafts; by default the drafts for a name that ends in
    .sqlog, which is written as JSON-SEQ, and 0.3 for every other.
    """

    pcap: str | Path | None = None
    qlog: str | Path | None = None
    until_s: float | None = None
    keep_bytes: int | None = None
    qlog_version: str | None = None

    @property
    def wanted(self) -> bool:
        """Whether the run writes a file."""
        return bool(self.files)

    @property
    def files(self) -> list[str | Path]:
        """The files that the run writes."""
        return [file for file in (self.pcap, self.qlog) if file is not None]

    @property
    def qlog_form(self) -> str:
        """The version and serialization of the log: `0.3`, `draft` or `draft-sequence`."""
        if str(self.qlog).endswith(".sqlog"):
            return "draft-sequence"
        return self.qlog_version or "0.3"

    def check(self, seeds: Sequence[int]) -> None:
        """Raises ValueError if it cannot be, OSError if a file cannot be written."""
        files = self.files
        if self.qlog_version not in (None, *QLOG_VERSIONS):
            raise ValueError(
                f"qlog_version is {self.qlog_version!r}; write {' or '.join(QLOG_VERSIONS)}"
            )
        if self.qlog_version == "0.3" and self.qlog_form != "0.3":
            raise ValueError(f"{self.qlog} is a sequence by its name, and 0.3 is written as JSON")
        if files and len(seeds) > 1:
            raise ValueError(
                f"{files[0]} would be of one run, and there are {len(seeds)} seeds; give one"
            )
        if self.until_s is not None and not 0 <= self.until_s < LONGEST_S:
            raise ValueError(f"{self.until_s} s is not a time to record up to; write 0 or more")
        if self.keep_bytes is not None and self.keep_bytes < LEAST_KEPT:
            raise ValueError(
                f"{self.keep_bytes} bytes of each packet; headers take up to {LEAST_KEPT}, keep at "
                "least those"
            )
        for file in files:
            check_writable(file)


QLOG_VERSIONS = ("0.3", "draft")
"""Versions of qlog that are written."""

LONGEST_S = 366 * 86_400
"""Longer than any run, in seconds."""

LEAST_KEPT = 80
"""Bytes of the longest headers: 20 of IP, 60 of TCP."""


def run(
    scenario: Scenario | str,
    seeds: Seeds = (1,),
    *,
    controller: ControllerLike | None = None,
    overrides: Sequence[str] = (),
    threads: int = 0,
    series: bool = False,
    events: bool = False,
    recording: Recording | None = None,
    progress: Callable[[float, float], object] | None = None,
) -> Result:
    """Simulates `scenario` once for each seed, on every core.

    `seeds` are distinct integers, or how many: 20 stands for 1 to 20. `controller` replaces that of
    the flows with `subject` (of those with several paths if no flow has it, else of all): a name,
    a law or its file, or a class (see `anabranch.Controller`). An exception in a class ends the
    run. `overrides` are texts such as "link.ap1.rate=5 Mb/s". `series` keeps samples over time,
    `events` every drop, loss, recovery and timeout. `recording` names files for the packets of a
    single run. `progress` is called with the simulated seconds done and in all.

    Raises ScenarioError, ValueError for seeds that are not distinct integers from 0 to 2^64 − 1,
    for a number of threads below zero and for a recording of several runs, OSError if a recording
    cannot be written, and MemoryError if memory ends before a replication does; NotRecorded, with
    the result, if a recording fails during the run, or memory ends while events are kept or after
    some replications. After an interrupt the replications that had finished are returned.
    """
    if isinstance(scenario, str):
        from .scenario import load

        scenario = load(scenario)
    wanted = checked_seeds(seeds)
    if threads < 0:
        raise ValueError(f"{threads} threads; write 0 for every core, or how many")
    recording = recording or Recording()
    recording.check(wanted)
    plan = scenario.plan(overrides=overrides, controller=controller)
    own = outside(controller)
    unwritten: dict[Path, OSError] = {}
    ended: list[str] = []
    with _kept(recording.pcap, unwritten) as pcap, _kept(recording.qlog, unwritten) as qlog:
        try:
            runs = _core.simulate(
                scenario.text,
                wanted,
                name=scenario.name,
                overrides=list(overrides),
                controller=None if own or controller is None else str(controller),
                outside=(own.name, own.make) if own else None,
                threads=threads,
                series=series,
                events=events,
                pcap=pcap,
                qlog=qlog,
                qlog_form=recording.qlog_form,
                until_s=recording.until_s,
                keep_bytes=recording.keep_bytes,
                progress=progress,
                unwritten=unwritten,
            )
        except _core.MemoryEnded as error:
            runs = _finished(error)
            ended.append(str(error.args[0]))
    origin = provenance(
        controller, overrides, wanted, len(runs) == len(wanted), **cell_of(scenario)
    )
    result = Result(scenario, plan, [Run.from_json(run) for run in runs], provenance=origin)
    ended += [ended_text(run) for run in result.runs if run.has("events_log_until_s")]
    if unwritten or ended:
        places = ((pcap, recording.pcap), (qlog, recording.qlog))
        raise NotRecorded(
            {path: unwritten[file] for file, path in places if path and file in unwritten},
            result,
            ended,
        )
    return result


def _finished(error: _core.MemoryEnded) -> list[dict[str, Any]]:
    """The replications that had finished when memory ended. Raises MemoryError if none had."""
    why, runs = error.args
    if not runs:
        raise MemoryError(why) from None
    return runs


def ended_text(run: Run) -> str:
    """A sentence on a log of events that ended before its run."""
    return (
        f"the log of events of seed {run.seed} ends at {run.events_log_until_s:.6g} s: there is no "
        f"memory for more than {len(run.events_log.t_s):,} entries; all else is complete. Shorten "
        "`duration`, or use fewer replications"
    )


@contextmanager
def _kept(path: str | Path | None, unwritten: Mapping[Path, OSError]) -> Iterator[Path | None]:
    """A temporary file beside `path` to record to. At the end it replaces `path`, unless
    `unwritten` lists it: a failed recording leaves the others in place.
    """
    try:
        with beside(path) as file:
            yield file
            if file and file in unwritten:
                raise unwritten[file]
    except OSError as error:
        if not any(error is known for known in unwritten.values()):
            raise


class NotRecorded(OSError):
    """Recordings, logs of events or replications are missing; `result` has all the rest."""

    def __init__(
        self, errors: Mapping[str | Path, OSError], result: Result, ended: Sequence[str] = ()
    ) -> None:
        """For each file that failed, with what went wrong, and sentences on logs that ended."""
        said = (
            f"{file} cannot be written: {error.strerror or error}" for file, error in errors.items()
        )
        super().__init__("\n".join([*said, *ended]))
        self.files = tuple(errors)
        """Recordings that failed; the others are complete and in their places."""
        self.result = result
        """The result of the run."""


def provenance(
    controller: ControllerLike | None,
    overrides: Sequence[str],
    seeds: Sequence[int] = (),
    complete: bool = True,
    **how: str | float,
) -> dict[str, Any]:
    """The provenance of a result; `how` has settings that only one world knows."""
    return {
        "anabranch": _core.__version__,
        "machine": platform.machine(),
        "controller": given_name(controller) if controller else controller,
        "overrides": list(overrides),
        "seeds": list(seeds),
        "complete": complete,
        **how,
    }


def cell_of(scenario: Scenario) -> dict[str, str]:
    """The cell's name for provenance, if the scenario is a cell of a document; else empty."""
    return {"cell": scenario.cell} if scenario.cell else {}


COMPARISONS = {
    "anabranch comparison": "worlds",
    "anabranch comparison of controllers": "controllers",
}
"""Kinds of files with several results, and the key under which these are."""

NOT_A_RESULT = "{} is not a result; `anabranch run --json` and `anabranch theory --json` write one"


def kind_of(content: Any) -> str:
    """The `kind` of a JSON file; empty if it states none."""
    return str(content.get("kind", "")) if isinstance(content, dict) else ""


def _check_format(content: Mapping[str, Any], path: str | Path) -> None:
    """Raises ValueError for a file of a newer version."""
    if content["format"] > FORMAT:
        raise ValueError(
            f"{path} has format {content['format']}; this version reads up to {FORMAT}"
        )


def read_json(path: str | Path) -> Any:
    """The JSON in a file, which may be gzipped. Raises ValueError if it is not JSON."""
    data = Path(path).read_bytes()
    try:
        return json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    except (EOFError, ValueError, gzip.BadGzipFile, zlib.error):
        raise ValueError(NOT_A_RESULT.format(path)) from None


def known(values: Callable[[], NDArray[np.float64]]) -> Interval:
    """The interval of `values`, of nothing (NaN) where the world has no such column."""
    try:
        return interval(values())
    except KeyError:
        return Interval(float("nan"), float("inf"), 0)


def _numbers(table: Table, metric: str) -> Numbers:
    """A column of a table. Raises KeyError that names the tables which have the column."""
    try:
        return table.column(metric)
    except Missing as error:
        others = [place for place in places_of(metric) if place != table.PLACE]
        if table.has(metric) or not others:
            raise
        raise UnknownName(
            f"{table.PLACE} has no {metric!r}; {' and '.join(others)} "
            f"{'has' if len(others) == 1 else 'have'} it\n{error}"
        ) from None


def _counted(seeds: Sequence[int]) -> str:
    """Seeds in a few words; empty without seeds."""
    if len(seeds) < 2:
        return f"seed {seeds[0]}" if seeds else ""
    return f"seeds {seeds[0]} to {seeds[-1]}" if consecutive(seeds) else f"{len(seeds)} seeds"


def columns(value: Any) -> Any:
    """The inverse of `plain`: lists of numbers become arrays again."""
    if isinstance(value, dict):
        return {key: columns(item) for key, item in value.items()}
    if isinstance(value, list) and value and all(numeric(item) for item in flat(value)):
        numbers = np.array(restored(value))
        return numbers
    return value


def flat(value: Any) -> Iterator[Any]:
    """The leaves of nested lists."""
    if isinstance(value, list):
        for item in value:
            yield from flat(item)
    else:
        yield value


def numeric(value: Any) -> bool:
    """Whether a leaf of JSON stands for a number."""
    return (
        value is None
        or value in ("inf", "-inf")
        or (isinstance(value, int | float) and not isinstance(value, bool))
    )

"""A paper: a folder with `ledger.toml`, the files that it includes, scenarios, and `measures.py`."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from ..report import Section
from ..scenario import load
from ..statistics import Interval
from .findings import Finding
from .grid import Entry, expanded, matching
from .judging import Explanation, Judged, judged, traced
from .laboratory import SIMULATION, Configuration, Laboratory
from .language import Environment, Problem, definitions
from .ledger import Claim, Spelling
from .library import Measure, of_runs
from .reading import LEDGER, Content, LedgerError, Part, read
from .readings import BASIC
from .row import Row
from .sections import sections
from .tabled import Varied, moved, rows, varied

MEASURES = "measures.py"


Evaluator = tuple[Callable[[Claim, Laboratory], Finding], tuple[str, ...]]


class Lazy(Mapping[str, Any]):
    """Values that are made when they are first asked for."""

    def __init__(self, names: Iterable[str], make: Callable[[str], Any]) -> None:
        """The names, and the function that makes the value of one."""
        self._names = dict.fromkeys(names)
        self._make = make
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        """The value of a name. Raises KeyError for an unknown one."""
        if name not in self._names:
            raise KeyError(name)
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        """The names."""
        return iter(self._names)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        """Whether a name is among them."""
        return name in self._names


@dataclass(frozen=True)
class Home:
    """Where a folder's files are, and how its Python is imported."""

    folder: Path
    package: str = ""
    """The package of the shipped folder; empty for one of a user's."""

    def measures(self) -> dict[str, Measure]:
        """The measures of `measures.py` and of the folder's modules that it imports, by name.

        Raises LedgerError if one cannot be imported, and for two of one name.
        """
        file = self.folder / MEASURES
        if not file.is_file():
            return {}
        package = self.package or self._package()
        try:
            importlib.import_module(f"{package}.{file.stem}")
        except (Exception, SystemExit) as error:
            raise LedgerError(
                f"{file} cannot be imported: {type(error).__name__}: {error}"
            ) from error
        own = {name: one for name, one in sys.modules.items() if name.startswith(f"{package}.")}
        found: dict[str, Measure] = {}
        for module in own.values():
            elsewhere = own.keys() - {module.__name__}
            for name, one in vars(module).items():
                if not getattr(one, "measures", False) or one in BASIC.values():
                    continue
                if one.__module__ in elsewhere:
                    continue  # imported: it is collected where it is defined
                if name.rstrip("_") in found:
                    raise LedgerError(f"{self.folder}: there are two measures {name!r}")
                found[name.rstrip("_")] = one
        return found

    def _package(self) -> str:
        """A package of the user's folder, without the modules of an earlier one."""
        name = f"anabranch_paper_{abs(hash(self.folder.resolve()))}"
        for old in [one for one in sys.modules if one == name or one.startswith(f"{name}.")]:
            del sys.modules[old]
        package = ModuleType(name)
        package.__path__ = [str(self.folder)]
        sys.modules[name] = package
        importlib.invalidate_caches()
        return name

    def configuration(self, one: Configuration) -> Configuration:
        """A cell whose scenario, law or class may be in a file of the folder."""
        scenario = self.folder / one.scenario
        file, colon, rest = (one.controller or "").partition(":")
        own = self.folder / file
        return replace(
            one,
            scenario=str(scenario)
            if scenario.suffix == ".toml" and scenario.is_file()
            else one.scenario,
            controller=f"{own}{colon}{rest}" if file and own.is_file() else one.controller,
        )


class Paper:
    """A paper that a folder holds."""

    def __init__(self, home: Home) -> None:
        """A folder, read when it is first needed."""
        self.home = home
        self.origins: dict[str, Part] = {}

    @cached_property
    def content(self) -> Content:
        """The tables of all files. Raises LedgerError."""
        return read(self.home.folder / LEDGER)

    @cached_property
    def key(self) -> str:
        """The name on the command line."""
        return str(self.content.merged("document")["key"])

    @cached_property
    def title(self) -> str:
        """The title of the paper."""
        return str(self.content.merged("document")["title"])

    @cached_property
    def sensitivity_text(self) -> str:
        """Meaning of the numbers of the table of open parameters."""
        return str(self.content.merged("sensitivity").get("text", ""))

    def side_by_side(self, lab: Laboratory) -> Sequence[Row]:
        """Rows of published rates with theory and runs, for the cells that have been run."""
        return rows(self, lab)

    def moved(self, lab: Laboratory) -> Sequence[tuple[str, dict[str, Interval]]]:
        """What the open parameters move: for each variant a value per column."""
        return moved(self, self.varied, lab)

    def sections(self, lab: Laboratory) -> Sequence[Section]:
        """Figures and tables of the report, drawn from the cells that have been run."""
        return sections(self, lab)

    @cached_property
    def measures(self) -> dict[str, Any]:
        """What expressions can call: the basic measures and those of `measures.py`."""
        own = self.home.measures()
        if twice := own.keys() & BASIC.keys():
            raise LedgerError(
                f"{self.home.folder / MEASURES}: every ledger has {', '.join(twice)}; take another name"
            )
        return BASIC | own

    @cached_property
    def defined(self) -> dict[str, Any]:
        """The definitions of all files."""
        found: dict[str, Any] = {}
        for part in self.content.each("define"):
            for key, value in part.table.items():
                try:
                    new = definitions({key: value})
                except Problem as error:
                    raise part.place.error(error, key) from None
                if twice := new.keys() & found.keys():
                    raise part.place.error(f"{', '.join(twice)} is defined in another file", key)
                if hidden := new.keys() & self.measures.keys():
                    raise part.place.error(
                        f"{', '.join(hidden)} is a measure; take another name", key
                    )
                found |= new
        return found

    @cached_property
    def pure(self) -> Environment:
        """The names that need no results."""
        return self.environment(
            {name: one for name, one in self.measures.items() if not of_runs(one)}
        )

    def environment(self, functions: Mapping[str, Any], *, tracing: bool = False) -> Environment:
        """The names that all expressions of the folder have."""
        return Environment(self.defined, Environment(functions, tracing=tracing))

    @cached_property
    def entries(self) -> dict[str, Entry]:
        """The cells by name. Raises LedgerError."""
        env = self.pure
        found: dict[str, Entry] = {}
        for part in self.content.each("cells"):
            known = {name: entry.configuration for name, entry in found.items()}
            try:
                for entry in expanded(part.table, env, known):
                    one = self.home.configuration(entry.configuration)
                    if entry.name in found and found[entry.name].configuration != one:
                        raise Problem(f"there are two cells {entry.name!r}")
                    others = found[entry.name].experiments if entry.name in found else ()
                    self.origins.setdefault(entry.name, part)
                    found[entry.name] = Entry(entry.name, one, (*others, *entry.experiments))
            except Problem as error:
                raise part.place.error(error) from None
        return found

    @cached_property
    def cells(self) -> dict[str, Configuration]:
        """Every cell but those of the sensitivity table."""
        return {name: entry.configuration for name, entry in self.entries.items()}

    @cached_property
    def varied(self) -> dict[str, Varied]:
        """The cells of the sensitivity table by name. Raises LedgerError."""
        return varied(self, self.home.configuration)

    @cached_property
    def sensitivity(self) -> dict[str, Configuration]:
        """The cells of the sensitivity table by name. Raises LedgerError."""
        return {name: one.cell for name, one in self.varied.items()}

    # What a document says of itself.

    @cached_property
    def claims(self) -> dict[str, Claim]:
        """The claims by id, in the ledger's order."""
        spelling = Spelling.of(self.content.merged("words"))
        found: dict[str, Claim] = {}
        for part in self.content.each("claim"):
            claim = Claim.of(part.table, spelling)
            if claim.id in found:
                raise part.place.error(f"there are two claims {claim.id!r}", "id")
            found[claim.id] = claim
        return found

    @cached_property
    def explanations(self) -> dict[str, Explanation]:
        """The explanations by name. Raises LedgerError."""
        found = {}
        for part in self.content.each("explanation"):
            try:
                one = Explanation.of(part.table)
            except Problem as error:
                raise part.place.error(error) from None
            if one.name in found:
                raise part.place.error(f"there are two explanations {one.name!r}", "name")
            found[one.name] = one
        return found

    @cached_property
    def judged(self) -> Mapping[str, Judged]:
        """The claims as they are judged, each traced when it is first asked for."""
        parts = {part.table["id"]: part for part in self.content.each("claim")}
        return Lazy(parts, lambda id: traced(self.claims[id], parts[id], self))

    def part_of(self, cell: str) -> Part:
        """The entry that made a cell."""
        return self.origins.get(cell) or self.content.each("sensitivity")[0]

    @cached_property
    def evaluators(self) -> Mapping[str, Evaluator]:
        """The function that judges each claim, and the cells that it needs."""

        def of(id: str) -> Evaluator:
            one = self.judged[id]
            return judged(one, self), (*one.cells, *one.explaining)

        return Lazy([id for id, claim in self.claims.items() if claim.measured], of)

    @cached_property
    def experiments(self) -> dict[str, dict[str, Configuration]]:
        """The cells of each experiment of the ledger."""
        found: dict[str, dict[str, Configuration]] = {
            part.table["id"]: {} for part in self.content.each("experiment")
        }
        for name, entry in self.entries.items():
            for experiment in entry.experiments:
                if experiment not in found:
                    raise LedgerError(
                        f"the cell {name} is of the experiment {experiment!r}, which the ledger does not list"
                    )
                found[experiment][name] = entry.configuration
        return found

    @cached_property
    def configurations(self) -> dict[str, Configuration]:
        """Every cell that a claim may need."""
        needed = {name for _, cells in self.evaluators.values() for name in cells}
        return {name: one for name, one in self.cells.items() if name in needed}

    @cached_property
    def explaining(self) -> dict[str, Configuration]:
        """Cells that explanations alone read."""
        read = {name for one in self.judged.values() for name in one.cells}
        return {name: one for name, one in self.configurations.items() if name not in read}

    @cached_property
    def auxiliary(self) -> dict[str, Configuration]:
        """Cells that claims read and no experiment has."""
        own = {name for cells in self.experiments.values() for name in cells}
        return {
            name: one
            for name, one in self.configurations.items()
            if name not in own and name not in self.explaining
        }

    @cached_property
    def unclaimed(self) -> dict[str, Configuration]:
        """Cells that neither a claim nor an explanation names."""
        named = {name for one in self.judged.values() for name in one.mentioned}
        known = named | set(self.configurations)
        return {name: one for name, one in self.cells.items() if name not in known}

    def configurations_of(self, world: str, *, quick: bool = False) -> dict[str, Configuration]:
        """Every cell that a world can run; in real time the quick ones are short."""
        every = {**self.cells, **self.sensitivity}
        if world == SIMULATION:
            return every
        names = self.on_wire(every) if world == "wire" else self.measured
        extra = self.shortened if quick else ()
        return {
            name: replace(every[name], overrides=(*every[name].overrides, *extra)) for name in names
        }

    @staticmethod
    def on_wire(every: dict[str, Configuration]) -> list[str]:
        """The cells that our endpoints can run in packets. What a measure takes from series is
        known of a simulation alone.
        """
        from ..linux import fit

        plans = {
            name: load(one.scenario).plan(overrides=list(one.overrides), controller=one.controller)
            for name, one in every.items()
            if not one.series
        }
        return [name for name, plan in plans.items() if not fit.refusals(plan, fit.WIRE)]

    def _cells(self, table: str, key: str) -> tuple[str, ...]:
        """The names of cells in a list of patterns."""
        names: list[str] = []
        for part in self.content.each(table):
            try:
                names += matching(part.table.get(key, []), self.cells)
            except Problem as error:
                raise part.place.error(error, key) from None
        return tuple(dict.fromkeys(names))

    @cached_property
    def measured(self) -> tuple[str, ...]:
        """Cells that the real kernel can run, in the order in which it runs them."""
        return self._cells("kernel", "cells")

    @cached_property
    def sampled(self) -> tuple[str, ...]:
        """The part of `measured` that a quick measurement takes."""
        return self._cells("kernel", "quick")

    @cached_property
    def shortened(self) -> tuple[str, ...]:
        """Overrides of a quick measurement."""
        return tuple(self.content.merged("kernel").get("shorten", ()))

    @cached_property
    def shown(self) -> tuple[str, ...]:
        """Cells whose windows and queues the report plots over time."""
        return self._cells("report", "over_time")

    @cached_property
    def brief(self) -> tuple[str, ...]:
        """Claims that a quick run of the whole paper judges; all if empty."""
        return tuple(self.content.merged("quick").get("claims", ()))


def shipped(name: str) -> Paper:
    """The paper of a shipped folder."""
    package = f"{__package__}.{name}"
    return Paper(Home(Path(__file__).parent / name, package))

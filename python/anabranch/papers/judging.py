"""Judges the claims of a paper: evaluates what they measure, and holds it against their bands."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from ..statistics import Interval, Verdict, interval, judge, worst
from .findings import Check, Finding, difference_or_none, finding
from .grid import filled, matching, rounds
from .laboratory import Configuration, Laboratory
from .language import UNKNOWN, Defined, Environment, Expression, Problem, definitions, shown
from .ledger import Claim
from .library import BASIC
from .reading import Content, Part, Place
from .tracing import Trace, functions

Band = tuple[float | None, float | None]

JUDGED = {"min", "max", "about", "no_difference", "for"}
"""Keys of an expectation that say how a measure is judged."""

BESIDE = {"rate": "goodput"}
"""Measures that have another one beside them in tables."""


@dataclass(frozen=True)
class Partial:
    """A quantity that is known from one side alone: some runs ended before it was reached."""

    at_least: Interval

    def __str__(self) -> str:
        """For texts."""
        low = f", its interval from {self.at_least.low:.2f}" if self.at_least.n > 1 else ""
        return f"at least {self.at_least.mean:.2f}{low}"

    def judged(self, band: Band) -> Verdict:
        """A lower bound can miss a band above it, and lie inside one that has no upper end."""
        low, high = band
        if high is not None:
            return "not_reproduced" if self.at_least.low > high else "undecided"
        return "reproduced" if low is not None and self.at_least.low >= low else "undecided"


@dataclass(frozen=True)
class Nothing:
    """There is nothing to judge, with the reason."""

    why: str

    def __str__(self) -> str:
        """For texts."""
        return self.why


@dataclass(frozen=True)
class Expectation:
    """An entry of `[claim.expected]` that is judged."""

    name: str
    entry: Mapping[str, Any]
    measure: Expression
    values: Mapping[str, Any] = field(default_factory=dict)
    """Those of `for`."""
    key: str = ""
    """The name as the ledger has it, before `for` is filled in."""

    @classmethod
    def each(cls, name: str, entry: Any, env: Environment) -> list[Expectation]:
        """The expectations of an entry: several where it has `for`; none without a measure."""
        if not isinstance(entry, Mapping):
            return []
        if "measure" not in entry:
            if bounds := JUDGED & set(entry):
                raise Problem(f"{name} has {', '.join(sorted(bounds))} and no measure")
            return []
        low, high = entry.get("min"), entry.get("max")
        if low is not None and high is not None and low > high:
            raise Problem(f"{name}: min = {low:g} is above max = {high:g}; exchange the two")
        found = []
        for values in rounds(entry.get("for", {}), env):
            inner = Environment(values, env)
            measure = Expression.read(entry["measure"])
            found.append(cls(filled(name, inner), entry, measure, values, name))
        if not found:
            raise Problem(f"{name}: `for` gives no values, so that nothing is judged")
        return found

    @property
    def published(self) -> Any:
        """The published value, with its unit if it has one."""
        if "unit" not in self.entry and "value" in self.entry:
            return self.entry["value"]
        return {key: self.entry[key] for key in ("value", "unit") if key in self.entry}

    def band(self, env: Environment) -> Band:
        """The ends of the band; with `about` they count from that value."""
        ends = (self.entry.get("min"), self.entry.get("max"))
        if "about" not in self.entry:
            return ends
        about = env.evaluated(Expression.read(self.entry["about"]))
        if about is UNKNOWN:
            return ends
        low, high = (None if end is None else float(about) + end for end in ends)
        return low, high

    def environment(self, env: Environment) -> Environment:
        """The names that its expressions have: the published value and those of `for`."""
        return Environment({"value": self.entry.get("value"), **self.values}, env)

    def check(self, env: Environment) -> Check:
        """The check of what is measured. Raises Problem."""
        inner = self.environment(env)
        value, band = inner.evaluated(self.measure), self.band(inner)
        found = checked(self.name, self.published, value, band)
        if (none := self.entry.get("no_difference")) is not None:
            found = difference_or_none(found, none, float(self.entry["value"]))
        return replace(found, goodput_mbps=self._beside(inner))

    def _beside(self, env: Environment) -> Interval | None:
        tree = self.measure.tree
        match tree:
            case ast.Call(ast.Name(name)) if name in BESIDE:
                call = ast.Call(ast.Name(BESIDE[name]), tree.args, tree.keywords)
                return interval(env.evaluated(Expression(self.measure.text, call)))
        return None


def checked(name: str, published: Any, value: Any, band: Band) -> Check:
    """A value against a band: a truth, points of a curve that all lie inside, or one quantity."""
    if isinstance(value, bool | np.bool_):
        if value and band != (None, None):  # False: the quantity has no meaning in these runs
            raise Problem(f"{name} measures whether something holds: leave out min and max")
        held: Verdict = "reproduced" if value else "not_reproduced"
        return Check(name, published, bool(value), None, held)
    if isinstance(value, Partial):
        return Check(name, published, str(value), band, value.judged(band))
    if band == (None, None):
        raise Problem(
            f"{name} has no band, and {shown(value)[:80]!r} is no truth: a comparison of seeds is one "
            "for each of them, so write all(...), or compare means"
        )
    if isinstance(value, Mapping | list | tuple) and not value:
        value = Nothing("nothing to judge: there are no points")
    if isinstance(value, Nothing):
        return Check(name, published, str(value), band, "undecided")
    if isinstance(value, Mapping):
        return _everywhere(name, published, value, band)
    if isinstance(value, list | tuple):
        verdict = worst([judge(quantity(one), *band) for one in value])
        obtained = "undecided" if verdict == "undecided" else verdict == "reproduced"
        return Check(name, published, obtained, None, verdict)
    found = quantity(value)
    return Check(name, published, found, band, judge(found, *band))


def quantity(value: Any) -> Interval:
    """A value with its interval: over the seeds of an array; a number by itself is exact."""
    if isinstance(value, Interval):
        return value
    if isinstance(value, np.ndarray) and value.ndim > 1:
        raise Problem(f"values of shape {value.shape}: take the mean over users, or one of them")
    if isinstance(value, np.ndarray) and value.ndim:
        return interval(value)
    return Interval(float(value), 0.0, 1)


_BADNESS: dict[Verdict, int] = {"reproduced": 0, "not_run": 1, "undecided": 2, "not_reproduced": 3}


def _everywhere(name: str, published: Any, points: Mapping[Any, Any], band: Band) -> Check:
    """Holds a band at every point of a curve; shows the point that decides."""
    found = {str(where): quantity(value) for where, value in points.items()}
    verdicts = {where: judge(value, *band) for where, value in found.items()}
    low, high = band

    def distance(where: str) -> tuple[int, float]:
        value = found[where]
        gaps = [
            *([value.low - low or 1e-12] if low is not None else []),
            *([high - value.high or 1e-12] if high is not None else []),
        ]
        return _BADNESS[verdicts[where]], max((-gap for gap in gaps), default=0.0)

    decides = max(found, key=distance)
    most = "farthest" if len(found) > 1 else "only"
    return Check(
        f"{name} (at every point, {most}: {decides})",
        published,
        found[decides],
        band,
        worst(list(verdicts.values())),
    )


@dataclass(frozen=True)
class Condition:
    """What must hold for an explanation: a quantity and its bounds, or a truth."""

    what: Expression
    measure: Expression
    band: Band

    def holds(self, env: Environment) -> tuple[bool, str]:
        """Whether it does, and the quantity in words."""
        what = str(env.evaluated(self.what))
        value = env.evaluated(self.measure)
        if isinstance(value, bool | np.bool_):
            return bool(value), what
        if self.band == (None, None):
            raise Problem(f"{what}: a condition is a truth, or has min or max")
        from .row import band_text

        means = value.values() if isinstance(value, Mapping) else [value]
        found = [quantity(one).mean for one in means]
        low, high = self.band
        held = bool(found) and all(
            (low is None or low <= v) and (high is None or v <= high) for v in found
        )
        numbers = ", ".join(f"{one:.3g}" for one in found)
        return held, f"{what} is {numbers}, and {band_text(self.band, '{:g}'.format)} belongs there"


@dataclass(frozen=True)
class Explanation:
    """Why a claim does not come out, and what must hold for that."""

    name: str
    parameters: tuple[str, ...]
    text: Expression
    conditions: tuple[Condition, ...]
    where: Expression | None = None
    """The case that it is for; in others it says nothing."""
    defined: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> Explanation:
        """An entry of `[[explanation]]`. Raises Problem."""
        from .language import HEAD

        match = HEAD.match(table["name"])
        if not match:
            raise Problem(f"{table['name']!r} is no name, and no name with parameters")
        names = [one.strip() for one in (match["parameters"] or "").split(",") if one.strip()]
        for one in table["holds"]:
            if one.get("min", -math.inf) > one.get("max", math.inf):
                raise Problem(f"{one['what']}: min is above max; exchange the two")
        conditions = tuple(
            Condition(
                Expression.template(one["what"]),
                Expression.read(one["measure"]),
                (one.get("min"), one.get("max")),
            )
            for one in table["holds"]
        )
        defined = definitions(table.get("define", {}))
        text = Expression.template(table["text"])
        where = Expression.read(table["where"]) if "where" in table else None
        return cls(match["name"], tuple(names), text, conditions, where, defined)

    def traced(self, values: Sequence[Any], env: Environment) -> None:
        """Evaluates all that it has, before anything has been run. Raises Problem."""
        inside = self.environment(values, env)
        for condition in self.conditions:
            inside.evaluated(condition.measure)
            inside.evaluated(condition.what)
        for one in (self.text, self.where):
            if one:
                inside.evaluated(one)

    def environment(self, values: Sequence[Any], env: Environment) -> Environment:
        """The names that its expressions have."""
        if len(values) != len(self.parameters):
            raise Problem(f"{self.name} takes {', '.join(self.parameters) or 'nothing'}")
        return Environment(
            self.defined, Environment(dict(zip(self.parameters, values, strict=True)), env)
        )

    def _applies(self, case: Any) -> bool:
        """Whether the case is one that the explanation is for. Raises Problem."""
        if not isinstance(case, bool | np.bool_):
            raise Problem(f"where of {self.name} is no truth: compare means, or write all(...)")
        return bool(case)

    def said(self, env: Environment) -> str:
        """The text if all conditions hold; else which one does not. Nothing in other cases."""
        if self.where and not self._applies(env.evaluated(self.where)):
            return ""
        for condition in self.conditions:
            held, words = condition.holds(env)
            if not held:
                return f"The explanation of earlier runs no longer holds: {words}."
        return str(env.evaluated(self.text)).strip()


class Vocabulary(Protocol):
    """What the expressions of a paper can name."""

    @property
    def content(self) -> Content:
        """The tables of all files."""

    @property
    def cells(self) -> dict[str, Configuration]:
        """The cells by name."""

    @property
    def claims(self) -> dict[str, Claim]:
        """The claims by id."""

    @property
    def measures(self) -> dict[str, Any]:
        """The functions by name."""

    @property
    def explanations(self) -> dict[str, Explanation]:
        """The explanations by name."""

    @property
    def pure(self) -> Environment:
        """The names that need no results."""

    def environment(self, functions: Mapping[str, Any], *, tracing: bool = False) -> Environment:
        """The names that all expressions have, with the functions given."""


@dataclass(frozen=True)
class Reason:
    """An explanation as a claim names it: its arguments, and the cells that it reads."""

    name: str
    arguments: Expression
    """An expression of a tuple."""
    cells: tuple[str, ...]


@dataclass(frozen=True)
class Judged:
    """A claim as it is judged."""

    claim: Claim
    place: Place
    expectations: tuple[Expectation, ...]
    evidence: Expression | None
    because: tuple[Reason, ...]
    defined: Mapping[str, Any]
    world: str
    """"theory" or "structure" if no run decides it."""
    cells: tuple[str, ...] = ()
    explaining: tuple[str, ...] = ()
    mentioned: frozenset[str] = frozenset()
    """All cells that it names, also those that only theory takes."""


def traced(claim: Claim, part: Part, paper: Vocabulary) -> Judged:
    """A claim with the cells that it reads, checked before anything runs. Raises LedgerError."""
    table, place = part.table, part.place
    where: list[str | int] = []
    try:
        trace, reasons = Trace(paper.cells), Trace(paper.cells)
        where = ["cells"]
        stated = matching(table.get("cells", ()), paper.cells)
        where = ["define"]
        defined = definitions(table.get("define", {}))
        env = Environment(
            defined, paper.environment(functions(paper.measures, trace), tracing=True)
        )
        expectations: list[Expectation] = []
        for name, entry in claim.expected.items():
            where = ["expected", name]
            own = Expectation.each(name, entry, env)
            for one in own:
                inner = one.environment(env)
                _known(one, inner.evaluated(one.measure), is_truth(one.measure.tree, inner, paper))
                one.band(inner)
            expectations += own
        where = ["evidence"]
        evidence = Expression.template(table["evidence"]) if "evidence" in table else None
        if evidence:
            env.evaluated(evidence)
        where = ["because"]
        because = tuple(_reason(text, defined, reasons, paper) for text in table.get("because", ()))
    except Problem as error:
        raise place.error(error, *where) from None
    cells = tuple(dict.fromkeys((*stated, *trace.read)))
    read = dict.fromkeys(name for reason in because for name in reason.cells)
    explaining = tuple(name for name in read if name not in cells)
    world = table.get("world", "")
    if not world and not cells and expectations:
        raise place.error('no cell decides this claim: set world to "theory" or "structure"', "id")
    return Judged(
        claim,
        place,
        tuple(expectations),
        evidence,
        because,
        defined,
        world,
        cells,
        explaining,
        frozenset(trace.mentioned | reasons.mentioned),
    )


def _reason(text: str, defined: Mapping[str, Any], reasons: Trace, paper: Vocabulary) -> Reason:
    """An explanation that a claim names, traced. Raises Problem."""
    name, arguments = _call(text)
    if name not in paper.explanations:
        raise Problem(f"there is no [[explanation]] {name!r}")
    trace = Trace(paper.cells)
    env = Environment(defined, paper.environment(functions(paper.measures, trace), tracing=True))
    paper.explanations[name].traced(env.evaluated(arguments), env)
    reasons.mentioned |= trace.mentioned
    return Reason(name, arguments, tuple(trace.read))


def _known(one: Expectation, value: Any, truth: bool) -> None:
    """Raises Problem for an expectation that cannot be judged."""
    bounds = {"min", "max"} & set(one.entry)
    if isinstance(value, str):
        raise Problem(f"{one.name} measures a text, {value!r}")
    if truth and bounds:
        raise Problem(f"{one.name} measures whether something holds: leave out min and max")
    if not truth and not isinstance(value, bool | np.bool_) and not bounds:
        raise Problem(f"{one.name} has no band: give min, max or both")


def is_truth(tree: ast.expr, env: Environment, paper: Vocabulary) -> bool:
    """Whether an expression says that something holds or not, as its form tells."""
    match tree:
        case ast.Compare() | ast.UnaryOp(ast.Not()):
            return True
        case ast.BoolOp(_, parts):
            return all(is_truth(part, env, paper) for part in parts)
        case ast.IfExp(_, yes, no):
            return is_truth(yes, env, paper) and is_truth(no, env, paper)
        case ast.Constant(value):
            return isinstance(value, bool)
        case ast.Name(name):
            value = env.defines(name)
            return isinstance(value, Expression) and is_truth(value.tree, env, paper)
        case ast.Call(ast.Name(name)):
            value = env.value(name)
            if isinstance(value, Defined):
                return is_truth(value.macro.body.tree, value.home, paper)
            returned = getattr(paper.measures.get(name), "__annotations__", {}).get("return")
            return name in ("all", "any") or returned in ("bool", bool)
    return False


def _call(text: str) -> tuple[str, Expression]:
    """An explanation with its arguments, `scenario_a(10)`."""
    call = Expression.read(text)
    match call.tree:
        case ast.Name(name):
            return name, Expression.read("()")
        case ast.Call(ast.Name(name), arguments, []):
            return name, Expression(text, ast.Tuple(arguments, ast.Load()))
    raise Problem(f"{text!r} is no explanation: a name, or a name with values in brackets")


def judged(one: Judged, paper: Vocabulary) -> Callable[[Claim, Laboratory], Finding]:
    """The function that judges a claim from a laboratory."""

    def evaluator(claim: Claim, lab: Laboratory) -> Finding:
        own = replace(
            lab,
            results={k: r for k, r in lab.results.items() if k in one.cells},
            configurations=paper.cells | lab.configurations,  # theory takes cells that do not run
        )
        env = Environment(one.defined, paper.environment(functions(paper.measures, own)))
        checks: list[Check] = []
        where: tuple[str, ...] = ()
        try:
            for expectation in one.expectations:
                where = ("expected", expectation.key)
                checks.append(expectation.check(env))
            where = ("evidence",)
            why = str(env.evaluated(one.evidence)).strip() if one.evidence else ""
            where = ("because",)
            verdict = worst([check.verdict for check in checks])
            unless = "" if verdict == "reproduced" else explained(one, paper, lab)
        except (ArithmeticError, KeyError, TypeError, ValueError) as error:
            raise one.place.error(error, *where) from error
        return finding(claim, one.world or lab.world.name, checks, why, unless=unless)

    return evaluator


def explained(one: Judged, paper: Vocabulary, lab: Laboratory) -> str:
    """The explanations of a claim, those whose cells have been run."""
    own = replace(lab, configurations=paper.cells | lab.configurations)
    env = Environment(one.defined, paper.environment(functions(paper.measures, own)))
    texts = []
    for reason in one.because:
        if all(cell in lab.results for cell in reason.cells):
            explanation = paper.explanations[reason.name]
            values = env.evaluated(reason.arguments)
            texts.append(explanation.said(explanation.environment(values, env)))
    return " ".join(text for text in texts if text)


__all__ = [
    "BASIC",
    "Expectation",
    "Explanation",
    "Judged",
    "Nothing",
    "Partial",
    "judged",
    "traced",
]

"""Compares two evaluations: what a change to a controller made better or worse."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ..result import kind_of, read_json
from ..statistics import Interval, interval
from .evaluating import FORMAT, KIND
from .goals import Verdict, order

Word = Literal["worse", "better", "no difference"]

FALSE_DISCOVERIES = 0.05
"""Part of the differences that are chance, in the mean (Benjamini and Hochberg 1995). Where nothing
differs in truth, it is the probability that any case is called different."""
LEAST = 0.01
"""Differences below this part of the larger value are of no consequence, unless a goal that was met
is missed."""


@dataclass(frozen=True)
class Compared:
    """A case before and after."""

    criterion: str
    section: str
    level: str
    case: str
    unit: str
    factor: float
    before: Verdict
    after: Verdict
    values: tuple[float, float]
    """Means before and after; NaN for none."""
    difference: Interval | None
    """After less before, in pairs of equal seeds; None where the two have no pair."""
    chance: float
    """Probability of so large a difference by chance alone."""
    word: Word = "no difference"

    @property
    def changed(self) -> bool:
        """Whether the verdict is another one; without a difference that may be chance."""
        return self.before != self.after

    def to_json(self) -> dict[str, Any]:
        """The case as plain data."""
        return {
            "criterion": self.criterion,
            "section": self.section,
            "level": self.level,
            "case": self.case,
            "before": {"verdict": self.before, "mean": self.values[0]},
            "after": {"verdict": self.after, "mean": self.values[1]},
            "difference": self.difference.to_json() if self.difference else None,
            "chance": self.chance,
            "word": self.word,
        }


@dataclass(frozen=True)
class Comparison:
    """Two evaluations, case by case."""

    names: tuple[str, str]
    """The controllers, before and after."""
    cases: Sequence[Compared]
    """Changed verdicts first, then differences, then the rest in the order of the criteria."""

    @property
    def failed(self) -> list[Compared]:
        """Cases of level MUST that got worse by the evidence of pairs. A verdict alone is none:
        an interval that touches its goal turns from `meets` to `undecided` by chance.
        """
        return [one for one in self.cases if one.level == "MUST" and one.word == "worse"]

    def to_json(self) -> dict[str, Any]:
        """The comparison as plain data."""
        return {
            "kind": "anabranch comparison of evaluations",
            "format": FORMAT,
            "before": self.names[0],
            "after": self.names[1],
            "cases": [one.to_json() for one in self.cases],
        }


def read(file: str | Path) -> dict[str, Any]:
    """An evaluation that `evaluate --json` wrote. Raises ValueError for another file, OSError."""
    try:
        content = read_json(file)
    except ValueError:
        content = None
    if kind_of(content) != KIND:
        raise ValueError(
            f"{file} is not an evaluation; take a file that `anabranch evaluate --json` wrote"
        )
    if content["format"] != FORMAT:
        raise ValueError(
            f"{file} has format {content['format']}, and this version reads {FORMAT}; evaluate again"
        )
    try:
        check_form(content)
    except ValueError as error:
        raise ValueError(f"{file} is damaged: {error}; evaluate again") from None
    return dict(content)


def check_form(content: Mapping[str, Any]) -> None:
    """Raises ValueError unless an evaluation has what a comparison reads."""
    has(content, "it", seeds=list, complete=bool, anabranch=str, controllers=list, criteria=list)
    for one in content["controllers"]:
        has(one, "a controller", name=str)
    names = [one["name"] for one in content["controllers"]]
    for criterion in content["criteria"]:
        has(criterion, "a criterion", name=str)
        whose = f"the criterion {criterion['name']}"
        texts = dict.fromkeys(("section", "level", "unit", "goal", "worse"), str)
        has(criterion, whose, factor=int | float, cases=list, **texts)
        for case in criterion["cases"]:
            has(case, f"a case of {whose}", name=str)
            where = f"the case {case['name']!r} of {whose}"
            kinds = {"scenario": str, "overrides": list, "beside": dict, "seeds": list}
            has(case, where, controllers=dict, **kinds)
            has(case["controllers"], f"{where} under controllers", **dict.fromkeys(names, dict))
            for name in names:
                check_row(case["controllers"][name], f"{where} under {name}")


def check_row(row: Mapping[str, Any], where: str) -> None:
    """Raises ValueError unless a row has a verdict, and a bound with its values."""
    has(row, where, verdict=str)
    if row["verdict"] not in get_args(Verdict):
        known = ", ".join(get_args(Verdict))
        raise ValueError(f"{where} has the verdict {row['verdict']!r}; it is one of {known}")
    if "values" not in row:
        return
    has(row, where, values=list, bound=list)
    if len(row["bound"]) != 2:
        raise ValueError(f"{where} has a bound of {len(row['bound'])} numbers; it is of two")
    for one in (*row["values"], *row["bound"]):
        if not (one is None or isinstance(one, int | float) or one in ("inf", "-inf")):
            raise ValueError(f"{where} has {one!r} where a number belongs")


def has(content: Any, what: str, **kinds: Any) -> None:
    """Raises ValueError unless `content` is an object with entries of these kinds."""
    if not isinstance(content, Mapping):
        raise ValueError(f"{what} is no object")
    for key, kind in kinds.items():
        if key not in content:
            raise ValueError(f"{what} has no `{key}`")
        if not isinstance(content[key], kind):
            raise ValueError(f"{what} has a wrong `{key}`: {str(content[key])[:40]}")


def compared(before: Path, after: Path) -> list[Comparison]:
    """The comparisons of two files: of their only controllers, or of each that both have.

    Raises ValueError if the files have not the same criteria, cases and seeds, or no controller in
    common; OSError.
    """
    files = (before, after)
    first, second = (read(file) for file in files)
    check_alike(files, first, second)
    return [comparison(first, second, names) for names in pairs(files, first, second)]


def pairs(
    files: tuple[Path, Path], first: dict[str, Any], second: dict[str, Any]
) -> list[tuple[str, str]]:
    """The controllers to compare. Raises ValueError."""
    ours, theirs = ([one["name"] for one in content["controllers"]] for content in (first, second))
    if len(ours) == len(theirs) == 1:
        return [(ours[0], theirs[0])]
    common = [(name, name) for name in ours if name in theirs]
    if not common:
        raise ValueError(
            f"{files[0]} has {', '.join(ours)}, and {files[1]} has {', '.join(theirs)}: there is no "
            "controller to compare; evaluate one in each file, or the same ones in both"
        )
    return common


def check_alike(files: tuple[Path, Path], first: dict[str, Any], second: dict[str, Any]) -> None:
    """Raises ValueError unless both have the same seeds, criteria and cases."""
    for file, content in zip(files, (first, second), strict=True):
        if not content["complete"]:
            raise ValueError(f"{file} is of an evaluation that was interrupted; finish it first")
    if first["seeds"] != second["seeds"]:
        raise ValueError(
            f"{files[0]} has seeds {first['seeds']}, and {files[1]} has {second['seeds']}; pairs need the "
            "same: give both evaluations the same --seed and --repeat"
        )
    ours, theirs = ([one["name"] for one in content["criteria"]] for content in (first, second))
    if ours != theirs:
        only = [name for name in ours if name not in theirs]
        other = [name for name in theirs if name not in ours]
        raise ValueError(
            f"the files have other criteria: only {files[0]} has {', '.join(only) or 'none'}, only "
            f"{files[1]} has {', '.join(other) or 'none'}; give both evaluations the same --only"
        )
    for one, two in zip(first["criteria"], second["criteria"], strict=True):
        if setting(one) != setting(two):
            raise ValueError(
                f"{one['name']} has other cases or another goal in {files[1]} than in {files[0]}; "
                f"they are of {second['anabranch']} and {first['anabranch']}: evaluate both with one version"
            )


def setting(criterion: Mapping[str, Any]) -> list[Any]:
    """What has to be equal of a criterion."""
    keys = ("name", "scenario", "overrides", "beside", "seeds")
    return [criterion["goal"], [[case[key] for key in keys] for case in criterion["cases"]]]


def comparison(first: dict[str, Any], second: dict[str, Any], names: tuple[str, str]) -> Comparison:
    """The comparison of a controller in one evaluation and a controller in another."""
    cases = [
        case_compared(criterion, case, other, names)
        for criterion, after in zip(first["criteria"], second["criteria"], strict=True)
        for case, other in zip(criterion["cases"], after["cases"], strict=True)
    ]
    first_to_last = get_args(Word)
    judged = worded(cases)
    return Comparison(
        names, sorted(judged, key=lambda one: (not one.changed, first_to_last.index(one.word)))
    )


def case_compared(
    criterion: Mapping[str, Any],
    case: Mapping[str, Any],
    other: Mapping[str, Any],
    names: tuple[str, str],
) -> Compared:
    """A case before and after, before words are given."""
    rows = case["controllers"][names[0]], other["controllers"][names[1]]
    count = len(case["seeds"])
    before, after = (values_of(row, count) for row in rows)
    unit = str(criterion["unit"]), float(criterion["factor"])
    verdicts = rows[0]["verdict"], rows[1]["verdict"]
    means = mean(before), mean(after)
    place = criterion["name"], criterion["section"], criterion["level"], case["name"]
    if before.size == 0 or before.size != after.size:
        return Compared(*place, *unit, *verdicts, means, None, 1.0)
    both = np.isfinite(before) & np.isfinite(after)
    by = interval(after[both] - before[both]) if both.any() else None
    worse = criterion["worse"]
    bad_before, bad_after = (
        badness(worse, values, row.get("bound", (None, None)))
        for values, row in zip((before, after), rows, strict=True)
    )
    size = max((abs(mean(values[both])) for values in (before, after)), default=0.0)
    least = 0.0 if verdicts == ("meets", "misses") else LEAST * size
    chance, word = tested(bad_before, bad_after, least)
    return Compared(*place, *unit, *verdicts, means, by, chance, word)


def values_of(row: Mapping[str, Any], count: int) -> NDArray[np.float64]:
    """The values of a row; of a controller that raised NaN for each seed, and none without an
    answer.
    """
    if row.get("raised"):
        return np.full(count, math.nan)
    return numbers(row.get("values", []))


def numbers(values: Sequence[Any]) -> NDArray[np.float64]:
    """Values from JSON; null is NaN, and "inf" a text."""
    return np.array([math.nan if one is None else float(one) for one in values], dtype=float)


def mean(values: NDArray[np.float64]) -> float:
    """The mean; NaN for nothing."""
    return float(values.mean()) if values.size else math.nan


def badness(
    worse: str, values: NDArray[np.float64], bound: Sequence[float | None]
) -> NDArray[np.float64]:
    """A number for each value that is larger for a worse one."""
    if worse == "more":
        return values
    if worse == "less":
        return -values
    low, high = (math.nan if end is None else float(end) for end in bound)
    return np.asarray(np.fmax(low - values, values - high), dtype=float)


def tested(
    before: NDArray[np.float64], after: NDArray[np.float64], least: float
) -> tuple[float, Word]:
    """The probability of such a difference of badness by chance, and what it would mean if it is
    none. Mean differences below `least` are none.
    """
    # Replications without a value, and with an infinite one, are worse than any with a number.
    lost = int((order(after) > order(before)).sum())
    found = int((order(after) < order(before)).sum())
    if lost != found:
        return 0.0, "worse" if lost > found else "better"
    both = np.isfinite(before) & np.isfinite(after)
    known = after[both] - before[both]
    if not known.size or not known.any() or abs(float(known.mean())) < least:
        return 1.0, "no difference"
    word: Word = "worse" if known.mean() > 0 else "better"
    if known.size < 2:
        return 1.0, "no difference"
    if (known == known[0]).all():
        return 0.0, word
    from scipy.stats import ttest_1samp

    return float(ttest_1samp(known, 0.0).pvalue), word


def worded(cases: Sequence[Compared]) -> list[Compared]:
    """The cases with their words: by the procedure of Benjamini and Hochberg, those whose chance is
    small for as many tests.
    """
    chances = sorted(one.chance for one in cases)
    limit = -1.0
    for rank, chance in enumerate(chances, start=1):
        if chance <= FALSE_DISCOVERIES * rank / len(chances):
            limit = chance
    return [one if one.chance <= limit else replace(one, word="no difference") for one in cases]

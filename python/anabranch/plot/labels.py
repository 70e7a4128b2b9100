"""Labels of results in figures: the settings that differ, and the settings in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from ..plan import Plan
from ..result import Result
from ..subjects import subjects
from . import style

MOST_KEYS = 3
"""Overrides that are named below a figure."""


def named(results: Sequence[Result], names: Sequence[str] | None) -> list[str]:
    """The labels of results: the given names, or the settings that differ.

    Raises ValueError when `names` does not have one for each result.
    """
    if names is None:
        return labels(results)
    if isinstance(names, str):
        raise ValueError(f"names is the text {names!r}; give a list with a name for each result")
    if len(names) != len(results):
        raise ValueError(f"there are {len(results)} results but {len(names)} names for them")
    return list(names)


def name_of(result: Result, names: Sequence[str] | None) -> str | None:
    """The name given to the only result, if one was. Raises ValueError when several were."""
    return None if names is None else named([result], names)[0]


def labels(results: Sequence[Result]) -> list[str]:
    """A short name for each result: its controller, with further settings as needed to distinguish
    the results.

    That is the scenario, else as few of the overrides that differ as do (`lia, count = 30`), else
    the world that made it; else the name of its file without the suffix, else a number. Where only
    worlds differ, they alone are the names.
    """
    own = [controllers(result) for result in results]
    scenarios = [result.plan.name for result in results]
    worlds = [result.world for result in results]
    others = (own, scenarios, *differing(results))
    if len(results) > 1 and distinct([worlds]) and all(len(set(each)) == 1 for each in others):
        return worlds
    chosen = [own]
    for more in (scenarios, *differing(results), worlds):
        if distinct(chosen):
            break
        if len(set(more)) > 1:
            chosen.append(more)
    if not distinct(chosen):
        files = [result.file for result in results]
        several = len(set(files)) > 1 and distinct([*chosen, files])  # in a file, of a comparison
        if all(files):
            chosen = [*chosen, files] if several and not distinct([files]) else [files]
    texts = [", ".join(part for part in parts if part) for parts in zip(*chosen, strict=True)]
    return numbered(texts)


def distinct(parts: Sequence[Sequence[str]]) -> bool:
    """Whether the parts together distinguish all results."""
    together = list(zip(*parts, strict=True))
    return len(set(together)) == len(together)


def differing(results: Sequence[Result]) -> list[list[str]]:
    """Texts such as "count = 30" for each result, of one override that differs after the other.

    An override that tells all apart alone stands first.
    """
    given = [overrides(result) for result in results]
    keys = list(dict.fromkeys(key for one in given for key in one))
    short = shortest(keys)
    columns = [
        [f"{short[key]} = {one[key]}" if key in one else "" for one in given] for key in keys
    ]
    columns = [column for column in columns if len(set(column)) > 1]
    return sorted(columns, key=lambda column: len(set(column)) < len(column))


def overrides(result: Result) -> dict[str, str]:
    """The overrides of a result, values by keys; the last of a key counts."""
    pairs = [text.partition("=") for text in result.provenance.get("overrides", ())]
    return {key.strip(): value.strip().strip('"') for key, _, value in pairs}


def shortest(keys: Sequence[str]) -> dict[str, str]:
    """The shortest distinct endings of keys: "count" of "flow.multipath.count"."""
    found = {}
    for key in keys:
        parts = key.split(".")
        tails = [".".join(parts[-many:]) for many in range(1, len(parts) + 1)]
        found[key] = next(
            tail
            for tail in tails
            if tail == key or not any(o != key and f".{o}".endswith(f".{tail}") for o in keys)
        )
    return found


def numbered(texts: Sequence[str]) -> list[str]:
    """Texts, with a number added to repeated ones."""
    repeated, count = Counter(texts), Counter[str]()
    found = []
    for text in texts:
        count[text] += 1
        found.append(f"{text} ({count[text]})" if repeated[text] > 1 else text)
    return found


def controllers(result: Result) -> str:
    """The controller under study of a result."""
    return studied(result.plan)


def studied(plan: Plan) -> str:
    """The controller under study, as tables name it."""
    return "+".join(dict.fromkeys(c.controller for c in subjects(plan.classes))) or "udp"


def sums_up(
    results: Sequence[Result],
    names: Sequence[str] | None = None,
    *,
    setting: str = "",
    intervals: bool = True,
) -> str:
    """Note for figures of means: scenario, controller, span, warm-up, replications; without `names`
    also the other settings that differ.
    """
    measured = [result for result in results if result.world != "theory"]
    several = any(len(result.runs) > 1 for result in measured)
    return joined(
        scenarios(results),
        setting,
        same(results, controllers),
        "" if names else unsaid(results),
        same(measured, span),
        replications(results),
        "95 % intervals" if several and intervals else "",
    )


def over_time(
    results: Sequence[Result],
    seeds: str = "",
    name: str | None = None,
    *,
    names: Sequence[str] | None = None,
) -> str:
    """Note for figures over time: scenario and controller or the name in their place, warm-up,
    `seeds`; without `names` also the other settings that differ.
    """
    return joined(
        *([name] if name else [scenarios(results), same(results, controllers)]),
        "" if names else unsaid(results),
        same(results, lambda r: f"warm-up {r.plan.warmup_s:g} s" if r.plan.warmup_s else ""),
        seeds or replications(results),
    )


def unsaid(results: Sequence[Result]) -> str:
    """The overrides that differ but do not appear in the labels of results."""
    given = [overrides(result) for result in results]
    keys = list(dict.fromkeys(key for one in given for key in one))
    short = shortest(keys)
    said = " ".join(labels(results))
    left = [
        key
        for key in keys
        if len({one.get(key) for one in given}) > 1 and f"{short[key]} = " not in said
    ]
    if len(left) > MOST_KEYS:
        left = [*left[: MOST_KEYS - 1], f"{len(left) - MOST_KEYS + 1} more"]
    if not left:
        return ""
    return (
        f"{', '.join(left[:-1])} and {left[-1]} differ too"
        if left[1:]
        else f"{left[0]} differs too"
    )


def joined(*parts: str) -> str:
    """The parts that there are."""
    return style.SEPARATOR.join(part for part in parts if part)


def scenarios(results: Sequence[Result]) -> str:
    """The scenarios, each once."""
    return " and ".join(dict.fromkeys(result.plan.name for result in results))


def same(results: Sequence[Result], of: Callable[[Result], str]) -> str:
    """The text that `of` gives for all results; empty if results differ."""
    found = {of(result) for result in results}
    return found.pop() if len(found) == 1 else ""


def span(result: Result) -> str:
    """The time over which means are taken."""
    plan = result.plan
    text = f"mean of {plan.warmup_s:g} to {plan.duration_s:g} s"
    return f"{text} (warm-up {plan.warmup_s:g} s)" if plan.warmup_s else text


def replications(results: Sequence[Result]) -> str:
    """The number of replications, in words; "theory" for theory."""
    numbers = sorted({len(result.runs) for result in results if result.world != "theory"})
    if not numbers:
        return "theory"
    if numbers == [1]:
        return "one replication"
    return f"{' to '.join(str(n) for n in (numbers[0], numbers[-1])[: len(numbers)])} replications"

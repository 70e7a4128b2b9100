"""The data of the page: shipped scenarios, published rates and, for the page on disk, theory.

    python -m anabranch.explorer.data FILE [ASKS]

writes them with theory for the page on disk, which cannot compute it: for every shipped scenario
and every published setting under some controllers, and for the settings in the JSON file ASKS, a
list of [scenario, controller, overrides].
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TypedDict
from urllib.parse import quote

from .. import _core
from ..controller import outside
from ..files import atomic_write
from ..scenario import Scenario, load, shipped
from .prediction import Theory, theory

CONTROLLERS = ("", "reno", "uncoupled", "lia", "olia", "balia")
"""Controllers of multipath users in the precomputed theory; empty: those of the scenario."""

MOST_REPLICATIONS = 100
"""Replications that the page runs at most."""

Setting = tuple[str, str, tuple[str, ...]]
"""A shipped scenario, a controller (empty: the scenario's) and overrides."""


class Shipped(TypedDict):
    """A scenario that comes with the package."""

    name: str
    title: str
    source: str
    text: str


class Published(TypedDict):
    """The published rate of a user of a class, and the claim that judges it."""

    scenario: str
    controller: str
    overrides: list[str]
    users: str
    bps: int
    claim: str
    source: str


class Opened(TypedDict):
    """What the page shows first."""

    name: str
    text: str | None
    """None: that of the shipped scenario."""
    controller: str | None
    overrides: list[str]
    seed: int
    replications: int
    note: str
    """What the reader should know of it; empty for nothing."""


class Data(TypedDict):
    """All that the page is given."""

    version: str
    scenarios: list[Shipped]
    published: list[Published]
    theory: dict[str, Theory]
    open: Opened | None


def data(grid: bool = False, first: Opened | None = None) -> Data:
    """The data of a page that shows `first` at first; with `grid` also theory, which takes 40
    processor seconds.
    """
    return Data(
        version=_core.__version__,
        scenarios=[*scenarios()],
        published=published(),
        theory=precomputed(settings()) if grid else {},
        open=first,
    )


def opened(
    scenario: Scenario,
    controller: str | None = None,
    overrides: Iterable[str] = (),
    seeds: Sequence[int] = (),
    note: str = "",
) -> Opened:
    """A scenario as the page shows it first. Seeds that do not follow one another leave the first;
    of more than `MOST_REPLICATIONS` the page runs so many, and `note` says so.

    Raises ValueError for a controller that is a Python class.
    """
    if outside(controller) or (controller or "").startswith("py:"):
        raise ValueError(
            f"the controller {controller!r} is a Python class, which the page cannot run: its engine "
            "has the controllers of `anabranch list controllers` and laws as text"
        )
    first = min(seeds, default=1)
    row = sorted(seeds) == [*range(first, first + len(seeds))]
    ours = {name for name in shipped() if texts()[name] == scenario.text}
    return Opened(
        name=scenario.name if scenario.name in ours else min(ours, default=scenario.name),
        text=None if ours else scenario.text,
        controller=None if controller is None else _core.controller(controller)["source"],
        overrides=[*overrides],
        seed=first if row else seeds[0],
        replications=min(max(1, len(seeds)), MOST_REPLICATIONS) if row else 1,
        note=" ".join(filter(None, (note, _shortened(len(seeds) if row else 1, len(seeds))))),
    )


def _shortened(taken: int, seeds: int) -> str:
    """What is said where the page does not run all seeds of a result."""
    taken = min(taken, MOST_REPLICATIONS)
    return f"The page runs {taken} of its {seeds} seeds." if taken < seeds else ""


def fragment(one: Opened) -> str:
    """What stands behind `#` in the address of a page that shows it, as the page writes it."""
    found = [("v", "1"), ("scenario", one["name"])]
    found += [("text", one["text"])] if one["text"] is not None else []
    found += [("controller", one["controller"])] if one["controller"] is not None else []
    found += [("set", override) for override in sorted(one["overrides"], key=keyed)]
    found += [("seed", str(one["seed"]))] if one["seed"] != 1 else []
    found += [("repeat", str(one["replications"]))] if one["replications"] != 1 else []
    return "&".join(f"{key}={quote(value, safe='')}" for key, value in found)


@cache
def texts() -> dict[str, str]:
    """The shipped scenarios by name, with their traces inside them."""
    return {name: load(name).text for name in shipped()}


def scenarios() -> Iterator[Shipped]:
    """The shipped scenarios."""
    for name, text in texts().items():
        plan = Scenario(text, name).plan()
        yield Shipped(name=name, title=plan.title, source=plan.source, text=text)


def published() -> list[Published]:
    """The published rates, which tools/generate_published.py takes from the papers."""
    file = resources.files("anabranch") / "explorer" / "published.json"
    found: list[Published] = json.loads(file.read_text("utf-8"))
    return found


def settings() -> Iterator[Setting]:
    """The settings of the precomputed theory."""
    places: set[tuple[str, tuple[str, ...]]] = {(name, ()) for name in shipped()}
    places |= {(one["scenario"], tuple(one["overrides"])) for one in published()}
    for name, overrides in sorted(places):
        for controller in CONTROLLERS:
            yield name, controller, overrides


def precomputed(wanted: Iterable[Setting]) -> dict[str, Theory]:
    """Theory by key, on all processors."""
    requests = {key(one): request(*one) for one in wanted}
    with ProcessPoolExecutor() as pool:
        return dict(zip(requests, pool.map(theory, requests.values()), strict=True))


def request(name: str, controller: str, overrides: Iterable[str]) -> str:
    """The page's request for theory of a setting."""
    asked = {"name": name, "text": texts()[name], "controller": controller or None}
    return json.dumps(asked | {"overrides": [*overrides]})


def keyed(override: str) -> str:
    """The key of an override."""
    return override.partition("=")[0]


def key(setting: Setting) -> str:
    """The key of a setting in the page's data, as JSON.stringify writes it: overrides in the order
    of their keys.
    """
    name, controller, overrides = setting
    ordered = sorted(overrides, key=keyed)
    return json.dumps([name, controller, ordered], ensure_ascii=False, separators=(",", ":"))


def written(content: Data) -> bytes:
    """The data as JSON that can stand in a page: no text in it ends a script."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").encode()


def main(words: Sequence[str]) -> int:
    """Writes the data of the page on disk."""
    if len(words) not in (1, 2):
        print("usage: python -m anabranch.explorer.data FILE [ASKS]", file=sys.stderr)
        return 2
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the processes are as many as processors
    wanted = [*settings()]
    if words[1:]:
        asks = json.loads(Path(words[1]).read_text("utf-8"))
        wanted += [(name, controller, tuple(given)) for name, controller, given in asks]
    content = data()
    content["theory"] = precomputed(wanted)
    atomic_write(words[0], written(content))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

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

from .. import _core
from ..controller import outside
from ..files import atomic_write
from ..scenario import Scenario, load, shipped
from .prediction import Theory, theory

CONTROLLERS = ("", "reno", "uncoupled", "lia", "olia", "balia")
"""Controllers of multipath users in the precomputed theory; empty: those of the scenario."""

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
) -> Opened:
    """A scenario as the page shows it first. Seeds that do not follow one another leave the first.

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
        replications=max(1, len(seeds)) if row else 1,
    )


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


def key(setting: Setting) -> str:
    """The key of a setting in the page's data, as JSON.stringify writes it: overrides in the order
    of their keys.
    """
    name, controller, overrides = setting
    ordered = sorted(overrides, key=lambda one: one.partition("=")[0])
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

"""The ranges of a scenario's keys: what the program says of a value that is wrong.

An option that declares its range has it in the schema. Other ranges are rules of the validator in
Rust. So every other key is given values that no key takes, in a scenario that is right without, and
the answer is the range.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import Any

import tomli_w

from anabranch import _core

Content = dict[str, Any]

WRONG: dict[str, list[Any]] = {
    "Span": ["0 s", "1000000 s"],
    "Bytes": ["0 B"],
    "Packets": ["0 packets"],
    "Rate": ["0 b/s"],
    "number": [-1.0, 0.0, 1e12],
    "integer": [0, -1],
}
"""What hardly any key of a kind takes."""

ADVICE = ("write", "leave", "shorten", "at most 1", "give a flow")
"""How a help begins that is no range."""


def scenario(link: Content | None = None, flow: Content | None = None, **top: Any) -> Content:
    """A scenario that is right, with something else in its link, its flow or beside them."""
    links = [{"name": "line", "rate": "10 Mb/s", "delay": "10 ms"} | (link or {})]
    flows = [{"name": "users", "controller": "reno", "path": [{"links": ["line"]}]} | (flow or {})]
    return {"name": "probe", "duration": "60 s", "link": links, "flow": flows} | top


def on_air(given: Content, station: Content | None = None, radio: Content | None = None) -> Content:
    """A scenario whose link is a part of a medium."""
    medium: Content = {"name": "air", "standard": "n-5"} | given
    medium |= {"station": [{"name": "a"} | station]} if station is not None else {}
    medium |= {"radio": radio} if radio is not None else {}
    way = {"medium": "air", "from": "a", "to": "b"}
    back = {"name": "back", "medium": "air", "from": "b", "to": "a"}
    content = scenario(flow={"path": [{"links": ["line"], "back": ["back"]}]}, medium=[medium])
    return content | {"link": [{"name": "line"} | way, back]}


def shared(**given: Any) -> Content:
    """A scenario whose link is a part of a bus or a cell that is called "air"."""
    content = on_air({})
    del content["medium"]
    return content | given


def on_ground(area: Content, node: Content | None = None) -> Content:
    """A scenario with an area, and with a node on it."""
    content = scenario(area={"width": 100.0, "height": 100.0} | area)
    return content | ({"node": [node]} if node is not None else {})


def queue(kind: str, content: Content) -> Content:
    """A scenario whose link has such a queue."""
    return scenario(link={"queue": {kind: content}})


def queues() -> dict[str, Callable[[Content], Content]]:
    """For the table of each kind of queue a scenario whose link has it."""
    definitions = json.loads(_core.schema())["$defs"]
    found: dict[str, Callable[[Content], Content]] = {}
    for option in definitions["Queue"]["oneOf"]:
        for kind, parameters in option.get("properties", {}).items():
            table = parameters["$ref"].rsplit("/", 1)[-1]
            least = least_of(definitions[table])
            found[table] = lambda given, kind=kind, least=least: queue(kind, least | given)
    return found


def least_of(table: Content) -> Content:
    """What a table requires, or its first key: numbers rise, as thresholds stand before limits."""
    first = list(table["properties"])[:1]
    values: Content = {}
    for place, key in enumerate(table.get("required", first), start=1):
        values[key] = (
            0.1 if table["properties"][key].get("type") == "number" else f"{10 * place} packets"
        )
        if "Span" in str(table["properties"][key]):
            values[key] = f"{10 * place} ms"
    return values


CELL = {"name": "air", "base": "b", "snr_db": 10.0}

ROWS = "t_s,rate_bps\n0,1e6\n1,2e6\n"

WITH: dict[str, Callable[[Content], Content]] = {
    "Scenario": lambda given: scenario(**given),
    "Link": lambda given: scenario(link=given),
    "Flow": lambda given: scenario(flow=given),
    "Transport": lambda given: scenario(transport=given),
    "Path": lambda given: scenario(flow={"path": [{"links": ["line"]} | given]}),
    "Coding": lambda given: scenario(
        flow={"path": [{"links": ["line"], "coding": {"redundancy": 1.1} | given}]}
    ),
    "Loss": lambda given: scenario(link={"loss": {"probability": 0.1} | given}),
    "Reorder": lambda given: scenario(
        link={"reorder": {"probability": 0.1, "delay": "1 ms"} | given}
    ),
    "LinkChange": lambda given: scenario(link={"change": [{"at": "1 s"} | given]}),
    "Opportunities": lambda given: (
        scenario() | {"link": [{"name": "line", "opportunities": {"times": "1"} | given}]}
    ),
    "Trace": lambda given: scenario(link={"trace": {"rows": ROWS} | given}),
    "Pauses": lambda given: scenario(
        flow={"app_rate": "1 Mb/s", "pauses": {"on": "1 s", "off": "1 s"} | given}
    ),
    "Medium": lambda given: on_air(given),
    "Station": lambda given: on_air({}, station=given),
    "Radio": lambda given: on_air({}, radio=given),
    "Bus": lambda given: shared(bus=[{"name": "air", "rate": "100 Mb/s"} | given]),
    "Cell": lambda given: shared(cell=[CELL | given]),
    "CellUser": lambda given: shared(cell=[CELL | {"user": [{"name": "a"} | given]}]),
    "Fading": lambda given: shared(
        cell=[CELL | {"fading": {"deviation_db": 3.0, "coherence": "1 s"} | given}]
    ),
    "Area": lambda given: on_ground({} | given),
    "Node": lambda given: on_ground({}, {"name": "node"} | given),
    "Waypoint": lambda given: on_ground({"moves": {"waypoint": {"speed": [1, 2]} | given}}),
    "Highway": lambda given: on_ground({"moves": {"highway": {"speed": [20, 30]} | given}}),
    "Movements": lambda given: on_ground({"moves": {"trace": {"text": "# none"} | given}}),
    "Fair": lambda given: scenario(flow={"fair": given}),
    "Choice": lambda given: scenario(choice=[{"what": "a", "value": "b", "why": "c"} | given]),
} | queues()
"""For each table a scenario that has it, with a key set to a value."""


RELATIVE = {
    ("Highway", "start"): "inside the area",
    ("Highway", "lane"): "inside the area",
    ("Highway", "gap"): "above reaction × (greatest − least speed), at most the width of the area",
    ("Highway", "reaction"): "below gap / (greatest − least speed)",
}
"""Ranges that depend on other keys: errors have the numbers of their scenario."""


def answer(content: Content) -> str:
    """What the program says of a scenario; nothing when it is right."""
    try:
        _core.plan(tomli_w.dumps(content))
    except _core.ScenarioError as error:
        return str(error)
    return ""


def range_of(table: str, key: str, kind: str, declared: str | None = None) -> str:
    """What a key takes beyond what its kind says, unless it is `declared`.

    Raises LookupError for a table that nobody put in `WITH`.
    """
    if declared is not None:
        return in_words(declared)
    if table not in WITH or answer(WITH[table]({})):
        raise LookupError(f"tools/reference/ranges.py has no right scenario with a table {table}")
    if (table, key) in RELATIVE:
        return RELATIVE[table, key]
    return once(stated(answer(WITH[table]({key: value}))) for value in WRONG.get(kind, []))


def stated(said: str) -> str:
    """The range in an error: its help, or what its first line says."""
    first, help_ = said.partition("\n")[0], said.partition("\nhelp: ")[2]
    if found := re.search(r"; it is a whole number (from .*)", first):
        return found[1]
    if help_ and not help_.startswith(ADVICE):
        return in_words(help_)
    return "above zero" if re.search(r"is zero| is 0 ", first) else ""


def in_words(right: str) -> str:
    """A range from what the program says would be right."""
    return re.sub(r"^it (is|lies) |, such as .*", "", right)


def units_of(content: Callable[[str], Content]) -> str:
    """The units that the program knows for a quantity."""
    found = re.search(r"is not one of its units \((.*?)\)", answer(content("1 parsec")))
    return found[1] if found else ""


def once(texts: Iterable[str]) -> str:
    """Different texts, each once."""
    return "; ".join(dict.fromkeys(text for text in texts if text))

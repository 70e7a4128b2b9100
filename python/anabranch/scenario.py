"""Scenarios: data, in TOML on disk, built in Python from the dataclasses of `anabranch.schema`.

Rust owns the rules: it checks every scenario made here and raises the errors.
"""

from __future__ import annotations

import dataclasses
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Any

from . import _core
from ._core import ScenarioError
from .controller import ControllerLike, outside
from .markup import html_table
from .offers import find, offer
from .plan import Plan
from .subjects import subjects


@dataclass(frozen=True, repr=False)
class Scenario:
    """A scenario's text, checked, and the name by which errors refer to it."""

    text: str
    name: str = "<scenario>"
    cell: str = field(default="", compare=False)
    """The cell of a document that it is unchanged, such as "khalili:c-lia-30"; empty if none."""

    @classmethod
    def parse(cls, text: str, name: str = "<scenario>") -> Scenario:
        """A scenario from TOML. Raises ScenarioError with the line and the remedy."""
        _core.plan(text, name)
        return cls(text, name)

    @classmethod
    def build(cls, **fields: Any) -> Scenario:
        """A scenario from the fields of `anabranch.schema.Scenario`.

        >>> from anabranch.schema import Flow, Link, Path
        >>> s = Scenario.build(name="one", duration="10 s",
        ...     link=[Link("wire", rate="10 Mb/s", delay="20 ms")],
        ...     flow=[Flow("tcp", path=[Path(["wire"])])])
        """
        from .schema import Scenario as Schema

        document = without_none(dataclasses.asdict(Schema(**fields)))
        return cls.written(document, str(fields.get("name", "<scenario>")))

    def plan(
        self, *, controller: ControllerLike | None = None, overrides: Sequence[str] = ()
    ) -> Plan:
        """The plan: every default filled in, SI units. Raises ScenarioError for a wrong
        override.
        """
        given, own = listed(overrides), outside(controller)
        named = None if own or controller is None else str(controller)
        plan = Plan.from_json(
            json.loads(_core.plan(self.text, self.name, overrides=given, controller=named))
        )
        return _under(plan, own.name) if own else plan

    def document(
        self, *, controller: str | None = None, overrides: Sequence[str] = ()
    ) -> dict[str, Any]:
        """The scenario as nested data, with the given controller and overrides written into it.

        Raises ScenarioError for errors that `plan` reports, and for a controller that is a Python
        class: a scenario cannot hold one.
        """
        if own := outside(controller):
            raise ScenarioError(f"{own.name} is a Python class, which a scenario cannot hold")
        self.plan(controller=controller, overrides=overrides)
        given = listed(overrides)
        text = _core.with_overrides(self.text, self.name, overrides=given, controller=controller)
        return tomllib.loads(text)

    def changed(
        self, *, controller: str | None = None, overrides: Sequence[str] = (), **fields: str
    ) -> Scenario:
        """The scenario with the given controller and overrides, and fields such as `name`, written
        into it.

        Comments at its head name its source and changes; comments of the source's text are lost.
        Raises ScenarioError as `document` does.
        """
        document = self.document(controller=controller, overrides=overrides) | fields
        under = f" under {controller}" if controller else ""
        head = [f"{self.name}{under}{' with' if overrides else ''}", *(f"  {o}" for o in overrides)]
        comments = "".join(f"# {line}\n" for text in head for line in text.splitlines())
        return Scenario.parse(comments + _text(document), self.name)

    @classmethod
    def written(cls, document: dict[str, Any], name: str = "<scenario>") -> Scenario:
        """A scenario from nested data. Raises ScenarioError."""
        return cls.parse(_text(document), name)

    def __repr__(self) -> str:
        """The name and the title of the scenario, in one line."""
        title = f": {self._title()}" if self._title() else ""
        return f"<Scenario {self.name}{title}>"

    def _repr_html_(self) -> str | None:
        """Links and classes of users as tables, for notebooks."""
        try:
            plan = self.plan()
        except ScenarioError:
            return None  # a text that was not checked: notebooks show the short form
        links = [
            [
                link.name,
                f"{link.rate_bps / 1e6:g}" if link.rate_bps else "–",
                f"{link.delay_s * 1e3:g}",
                ", ".join(sorted({plan.media[at.medium].name for at in link.attachments})) or "–",
            ]
            for link in plan.links
        ]
        classes = [
            [
                one.name,
                str(one.count),
                one.controller if one.protocol != "udp" else one.protocol,
                "; ".join(" → ".join(plan.links[n].name for n in path.links) for path in one.paths),
            ]
            for one in plan.classes
        ]
        discarded = f", the first {plan.warmup_s:g} s discarded" if plan.warmup_s else ""
        span = f"{self.name}: {plan.duration_s:g} s{discarded}"
        words = ("link", "medium", "class", "controller", "paths")
        head = ["link", "rate Mb/s", "delay ms", "medium"]
        above = html_table(head, links, words=words, title=plan.title or plan.name)
        head = ["class", "users", "controller", "paths"]
        return above + html_table(head, classes, words=words, notes=[span, *plan.warnings])

    def _title(self) -> str:
        """The title; empty for a text that was not checked."""
        try:
            return str(tomllib.loads(self.text).get("title", ""))
        except tomllib.TOMLDecodeError:
            return ""


def _text(document: dict[str, Any]) -> str:
    """Nested data as TOML; tables of numbers in texts stay lines."""
    import tomli_w

    return tomli_w.dumps(document, multiline_strings=True)


def _under(plan: Plan, label: str) -> Plan:
    """The plan with a controller in the flows that `run` gives one."""
    names = {c.name for c in subjects(plan.classes)}
    classes = [
        dataclasses.replace(c, controller=label, law=None) if c.name in names else c
        for c in plan.classes
    ]
    return dataclasses.replace(plan, classes=classes)


def listed(overrides: Sequence[str]) -> list[str]:
    """Overrides as a list. Raises ScenarioError for a single text, which would be read by
    letters.
    """
    if isinstance(overrides, str):
        raise ScenarioError(
            f"overrides is the text {overrides!r}; give a list of texts: overrides=[{overrides!r}]"
        )
    return list(overrides)


def without_none(value: Any) -> Any:
    """Nested dataclass fields that were given; TOML has no null for the others."""
    if isinstance(value, dict):
        return {key: without_none(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [without_none(item) for item in value]
    return value


@cache
def shipped() -> Mapping[str, Path]:
    """The scenarios that come with the package: name (such as "khalili/scenario-c") and file."""
    root = Path(str(resources.files("anabranch") / "scenarios"))
    files = sorted(root.rglob("*.toml"))
    return MappingProxyType({str(f.relative_to(root).with_suffix("")): f for f in files})


def shipped_name(text: str) -> str:
    """The shipped scenario that `text` names, with its folder, or without if there is but one of
    that name. Raises ScenarioError.
    """
    known = list(shipped())
    alone = [name.split("/")[-1] for name in known]
    if name := find(text, known):
        return name
    if (last := find(text, alone)) and alone.count(last) == 1:
        return known[alone.index(last)]
    # In another folder, or in none, the last part may be right.
    hint = offer(text, known) or offer(text.split("/")[-1], alone)
    help_ = (
        "`anabranch.load` finds cells of documents"
        if ":" in text
        else "`anabranch list scenarios` shows those that are shipped"
    )
    raise ScenarioError(f"there is no file or shipped scenario {text!r}{hint}\nhelp: {help_}")


def load(source: str | Path) -> Scenario:
    """A scenario from a file, or one that comes with the package by its name.

    Trace and opportunity files are found relative to the scenario's file and embedded, so that a
    result contains them.

    Raises ScenarioError when there is no such file, or when it is too large, not text, or invalid.
    """
    path = Path(source)
    if not path.is_file():
        path = shipped()[shipped_name(str(source))]
    try:
        most = _core.MOST_SCENARIO_BYTES
        if (size := path.stat().st_size) > most:
            raise ScenarioError(
                f"{path} has {size >> 20} MiB\nhelp: a scenario file has at most {most >> 20} MiB; "
                "traces are files of their own"
            )
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ScenarioError(f"{path} is not text; a scenario is a TOML file in UTF-8") from None
    except OSError as error:
        raise ScenarioError(f"{path} cannot be read: {error.strerror}") from None
    text = _core.with_files(text, str(source), path.parent)
    return Scenario.parse(text, str(source))

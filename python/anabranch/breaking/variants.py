"""Variants of a scenario, as nested data: another controller in the subject's place, the end state
of its links, and delays that differ a little from user to user.

They work on any scenario with a flow called "subject", whether the search drew it or a person wrote
it.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from random import Random
from typing import Any

from .. import _core
from .._core import ScenarioError
from ..fairness.references import OWN
from .rendering import SUBJECT

Document = dict[str, Any]
"""A scenario as nested data."""

SHAKE = 0.05
"""Largest relative difference of a line's delay from the scenario's, for each user, path and
replication."""

COPY = "/"
"""Between the name of a class and the number of a user in it that has a class of its own."""


def subject_of(document: Document) -> Document:
    """The flow of the subject. Raises ScenarioError if there is none."""
    flows = document.get("flow", [])
    for flow in flows:
        if flow["name"] == SUBJECT and flow.get("count", 1) == 1:
            return dict(flow)
    names = ", ".join(flow["name"] for flow in flows) or "none"
    raise ScenarioError(
        f"no flow of one user is called {SUBJECT!r}; the flows are {names}\n"
        f"help: call the flow whose controller is under test {SUBJECT!r}, and give it subject = true"
    )


def tcp_on_each_path(document: Document) -> dict[str, Document]:
    """One TCP (Reno) in the subject's place, on each of its paths in turn; names count from 1."""
    return {
        f"TCP on path {number}": replaced(document, [path])
        for number, path in enumerate(subject_of(document)["path"], start=1)
    }


RENO = "Reno on every path"
SETTLED = "without the event"
RENO_SETTLED = "Reno without the event"


def reno_on_every_path(document: Document) -> dict[str, Document]:
    """Reno on every path of the subject, each by itself."""
    return {RENO: replaced(document, subject_of(document)["path"])}


def before_and_after(document: Document) -> dict[str, Document]:
    """The subject in the network as it is after the last event, from the start; and Reno on every
    path, with and without the event.
    """
    (reno,) = reno_on_every_path(document).values()
    return {SETTLED: settled(document), RENO: reno, RENO_SETTLED: settled(reno)}


TOGETHER = "two of them"
TOGETHER_RENO = "two Renos"
LATE = "a late second one"
LATE_RENO = "a late second Reno"

SECOND = "subject-2"
"""Class of the second user where one begins later."""


def doubled(document: Document) -> dict[str, Document]:
    """Two users in the subject's place, which begin together or one after the other, with the
    controller and with Reno on every path.
    """
    (reno,) = reno_on_every_path(document).values()
    return {
        TOGETHER: _twice(document),
        TOGETHER_RENO: _twice(reno),
        LATE: _one_after_another(document),
        LATE_RENO: _one_after_another(reno),
    }


def _twice(document: Document) -> Document:
    """The scenario with two users in the subject's place."""
    flows = [flow | {"count": 2} if flow["name"] == SUBJECT else flow for flow in document["flow"]]
    return document | {"flow": flows}


def _one_after_another(document: Document) -> Document:
    """The scenario with a second user like the subject, which begins with the measured time; the
    second half of that is measured.
    """
    warmup = document.get("warmup", "0 s")
    end_s, begin_s = _core.seconds(document["duration"]), _core.seconds(warmup)
    second = subject_of(document) | {"name": SECOND, "start": warmup}
    measured = {"warmup": f"{(begin_s + end_s) / 2:.6f} s"}
    return document | measured | {"flow": [*document["flow"], second]}


def replaced(document: Document, paths: list[Document]) -> Document:
    """The scenario with Reno on `paths` in the subject's place; peers keep their controller."""
    subject = subject_of(document)
    tcp = {key: value for key, value in subject.items() if key not in OWN}
    tcp |= {"controller": "reno", "path": paths}
    flows = [tcp if flow["name"] == SUBJECT else flow for flow in document["flow"]]
    return document | {"flow": flows}


def settled(document: Document) -> Document:
    """The scenario whose links are from the start as the last change leaves them."""
    links = []
    for link in document.get("link", []):
        found = {key: value for key, value in link.items() if key != "change"}
        for change in sorted(link.get("change", []), key=lambda one: _core.seconds(one["at"])):
            found |= {key: change[key] for key in ("rate", "delay") if key in change}
        links.append(found)
    return document | {"link": links}


def under_test(document: Document) -> bool:
    """Whether a flow has the controller under test."""
    return any(flow.get("subject") for flow in document["flow"])


def is_line(link: Document) -> bool:
    """Whether a link is a user's own line, whose delay differs from replication to replication."""
    return bool(link.get("per_user")) and "rate" not in link


def shaken(
    document: Document, seed: int, seconds: Mapping[str, float], *, apart: bool = True
) -> Document:
    """The scenario with a class for every user, whose own lines are up to `SHAKE` longer or
    shorter; without `apart` the users of a class stay together, and have equal lines.

    A drop-tail queue drops by the phase of round trips, so that one choice of delays shows little
    (docs/explanation/phase-effects.md): every replication has other ones. They depend on the seed
    and on the places of flow, user and line in the scenario, so that names do not matter and a TCP
    in the subject's place has the same. Lines are links with `per_user` and without a rate,
    `seconds` their delays by name.
    """
    lines = {
        link["name"]: Line(place, link, seconds[link["name"]])
        for place, link in enumerate(document["link"])
        if is_line(link) and link["name"] in seconds
    }
    own: dict[str, Document] = {}

    def line(name: str, user: tuple[int, int]) -> str:
        if name not in lines:
            return name
        copy = COPY.join([name, *(str(number + 1) for number in user)])
        if copy not in own:
            own[copy] = lines[name].copy(copy, seed, user)
        return copy

    flows: list[Document] = []
    for place, flow in enumerate(document["flow"]):
        users = flow.get("count", 1) if apart and "arrivals" not in flow else 1
        for user in range(users):
            copy = deepcopy(flow)
            if users > 1:
                copy |= {"count": 1, "name": f"{flow['name']}{COPY}{user + 1}"}
            for path in copy["path"]:
                for way in ("links", "back"):
                    if way in path:
                        path[way] = [line(name, (place, user)) for name in path[way]]
            flows.append(copy)
    kept = [link for link in document["link"] if link["name"] not in lines]
    return document | {"link": [*kept, *own.values()], "flow": flows}


@dataclass(frozen=True)
class Line:
    """A line of which every user has a copy."""

    place: int
    """In the list of links."""
    link: Document
    delay_s: float

    def copy(self, name: str, seed: int, user: tuple[int, int]) -> Document:
        """A user's own copy; the user is its flow's place, and its place in the flow."""
        # A text seeds the same numbers on every machine; hashes of Python differ from run to run.
        random = Random(f"{seed} {user[0]} {user[1]} {self.place}")
        factor = 1.0 + SHAKE * random.uniform(-1.0, 1.0)
        return self.link | {"name": name, "delay": f"{self.delay_s * 1e3 * factor:.6f} ms"}

"""Implementation of `anabranch law`."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import typer

from .. import _core, theory
from ..files import check_writable, write_json
from ..records import plain
from ..scenario import load
from ..theory.properties import Checked, checked
from ..written import Law, shipped_law, shipped_laws
from .keeping import show_and_write
from .terminal import console, named, table

NETWORKS = {
    "khalili/shared-bottleneck": "both paths of each user and TCP share one bottleneck",
    "khalili/two-bottlenecks": "a path through each of two bottlenecks, one of them shared with TCP",
    "khalili/scenario-c": "a path through a private access point, and one through an access point shared with TCP",
}
"""Shipped scenarios in which a law should have a fixed point, with descriptions."""


@dataclass(frozen=True)
class Rest:
    """Theory's statement on a law in a network."""

    network: str
    rates_mbps: dict[str, float]
    """Rate of a user of each class at the fixed point; empty without one."""
    verdict: str
    """Whether the law returns to the fixed point, without and with delayed feedback."""
    why: str = ""
    """Why there is no fixed point or no verdict."""


def given(law: str) -> Law:
    """The law of a file with parameters, or one that ships. Raises ScenarioError."""
    match = re.fullmatch(r"(kernel:)?([\w-]+)([:+].*)?", law)
    if match and not Path(law).is_file():
        law = f"{match[1] or ''}{shipped_law(match[2])}{match[3] or ''}"
    source = _core.controller(law)
    if not source["written"]:
        raise _core.ScenarioError(
            f"{law!r} is no law in text: give a file such as my.law, or one that ships; "
            "`anabranch law list` shows those"
        )
    return Law(source["source"])


def check_command(law: str, json: Path | None) -> None:
    """Prints what a law keeps and breaks, and writes it. Status 1 when it breaks what all shipped
    laws keep, or has no fixed point.
    """
    own = given(law)
    if json:
        check_writable(json)
    properties = checked(own)
    rests = [rest(own, network) for network in NETWORKS]
    beside = {network: rest("lia", network) for network in NETWORKS}
    kernel = in_kernel(own)
    content = {
        "kind": "anabranch law check",
        "law": plain(_core.law(own)),
        "properties": [_plain(one) for one in properties],
        "networks": [asdict(one) | {"under_lia": asdict(beside[one.network])} for one in rests],
        "kernel": kernel,
    }
    show_and_write(
        lambda: show(own, properties, rests, beside, kernel),
        (json, lambda file: write_json(file, content)),
    )
    grave = any(one.broken and one.broken.grave for one in properties)
    if grave or not all(one.rates_mbps for one in rests):
        raise typer.Exit(1)


def _plain(one: Checked) -> dict[str, Any]:
    """A property as plain data."""
    content: dict[str, Any] = {
        "property": one.name,
        "meaning": one.meaning,
        "holds": not one.broken,
    }
    if one.broken:
        state = one.broken.state
        content["example"] = {
            "what": one.broken.what,
            "windows_segments": list(state.windows),
            "rtts_s": list(state.rtts_s),
            "losses": list(state.losses),
        }
    return content


def rest(law: str, network: str) -> Rest:
    """The fixed point of a law in a network, and whether it is stable."""
    plan = load(network).plan(controller=law)
    try:
        fluid = theory.Fluid(theory.Network.from_plan(plan))
    except theory.TheoryError as why:
        return Rest(network, {}, "no fixed point", str(why))
    rates = fluid.equilibrium.class_rates_bps
    mbps = {name: bps / 1e6 for name, bps in rates.items()}
    try:
        found = theory.stability(fluid)
    except theory.TheoryError as why:
        return Rest(network, mbps, "–", str(why))
    return Rest(network, mbps, f"{found.verdict}, with delay {found.delayed_verdict}")


def in_kernel(law: Law) -> str:
    """Whether the law can run in the kernel's arithmetic: the bound on its error, or why not."""
    try:
        found = _core.law_c(law)
    except _core.ScenarioError as why:
        return str(why)
    of = "growth" if found["positive"] else "the sum of the magnitudes of its terms"
    return (
        f"growth in integer arithmetic has an error of at most {found['relative']} · 2^-31 of {of}"
    )


def show(
    law: Law, properties: list[Checked], rests: list[Rest], beside: dict[str, Rest], kernel: str
) -> None:
    """Prints three tables; the last one compares the law's fixed points with LIA's."""
    out, about = console(), _core.law(law)
    head = f"{about['label']}: {about['summary']}" if about["summary"] else about["label"]
    out.print(head, markup=False, highlight=False, style="bold")
    if about["parameters"]:
        rows = [
            [name, f"{value:g}", f"{default:g}", where, named(meaning)]
            for name, value, default, where, meaning in about["parameters"]
        ]
        out.print(
            table("Parameters", ["name", "value", "default", "range", "meaning"], rows, left=5)
        )
    rows = []
    for one in properties:
        if one.broken is None:
            rows.append([one.name, "[green]holds[/]", one.meaning])
        else:
            word = "[red]broken[/]" if one.broken.grave else "[yellow]not so[/]"
            rows.append([one.name, word, named(f"{one.broken.what}, at {one.broken.state}")])
    out.print(
        table("Properties", ["property", "", "meaning, or smallest counterexample"], rows, left=3)
    )
    rows = []
    for place in rests:
        lia = beside[place.network]
        about_it = place.why or NETWORKS[place.network]
        rows.append(
            [place.network, _rates(place), place.verdict, _rates(lia), lia.verdict, about_it]
        )
    heads = ["network", "Mb/s per user", "fixed point", "under LIA Mb/s", "LIA's fixed point", ""]
    out.print(table("Fixed points, with queueing round trips", heads, rows, left=6))
    out.print(f"kernel: {kernel}", markup=False, highlight=False)
    if about["jumps"]:
        out.print("the law jumps where paths tie; theory averages over nearby states", style="dim")


def _rates(place: Rest) -> str:
    """Rate of a user of each class."""
    rates = [f"{name} {rate:.3f}" for name, rate in place.rates_mbps.items()]
    return ", ".join(rates) or "–"


def show_command(law: str) -> None:
    """Prints the text of a law."""
    print(str(given(law)).rstrip("\n"))


def list_command() -> None:
    """The laws that ship as text."""
    rows = []
    for name, file in shipped_laws().items():
        about = _core.law(file.read_text(encoding="utf-8"))
        parameters = ", ".join(f"{own[0]} {own[3]}" for own in about["parameters"])
        rows.append([name, about["summary"], parameters, about["source"]])
    console().print(
        table("Laws as text", ["name", "what it is", "parameters", "source"], rows, left=4)
    )


def c_command(law: str) -> None:
    """Prints a law as a header in C."""
    print(_core.law_c(given(law))["c"], end="")

"""Implementation of `anabranch law prove`."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from pathlib import Path
from typing import Any

import typer

from .. import _core
from ..files import check_writable, write_json
from ..theory.proof import CLAIMS, FixedPoint, Proof, exactly, harm_of, prove
from .keeping import show_and_write
from .lawcheck import given
from .tables import Table
from .terminal import console, table

STATUS = {"proved": 0, "disproved": 1, "open": 3}
"""Exit status of a verdict; 2 is wrong input, as everywhere."""

STYLES = {"proved": "bold green", "disproved": "bold red", "open": "bold yellow"}


def ends(option: str, text: str, number: Callable[[str], float]) -> tuple[float, float]:
    """The least and the most of a range, `LEAST..MOST` or one value; a unit behind the last one is
    that of both. Raises ValueError that names the option.
    """
    low, dots, high = (part.strip() for part in text.partition(".."))
    unit = re.sub(r"^[0-9.eE+-]+", "", high).strip()
    if dots and unit and re.fullmatch(r"[0-9.eE+-]+", low):
        low = f"{low} {unit}"
    try:
        return number(low), number(high if dots else low)
    except ValueError as wrong:
        raise ValueError(f"{option} is {text!r}: {wrong}; write LEAST..MOST or one value") from None


def probability(text: str) -> float:
    """A probability, perhaps as a percentage. Raises ValueError."""
    part = text.removesuffix("%").strip()
    try:
        return float(part) / (100.0 if "%" in text else 1.0)
    except ValueError:
        raise ValueError(f"{text!r} is no number, such as 0.01 or 1%") from None


def prove_command(
    law: str,
    *,
    claim: str,
    within: float | None,
    paths: int,
    loss: str,
    rtt: str,
    floor: float,
    boxes: int,
    harm: float | None,
    others: int,
    json: Path | None,
) -> None:
    """Prints what is claimed, whether it is proved, and a fixed point that breaks it if not. Status
    as in `STATUS`.
    """
    if json:
        check_writable(json)
    if within is not None and harm is not None:
        raise ValueError(
            f"--within is {within:g} and --harm is {harm:g}; each bounds the same, so give one"
        )
    found = prove(
        given(law),
        claim,
        within=0.1 if within is None else within,
        paths=paths,
        losses=ends("--loss", loss, probability),
        rtts_s=ends("--rtt", rtt, _core.seconds),
        floor=floor,
        boxes=boxes,
        harm=harm,
        others=others,
    )
    show_and_write(lambda: show(found), (json, lambda file: write_json(file, plain(found))))
    if STATUS[found.verdict]:
        raise typer.Exit(STATUS[found.verdict])


def plain(found: Proof) -> dict[str, Any]:
    """A proof as plain data."""
    return {
        "kind": "anabranch law prove",
        "controller": found.controller,
        "claim": found.claim,
        "within": found.within,
        "harm": None if found.harm is None else asdict(found.harm),
        "paths": found.paths,
        "losses": list(found.losses),
        "rtts_s": list(found.rtts_s),
        "floor": found.floor,
        "statement": found.statement,
        "note": found.note,
        "verdict": found.verdict,
        "boxes": found.boxes,
        "computed": found.computed,
        "witness": _plain(found.witness),
        "nearest": _plain(found.nearest),
        "open": {
            "doubt": found.doubt,
            "boxes": found.open_boxes,
            "share": found.open_share,
            "ranges": {name: list(ends) for name, ends in found.open_ranges.items()},
        },
    }


def _plain(point: FixedPoint | None) -> dict[str, Any] | None:
    if point is None:
        return None
    return {
        "windows_segments": list(point.windows),
        "rtts_s": list(point.rtts_s),
        "losses": list(point.losses),
        "at_floor": list(point.at_floor),
        "rates_per_s": list(point.rates_per_s),
        "tcp_rates_per_s": list(point.tcp_rates_per_s),
        "path": point.path,
        "ratio": point.ratio,
        "certain": None if point.certain is None else list(point.certain),
    }


def show(found: Proof) -> None:
    """Prints the claim, the statement, the verdict and the fixed points that belong to it."""
    out = console()
    out.print(
        f"{found.claim}: {CLAIMS[found.claim].meaning}", style="bold", highlight=False, markup=False
    )
    out.print(f"statement: {found.statement}", highlight=False, markup=False)
    out.print(f"note: {found.note}", highlight=False, markup=False)
    out.print(f"\n{verdict(found)}", style=STYLES[found.verdict], highlight=False, markup=False)
    if found.verdict == "open":
        for line in left(found):
            out.print(line, highlight=False, markup=False)
    if found.witness is not None:
        out.print(points(found.witness))
        out.print(about(found, found.witness), highlight=False, markup=False)
    elif found.nearest is not None:
        out.print(
            f"at 64 places of the ranges, {counted(found.computed)}; the one with the least room has "
            f"{found.nearest.ratio:.6g} times TCP's rate: {found.nearest}",
            highlight=False,
            markup=False,
            style="dim",
        )
    else:
        out.print(
            "no fixed point was found at 64 places of the ranges: a statement about all of them may "
            "be one about nothing",
            style="yellow",
        )


def counted(number: int) -> str:
    """A number of fixed points in words."""
    return f"{number} distinct fixed point{'s' * (number != 1)} computed"


def verdict(found: Proof) -> str:
    """The verdict in a line."""
    if found.verdict == "disproved":
        how = (
            f"after {found.boxes:,} boxes"
            if found.boxes
            else "at one of 64 places that are tried first"
        )
        return f"disproved {how}, by the fixed point below"
    if found.verdict == "proved":
        return f"proved, with {found.boxes:,} boxes"
    return f"open after {found.boxes:,} boxes: neither proved nor disproved"


def left(found: Proof) -> list[str]:
    """What an open search left, in lines."""
    lines = [] if found.doubt is None else [f"{found.doubt}: nothing is proved about this law"]
    if found.open_boxes:
        share = digits(found.open_share, 3, ROUND_CEILING)
        lines.append(
            f"{found.open_boxes:,} boxes are left, in at most {share} of the ranges' volume (in "
            "logarithms); --boxes looks at more"
        )
    for name, (low, high) in found.open_ranges.items():
        least, most = digits(low, 6, ROUND_FLOOR), digits(high, 6, ROUND_CEILING)
        lines.append(f"  {name}: {least} to {most}")
    return lines


def digits(value: float, number: int, rounding: str) -> str:
    """A value with so many digits, rounded in that direction of `decimal`."""
    return f"{Context(prec=number, rounding=rounding).create_decimal(repr(value)):.{number}g}"


def points(point: FixedPoint) -> Table:
    """A fixed point as a table with a line for each path."""
    rows = [
        [
            str(path + 1),
            f"{rtt * 1e3:.4g}",
            f"{loss:.4g}",
            f"{window:.6g}{' (floor)' * floor}",
            f"{rate:.6g}",
            f"{tcp:.6g}",
            f"{rate / tcp:.4g}",
        ]
        for path, (rtt, loss, window, floor, rate, tcp) in enumerate(
            zip(
                point.rtts_s,
                point.losses,
                point.windows,
                point.at_floor,
                point.rates_per_s,
                point.tcp_rates_per_s,
                strict=True,
            )
        )
    ]
    head = ["path", "rtt ms", "loss", "window", "segments/s", "TCP segments/s", "of TCP"]
    return table("Fixed point", head, rows)


def about(found: Proof, point: FixedPoint) -> str:
    """The ratio of a fixed point, and what is known of it."""
    who, rate = "all paths together send", point.rates_per_s.sum()
    if CLAIMS[found.claim].one_path:
        who, rate = f"path {point.path + 1} sends", point.rates_per_s[point.path]
    tcp = point.tcp_rates_per_s[point.path]
    compared = f"{who} {rate:.6g} segments/s, and a TCP on path {point.path + 1} {tcp:.6g}"
    known = "computed, and not proved to exist"
    if point.certain is not None:
        known = "proved to exist at these losses and round trips (Krawczyk's test)"
    said = (
        f"{compared}: {point.ratio:.6g} times, where {exactly(found.allowed)} is claimed; {known}"
    )
    if found.harm is None:
        return said
    less = 100.0 * harm_of(point.ratio, found.harm.others)
    tcps = f"each of {found.harm.others} TCPs has" if found.harm.others > 1 else "one TCP has"
    return f"{said}; {tcps} {less:.4g} % less"

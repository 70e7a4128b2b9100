"""The gallery: a picture of each kind of plot at two widths, with the command that draws it."""

from __future__ import annotations

from anabranch.plot import KINDS

COLUMN, PAGE = "3.5in", "7.16in"
"""Widths of a column and of a page of a paper."""

RESULTS = {
    "stations": "wifi.json.gz",
    "topology": "moving.json.gz",
}
"""What a kind is drawn from, if not from the controllers in scenario C."""

MORE = {
    "A capture": (
        "capture",
        "throughput of the subflows of a capture over time",
        "anabranch capture c.pcapng --plot capture.pdf",
    ),
    "A map of theory": (
        "map",
        "equilibria over a grid of two parameters",
        'anabranch theory khalili/scenario-c --map "link.ap1.rate=5..30:6 Mb/s" '
        "--map flow.multipath.count=5,10,20,30 --out map.pdf",
    ),
    "A portrait of theory": (
        "portrait",
        "trajectories of the fluid model in the plane of two unknowns",
        "anabranch theory khalili/scenario-c --portrait portrait.pdf",
    ),
}
"""Figures that are of no result: name of the picture, what it shows, command."""


def parts() -> dict[str, str]:
    """All sections of the gallery."""
    sections = []
    for name, kind in KINDS.items():
        files = RESULTS.get(name, "lia.json.gz olia.json.gz" if kind.several else "olia.json.gz")
        command = f"anabranch plot {files} --kind {name} --output {name}.pdf"
        sections.append(section(f"`{name}`", (name, kind.summary, command)))
    sections += [section(title, facts) for title, facts in MORE.items()]
    return {"gallery": "\n\n".join(sections)}


def section(title: str, facts: tuple[str, str, str]) -> str:
    """A kind: its summary, its command for a column, its pictures."""
    name, summary, command = facts
    pictures = [
        f"![{name}, {inches} wide](../pictures/gallery/{name}-{inches.removesuffix('in')}.png)"
        for inches in (COLUMN, PAGE)
    ]
    block = f"```sh\n{command} --width {COLUMN}\n```"
    lines = [f"## {title}", f"{summary[0].upper()}{summary[1:]}.", block, *pictures]
    return "\n\n".join(lines)

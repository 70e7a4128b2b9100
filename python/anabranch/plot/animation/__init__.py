"""A run as an animation: one HTML file that plays the motion of nodes and the traffic of flows.

The file is self-contained: data, style and script are in it, and it loads nothing from a network.
`data.py` prepares the data; the page is `page.html` with `page.css`; `map.js` draws the ground,
`pipes.js` wires, and `page.js` the rest.
"""

from __future__ import annotations

import html
import json
from importlib import resources

from ..inputs import Results, replication, single
from .data import contents


def animation(results: Results, *, seed: int | None = None) -> str:
    """HTML that plays a run: the network with its traffic, and windows, throughput, queues and
    drops over time.

    Wires are pipes from users to receivers. The height of a flow is its rate in the last second,
    levels are queues, and falling dots are drops. Where there are nodes or media the page has a map
    of them: nodes that move, hops in use, and routes. A hop shows the bytes between two samples, as
    wide as their root, in the colour of the class or path whose route has the hop; where several
    share a hop, parts are in proportion to the arrivals of each. Messages of routers are grey, and
    rings are broadcasts. Numbers are rounded to three digits. A class of several users has one row:
    windows are means, throughput is the sum. With `#t=12` after its name the file opens at 12 s,
    otherwise at the end of the warm-up.

    Raises ValueError without series or with one sample, and for an unknown seed.
    """
    result = single(results, "animation")
    run = replication(result, seed)
    if len(run.series.t_s) < 2:
        raise ValueError("the result has one sample; run with a `sample` shorter than `duration`")
    data = json.dumps(contents(result, run), separators=(",", ":"), ensure_ascii=False)
    title = result.plan.title or result.plan.name
    parts = {
        "TITLE": html.escape(title),
        "STYLE": part("page.css"),
        "MAP": part("map.js"),
        "PIPES": part("pipes.js"),
        "PAGE": part("page.js"),
        "DATA": data.replace("<", "\\u003c"),  # no name can end the script
    }
    page = part("page.html")
    pieces = page.split("@@")
    return "".join(parts[piece] if odd % 2 else piece for odd, piece in enumerate(pieces))


def part(name: str) -> str:
    """The text of a file in this directory."""
    return (resources.files(__package__) / name).read_text(encoding="utf-8").rstrip("\n")

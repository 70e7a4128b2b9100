"""`anabranch explore`."""

from __future__ import annotations

import os
import sys
import threading
import webbrowser

from ..explorer.data import Opened, opened
from ..explorer.server import Server
from ..papers.cells import cells
from ..result import Result
from ..scenario import load
from .options import scenario_from

RESULTS = (".json", ".json.gz")
"""How names of results end; scenarios are TOML."""

DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
"""Variables of which Linux has one where there is a browser with windows."""


def explore_command(source: str | None, port: int, browser: bool) -> None:
    """Serves the page until an interrupt."""
    first = first_from(source) if source is not None else None
    if first and first["note"]:
        print(f"note: {first['note']}", file=sys.stderr)
    with Server(port, first) as server:
        print(f"the explorer is at {server.url}\nCtrl-C ends it", file=sys.stderr, flush=True)
        if browser and (sys.platform != "linux" or any(map(os.environ.get, DISPLAYS))):
            threading.Thread(target=webbrowser.open, args=[server.door], daemon=True).start()
        server.serve_forever()


def first_from(source: str) -> Opened:
    """What the page shows at first, from a scenario, a cell or a file with a result.

    Raises ScenarioError, and ValueError for a result that the page cannot show.
    """
    if source.endswith(RESULTS):
        return Result.load(source).opening()
    scenario = scenario_from(source)
    if not scenario.cell:
        return opened(scenario)
    # A cell of a shipped scenario is that scenario with changes, which the page has sliders for.
    key, _, name = scenario.cell.partition(":")
    one = cells(key)[name]
    return opened(load(one.scenario), one.controller, one.overrides)

"""What the reference pages repeat from the code: one module for each kind of thing.

`PARTS` makes all of it: texts in Markdown by the names that pages have between their markers.
"""

from __future__ import annotations

from collections.abc import Callable

from . import claims, commands, controllers, gallery, ledgers, measures, modules, scenario, shipped

PARTS: list[Callable[[], dict[str, str]]] = [
    claims.parts,
    commands.parts,
    controllers.parts,
    gallery.parts,
    ledgers.parts,
    measures.parts,
    modules.parts,
    scenario.parts,
    shipped.parts,
]

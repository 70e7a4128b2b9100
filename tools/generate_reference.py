"""Fills in what the reference pages repeat from the code, between their markers.

A page has `<!-- generated: NAME -->`, what is generated, `<!-- end -->`. Every part has one place
on one page, so nothing that the program has can be left out. Run it after a change of a law, a
metric, a command, a docstring or the scenario's schema; `--check` only says whether that was
forgotten.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from reference import PARTS

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs/reference"

PLACE = re.compile(r"(<!-- generated: (.+?) -->\n).*?(<!-- end -->)", flags=re.DOTALL)


def filled(text: str, parts: dict[str, str]) -> str:
    """A page with what belongs between its markers; a part that there is not is left as it stands."""

    def fill(place: re.Match[str]) -> str:
        return f"{place[1]}\n{parts[place[2]]}\n\n{place[3]}" if place[2] in parts else place[0]

    return PLACE.sub(fill, text)


def misplaced(texts: list[str], parts: dict[str, str]) -> list[str]:
    """What is wrong with the markers of all pages: each part has exactly one place."""
    places = [name for text in texts for _, name, _ in PLACE.findall(text)]
    unknown = [
        f"there is no part {name!r}: take its markers out" for name in places if name not in parts
    ]
    wrong = [
        f"the part {name!r} has {places.count(name)} places in docs/reference; it needs one: "
        f"<!-- generated: {name} -->, <!-- end -->"
        for name in parts
        if places.count(name) != 1
    ]
    return unknown + wrong


def main() -> int:
    """Writes or checks the pages; the status is 1 if something is left to do by hand, or was
    forgotten.
    """
    parts = {name: text for make in PARTS for name, text in make().items()}
    pages = {path: path.read_text(encoding="utf-8") for path in sorted(PAGES.glob("*.md"))}
    problems = misplaced(list(pages.values()), parts)
    for path, old in pages.items():
        new = filled(old, parts)
        if new != old and "--check" in sys.argv:
            problems.append(f"{path.relative_to(ROOT)} is stale: run tools/generate_reference.py")
        elif new != old:
            path.write_text(new, encoding="utf-8")
    print("\n".join(problems), end="\n" if problems else "")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())

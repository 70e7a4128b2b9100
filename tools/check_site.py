"""Checks the built site: every internal link leads to a page and an anchor that are there, and
nothing that a browser would load by itself comes from the network.

    .venv/bin/python tools/check_site.py out/site
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

LOADED = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src"}
"""What a browser fetches without being asked."""

NETWORK = re.compile(r"(https?:)?//")


class Page(HTMLParser):
    """The anchors of a page, where it leads, and what it loads."""

    def __init__(self, path: Path) -> None:
        """Reads the file."""
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Called for every tag."""
        found = {name: value or "" for name, value in attrs}
        self.anchors |= {found["id"]} if "id" in found else set()
        self.links += [found["href"]] if tag == "a" and "href" in found else []
        self.loads += [found[LOADED[tag]]] if LOADED.get(tag) in found else []


def problems_of(path: Path, pages: dict[Path, Page]) -> list[str]:
    """What is wrong with a page's links and what it loads."""
    page = pages[path]
    network = [f"loads {target}" for target in page.loads if NETWORK.match(target)]
    broken = []
    for target in [*page.links, *page.loads]:
        if re.match(r"[a-z]+:", target) or NETWORK.match(target):
            continue
        file, _, anchor = unquote(target).partition("#")
        anchor = "" if "=" in anchor else anchor  # what the explorer shows
        there = (path.parent / file.partition("?")[0]).resolve() if file else path
        if not there.exists() or (anchor and there in pages and anchor not in pages[there].anchors):
            broken.append(f"leads nowhere: {target}")
    return network + broken


def main() -> int:
    """Prints what is wrong, or how much is right."""
    root = Path(sys.argv[1]).resolve()
    pages = {path: Page(path) for path in sorted(root.rglob("*.html"))}
    problems = [
        f"{path.relative_to(root)}: {text}" for path in pages for text in problems_of(path, pages)
    ]
    for path in sorted(root.rglob("*.css")):
        if found := re.search(r"(@import|url\()\s*['\"]?(https?:)?//", path.read_text("utf-8")):
            problems.append(f"{path.relative_to(root)}: loads from the network: {found[0]}")
    links = sum(len(page.links) for page in pages.values())
    print(
        "\n".join(problems) or f"site: {len(pages)} pages, {links} links, nothing from the network"
    )
    return int(bool(problems) or not pages)


if __name__ == "__main__":
    sys.exit(main())

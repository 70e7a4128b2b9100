"""Every internal link of the Markdown leads somewhere; the built site is checked by `make site`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pages import PAGES, ROOT, anchors, name, prose, read


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_internal_link_leads_somewhere(page: Path) -> None:
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(read(page))):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        there = (page.parent / file).resolve() if file else page
        if not there.exists() or (anchor and anchor not in anchors(there)):
            broken.append(target)
    assert not broken


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_no_page_is_left_out_of_the_index(page: Path) -> None:
    index = ROOT / "docs/README.md"
    if page == index:
        return
    target = f"../{page.name}" if page.parent == ROOT else str(page.relative_to(ROOT / "docs"))
    assert f"({target})" in read(index)

"""The documentation as a site: Sphinx over the Markdown of the repository, as it stands.

The root of the sources is that of the repository, so links out of `docs` work here as they do in a
checkout. The pages and their order are those of docs/README.md, which is the landing page.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from pygments.lexers.special import TextLexer

ROOT = Path(__file__).resolve().parents[2]

project = "Anabranch"
html_title = "Anabranch"
extensions = ["myst_nb"]  # MyST's Markdown, and notebooks, which are run for their outputs
nb_execution_mode = "force"
nb_execution_timeout = 300  # seconds for a cell
nb_execution_raise_on_error = True
nb_merge_streams = True
root_doc = "docs/README"
include_patterns = ["*.md", "docs/**"]
exclude_patterns = [path.name for path in ROOT.iterdir() if path.is_dir() and path.name != "docs"]

nitpicky = True
smartquotes = False  # two dashes are an option's
myst_heading_anchors = 4

html_theme = "furo"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_additional_pages = {"index": "index.html"}
EXPLORER = ROOT / "out/explorer.html"
"""Made by `make explorer`; the site is built without it as well."""
html_extra_path = [str(EXPLORER)] if EXPLORER.is_file() else []
templates_path = ["."]

SECTION = re.compile(r"^## (.+?)\n(.*?)(?=^## |\Z)", flags=re.MULTILINE | re.DOTALL)
ENTRY = re.compile(r"^\* \[(.+?)\]\((.+?)\.md\)", flags=re.MULTILINE)


SHORT = 14
"""Letters of a cell in a table that is kept in one line."""
NOTEBOOKS = "docs/notebooks/README"
BELOW = "\n```{toctree}\n:hidden:\n:glob:\n\n*\n```\n"
"""Puts the notebooks below their page in the sidebar."""


EXPLAINED = {
    "docs/how-to/explore": "v=1&scenario=khalili/scenario-c",
    "docs/explanation/when-to-couple": "v=1&scenario=khalili/scenario-c&controller=reno&beside=lia",
    "docs/explanation/why-olia-did-better-in-2012": "v=1&scenario=khalili/scenario-c&controller=lia&beside=olia",
}
"""The pages that have the explorer at their end, and the fragment with what it shows there."""


def embedded(_app: Any, page: str, source: list[str]) -> None:
    """Adds the explorer to a page that explains what it shows."""
    if page in EXPLAINED and html_extra_path:
        address = f"{'../' * page.count('/')}explorer.html#{escape(EXPLAINED[page])}"
        source[0] += (
            f'\n<p><a href="{address}">The explorer in a page of its own</a></p>\n'
            f'<iframe class="explorer" src="{address}" loading="lazy" title="The explorer"></iframe>\n'
        )


def navigation(_app: Any, page: str, source: list[str]) -> None:
    """Adds to the landing page what the sidebar is made of: its own sections with their links."""
    if page == NOTEBOOKS:
        source[0] += BELOW
    if page != root_doc:
        return
    for kind, text in SECTION.findall(source[0]):
        entries = "\n".join(f"{title} <{target}>" for title, target in ENTRY.findall(text))
        source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {kind}\n\n{entries}\n```\n"


def unbroken(_app: Any, page: nodes.document) -> None:
    """Marks the short cells of tables, which site.css keeps in one line."""
    for cell in page.findall(nodes.entry):
        if len(cell.astext()) <= SHORT:
            cell["classes"].append("short")


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_lexer("law", TextLexer)
    app.connect("source-read", navigation)
    app.connect("source-read", embedded)
    app.connect("doctree-read", unbroken)
    return {"parallel_read_safe": True}

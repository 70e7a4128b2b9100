"""The notebooks: each runs from its first cell to its last, and is committed without outputs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from pages import ROOT, read

from anabranch.papers import PAPERS

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

FOLDER = ROOT / "docs/notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
SECONDS = 300
"""Time that a cell may take on a slow machine; a whole notebook takes half a minute."""


def cells(file: Path) -> Any:
    return nbformat.read(file, as_version=4).cells


def test_every_document_has_a_notebook_and_the_page_names_it() -> None:
    assert {file.stem for file in NOTEBOOKS} == set(PAPERS)
    page = read(FOLDER / "README.md")
    assert all(f"]({file.name})" in page for file in NOTEBOOKS)


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_a_notebook_is_short_and_has_no_outputs(file: Path) -> None:
    """So that what it shows is what this version computes, and a change of it can be read."""
    notebook = nbformat.read(file, as_version=4)
    nbformat.validate(notebook)
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert 10 <= len(notebook.cells) <= 20
    for cell in notebook.cells:
        assert not cell.metadata and not cell.get("outputs") and not cell.get("execution_count")


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_what_a_notebook_links_to_is_there(file: Path) -> None:
    text = "\n".join(cell.source for cell in cells(file) if cell.cell_type == "markdown")
    links = re.findall(r"\]\((?!https?:)([^)#]+)", text)
    assert links and all((FOLDER / link).is_file() for link in links)


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_a_notebook_runs_shows_pictures_and_tables_and_warns_of_nothing(
    file: Path, tmp_path: Path
) -> None:
    """Its assertions hold what its text says against what comes out."""
    notebook = nbformat.read(file, as_version=4)
    client = nbclient.NotebookClient(
        notebook,
        timeout=SECONDS,
        kernel_name="python3",
        resources={"metadata": {"path": str(tmp_path)}},
    )
    client.execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    shown = [kind for output in outputs for kind in output.get("data", {})]
    assert shown.count("image/png") >= 2 and shown.count("text/html") >= 2
    assert [output.text for output in outputs if output.get("name") == "stderr"] == []
    assert any("assert " in cell.source for cell in notebook.cells if cell.cell_type == "code")

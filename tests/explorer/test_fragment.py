"""Addresses of the page that Python writes: in reports, for a claim's cell."""

from __future__ import annotations

from html import unescape
from pathlib import Path
from urllib.parse import parse_qs

from anabranch.explorer.data import fragment, opened
from anabranch.papers import PAPERS, evaluate
from anabranch.papers.pages import write_report
from anabranch.scenario import load

KHALILI = PAPERS["khalili"]


def test_a_fragment_has_what_is_shown_and_nothing_that_the_page_has_by_itself() -> None:
    shown = opened(load("khalili/scenario-c"), "olia", ["b=2 s", "a=ü&#"], [3, 4])
    found = fragment(shown)
    assert found.startswith("v=1&scenario=khalili%2Fscenario-c&controller=olia&set=a%3D")
    assert parse_qs(found) == {
        "v": ["1"],
        "scenario": ["khalili/scenario-c"],
        "controller": ["olia"],
        "set": ["a=ü&#", "b=2 s"],
        "seed": ["3"],
        "repeat": ["2"],
    }
    assert fragment(opened(load("khalili/scenario-c"))) == "v=1&scenario=khalili%2Fscenario-c"


def test_a_report_links_claims_to_the_page_beside_it(tmp_path: Path) -> None:
    findings, lab = evaluate("khalili", ["khalili.table3.n10"], seeds=2)
    folder = tmp_path / "report"
    folder.mkdir()
    text = write_report(KHALILI, findings, lab, folder / "khalili.html").read_text()
    assert "explore: anabranch explore khalili:c-lia-10" in text and "explorer.html" not in text
    (tmp_path / "explorer.html").write_text("the page")
    text = unescape(write_report(KHALILI, findings, lab, folder / "khalili.html").read_text())
    (link,) = (part.split('"')[0] for part in text.split('href="')[1:] if "explorer" in part)
    page, _, state = link.partition("#")
    assert (folder / page).resolve() == tmp_path / "explorer.html"
    assert parse_qs(state)["controller"] == ["lia"]
    assert parse_qs(state)["scenario"] == ["khalili/scenario-c"]

"""Reports: self-contained, escaped, the same bytes each time."""

import base64
import re
import shlex
from html import unescape

import pytest
from matplotlib.figure import Figure as Drawing

from anabranch.report import WORDS, Cell, Figure, Report, Section, Table, render, write

EVIL = """<script>alert("1 & '2'")</script>"""
SVG = '<svg xmlns="http://www.w3.org/2000/svg"><circle r="1"/></svg>'


def drawing():
    figure = Drawing(layout="constrained")
    figure.subplots().plot([0, 1], [1, 0], label="line")
    figure.legend(loc="outside lower center")
    return figure


def report(sections=1):
    table = Table(
        "Rates",
        ["class", "Mb/s", "verdict"],
        [
            ["multipath", "1.28 ± 0.01", Cell("reproduced", "reproduced")],
            ["tcp", "0.72", Cell("", "not_reproduced", note="windows of one segment")],
        ],
    )
    figures = [Figure("Drawn", drawing()), Figure("Given", SVG)]
    section = Section("Scenario C", "One.\n\nTwo.", [table], figures)
    provenance = {"seeds": "1, 2", "anabranch": "0.1.0"}
    return Report("Reproduction", "Intro.", [section] * sections, provenance)


def test_the_same_report_gives_the_same_bytes():
    same = report()
    assert render(same) == render(same) == render(report())


def test_nothing_is_loaded_from_elsewhere():
    html = render(report())
    assert not re.search(r"https?:", html)
    assert not re.search(r"<(script|link|iframe|object)|@import|url\(", html)
    assert all(src.startswith("data:") for src in re.findall(r'src="([^"]*)"', html))


def test_pictures_are_inside():
    sources = re.findall(r'src="data:image/svg\+xml;base64,([^"]*)"', render(report()))
    pictures = [base64.b64decode(source).decode() for source in sources]
    assert len(pictures) == 2
    assert pictures[1] == SVG and "</svg>" in pictures[0]


def test_every_text_is_escaped():
    table = Table(EVIL, [EVIL], [[EVIL], [Cell(EVIL, "undecided", EVIL)]])
    section = Section(EVIL, EVIL, [table], [Figure(EVIL, SVG)])
    html = render(Report(EVIL, EVIL, [section] * 4, {EVIL: EVIL}))
    assert "<script" not in html
    assert html.count("&lt;script&gt;") == 5 + 4 * 10  # a title and a contents line too
    assert 'alt="&lt;script&gt;alert(&#34;1 &amp; &#39;2&#39;&#34;)' in html


@pytest.mark.parametrize(("verdict", "word"), WORDS.items())
def test_a_verdict_is_worded_and_coloured(verdict, word):
    table = Table("", ["verdict"], [[Cell(verdict, verdict)], [Cell("0.72", verdict)]])
    html = render(Report("", sections=[Section("", tables=[table])]))
    assert html.count(f'<td class="verdict-cell {verdict}">') == 2
    assert html.count(f">{word}</span>") == 2
    assert f"--{verdict}:" in html and f"td.verdict-cell.{verdict} " in html


def test_an_unknown_verdict_is_an_error():
    with pytest.raises(ValueError, match="no verdict 'passed'; the verdicts are reproduced"):
        Cell("", "passed")


def test_a_row_of_another_length_is_an_error():
    with pytest.raises(ValueError, match="table 'Rates': row 2 has 1 columns, the head has 2"):
        Table("Rates", ["a", "b"], [["1", "2"], ["3"]])


def test_text_that_is_no_svg_is_an_error():
    with pytest.raises(ValueError, match="'Shares' is text, but not an SVG"):
        render(Report("", sections=[Section("", figures=[Figure("Shares", "shares.png")])]))


def test_contents_come_with_more_than_three_sections():
    assert "<nav" not in render(report(3))
    html = render(report(4))
    assert "<nav" in html and 'href="#section-4"' in html and 'id="section-4"' in html


def test_paragraphs_are_split_at_empty_lines():
    html = render(report())
    assert "<p>One.</p>" in html and "<p>Two.</p>" in html


def test_numbers_are_set_to_the_right_and_words_are_not():
    html = render(report())
    assert '<td class="number">1.28 ± 0.01</td>' in html
    assert "<td>multipath</td>" in html


def test_a_cell_may_reach_over_columns_and_head_the_rows_below():
    rows = [
        [Cell("claim", heading=True), Cell("reproduced", "reproduced")],
        [Cell("Because of this.", columns=2)],
        ["7", "0.5"],
    ]
    html = render(Report("", sections=[Section("", tables=[Table("", ["a", "b"], rows)])]))
    assert '<th scope="rowgroup">claim</th>' in html
    assert '<td colspan="2"><div>Because of this.</div></td>' in html
    with pytest.raises(ValueError, match="row 1 has 3 columns, the head has 2"):
        Table("", ["a", "b"], [["1", Cell("2", columns=2)]])


@pytest.mark.parametrize(
    "text", ["1.22 … 1.36", "1 ± 0.02", "-0.2 … 0.03", "≤ 0.95", "63 Mb/s", "0.8 (-0.1)"]
)
def test_values_among_words_are_not_broken_over_lines(text):
    table = Table("", ["obtained"], [["at least one word"], [text]])
    html = render(Report("", sections=[Section("", tables=[table])]))
    assert f'<td class="value">{text}</td>' in html
    assert "<td>at least one word</td>" in html


def test_an_empty_report_is_a_page():
    html = render(Report("Nothing"))
    assert html.startswith("<!DOCTYPE html>") and html.rstrip().endswith("</html>")


def test_a_report_is_written_whole_or_not_at_all(tmp_path):
    write(report(), tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == render(report())
    broken = Report("", sections=[Section("", figures=[Figure("x", "y")])])
    with pytest.raises(ValueError):
        write(broken, tmp_path / "broken.html")
    with pytest.raises(OSError):
        write(report(), tmp_path / "none" / "report.html")
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def test_a_command_is_quoted_so_that_a_shell_reads_its_words_again():
    words = ["anabranch", "run", "x", "--set", 'flow.a.path=[{ links = ["it\'s"] }]']
    html = render(Report("", sections=[Section("", command=words)]))
    (shown,) = re.findall(r"<pre><code>(.*?)</code></pre>", html)
    assert shlex.split(unescape(shown)) == words

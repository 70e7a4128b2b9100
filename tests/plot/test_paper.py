"""Figures for papers: widths, fonts, prints without colour."""

import shutil
import subprocess
import sys

import matplotlib
import numpy as np
import pytest
from adhoc import MIXED
from air import UPLINK
from matplotlib.figure import Figure
from matplotlib.text import Text

import anabranch as ab
from anabranch import plot
from anabranch.cli import main

SMALL = ["duration=8 s", "warmup=2 s", "flow.multipath.count=2", "flow.single-path.count=3"]
EVERY = pytest.mark.parametrize("kind", plot.KINDS)
WIDTHS = pytest.mark.parametrize("width", ["3.5in", "7.16in"])
SLACK = 0.01
"""Inches; a line is wider."""

UDP = """
name = "beside"
duration = "4 s"
warmup = "1 s"
link = [{ name = "line", rate = "10 Mb/s", delay = "10 ms" }]

[[flow]]
name = "tcp"
path = [{ links = ["line"] }]
[[flow]]
name = "datagrams"
protocol = "udp"
app_rate = "50 kb/s"
path = [{ links = ["line"] }]
"""


@pytest.fixture(scope="module")
def wired():
    return ab.run("khalili/scenario-c", seeds=(1, 2), series=True, overrides=SMALL)


@pytest.fixture(scope="module")
def on_air():
    return ab.run(ab.Scenario.parse(UPLINK), series=True)


@pytest.fixture(scope="module")
def on_ground():
    return ab.run(ab.Scenario.parse(MIXED), series=True)


@pytest.fixture(scope="module")
def beside():
    return ab.run(ab.Scenario.parse(UDP), series=True)


@pytest.fixture
def suited(kind, wired, on_air, on_ground):
    """A result that has what the kind draws."""
    return {"stations": on_air, "topology": on_ground}.get(kind, wired)


def texts(figure):
    """Everything written in a figure that is drawn."""
    figure.draw_without_rendering()
    found = figure.findobj(lambda artist: isinstance(artist, Text) and artist.get_visible())
    return [text for text in found if text.get_text().strip()]


@WIDTHS
@EVERY
@pytest.mark.filterwarnings("error")
def test_nothing_is_cut_off_and_no_panel_collapses_at_the_widths_of_papers(kind, width, suited):
    figure = plot.draw(kind, suited, width=width, title="A title that is asked for")
    assert figure.get_figwidth() == float(width.removesuffix("in"))
    figure.draw_without_rendering()
    drawn, (width_in, height_in) = figure.get_tightbbox(), figure.get_size_inches()
    assert drawn.x0 > -SLACK and drawn.x1 < width_in + SLACK
    assert drawn.y0 > -SLACK and drawn.y1 < height_in + SLACK
    for ax in figure.axes:
        box = ax.get_position()
        assert box.width * figure.get_figwidth() > 0.6
        assert box.height * figure.get_figheight() > 0.4


@EVERY
def test_letters_are_of_legible_sizes_in_a_column(kind, suited):
    sizes = {text.get_fontsize() for text in texts(plot.draw(kind, suited, width="3.5in"))}
    assert min(sizes) > 5.9 and max(sizes) < 10


@EVERY
def test_pdf_has_truetype_fonts_only(kind, suited, tmp_path):
    if not shutil.which("pdffonts"):
        pytest.skip("pdffonts is not installed; it is in poppler-utils")
    plot.save(plot.draw(kind, suited, width="3.5in"), tmp_path / "a.pdf")
    listed = subprocess.run(
        ["pdffonts", tmp_path / "a.pdf"], capture_output=True, text=True, check=True
    ).stdout
    assert "TrueType" in listed and "Type 3" not in listed


@EVERY
def test_text_in_svg_is_text(kind, suited, tmp_path):
    figure = plot.draw(kind, suited)
    plot.save(figure, tmp_path / "a.svg")
    drawn = (tmp_path / "a.svg").read_text()
    assert drawn.count("<text") >= 8 and "sans-serif" in drawn
    assert "<text" not in plot.svg(figure)  # pages have glyphs, that need no font


@pytest.mark.parametrize(
    ("width", "inches"),
    [("3.5in", 3.5), ("8.89 cm", 3.5), ("88.9mm", 3.5), ("252.945pt", 3.5), (7.16, 7.16)],
)
def test_widths_are_read_in_the_units_of_papers(width, inches):
    assert plot.inches_of(width) == pytest.approx(inches)


@pytest.mark.parametrize(
    ("width", "message"),
    [
        ("3.5", "write a length such as 3.5in"),
        ("-3in", "write a length"),
        ("wide", "write a length"),
        ("1in", "from 2in to 40in"),
        (float("nan"), "from 2in to 40in"),
    ],
)
def test_what_is_no_width_is_explained(width, message, wired):
    with pytest.raises(ValueError, match=message):
        plot.shares(wired, width=width)


def test_saving_for_a_width_is_drawing_for_it(wired, tmp_path):
    plot.save(plot.shares(wired), tmp_path / "a.svg", width="3.5in")
    plot.save(plot.shares(wired, width="3.5in"), tmp_path / "b.svg")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_a_figure_that_was_changed_is_not_drawn_anew_without_the_changes(wired, tmp_path):
    figure = plot.shares(wired)
    figure.axes[0].set_ylabel("mine")
    with pytest.raises(ValueError, match="changed since it was drawn"):
        plot.save(figure, tmp_path / "a.svg", width="3.5in")
    with pytest.raises(ValueError, match="set_size_inches"):
        plot.save(Figure(), tmp_path / "a.svg", width="3.5in")
    assert not list(tmp_path.iterdir())


def test_series_of_a_panel_differ_in_line_or_marker_and_not_in_colour_alone(wired):
    other = ab.run("khalili/scenario-c", series=True, controller="olia", overrides=SMALL)
    for figure in (plot.windows(wired), plot.rtt(wired), plot.cdf([wired, other])):
        for ax in figure.axes:
            thick = [line for line in ax.lines if line.get_linewidth() > 1]
            looks = [(line.get_linestyle(), line.get_marker()) for line in thick]
            assert len(looks) == len(set(looks))
    bars = [bar.get_hatch() for bar in plot.shares(wired).axes[0].patches]
    assert len(bars) == len(set(bars)) == 2


def test_more_than_four_paths_have_several_panels():
    links = [f'{{ name = "l{i}", rate = "5 Mb/s", delay = "9 ms" }}' for i in range(7)]
    paths = ", ".join(f'{{ links = ["l{i}"] }}' for i in range(7))
    text = f"""
        name = "many"
        duration = "2 s"
        link = [{", ".join(links)}]
        flow = [{{ name = "user", controller = "lia", path = [{paths}] }}]
    """
    result = ab.run(ab.Scenario.parse(text), series=True)
    for kind in ("windows", "rtt"):
        panels = [ax.get_title(loc="left") for ax in plot.draw(kind, result).axes]
        assert [title[-9:] for title in panels] == ["paths 0–3", "paths 4–6"]
    assert [ax.get_title(loc="left") for ax in plot.subflows(result).axes[:2]] == [
        "paths 0–3",
        "paths 4–6",
    ]


def test_datagrams_have_no_window_and_no_controller(beside):
    assert [ax.get_title(loc="left") for ax in plot.windows(beside).axes] == [
        "tcp (reno), user 0 of 1"
    ]
    with pytest.raises(ValueError, match="sends datagrams"):
        plot.windows(beside, classes=["datagrams"])
    for kind in ("rtt", "shares"):
        written = " ".join(text.get_text() for text in texts(plot.draw(kind, beside)))
        assert "datagrams (reno)" not in written.replace("\n", " ")


def test_rates_far_apart_have_panels_or_a_logarithmic_axis(beside):
    for kind in ("shares", "throughput"):
        figure = plot.draw(kind, beside)
        tops = [ax.get_ylim()[1] for ax in figure.axes]
        assert len(tops) == 2 and tops[0] > 50 * tops[1]
    assert plot.cdf(beside).axes[0].get_xscale() == "log"
    assert plot.cdf(beside, log=False).axes[0].get_xscale() == "linear"


def test_a_rate_that_varies_is_named_as_it_varies():
    varying = ab.run("links/varying", series=True, overrides=["duration=6 s"])
    titles = [ax.get_title(loc="left") for ax in plot.queue(varying).axes]
    changes = varying.plan.links[1].changes
    rates = [change.rate_bps / 1e6 for change in changes if change.at_s < 6]
    assert titles[1] == f"cellular ({min(rates):.3g} to {max(rates):.3g} Mb/s, droptail)"


def test_a_timeout_is_drawn_from_the_first_sample_on(wired):
    rto = plot.subflows(wired).axes[3]
    assert all(np.nanmin(line.get_ydata()) > 100 for line in rto.lines)


def test_the_command_takes_names_a_width_and_a_title(wired, tmp_path, capsys, monkeypatch):
    for name in ("one", "two"):
        wired.save(tmp_path / f"{name}.json")
    files = [str(tmp_path / f"{name}.json") for name in ("one", "two")]
    target = tmp_path / "a.svg"

    def drawn(*words):
        command = ["anabranch", "plot", *files, *words, "--output", str(target)]
        monkeypatch.setattr(sys, "argv", command)
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code, capsys.readouterr().err

    assert (
        drawn("--name", "mine", "--name", "theirs", "--width", "88mm", "--title", "Rates")[0] == 0
    )
    text = target.read_text()
    assert all(f">{word}<" in text for word in ("mine", "theirs", "Rates"))
    assert f'width="{88 / 25.4 * 72:.2f}'[:10] in text
    status, error = drawn("--width", "88")
    assert status == 2 and "--width" in error and "88mm" in error
    status, error = drawn("--name", "mine")
    assert status == 2 and "--name" in error and "2 files" in error


def test_the_style_of_a_program_around_is_left_as_it_is(wired):
    before = dict(matplotlib.rcParams)
    plot.shares(wired, width="3.5in")
    assert dict(matplotlib.rcParams) == before

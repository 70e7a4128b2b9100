"""Figures as files."""

import subprocess
import sys

import pytest
from matplotlib.figure import Figure

from anabranch import plot


@pytest.fixture
def figure():
    figure = Figure(layout="constrained")
    ax = figure.subplots()
    ax.plot([0, 1, 2], [0, 4, 1], label="line")
    ax.set_xlabel("Time (s)")
    figure.legend(loc="outside lower center")
    return figure


@pytest.mark.parametrize("suffix", plot.FORMATS)
def test_the_same_figure_gives_the_same_bytes(suffix, figure, tmp_path):
    for name in "ab":
        plot.save(figure, tmp_path / f"{name}.{suffix}")
    first, second = ((tmp_path / f"{name}.{suffix}").read_bytes() for name in "ab")
    assert first and first == second


@pytest.mark.parametrize("suffix", plot.FORMATS)
def test_files_do_not_say_when_or_by_what_they_were_made(suffix, figure, tmp_path):
    plot.save(figure, tmp_path / f"a.{suffix}")
    content = (tmp_path / f"a.{suffix}").read_bytes()
    for word in (b"matplotlib v", b"<dc:date>", b"/creationdate"):
        assert word not in content.lower()


@pytest.mark.parametrize("name", ["figure.gif", "figure"])
def test_an_unknown_suffix_is_an_error_that_names_those_allowed(name, figure, tmp_path):
    with pytest.raises(ValueError, match=r"\.png, \.svg, \.pdf"):
        plot.save(figure, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_suffix_may_be_in_capitals(figure, tmp_path):
    plot.save(figure, tmp_path / "A.PNG")
    assert (tmp_path / "A.PNG").read_bytes().startswith(b"\x89PNG")


def test_an_unwritable_place_leaves_nothing(figure, tmp_path):
    with pytest.raises(OSError):
        plot.save(figure, tmp_path / "none" / "a.png")
    assert not list(tmp_path.iterdir())


def test_importing_plots_and_reports_loads_no_heavy_library():
    code = (
        "import sys, anabranch.plot, anabranch.report;"
        "print([m for m in ('matplotlib', 'jinja2', 'scipy') if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"

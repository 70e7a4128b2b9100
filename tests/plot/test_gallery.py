"""The gallery shows every kind of plot at both widths."""

import re
import sys
from pathlib import Path

import pytest

from anabranch import plot

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/reference/gallery.md").read_text(encoding="utf-8")
PICTURES = ROOT / "docs/pictures/gallery"
WIDTHS = ("3.5", "7.16")
LARGEST_BYTES = 60_000


@pytest.mark.parametrize("kind", plot.KINDS)
def test_every_kind_is_on_the_page_with_a_command_and_both_widths(kind):
    _, _, section = PAGE.partition(f"## `{kind}`\n")
    section = section.partition("\n## ")[0]
    assert f"--kind {kind} " in section and "--width 3.5in" in section
    for width in WIDTHS:
        assert f"../pictures/gallery/{kind}-{width}.png" in section


def test_every_picture_is_there_small_and_of_its_width():
    from PIL import Image

    shown = re.findall(r"\(\.\./pictures/gallery/(.+?)\)", PAGE)
    assert sorted(shown) == sorted(path.name for path in PICTURES.iterdir())
    assert {name.rpartition("-")[0] for name in shown} >= set(plot.KINDS)
    for name in shown:
        assert (PICTURES / name).stat().st_size <= LARGEST_BYTES, name
        with Image.open(PICTURES / name) as picture:
            wide = picture.width
        narrow = name.endswith(f"-{WIDTHS[0]}.png")
        assert 500 < wide < 560 if narrow else 620 < wide < 670, name


def test_the_script_draws_every_command_of_the_page_for_both_widths(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs/pictures"))
    sys.modules.pop("gallery", None)
    import gallery

    drawn = [words for words in gallery.commands() if "--width" in words]
    names = [gallery.for_width(words, "7.16")[1] for words in drawn]
    assert set(names) >= set(plot.KINDS) and len(names) == len(set(names))
    for words in drawn:
        command, name = gallery.for_width(words, "7.16")
        assert "7.16in" in command and f"{name}-7.16.png" in command and "3.5in" not in command

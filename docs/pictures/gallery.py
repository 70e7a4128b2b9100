"""Draws docs/pictures/gallery: runs the commands of docs/reference/gallery.md, for both widths.

Run it from the root of the repository: .venv/bin/python docs/pictures/gallery.py [DIRECTORY]
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/reference/gallery.md"
PICTURES = ROOT / "docs/pictures/gallery"
WIDTHS = ("3.5", "7.16")
"""Inches."""
DRAWING = ("--output", "--plot", "--out", "--portrait")
"""Options that name a figure."""
COLOURS = 64
"""Of a picture: few, for small files."""
DPI = {"3.5": 150, "7.16": 90}
"""Pixels for an inch: about 525 and 645 pixels."""
MAIN = "import sys; from anabranch.cli import main; sys.exit(main())"


def commands() -> list[list[str]]:
    """Words of every command on the page."""
    blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return [shlex.split(line) for block in blocks for line in block.splitlines()]


def for_width(words: list[str], inches: str) -> tuple[list[str], str]:
    """A command that draws, for another width, and the name of its figure."""
    words = list(words)
    words[words.index("--width") + 1] = f"{inches}in"
    (place,) = (words.index(option) + 1 for option in DRAWING if option in words)
    name = Path(words[place]).stem
    words[place] = f"{name}-{inches}.png"
    return words, name


def main() -> None:
    """Runs, draws, makes pictures small."""
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURES
    target.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "COLUMNS": "100"}
    with tempfile.TemporaryDirectory() as here:
        for words in commands():
            runs = [for_width(words, w)[0] for w in WIDTHS] if "--width" in words else [words]
            for run in runs:
                program = [sys.executable, "-c", MAIN, *run[1:]]
                subprocess.run(
                    program, cwd=here, env=environment, check=True, stdout=subprocess.DEVNULL
                )
        for picture in sorted(Path(here).glob("*.png")):
            small(picture, target / picture.name)


def small(picture: Path, target: Path) -> None:
    """Writes a picture with fewer pixels and colours."""
    inches = picture.stem.rpartition("-")[2]
    with Image.open(picture) as image:
        scale = DPI[inches] / 160  # the resolution that the commands draw with
        size = (round(image.width * scale), round(image.height * scale))
        plain = image.convert("RGB").resize(size, Image.Resampling.LANCZOS)
        method = Image.Quantize.FASTOCTREE  # others lose or change rare colours
        few = plain.quantize(COLOURS, method=method, dither=Image.Dither.NONE)
        few.save(target, optimize=True)


if __name__ == "__main__":
    main()

"""Free room for text in a figure of its final size: the boxes taken, and possible places
for more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Box = tuple[float, float, float, float]
"""Left, lower, right and upper end in pixels."""
APART_PT = 1.5
"""Distance between two texts; fonts differ a little between formats."""
FEWEST_LETTERS = 4
"""Fewest letters of a name that is cut to fit."""


@dataclass(frozen=True)
class Words:
    """A text at one of its possible places."""

    text: str
    at: tuple[float, float]
    """In data coordinates."""
    aside_pt: tuple[float, float]
    """Distance from there."""
    align: tuple[str, str]
    """Alignment of the text at this place, as Matplotlib's `ha` and `va`."""
    look: dict[str, Any]


class Room:
    """Writes words into axes where they cover no others."""

    def __init__(self, ax: Axes, hard: Sequence[Box] = (), soft: Sequence[Box] = ()) -> None:
        """The axes must have their final size. Words never cover `hard` boxes, and `soft` ones only
        where they have no other place.
        """
        figure = ax.get_figure(root=True)
        assert figure is not None
        self.ax = ax
        self.edge: Box = figure.bbox.extents
        self.taken = [*written(figure), *hard]
        self.soft = list(soft)

    def write(self, places: Iterable[Words], own: Box | None = None) -> Words | None:
        """Writes the first words that find room, and returns them; None if none of them do. They
        may cover `own`, one of the soft boxes.
        """
        tried = list(places)
        soft = [box for box in self.soft if box != own]
        for avoided in (self.taken + soft, self.taken):
            for words in tried:
                if self.fits(words, avoided):
                    return words
        return None

    def fits(self, words: Words, avoided: Sequence[Box]) -> bool:
        """Writes words if they lie in the figure and cover nothing. Whether they do."""
        made = put(self.ax, words)
        box: Box = made.get_window_extent().extents
        inside = box[0] >= self.edge[0] and box[2] <= self.edge[2]
        wider = padded(box, APART_PT * self.ax.figure.dpi / 72, 0.0)
        if not inside or any(overlap(wider, other) for other in avoided):
            made.remove()
            return False
        self.taken.append(box)
        return True


def put(ax: Axes, words: Words) -> Any:
    """Writes words with a pale edge. The layout ignores them: it would move what they stand at."""
    from matplotlib.patheffects import withStroke

    edge = withStroke(linewidth=style.pt(2.5), foreground="white", alpha=0.85)
    made = ax.annotate(
        words.text,
        words.at,
        xytext=words.aside_pt,
        textcoords="offset points",
        ha=words.align[0],
        va=words.align[1],
        annotation_clip=False,
        **{"color": style.INK, "path_effects": [edge], "zorder": 6, **words.look},
    )
    made.set_in_layout(False)
    return made


def written(figure: Figure) -> list[Box]:
    """The boxes of all texts of a figure that has been drawn."""
    from matplotlib.text import Text

    found = [text for text in figure.findobj(Text) if isinstance(text, Text)]
    shown = [text for text in found if text.get_visible() and text.get_text().strip()]
    return [text.get_window_extent().extents for text in shown]


def cuts(name: str) -> list[str]:
    """A name and ever shorter beginnings of it."""
    return [name, *(f"{name[:most]}…" for most in range(len(name) - 2, FEWEST_LETTERS - 1, -1))]


def padded(box: Box, across: float, up: float) -> Box:
    """A box that is wider at both sides, and higher above and below."""
    return box[0] - across, box[1] - up, box[2] + across, box[3] + up


def overlap(one: Box, other: Box) -> bool:
    """Whether two boxes overlap."""
    return bool(one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3])

"""Links as an operator knows them: `dsl: 16 Mb/s up 2.4, 30 ms, 400 packets`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .. import _core

PACKET_BYTES = 1500
PACKET_BITS = 8 * PACKET_BYTES

RTT_S = 0.04
"""Round trip of a link of which it is not known."""

QUEUE_S = 0.1
"""Longest wait in the queue of a link of which its size is not known: the middle of what access
links have had since Gettys and Nichols (2011) wrote about them.
"""

SMALLEST_QUEUE_PACKETS = 8

FORM = 'write NAME: RATE [up RATE], RTT, QUEUE packets, LOSS %, such as "dsl: 16 Mb/s up 2.4, 30 ms, 400 packets"'

NAME = re.compile(r"^\s*(?P<name>[A-Za-z][\w-]*)\s*:\s*(?P<rest>.+)$")
RATE = re.compile(
    r"^(?P<down>[\d.]+)\s*(?P<unit>[kMG]b(?:/s|it/s|it|ps))(?:\s+up\s+(?P<up>[\d.]+)(?:\s*(?P<up_unit>[kMG]b(?:/s|it/s|it|ps)))?)?$"
)
QUEUE = re.compile(r"^(?P<number>\d+)\s*packets?$")
LOSS = re.compile(r"^(?P<number>[\d.]+)\s*%(?:\s*loss)?$")
OTHERS = re.compile(r"^(?P<number>\d+)\s*(?:others?|neighbours?)$")


@dataclass(frozen=True)
class Link:
    """A link to the provider; None for what was not said."""

    name: str
    down_bps: int
    up_bps: int | None = None
    rtt_s: float | None = None
    """Without a queue."""
    queue_packets: int | None = None
    loss: float | None = None
    """Probability of a random loss."""
    others: int | None = None
    """Long-lived TCPs of others on it."""

    @property
    def key(self) -> str:
        """Its name as one of a scenario, which has no dot: a measured link goes by its address."""
        return re.sub(r"[^\w-]", "-", self.name)

    def rate_bps(self, up: bool) -> int:
        """In the direction of the data; upwards it is the other rate, if that is known."""
        return (self.up_bps or self.down_bps) if up else self.down_bps

    @property
    def trip_s(self) -> float:
        """The round trip, or the usual one."""
        return RTT_S if self.rtt_s is None else self.rtt_s

    def queue(self, up: bool) -> int:
        """Packets of the queue, or of the usual one."""
        usual = round(self.rate_bps(up) * QUEUE_S / PACKET_BITS)
        return self.queue_packets or max(SMALLEST_QUEUE_PACKETS, usual)

    def wait_s(self, up: bool) -> float:
        """The longest wait in the queue."""
        return self.queue(up) * PACKET_BITS / self.rate_bps(up)


def parse(text: str) -> Link:
    """A link from text. Raises ValueError that names the part and says what would be right."""
    match = NAME.match(text)
    if not match:
        raise ValueError(f"--link {text!r} has no name: {FORM}")
    name, found = match["name"], dict[str, float | int | None]()
    for part in (part.strip() for part in match["rest"].split(",")):
        for key, value in _read(name, part).items():
            if key in found:
                raise ValueError(f"--link {name}: {part!r} says {key} again: {FORM}")
            found[key] = value
    if "down_bps" not in found:
        raise ValueError(f"--link {name} has no rate: {FORM}")
    return Link(name, **found)  # type: ignore[arg-type]


def _read(name: str, part: str) -> dict[str, float | int | None]:
    """A part of a link's text, by field of `Link`."""
    if rate := RATE.match(part):
        down = _core.bits_per_second(f"{rate['down']} {rate['unit']}")
        if rate["up"] is None:
            return {"down_bps": down}
        unit = rate["up_unit"] or rate["unit"]
        return {"down_bps": down, "up_bps": _core.bits_per_second(f"{rate['up']} {unit}")}
    if queue := QUEUE.match(part):
        if not int(queue["number"]):
            raise ValueError(f"--link {name}: a queue has at least 1 packet; it was given {part!r}")
        return {"queue_packets": int(queue["number"])}
    if loss := LOSS.match(part):
        probability = float(loss["number"]) / 100.0
        if not probability < 0.5:
            raise ValueError(f"--link {name}: the loss is {part!r}; it is below 50 %")
        return {"loss": probability}
    if others := OTHERS.match(part):
        return {"others": int(others["number"])}
    try:
        return {"rtt_s": _core.seconds(part)}
    except ValueError:
        raise ValueError(
            f"--link {name}: {part!r} is no rate, round trip, queue, loss or number of others: {FORM}"
        ) from None


def distinct(links: Sequence[Link]) -> None:
    """Raises ValueError unless there are two links or more and their names differ."""
    if len(links) < 2:
        raise ValueError(
            f"{len(links) or 'no'} link{'' if len(links) == 1 else 's'}; advice is for two links or more"
        )
    names = [link.name for link in links]
    for place, name in enumerate(names):
        if name in names[:place]:
            raise ValueError(f"two links are called {name}; give each its own name")

"""The draft's testbed with other host behaviour: the effect of each choice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from ..laboratory import Configuration

EACH_PACKET = ("transport.delayed_ack=0 s", "transport.handshake=false")
"""An ACK for each packet, and no handshake: its RTT would bound the delay of an ACK."""

FLOOR_OF_ONE = ("transport.min_ssthresh=1",)

BUFFER_OF_A_MEBIBYTE = ("transport.receive_buffer=1 MiB",)
"""A receive buffer whose window has grown before the warm-up ends: while it grows, Linux sends
ACKs at once (`tcp_grow_window`). It holds more than all paths bring in a timeout of 1 s, so that
paths seldom wait for each other.
"""


def each_packet(configurations: Mapping[str, Configuration]) -> dict[str, Configuration]:
    """The same with an ACK for each packet, NAME-each; under LIA also with a floor of ssthresh of
    one segment, NAME-each-floor1.
    """
    found = {}
    for name, configuration in configurations.items():
        found[f"{name}-each"] = _changed(configuration, EACH_PACKET)
        if configuration.controller == "lia":
            found[f"{name}-each-floor1"] = _changed(configuration, (*EACH_PACKET, *FLOOR_OF_ONE))
    return found


def of_a_mebibyte(configurations: Mapping[str, Configuration]) -> dict[str, Configuration]:
    """The same with a receive buffer of 1 MiB, NAME-1mib."""
    return {
        f"{name}-1mib": _changed(configuration, BUFFER_OF_A_MEBIBYTE)
        for name, configuration in configurations.items()
    }


def _changed(configuration: Configuration, overrides: Iterable[str]) -> Configuration:
    return replace(configuration, overrides=(*configuration.overrides, *overrides))


@dataclass(frozen=True)
class Variant:
    """Changes in a row of the sensitivity table."""

    overrides: tuple[str, ...] = ()
    prefix: str = ""
    """Stands before the controllers of multipath users: "kernel:"."""
    suffix: str = ""
    """Stands behind OLIA: ":draft"."""

    def controller(self, law: str) -> str:
        """The controller of multipath users where the table says `law`."""
        return f"{self.prefix}{law}{self.suffix if law == 'olia' else ''}"


def variants(links: tuple[str, str], multipath: str, harmed: str) -> dict[str, Variant]:
    """The rows of the sensitivity table, for a scenario with RED at `links` and these classes."""
    return {
        "as chosen": Variant(),
        **_acknowledgements(multipath, harmed),
        **_floors(),
        **_red(links),
        **_transport(harmed),
    }


def _acknowledgements(multipath: str, harmed: str) -> dict[str, Variant]:
    each = 'transport={ delayed_ack = "0 s", handshake = false }'
    found = {
        "an ACK for each packet": Variant(EACH_PACKET),
        "an ACK for each packet, floor of 1": Variant((*EACH_PACKET, *FLOOR_OF_ONE)),
        "an ACK for each packet of single-path users": Variant((f"flow.{harmed}.{each}",)),
        "an ACK for each packet of multipath users": Variant((f"flow.{multipath}.{each}",)),
        "windows grow once per ACK": Variant(("transport.growth_per_ack=true",)),
    }
    for ms in (40, 60, 100, 150, 200):
        found[f"ACKs wait {ms} ms"] = Variant((f"transport.delayed_ack={ms} ms",))
    return found


def _floors() -> dict[str, Variant]:
    return {
        f"ssthresh floor of {floor} under both laws": Variant((f"transport.min_ssthresh={floor}",))
        for floor in (1, 2)
    }


def _red(links: tuple[str, str]) -> dict[str, Variant]:
    """RED's average and spacing, which the draft leaves open."""
    return {
        f"RED weight {name}, drops {spacing}": Variant(
            tuple(
                f"link.{link}.queue.red.{key}={value}"
                for link in links
                for key, value in (("weight", weight), ("spacing", f'"{spacing}"'))
            )
        )
        for weight, name in ((1.0, "1"), (0.0625, "1/16"), (0.002, "0.002"))
        for spacing in ("independent", "count")
        if (weight, spacing) != (0.0625, "independent")  # as chosen
    }


def _transport(harmed: str) -> dict[str, Variant]:
    """Loss recovery, buffers, times, and windows in whole segments."""
    own = f"flow.{harmed}.controller"
    undo = tuple(f"transport.{key}=true" for key in ("frto", "eifel", "dsack"))
    return {
        "windows in whole segments": Variant((f"{own}=kernel:reno",), prefix="kernel:"),
        "RACK": Variant(("transport.rack=true",)),
        "F-RTO, Eifel and DSACK": Variant(undo),
        "NewReno, no SACK": Variant(("transport.sack=false",)),
        "no limited transmit": Variant(("transport.limited_transmit=false",)),
        "RTO minimum 1 s": Variant(("transport.rto_min=1 s",)),
        "RTO floor on the whole (RFC 6298)": Variant(("transport.rto_floor=total",)),
        "initial window 3, first RTO 3 s": Variant(
            ("transport.initial_window=3", "transport.rto_initial=3 s")
        ),
        "windows decay in idle time": Variant(("transport.idle=decay",)),
        "slow start drops what is left at ssthresh": Variant(
            ("transport.slow_start_carry_over=false",)
        ),
        "receive buffer 64 KiB": Variant(("transport.receive_buffer=64 KiB",)),
        "receive buffer 256 KiB": Variant(("transport.receive_buffer=256 KiB",)),
        "round robin": Variant(("transport.scheduler=round-robin",)),
        "CUBIC as the single-path TCP": Variant((f"{own}=cubic",)),
        "OLIA's best path by l²/rtt": Variant(suffix=":draft"),
        "base RTT 150 ms": Variant(("link.line.delay=75 ms", "link.back.delay=75 ms")),
        "base RTT 90 ms": Variant(("link.line.delay=45 ms", "link.back.delay=45 ms")),
        "base RTT 80 ms": Variant(("link.line.delay=40 ms", "link.back.delay=40 ms")),
    }

"""Saturated 802.11 DCF: throughput of stations on one channel that always have a packet.

    >>> g = phy("g", rate_mbps=54)
    >>> saturation(10, g).throughput_bps           # Bianchi's model, seven attempts
    >>> saturation(10, g, rules=BIANCHI)           # as published: frames are never given up
    >>> saturation(10, g, rules=REFINED)          # counters freeze as in the standard
    >>> mixed([g, g, phy("g", rate_mbps=6)])       # the performance anomaly
    >>> ampdu(phy("n", rate_mbps=65, band_ghz=5), mpdus=32, error=0.1)

`timing` has the durations of the standards, `contention` the rates of transmissions and collisions,
`throughput` the throughput of stations, `aggregation` the closed form of A-MPDUs. All stations hear
each other, frames are lost only in collisions (except in `aggregation`), and propagation takes no
time.
"""

from .aggregation import Ampdu, ampdu, most_mpdus
from .contention import BIANCHI, FINITE, REFINED, Contention, Rules, Windows, contention
from .throughput import (
    Saturation,
    access_point_share,
    anomaly_rate_bps,
    lone_rate_bps,
    mixed,
    saturation,
    throughput_bps,
)
from .timing import Exchange, Modulation, Phy, phy

__all__ = [
    "BIANCHI",
    "FINITE",
    "REFINED",
    "Ampdu",
    "Contention",
    "Exchange",
    "Modulation",
    "Phy",
    "Rules",
    "Saturation",
    "Windows",
    "access_point_share",
    "ampdu",
    "anomaly_rate_bps",
    "contention",
    "lone_rate_bps",
    "mixed",
    "most_mpdus",
    "phy",
    "saturation",
    "throughput_bps",
]

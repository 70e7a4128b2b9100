"""How long frames take in 802.11b, a, g and n.

Internally whole nanoseconds, as in the standards; results are in seconds. Sources: IEEE Std
802.11-2012, clauses 16 and 17 (DSSS, HR/DSSS), 18 (OFDM), 19 (ERP), 20 (HT), and 9.3 for DCF.

Where this is less than the standard:

* Propagation takes no time.
* 802.11n contends as DCF does, with DIFS, and not as EDCA's best effort, whose AIFS is one slot
  longer. One stream, HT-mixed. An A-MPDU is held to 65,535 bytes and 64 MPDUs; the 5.484 ms that
  the legacy length field can announce, and the spacing that a receiver may ask for, do not shorten
  it.
* Control frames go at the highest basic rate that is not above the data rate, of 1 and 2 Mb/s for b
  and of 6, 12 and 24 Mb/s for the others.
* EIFS has the ACK at the lowest rate: 1 Mb/s with the long preamble wherever b is heard, else 6
  Mb/s.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...offers import chosen
from .contention import Windows

LLC_SNAP_BYTES = 8
MAC_BYTES = 24
QOS_MAC_BYTES = 26
FCS_BYTES = 4
ACK_BYTES = 14
CTS_BYTES = 14
BLOCK_ACK_BYTES = 32
DELIMITER_BYTES = 4
"""Before each MPDU of an A-MPDU; all but the last are padded to a multiple of as many bytes."""

MOST_PACKET_BYTES = 2304 - LLC_SNAP_BYTES
MOST_AMPDU_BYTES = 65_535
MOST_AMPDU_MPDUS = 64
"""Largest number of MPDUs that one block ACK acknowledges."""

_DSSS_NS = {"long": 192_000, "short": 96_000}
_DSSS_RATES = (1, 2, 5.5, 11)
_OFDM_BITS = {6: 24, 9: 36, 12: 48, 18: 72, 24: 96, 36: 144, 48: 192, 54: 216}
"""N_DBPS of each rate in Mb/s: data bits in a symbol of 4 µs."""
_HT_BITS = {
    20: (26, 52, 78, 104, 156, 208, 234, 260),
    40: (54, 108, 162, 216, 324, 432, 486, 540),
}
"""N_DBPS of MCS 0 to 7 at each width in MHz."""
_BASIC_DSSS = (1, 2)
_BASIC_OFDM = (6, 12, 24)


@dataclass(frozen=True, slots=True)
class Modulation:
    """Duration of a frame by its length: a preamble, then whole symbols.

    `extra_bits` are those of OFDM's service field and tail; data ends on a multiple of `grid_ns`,
    and `extension_ns` is the silence that ERP and HT add in 2.4 GHz. DSSS has a symbol for each
    microsecond, for its header gives the length in whole microseconds.
    """

    preamble_ns: int
    symbol_ns: int
    bits_per_symbol: float
    extra_bits: int = 0
    grid_ns: int = 1
    extension_ns: int = 0

    def duration_s(self, frame_bytes: int) -> float:
        """Time on air of `frame_bytes` from the MAC header to the FCS."""
        symbols = -(-(self.extra_bits + 8 * frame_bytes) // self.bits_per_symbol)
        data_ns = int(symbols) * self.symbol_ns
        data_ns += -data_ns % self.grid_ns
        return (self.preamble_ns + data_ns + self.extension_ns) * 1e-9


@dataclass(frozen=True, slots=True)
class Exchange:
    """One access to the channel, from the first bit until back-off goes on.

    `payload_bits` are E[P], those of the IP packets; `success_s` is T_s, to the end of the DIFS
    after the ACK. `frame_s` ends with the data frame, `defer_s` is what the others wait after a
    collision, and their sum `collision_s` is T_c.
    """

    payload_bits: float
    success_s: float
    frame_s: float
    defer_s: float

    @property
    def collision_s(self) -> float:
        """T_c of a collision of such frames only."""
        return self.frame_s + self.defer_s


@dataclass(frozen=True, slots=True)
class Phy:
    """A physical layer at one data rate, as `phy` makes it.

    `cw_min` and `cw_max` are windows in slots, the counter is drawn from 0 to the window. `data`
    carries packets, `control` their ACKs, `lowest` the ACK that EIFS allows for, and `protection`
    the CTS-to-self before each data frame, if there is one.
    """

    standard: str
    rate_mbps: float
    slot_s: float
    sifs_s: float
    cw_min: int
    cw_max: int
    data: Modulation
    control: Modulation
    lowest: Modulation
    protection: Modulation | None = None

    @property
    def windows(self) -> Windows:
        """W = CWmin + 1, doubled up to CWmax + 1."""
        first = self.cw_min + 1
        return Windows(first, ((self.cw_max + 1) // first).bit_length() - 1)

    @property
    def difs_s(self) -> float:
        """SIFS and two slots."""
        return self.sifs_s + 2.0 * self.slot_s

    @property
    def eifs_s(self) -> float:
        """SIFS, an ACK at the lowest rate, and DIFS: the wait after a frame that cannot be
        decoded.
        """
        return self.sifs_s + self.lowest.duration_s(ACK_BYTES) + self.difs_s

    @property
    def ack_s(self) -> float:
        """Time on air of an ACK."""
        return self.control.duration_s(ACK_BYTES)

    @property
    def block_ack_s(self) -> float:
        """Time on air of a block ACK."""
        return self.control.duration_s(BLOCK_ACK_BYTES)

    def mpdu_bytes(self, packet_bytes: int) -> int:
        """IP packet, LLC/SNAP, MAC header and FCS. Raises ValueError for a size that no
        MSDU has.
        """
        if not 1 <= packet_bytes <= MOST_PACKET_BYTES:
            raise ValueError(
                f"packet_bytes is {packet_bytes}; 802.11 carries packets of 1 to {MOST_PACKET_BYTES}"
            )
        header = QOS_MAC_BYTES if self.standard == "n" else MAC_BYTES
        return packet_bytes + LLC_SNAP_BYTES + header + FCS_BYTES

    def ampdu_bytes(self, packet_bytes: int, mpdus: int) -> int:
        """`mpdus` MPDUs with their delimiters, all but the last padded to 4 bytes."""
        one = DELIMITER_BYTES + self.mpdu_bytes(packet_bytes)
        return (mpdus - 1) * (one + -one % DELIMITER_BYTES) + one

    def exchange(self, packet_bytes: int = 1500, mpdus: int = 1, eifs: bool = True) -> Exchange:
        """`mpdus` packets in one access; one alone is sent plain and answered by an ACK.

        With `eifs` the others wait EIFS after a collision, as the standard has it; without, DIFS,
        as in Bianchi's paper. Raises ValueError for packets or aggregates that 802.11 does not
        allow.
        """
        if mpdus == 1:
            frame_s, answer_s = self.data.duration_s(self.mpdu_bytes(packet_bytes)), self.ack_s
        else:
            self._check_mpdus(packet_bytes, mpdus)
            frame_s = self.data.duration_s(self.ampdu_bytes(packet_bytes, mpdus))
            answer_s = self.block_ack_s
        if self.protection is not None:
            frame_s += self.protection.duration_s(CTS_BYTES) + self.sifs_s
        return Exchange(
            payload_bits=8.0 * packet_bytes * mpdus,
            success_s=frame_s + self.sifs_s + answer_s + self.difs_s,
            frame_s=frame_s,
            defer_s=self.eifs_s if eifs else self.difs_s,
        )

    def _check_mpdus(self, packet_bytes: int, mpdus: int) -> None:
        if mpdus < 1:
            raise ValueError(f"mpdus is {mpdus}; an exchange carries at least one")
        if self.standard != "n":
            raise ValueError(f"mpdus is {mpdus}; 802.11{self.standard} sends 1, only n aggregates")
        size = self.ampdu_bytes(packet_bytes, mpdus)
        if mpdus > MOST_AMPDU_MPDUS or size > MOST_AMPDU_BYTES:
            raise ValueError(
                f"mpdus is {mpdus}, {size} bytes together; an A-MPDU has at most {MOST_AMPDU_MPDUS} "
                f"and {MOST_AMPDU_BYTES} bytes"
            )


def phy(
    standard: str,
    rate_mbps: float,
    *,
    preamble: str | None = None,
    protection: bool = False,
    band_ghz: float | None = None,
    width_mhz: int | None = None,
) -> Phy:
    """The physical layer of `standard` ("b", "a", "g" or "n") at a data rate.

    `preamble` is b's, "long" (default) or "short". `protection` is for g, and for n in 2.4 GHz,
    where stations of b are present: slots of 20 µs and a CTS-to-self at 2 Mb/s, with that preamble,
    before each data frame. `band_ghz`, 2.4 or 5, must be given for n; `width_mhz` is 20 (default)
    or 40. Rates of n are those of one stream, with either guard interval (65 and 135 Mb/s: the long
    one, 72.2 is the short one).

    Raises ValueError for an unknown standard, a rate that it does not have, and options of another
    one.
    """
    standard = chosen("standard", standard, ("b", "a", "g", "n"))
    if standard == "n" and band_ghz not in (2.4, 5):
        raise ValueError(f"band_ghz is {band_ghz}; 802.11n is in 2.4 or 5")
    low_band = standard == "g" or (standard == "n" and band_ghz == 2.4)
    for name, value, has in (
        ("preamble", preamble, standard == "b" or protection),
        ("protection", protection or None, low_band),
        ("band_ghz", band_ghz, standard == "n"),
        ("width_mhz", width_mhz, standard == "n"),
    ):
        if value is not None and not has:
            where = " in 5 GHz" if band_ghz == 5 else ""
            raise ValueError(f"{name} is {value}; 802.11{standard}{where} has no such choice")
    preamble = "long" if preamble is None else chosen("preamble", preamble, _DSSS_NS)
    if standard == "b":
        return _dsss_phy(rate_mbps, preamble)
    return _ofdm_phy(
        standard, rate_mbps, low_band, preamble if protection else None, width_mhz or 20
    )


def _dsss_phy(rate_mbps: float, preamble: str) -> Phy:
    rates = _DSSS_RATES if preamble == "long" else _DSSS_RATES[1:]
    if rate_mbps not in rates:
        raise _no_such_rate("b", rate_mbps, rates, f" with the {preamble} preamble")
    basic = max(rate for rate in _BASIC_DSSS if rate <= rate_mbps)
    return Phy(
        standard="b",
        rate_mbps=rate_mbps,
        slot_s=20e-6,
        sifs_s=10e-6,
        cw_min=31,
        cw_max=1023,
        data=_dsss(rate_mbps, preamble),
        control=_dsss(basic, preamble),
        lowest=_dsss(1, "long"),
    )


def _ofdm_phy(
    standard: str, rate_mbps: float, low_band: bool, protection: str | None, width_mhz: int
) -> Phy:
    """`protection` is the preamble of the CTS-to-self, None without one."""
    extension_ns = 6000 if low_band else 0
    if standard == "n":
        data = _ht(rate_mbps, width_mhz, extension_ns)
    elif rate_mbps in _OFDM_BITS:
        data = _ofdm(int(rate_mbps), extension_ns)
    else:
        raise _no_such_rate(standard, rate_mbps, tuple(_OFDM_BITS), "")
    basic = max(rate for rate in _BASIC_OFDM if rate <= rate_mbps)
    b_is_heard = protection is not None
    return Phy(
        standard=standard,
        rate_mbps=rate_mbps,
        slot_s=20e-6 if b_is_heard else 9e-6,
        sifs_s=10e-6 if low_band else 16e-6,
        cw_min=15,
        cw_max=1023,
        data=data,
        control=_ofdm(basic, extension_ns),
        lowest=_dsss(1, "long") if b_is_heard else _ofdm(6, extension_ns),
        protection=None if protection is None else _dsss(2, protection),
    )


def _dsss(rate_mbps: float, preamble: str) -> Modulation:
    return Modulation(_DSSS_NS[preamble], symbol_ns=1000, bits_per_symbol=rate_mbps)


def _ofdm(rate_mbps: int, extension_ns: int) -> Modulation:
    """Preamble of 16 µs and the signal symbol, then symbols of 4 µs."""
    return Modulation(20_000, 4000, _OFDM_BITS[rate_mbps], 22, extension_ns=extension_ns)


def _ht(rate_mbps: float, width_mhz: int, extension_ns: int) -> Modulation:
    """HT-mixed, one stream; rates are compared at the one digit that the standard prints."""
    if width_mhz not in _HT_BITS:
        raise ValueError(f"width_mhz is {width_mhz}; a channel of 802.11n has 20 or 40")
    rates: dict[float, Modulation] = {}
    for symbol_ns in (4000, 3600):
        for bits in _HT_BITS[width_mhz]:
            rate = round(bits * 1000 / symbol_ns, 1)
            rates.setdefault(rate, Modulation(36_000, symbol_ns, bits, 22, 4000, extension_ns))
    if rate_mbps not in rates:
        raise _no_such_rate("n", rate_mbps, tuple(sorted(rates)), f" at {width_mhz} MHz")
    return rates[rate_mbps]


def _no_such_rate(
    standard: str, rate_mbps: float, rates: tuple[float, ...], where: str
) -> ValueError:
    known = ", ".join(f"{rate:g}" for rate in rates)
    return ValueError(f"rate_mbps is {rate_mbps}; 802.11{standard}{where} has {known}")

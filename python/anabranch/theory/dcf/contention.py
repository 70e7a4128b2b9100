"""How often saturated stations transmit and collide: Bianchi's fixed point, plain and refined.

G. Bianchi, "Performance analysis of the IEEE 802.11 distributed coordination function" (JSAC 2000),
here with a retry limit as in G. Bianchi & I. Tinnirello, "Remarks on IEEE 802.11 DCF performance
analysis" (IEEE Comm. Letters 2005). Time is counted in slots, which are idle or hold a
transmission. In each a station transmits with probability τ, independently of the others, so a
transmission collides with

    p = 1 - (1 - τ)^(n-1).

A packet reaches stage i, where the counter is drawn from 0 to W_i - 1 with W_i = W 2^min(i,m), with
probability p^i, and spends (W_i - 1)/2 + 1 slots there on average, of which it transmits in one:

    τ = Σ p^i / Σ p^i ((W_i - 1)/2 + 1),   i = 0 … L,

with L + 1 attempts; a packet is dropped with p^(L+1). Without a limit this is Bianchi's

    τ = 2 / (1 + W + p W Σ_{i<m} (2p)^i),

his equation (7) with the factor 1 - 2p taken out, so that p = 1/2 is nothing special.

**What DCF does differently.** Here a counter falls across every slot, also a busy one. By the
standard it falls at the end of an idle slot only: a station that was interrupted at b has to see
DIFS and one whole idle slot before it is at b - 1, whereas the station that has just transmitted
may draw 0 and go on right after DIFS. I. Tinnirello, G. Bianchi & Y. Xiao, "Refinements on IEEE
802.11 distributed coordination function modeling approaches" (IEEE Trans. Veh. Tech. 2010) conclude
that the slot after a success is open to the station that succeeded, and to it alone, and that no
station can use the slot after a collision: stations that collided wait for their ACK timeout, which
ends no earlier than the others' EIFS. `Rules(frozen=True)` models this with a retry limit, as
follows.

* The slot that follows a transmission is added to it, and all others fall by one in it. What
  remains are slots that are open to all; τ and p = 1 - (1 - τ)^(n-1) are about those.
* After a success the counter is uniform on 0 … W - 1. With probability 1/W it is 0, and the next
  frame goes at once and cannot collide. Otherwise the extra slot takes one away and leaves it
  uniform on 0 … W - 2: W/2 slots on average, with the transmission. So a success is a burst of W/(W
  - 1) frames on average.
* After a collision or a drop the extra slot takes nothing from the stations that collided: (W_i +
  1)/2 slots.
* With D the chance that a packet is dropped, a fraction (1 - D)/W of packets is sent at once. The
  others are ρ = 1 - (1 - D)/W, and of all packets ρ p^i reach stage i > 0. Hence D = ρ p^(L+1),
  which gives ρ = (1 - 1/W) / (1 - p^(L+1)/W), and

      τ = ρ Σ p^i / [(W - 1)/2 + D + ρ Σ_{i>0} p^i (W_i + 1)/2],

  for stage 0 has (1 - D)(1 - 1/W) W/2 + D (W + 1)/2 slots.
* Of all attempts, ρ Σ p^i and those sent at once, 1 - D succeed: a network card counts fewer
  collisions than p.

Where stations that collided come back in step with the others and may use the slot as well,
throughput changes by less than 1 % and collisions by less than 0.005.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules of DCF in the model.

    A frame is sent `attempts` times (L + 1) before it is given up, None means no limit. With `eifs`
    a collision is followed by EIFS, else by DIFS. `frozen` counters fall in idle slots only, as in
    the standard; otherwise in every slot, as in Bianchi's model.

    Raises ValueError for less than one attempt.
    """

    attempts: int | None = 7
    eifs: bool = True
    frozen: bool = False

    def __post_init__(self) -> None:
        if self.attempts is not None and not self.attempts >= 1:
            raise ValueError(
                f"attempts is {self.attempts}; a frame is sent at least once, None is without limit"
            )


BIANCHI = Rules(attempts=None, eifs=False)
"""As published in 2000: frames are never given up, and T_c ends with DIFS."""

FINITE = Rules()
"""Seven attempts, as the standard has for frames below the RTS threshold, and EIFS."""

REFINED = Rules(frozen=True)
"""The same with counters that fall in idle slots only."""


@dataclass(frozen=True, slots=True)
class Windows:
    """Contention windows W_i = `first` · 2^min(i, `doublings`): W and m. W = CWmin + 1, at
    least 2.
    """

    first: int
    doublings: int

    def __post_init__(self) -> None:
        if self.first < 2 or self.doublings < 0:
            raise ValueError(
                f"the first window is {self.first} with {self.doublings} doublings; "
                "it has at least 2 slots and 0 doublings"
            )

    def at(self, stage: int) -> int:
        """W_i."""
        return self.first << min(stage, self.doublings)


@dataclass(frozen=True, slots=True)
class Contention:
    """The fixed point.

    `tau` is the chance that a station transmits in a slot, `slot_p` that another one does in a slot
    in which it transmits. `p` is the fraction of attempts that collide, and the same unless
    counters are frozen; `drop` is the fraction of packets that is given up.
    """

    tau: float
    slot_p: float
    p: float
    drop: float


def contention(n: int, windows: Windows, rules: Rules = FINITE) -> Contention:
    """The fixed point of `n` saturated stations, by bisection on p: τ falls in p, so there is one
    root.

    Raises ValueError unless n is a whole number above 0.
    """
    check_stations(n)
    low, high = 0.0, 1.0
    while n > 1:
        p = (low + high) / 2.0
        if p in (low, high):
            break
        met = 1.0 - (1.0 - _tau(p, windows, rules)) ** (n - 1)
        low, high = (p, high) if met > p else (low, p)
    p = low
    drop = _drop(p, windows, rules)
    if rules.frozen:
        at_once = (1.0 - drop) / windows.first
        attempts = at_once + (1.0 - at_once) * stages(p, windows, rules)[0]
        overall = 1.0 - (1.0 - drop) / attempts
    else:
        overall = p
    return Contention(tau=_tau(p, windows, rules), slot_p=p, p=overall, drop=drop)


def check_stations(n: int) -> None:
    """Raises ValueError unless n is a whole number above 0."""
    if not float(n).is_integer() or n < 1:
        raise ValueError(f"n is {n}; a cell has at least one station")


def stages(p: float, windows: Windows, rules: Rules) -> tuple[float, float]:
    """Σ p^i and Σ p^i (W_i + 1)/2 over all stages, p < 1; the equal ones at the end in
    closed form.
    """
    last = windows.doublings
    if rules.attempts is None:
        tail = p**last / (1.0 - p)
    else:
        last = min(last, rules.attempts - 1)
        tail = sum(p**i for i in range(last, rules.attempts))
    weights = [p**i for i in range(last)] + [tail]
    slots = sum(weight * (windows.at(i) + 1) / 2.0 for i, weight in enumerate(weights))
    return sum(weights), slots


def _drop(p: float, windows: Windows, rules: Rules) -> float:
    """p^(L+1), or D = ρ p^(L+1) where counters are frozen; 0 without a limit."""
    if rules.attempts is None:
        return 0.0
    lost: float = p**rules.attempts
    w = windows.first
    return lost * (1.0 - 1.0 / w) / (1.0 - lost / w) if rules.frozen else lost


def _tau(p: float, windows: Windows, rules: Rules) -> float:
    """τ at p < 1."""
    sent, slots = stages(p, windows, rules)
    if not rules.frozen:
        return sent / slots
    w, drop = windows.first, _drop(p, windows, rules)
    rho = 1.0 - (1.0 - drop) / w
    later = slots - (w + 1) / 2.0
    return rho * sent / ((w - 1) / 2.0 + drop + rho * later)

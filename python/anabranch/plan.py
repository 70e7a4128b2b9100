"""The plan: a scenario with every default filled in and every reference resolved, in SI units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from .records import Record


@dataclass(frozen=True, kw_only=True)
class DropTail(Record):
    """Drop-tail; with both limits, the first that is reached counts."""

    kind: Literal["droptail"] = "droptail"
    limit_packets: int | None
    limit_bytes: int | None


@dataclass(frozen=True, kw_only=True)
class Red(Record):
    """RED."""

    kind: Literal["red"] = "red"
    min_packets: float
    max_packets: float
    max_p: float
    gentle: bool
    weight: float
    spacing: Literal["independent", "count"]
    ecn: bool
    limit_packets: int


@dataclass(frozen=True, kw_only=True)
class Pie(Record):
    """PIE."""

    kind: Literal["pie"] = "pie"
    target_s: float
    update_s: float
    burst_s: float
    alpha: float
    beta: float
    ecn: bool
    limit_packets: int


@dataclass(frozen=True, kw_only=True)
class Codel(Record):
    """CoDel."""

    kind: Literal["codel"] = "codel"
    target_s: float
    interval_s: float
    ecn: bool
    limit_packets: int


@dataclass(frozen=True, kw_only=True)
class FqCodel(Record):
    """FQ-CoDel."""

    kind: Literal["fq-codel"] = "fq-codel"
    target_s: float
    interval_s: float
    ecn: bool
    queues: int
    quantum_bytes: int
    limit_packets: int


Queue: TypeAlias = DropTail | Red | Pie | Codel | FqCodel


@dataclass(frozen=True, kw_only=True)
class Opportunities(Record):
    """When a link may send, if not always."""

    times_ms: list[int]
    start_s: float


@dataclass(frozen=True, kw_only=True)
class LossChain(Record):
    """A chain of two states with loss in each (Gilbert and Elliott)."""

    to_bad: float
    to_good: float
    good: float
    bad: float


@dataclass(frozen=True, kw_only=True)
class LinkEnds(Record):
    """The stations of a medium between which a link leads."""

    medium: int
    from_: list[int]
    to: list[int]


@dataclass(frozen=True, kw_only=True)
class LinkChange(Record):
    """A change of a link; None leaves a property as it is."""

    at_s: float
    rate_bps: int | None
    delay_s: float | None
    loss: float | None
    up: bool | None


@dataclass(frozen=True, kw_only=True)
class Link(Record):
    """A link."""

    name: str
    rate_bps: int | None
    opportunities: Opportunities | None
    delay_s: float
    queue: Queue | None
    loss: float
    loss_place: Literal["before", "after"] | None
    loss_chain: LossChain | None
    reorder: float
    reorder_delay_s: float | None
    duplicate: float
    jitter_s: float
    per_user: bool
    air: list[LinkEnds]
    changes: list[LinkChange]


@dataclass(frozen=True, kw_only=True)
class Radio(Record):
    """Log-distance propagation, and what a receiver makes of it."""

    power_dbm: float
    loss_at_1m_db: float
    exponent: float
    noise_dbm: float
    sense_dbm: float


@dataclass(frozen=True, kw_only=True)
class Station(Record):
    """A station of a medium."""

    name: str
    node: int | None
    queue: Queue | None
    ring_packets: int
    rate_bps: int | None
    place_m: tuple[float, float]
    residual_loss: float
    noise_s: float | None


@dataclass(frozen=True, kw_only=True)
class Wifi(Record):
    """A channel of 802.11."""

    kind: Literal["wifi"] = "wifi"
    standard: str
    wide: bool
    short_guard: bool
    streams: int
    rate_bps: int
    control: Literal["fixed", "arf", "ideal"]
    broadcast_bps: int
    attempts: int
    ack_timeout_s: float | None
    radio: Radio | None
    routing: Literal["oracle", "association", "aodv", "olsr"] | None
    name: str
    stations: list[Station]


@dataclass(frozen=True, kw_only=True)
class Bus(Record):
    """A wired bus with CSMA."""

    kind: Literal["bus"] = "bus"
    rate_bps: int
    delay_s: float
    name: str
    stations: list[Station]


@dataclass(frozen=True, kw_only=True)
class CellUser(Record):
    """What a user of an LTE cell receives."""

    snr_db: float | None
    deviation_db: float | None
    coherence_s: float | None


@dataclass(frozen=True, kw_only=True)
class Cell(Record):
    """An LTE cell."""

    kind: Literal["cell"] = "cell"
    blocks: int
    blocks_up: int
    scheduler: Literal["proportional-fair", "round-robin", "max-rate"]
    averaging_s: float
    overhead: float
    radio: Radio | None
    users: list[CellUser]
    name: str
    stations: list[Station]


Medium: TypeAlias = Wifi | Bus | Cell


@dataclass(frozen=True, kw_only=True)
class Area(Record):
    """The ground on which nodes are."""

    width_m: float
    height_m: float
    step_s: float


@dataclass(frozen=True, kw_only=True)
class At(Record):
    """A node that stays where it is."""

    kind: Literal["at"] = "at"
    place_m: tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Scattered(Record):
    """A node at a place that is drawn uniformly."""

    kind: Literal["scattered"] = "scattered"


@dataclass(frozen=True, kw_only=True)
class Waypoint(Record):
    """Random waypoint."""

    kind: Literal["waypoint"] = "waypoint"
    speed_mps: tuple[float, float]
    pause_s: tuple[float, float]
    stationary: bool


@dataclass(frozen=True, kw_only=True)
class Highway(Record):
    """Freeway mobility: cars in a lane that keep a distance."""

    kind: Literal["highway"] = "highway"
    speed_mps: tuple[float, float]
    gap_m: float
    hold_s: float
    reaction_s: float
    start_m: float
    lane_m: float


@dataclass(frozen=True, kw_only=True)
class Leg(Record):
    """A move along a straight line."""

    at_s: float
    to_m: tuple[float, float]
    speed_mps: float


@dataclass(frozen=True, kw_only=True)
class Trace(Record):
    """A node that moves as a file says."""

    kind: Literal["trace"] = "trace"
    place_m: tuple[float, float]
    legs: list[Leg]


@dataclass(frozen=True, kw_only=True)
class Node(Record):
    """A node that has a place or moves."""

    name: str
    group: str
    member: int
    moves: At | Scattered | Waypoint | Highway | Trace


@dataclass(frozen=True, kw_only=True)
class Exponential(Record):
    """Sizes of transfers, exponentially distributed."""

    kind: Literal["exponential"] = "exponential"


@dataclass(frozen=True, kw_only=True)
class Pareto(Record):
    """Sizes of transfers, Pareto-distributed."""

    kind: Literal["pareto"] = "pareto"
    shape: float


@dataclass(frozen=True, kw_only=True)
class Lognormal(Record):
    """Sizes of transfers, log-normally distributed."""

    kind: Literal["lognormal"] = "lognormal"
    sigma: float


@dataclass(frozen=True, kw_only=True)
class Pauses(Record):
    """Pauses of an application."""

    on_s: float
    off_s: float
    random: bool


@dataclass(frozen=True, kw_only=True)
class Fair(Record):
    """A demand that a flow is TCP-fair."""

    definition: Literal["lenient", "stringent"]
    margin: float


@dataclass(frozen=True, kw_only=True)
class Coding(Record):
    """Network coding of a path."""

    redundancy: float
    window: int


@dataclass(frozen=True, kw_only=True)
class Path(Record):
    """A path of a class; links are indices."""

    links: list[int]
    back: list[int]
    turns: list[tuple[list[int], list[int]]]
    base_rtt_s: float
    join_s: float
    leave_s: float | None
    backup: bool
    coding: Coding | None


@dataclass(frozen=True, kw_only=True)
class Class(Record):
    """A group of identical flows, with its transport options."""

    name: str
    count: int
    controller: str
    start_s: float
    spread_s: float
    transfer_bytes: int | None
    sizes: Exponential | Pareto | Lognormal | None
    app_rate_bps: int | None
    pauses: Pauses | None
    protocol: Literal["tcp", "udp"]
    echo: bool
    fair: Fair | None
    base: int
    paths: list[Path]
    packet_bytes: int
    payload_bytes: int
    sack: bool
    limited_transmit: bool
    rack: bool
    tlp: bool
    eifel: bool
    dsack: bool
    frto: bool
    ecn: bool
    idle: Literal["keep", "restart", "decay"]
    delayed_ack_s: float
    initial_window: float
    initial_ssthresh: float | None
    min_window: float
    min_ssthresh: float
    slow_start_carry_over: bool
    rto_min_s: float
    rto_floor: Literal["variance", "total"]
    rto_max_s: float
    rto_initial_s: float
    receive_buffer_bytes: int
    small_queue_bytes: int | None
    small_queue_time_s: float | None
    autotune: bool
    handshake: bool
    opportunistic: bool
    penalise: bool
    scheduler: Literal["min-rtt", "round-robin", "redundant"]


@dataclass(frozen=True, kw_only=True)
class Choice(Record):
    """A parameter that the source leaves open."""

    what: str
    value: str
    why: str


@dataclass(frozen=True, kw_only=True)
class Plan(Record):
    """A validated scenario. Links, media and nodes are indices; a class stands for `count` identical users."""

    name: str
    title: str
    source: str
    duration_s: float
    warmup_s: float
    sample_s: float
    links: list[Link]
    media: list[Medium]
    area: Area | None
    nodes: list[Node]
    classes: list[Class]
    choices: list[Choice]
    warnings: list[str]

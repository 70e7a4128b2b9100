"""The Rust extension module."""

from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, TypedDict

from numpy import float64
from numpy.typing import NDArray

from ._hosts import Host as Host
from ._hosts import TunnelConnect as TunnelConnect
from ._hosts import TunnelListen as TunnelListen
from ._hosts import WireSenders as WireSenders
from ._hosts import tunnel_key as tunnel_key

__version__: str
SOURCES: str
"""A digest of the sources that runs depend on: builds of the same sources have the same digest."""
COUPLED_PATHS: int
"""Most subflows of a connection that the laws of the kernel couple."""
MOST_SCENARIO_BYTES: int
"""Most bytes of a scenario, with the traces inside it."""

class ScenarioError(ValueError):
    """A scenario or its overrides are wrong; the text names the field, shows the line and helps."""

class MemoryEnded(MemoryError):
    """Replications were stopped before memory ran out; `args` are the reason and the
    finished ones.
    """

    args: tuple[str, list[dict[str, Any]]]

def plan(
    text: str, name: str = ..., *, overrides: Sequence[str] = ..., controller: str | None = ...
) -> str:
    """The validated scenario with every default filled in, as JSON in SI units.

    Raises ScenarioError.
    """

def with_file(change: str) -> str:
    """An override that names the file of a trace, opportunities or movements, as one that gives its
    text; any other as it is.

    Raises ScenarioError.
    """

def with_files(text: str, name: str, folder: str | PathLike[str]) -> str:
    """The scenario with the files of its traces inside it, as rows; they are found from `folder`.

    Raises ScenarioError.
    """

def with_overrides(
    text: str, name: str = ..., *, overrides: Sequence[str] = ..., controller: str | None = ...
) -> str:
    """The scenario with the controller and the overrides written into it; all else stays as it is.

    Raises ScenarioError for an override whose key does not exist, but does not check the result:
    `plan` does.
    """

def schema() -> str:
    """The JSON Schema of a scenario file."""

def plan_schema() -> str:
    """The JSON Schema of the plan that `plan` returns."""

def tables() -> list[tuple[str, str, str, list[list[str]]]]:
    """The tables of results and captures: name, place, meaning of a row; kind, name, unit and
    meaning of each column.
    """

def simulate(
    text: str,
    seeds: Iterable[int],
    *,
    name: str = ...,
    overrides: Sequence[str] = ...,
    controller: str | None = ...,
    outside: tuple[str, Callable[..., Any]] | None = ...,
    threads: int = ...,
    series: bool = ...,
    events: bool = ...,
    pcap: str | PathLike[str] | None = ...,
    qlog: str | PathLike[str] | None = ...,
    qlog_form: str = ...,
    until_s: float | None = ...,
    keep_bytes: int | None = ...,
    progress: Callable[[float, float], object] | None = ...,
    unwritten: dict[Path, OSError] | None = ...,
) -> list[dict[str, Any]]:
    """One dictionary for each seed, in their order.

    `outside` is a name and a factory of controllers in Python. The factory is called for each
    connection with the views of its paths and a stream of random numbers. An exception in a
    controller is raised again.

    `threads` 0 takes every core. `progress` is called with the simulated seconds done and in all.
    After an interrupt the replications that had finished are returned, if any. With one seed,
    `pcap` and `qlog` name files that are written: packets up to `until_s`, of each the first
    `keep_bytes` bytes. `qlog_form` is 0.3, draft or draft-sequence. Raises ScenarioError, ValueError
    for a plan that no capture can hold, MemoryEnded, and OSError; a file whose writing fails during
    the run goes into `unwritten` instead, if that is given.
    """

def page(request: str, wanted: Callable[[], bool] | None = None) -> bytes:
    """The answer to a request of the explorer: 4 bytes, little-endian, with the length of the header;
    the header, which is JSON; the numbers of its tables, little-endian and of 64 bits.

    A request is JSON; what is in requests and headers stands in crates/page/src/lib.rs. The header
    of a request that cannot be answered is `{"error": TEXT}`. The interpreter is released.

    `wanted` is called ten times a second while the answer is made: false ends a run with an error in
    the header, and an exception ends it and is raised.
    """

def read_capture(
    path: str | PathLike[str], bin_s: float, from_s: float, to_s: float | None, delays: bool
) -> dict[str, Any]:
    """Tables `flows` (connections), `paths` (subflows) and `series` of a capture, `names` of
    addresses, and facts about it. Tables count from `from_s` up to `to_s`, the series is of the
    whole capture. With `delays` there are for each subflow times in seconds since the first packet
    of the capture: when segments were sent, their round trips, and when segments were sent again.

    `broken` says where a truncated capture breaks off. Raises OSError, and ValueError if the file
    is not a capture.
    """

def detectors() -> list[DetectorKind]:
    """The detectors of shared bottlenecks: name, aliases, summary, formula, source."""

def detect(
    detector: str,
    sent_s: Sequence[NDArray[float64]],
    delay_s: Sequence[NDArray[float64]],
    rtt_s: Sequence[NDArray[float64]],
    lost_s: Sequence[NDArray[float64]],
) -> tuple[NDArray[float64], NDArray[float64], NDArray[float64]]:
    """The answers of a detector over paths: times of n changes and of the end; the first path of
    the group of each path, n × paths values; and confidences of pairs, n × paths² values.

    Raises ValueError for an unknown detector, lengths that differ, and times that are negative or
    not finite.
    """

def find_name(text: str, known: Sequence[str]) -> str | None:
    """The known name that `text` spells: case, hyphens, underscores and spaces do not matter. None if
    it spells none, or several.
    """

def offer(text: str, known: Sequence[str]) -> str:
    """ "; did you mean `a` or `b`?" with the known names, at most three, that `text` probably means;
    empty if none is near.
    """

class Named(TypedDict):
    """The controller that a text names; of the stub alone, at run time it is a dict."""

    text: str
    """As results call it, such as "lia:uncapped+hystart"."""
    source: str
    """Selects the controller again: its name, or the text of a law."""
    kind: str | None
    """Its name in `controllers`, such as "lia"; None of a law that is written as text."""
    written: bool
    """Whether it is a law given as text."""
    formula: str
    law: bool
    """Whether it is a pair of growth and backoff."""
    steady: bool
    """Whether `drift` is known of it: it is a law, or one in the mean."""
    min_ssthresh: float | None
    """Smallest ssthresh of its coupled paths in segments; None if it is not a law or couples no
    paths.
    """
    set_valued: bool
    """Whether its growth jumps, so that its drift must be interpolated."""
    ported: bool
    """Whether the kernel can run it."""
    linux: str | None
    """The kernel's name of a controller that only the running kernel has (`linux:NAME`)."""
    noq: str | None
    """The QUIC stack's name of a controller that only the stack has (`noq:NAME`)."""
    reports: bool
    """Whether it is made of TFRC, whose receiver reports instead of acknowledging."""
    detector: str | None
    """The detector of shared bottlenecks of a law that couples only paths that share."""
    port: bool
    """Whether its name asks for the variant that the kernel runs: "kernel:lia"."""

def controller(text: str) -> Named:
    """The meaning of a controller's name in any spelling. Raises ScenarioError for an
    unknown one.
    """

def controller_name(text: str) -> str:
    """The name by which results call a controller. Raises ScenarioError for an unknown one."""

class PathView:
    """The view that a controller in Python has of a path: state to read, and values to set."""

    window: float
    """Segments, with their fraction; at least the floor, usually 1."""
    ssthresh: float
    """Segments; infinite before the first congestion event."""
    pacing_rate: float | None
    """Segments per second; None where the window alone limits."""
    @property
    def index(self) -> int:
        """Its place in the scenario, from 0."""

    @property
    def floor(self) -> float:
        """The smallest window in segments (`transport.min_window`)."""

    @property
    def now(self) -> float:
        """Simulated seconds: when the last ACK of the connection or its timer came."""

    @property
    def acked(self) -> float:
        """Segments that the last ACK of new data acknowledged."""

    @property
    def srtt(self) -> float:
        """Smoothed round trip in seconds; 0 before the first sample."""

    @property
    def min_rtt(self) -> float:
        """The smallest round-trip sample in seconds; infinite before the first one."""

    @property
    def last_rtt(self) -> float:
        """The newest round-trip sample in seconds."""

    @property
    def one_way_delay(self) -> float:
        """From sender to receiver, of the last ACK, in seconds: only differences mean anything."""

    @property
    def delivery_rate(self) -> float:
        """Segments per second; 0 before the first sample."""

    @property
    def delivered(self) -> float:
        """Segments delivered so far, in order or not."""

    @property
    def in_flight(self) -> float:
        """Segments in the network, as far as the sender knows."""

    @property
    def app_limited(self) -> bool:
        """Whether something other than the window limited sending."""

    @property
    def in_recovery(self) -> bool:
        """Whether lost segments are being retransmitted."""

    @property
    def after_timeout(self) -> bool:
        """Whether the segments outstanding at a timeout are being retransmitted."""

    @property
    def member(self) -> bool:
        """Whether the path currently belongs to the connection."""

class WrittenLaw(TypedDict):
    """The content of a law's text; a class in the stub only, at run time a dict."""

    text: str
    name: str
    label: str
    """Its name with the parameters that differ from their defaults, and its slow start."""
    summary: str
    source: str
    parameters: list[tuple[str, float, float, str, str]]
    """Name, value, default, where it may lie, meaning."""
    notes: list[tuple[str, float, str]]
    """Name, value when a path joins, meaning."""
    quantities: list[str]
    """Names of its quantities, as in series of internals."""
    couples: bool
    jumps: bool
    """Whether growth or backoff may jump, so that theory interpolates."""
    min_ssthresh: float

def law(text: str) -> WrittenLaw:
    """Reads the text of a law. Raises ScenarioError with the place of the first mistake."""

class LawInC(TypedDict):
    """A law in C; of the stub alone, at run time it is a dict."""

    c: str
    """The header."""
    relative: int
    """The bound on the error of growth, in 2^-31 of its magnitude."""
    positive: bool
    """Whether that magnitude is growth itself."""

def law_c(text: str, file: str | None = None) -> LawInC:
    """A law as a header in C, whole numbers, which says from which line of `file` each line comes if
    that is given. Raises ScenarioError with the place of what the kernel does not have.
    """

def slopes(
    controller: str, windows: NDArray[float64], rtts_s: NDArray[float64], losses: NDArray[float64]
) -> tuple[NDArray[float64], NDArray[float64], NDArray[float64], NDArray[float64]] | None:
    """Growth (n,) and backoff (n,) of a law that is written as text, in segments, and their exact
    derivatives (n, 3n) by windows, round trips and losses; None of any other controller.

    Raises ScenarioError for an unknown controller, ValueError for different lengths.
    """

class Rest(TypedDict):
    """A fixed point that a proof names; of the stub alone, at run time it is a dict."""

    windows: list[float]
    rtts_s: list[float]
    losses: list[float]
    at_floor: list[bool]
    path: int
    """The path that the claim is about, from 0."""
    ratio: float
    certain: tuple[float, float] | None
    """Between which the ratio provably is; None if the fixed point is not proved."""

class Proved(TypedDict):
    """The outcome of a search for a proof; of the stub alone, at run time it is a dict."""

    verdict: str
    """`proved`, `disproved` or `open`."""
    boxes: int
    computed: int
    """Fixed points that were computed at some places of the ranges."""
    witness: Rest | None
    nearest: Rest | None
    doubt: str | None
    """Where the law's program and what was evaluated differ, in words; None if they do not."""
    open_boxes: int
    open_share: float
    open_ranges: list[tuple[str, float, float]]

def prove(
    text: str,
    claim: str,
    *,
    within: float,
    paths: int,
    losses: tuple[float, float],
    rtts_s: tuple[float, float],
    floor: float,
    boxes: int,
) -> Proved:
    """Proves a claim about the fixed points of a law's text, over ranges of losses and round trips
    in seconds, or gives a fixed point that breaks it. Raises ScenarioError for a text that is no
    law, ValueError for an unknown claim, wrong ranges, or a law with too many parts.
    """

def bits_per_second(text: str) -> int:
    """A rate such as "16 Mb/s". Raises ValueError for one without a unit and for zero."""

def seconds(text: str) -> float:
    """A time with its unit, as scenario files have it. Raises ValueError."""

class Controller(TypedDict):
    """Facts about a controller; a class in the stub only, at run time a dict."""

    name: str
    aliases: list[str]
    options: list[tuple[str, str]]
    """Parameters allowed after the name and a colon, with their meanings."""
    summary: str
    formula: str
    source: str
    set_valued: bool
    """Whether its growth jumps, so that its drift must be interpolated."""
    kernel: bool
    """Whether the kernel can run it."""
    law: bool
    """Whether it is a pair of growth and backoff."""
    examples: list[str]
    """Its name under each option, which stand for it in tests."""

def controllers() -> list[Controller]:
    """Every controller."""

def slow_starts() -> list[Controller]:
    """The same of every slow start, which a law takes as `LAW+NAME`."""

class Kind(TypedDict):
    """Facts about a scheduler, queue or medium; a class in the stub only, at run time a dict."""

    name: str
    aliases: list[str]
    summary: str
    source: str

class DetectorKind(Kind):
    """Facts about a detector; a class in the stub only, at run time a dict."""

    formula: str

def schedulers() -> list[Kind]:
    """Every packet scheduler."""

def queues() -> list[Kind]:
    """Every queue that has parameters."""

def media() -> list[Kind]:
    """Every shared medium, by the key of its tables."""

def drift(
    controller: str, windows: NDArray[float64], rtts_s: NDArray[float64], losses: NDArray[float64]
) -> NDArray[float64]:
    """Expected change of each window in segments per segment sent: growth - p (w - backoff).

    All arrays have one entry for each path. Raises ValueError for an unknown controller.
    """

def growth(
    controller: str, windows: NDArray[float64], rtts_s: NDArray[float64], losses: NDArray[float64]
) -> NDArray[float64]:
    """Growth of each window in segments per acknowledged segment."""

def backoff(
    controller: str, windows: NDArray[float64], rtts_s: NDArray[float64], losses: NDArray[float64]
) -> NDArray[float64]:
    """Window in segments after a congestion event on each path, not floored."""

def window_after_loss(controller: str, cwnd: float, paths: int) -> float:
    """Window in segments after a loss on one of `paths` paths that all have a window of `cwnd` and one
    round-trip time, mended by fast recovery: the law in its shell, with floors.
    """

def red_drop_probability(
    average_packets: float, *, min_th: float, max_th: float, max_p: float, gentle: bool
) -> float:
    """The drop probability of a RED queue at an average length, before any spacing of drops."""

def p1(
    others_before: float,
    others_after: float,
    upgraded_before: float,
    upgraded_after: float,
    *,
    harm: float = ...,
    gain: float = ...,
) -> bool:
    """See `anabranch.fairness.p1`."""

def p2(
    multipath: float,
    single_path: float,
    fair_multipath: float,
    fair_single: float,
    *,
    margin: float = ...,
) -> bool:
    """See `anabranch.fairness.p2`."""

def harm(alone: float, beside: float) -> float:
    """See `anabranch.fairness.harm`; not finite if `alone` is 0."""

class Emulator:
    """The links of a scenario on the wall clock, moving IP packets between TUN devices; runs once.

    Linux only. `devices` has one entry for each end of each path of each class: file descriptor,
    index of the class, index of the path, whether it is the sender's end. Descriptors are
    duplicated and become non-blocking. The receiver's port, `first_port + u`, identifies user `u`
    of a class. Raises ScenarioError, ValueError for devices that do not fit the plan, OSError.
    """

    def __init__(
        self,
        text: str,
        devices: Sequence[tuple[int, int, int, bool]],
        *,
        first_port: int,
        seed: int = ...,
        name: str = ...,
        overrides: Sequence[str] = ...,
        controller: str | None = ...,
        series: bool = ...,
        pcap: str | PathLike[str] | None = ...,
        keep_bytes: int | None = ...,
    ) -> None: ...
    def run(self, seconds: float | None = None) -> dict[str, Any]:
        """Moves packets in the calling thread until the plan's duration, or `seconds`, has passed since
        the call, or until `stop`: tables `links` and `paths`, `series` or None, and `emulator`, its own
        error and cost. Figures cover the time after the warm-up.

        Raises OSError if a device is gone, RuntimeError at a second call.
        """

    def unwritten(self) -> OSError | None:
        """Why the capture could not be written, asked for once after the run; None if it was."""

    def stop(self) -> None:
        """Ends `run` within 50 ms; may be called from any thread, before `run` too."""

    def elapsed_s(self) -> float:
        """Seconds since `run` was called, zero before."""

def quic_fingerprint(identity: str | PathLike[str]) -> str:
    """Fingerprint of the certificate in a directory, made there if there is none. Raises OSError.
    Linux only.
    """

class QuicServer:
    """A file, or a directory with all below it, offered over multipath QUIC; runs once. Linux only.

    The socket is bound at once, in the network namespace of the calling thread. The certificate is
    kept in the directory `identity`, and made there if there is none; without one it is new.
    `qlog` is a directory. Raises ValueError that names the argument, and OSError.
    """

    def __init__(
        self,
        root: str | PathLike[str],
        listen: str,
        *,
        controller: str,
        identity: str | PathLike[str] | None = ...,
        qlog: str | PathLike[str] | None = ...,
    ) -> None: ...
    @property
    def address(self) -> str:
        """Where it listens, with its port."""

    @property
    def fingerprint(self) -> str:
        """SHA-256 of its certificate."""

    def run(self) -> None:
        """Serves in the calling thread until `stop`. Raises OSError."""

    def stop(self) -> None:
        """Ends `run`; from any thread."""

    def served(self) -> str:
        """JSON of the transfers that ended since the last call."""

class QuicFetch:
    """One file over multipath QUIC, by a path for each address of `via`; runs once. Linux only.

    `target` is HOST:PORT/NAME; without an `output` what comes is thrown away. `fingerprint` None
    accepts any server. The socket is bound at once, in the network namespace of the calling thread.
    Raises ValueError that names the argument.
    """

    def __init__(
        self,
        target: str,
        output: str | PathLike[str] | None,
        *,
        fingerprint: str | None,
        via: Sequence[str] = ...,
        to: Sequence[str] = ...,
        port: int = ...,
        resume: bool = ...,
        duration_s: float | None = ...,
        warm_up_s: float = ...,
        qlog: str | PathLike[str] | None = ...,
    ) -> None: ...
    def run(self) -> str:
        """Fetches in the calling thread, until it has all, `duration_s` is over, or `stop`: JSON of
        its report. Raises ValueError for another fingerprint, and OSError.
        """

    def stop(self) -> None:
        """Ends `run`; from any thread."""

    def progress(self) -> tuple[int, int, int]:
        """Bytes that are here, bytes of the file or 0, and open paths."""

class Spinner:
    """A thread that spins until `stop`, or until the value is gone. Linux only. Raises OSError."""

    @property
    def thread_id(self) -> int:
        """Its number in the kernel, to give it a processor and a policy."""

    def stop(self) -> None:
        """Ends it; on return it is gone."""

class KernelController:
    """A controller in the running kernel, selectable by `kernel_name` until it is closed, the value is
    gone, or for good once it is pinned. Only where the kernel's part was built; as root.

    `name` is a law of `kernel_programs`; `kernel_name` another name than its usual one, of at most 15
    characters, for a controller of this process alone. `min_ssthresh` is the smallest threshold of coupled paths in
    segments, without it the law's own; `skips` the fraction of callbacks to ignore, for testing; `record` keeps every step,
    `fault` plants a fault, for testing: `remainder-dropped`, `trips-swapped`,
    `credit-reset` or `idle-ignored`. With `sbd` only subflows are coupled that share a bottleneck, as
    `couple` finds. With `object`, the compiled C of a law, `name` is the text of that,
    or None if there is only the C, and `kernel_name` is given.
    Raises ValueError for an unknown name, FileExistsError if it is loaded already, PermissionError,
    OSError with what the kernel said.
    """

    def __init__(
        self,
        name: str | None = ...,
        *,
        kernel_name: str | None = ...,
        min_ssthresh: int | None = ...,
        skips: float = ...,
        record: bool = ...,
        fault: str | None = ...,
        sbd: bool = ...,
        object: bytes | None = ...,
    ) -> None: ...
    @staticmethod
    def replace(
        name: str | None = ...,
        *,
        kernel_name: str | None = ...,
        min_ssthresh: int | None = ...,
        sbd: bool = ...,
        object: bytes | None = ...,
    ) -> None:
        """Loads a controller in place of the pinned one of the same name. Sockets keep the earlier
        one, and so do defaults of namespaces until they are set again. Raises FileNotFoundError
        if none of the name is pinned, and OSError; then the earlier one is in place.
        """

    @property
    def kernel_name(self) -> str:
        """Its name in tcp_available_congestion_control."""

    def counters(self) -> dict[str, int]:
        """Counters over all sockets: acks, coupled, losses, missed, mismatches, repairs."""

    def cost(self) -> dict[str, tuple[int, int]]:
        """Calls and nanoseconds of each callback; zero unless kernel.bpf_stats_enabled is 1."""

    def steps(self) -> list[str]:
        """Inputs and outputs of the law at each ACK since the last call, if `record` was set; a
        line each.
        """

    def judge(self, steps: Sequence[str]) -> dict[str, int]:
        """How many of these steps, in the order in which they were made, are wrong: they come out
        otherwise in the kernel's run of the law's bytecode (`bytecode`) or in the same C built
        natively (`native`), to the bit, or by the readable law, beyond the stated bound
        (`readable`); the law saw another round-trip time than the socket has (`misread`); or they
        do not go on from the socket's last step, although only the law has moved its window
        (`broken`). ValueError for a law without a text.
        """

    def couple(self) -> list[list[int]]:
        """Reads the delays of all subflows since the last call, and tells each the group of those
        that it shares a bottleneck with, as far as earlier calls found. To be called several times
        a second: what subflows keep reaches back 1.28 s, and a group counts for 5 s. Returns the
        groups of each connection's subflows, in the order in which they joined. Raises OSError,
        also if the controller was loaded without `sbd`.
        """

    def pin(self) -> None:
        """Makes it outlive the process; the value is closed."""

    def close(self) -> None:
        """Takes it out, unless it is pinned; connections that use it keep it until they end."""

class KernelCoupler:
    """Couples the subflows of a controller that was loaded with `sbd` and pinned; as root.

    `name` is a law, or a kernel name that begins with `law_`. Raises FileNotFoundError if no such
    controller is pinned, and OSError.
    """

    def __init__(self, name: str) -> None: ...
    def couple(self) -> list[list[int]]:
        """See `KernelController.couple`."""

class KernelReader:
    """Reads the sockets of one network namespace after the other, as root. Its program is loaded
    once. Raises OSError.
    """

    def __init__(self) -> None: ...
    def read(self) -> list[dict[str, Any]]:
        """See `kernel_subflows`. Raises OSError."""

class KernelSampler:
    """Reads the sockets of network namespaces again and again, as root, and keeps their round
    trips. Raises OSError.
    """

    def __init__(self) -> None: ...
    def look(self, namespace: int) -> int:
        """Takes a sample of each subflow in this network namespace, which has that number, if a
        packet of it was delivered since the last look. Returns how many subflows there are. Raises
        OSError."""

    def sampled(self) -> list[dict[str, Any]]:
        """For each subflow `namespace`, `socket` as `kernel_subflows` has it and as it was last,
        and arrays: `sent_s`, when packets were sent in seconds since boot, `delay_s`, their round
        trips, `rtt_s`, the smoothed ones, and `lost_s`, when congestion events were found."""

def kernel_source_files() -> list[tuple[str, str]]:
    """Inputs of the C compiler for a law: name and content of each file."""

def kernel_programs() -> list[tuple[str, str]]:
    """Laws that the kernel can run, and their names there."""

def kernel_sources() -> str:
    """Digest of the sources that the controllers were compiled from."""

def kernel_loaded() -> dict[str, int]:
    """Laws whose controllers any process has loaded under their own names, each with the number of
    its BPF link. The list comes from the kernel, which requires CAP_SYS_ADMIN; without it, from the
    pins in /sys/fs/bpf/anabranch. Raises OSError, also if others than root can write the directory
    of a pin.
    """

def kernel_counters(name: str) -> dict[str, int]:
    """Counters of a loaded controller. Raises FileNotFoundError if it is not loaded, and OSError,
    also without CAP_SYS_ADMIN.
    """

def kernel_assign(
    kernel_name: str, *, cgroup: PathLike[str] | None = ..., service: str | None = ...
) -> Path:
    """Has TCP sockets and subflows of a control group's processes get a loaded controller when they
    connect or are accepted; the group is that of a directory, or of a unit of systemd. Returns its
    directory. Raises ValueError unless one of both is given, and OSError with a text for the
    operator.
    """

def kernel_unassign(
    kernel_name: str, *, cgroup: PathLike[str] | None = ..., service: str | None = ...
) -> Path:
    """Ends an assignment; open connections keep their controller. Raises as `kernel_assign`."""

def kernel_assigned() -> list[tuple[str, str]]:
    """Controllers by their name in the kernel, each with a directory of a control group that it is
    assigned to. Raises OSError where a directory of a pin is not root's alone.
    """

def kernel_unload(name: str) -> None:
    """Takes a pinned controller out. Raises FileNotFoundError if it is not pinned, and OSError where a directory
    of its pin is not root's alone.
    """

def kernel_subflows() -> list[dict[str, Any]]:
    """Every TCP socket in this network namespace that is under one of our controllers, in any
    state; published values are zero until the controller has `begun`."""

"""What runs in a guest, on a kernel: the checks, each a line of JSON on standard output.

Everything is in one process, for Python takes seconds to start there. Commands of anabranch are run
by a child that was forked with the modules already imported.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import random
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from churn import SUBFLOW, Stage
from left import KernelLog, Scene, eventually, warn_again
from pairs import Pair, feed

from anabranch import _core, cli
from anabranch.cli import application  # noqa: F401 - so that no command has to import it
from anabranch.linux.controllers import LEAST_KERNEL, attached, available, names, new_enough
from anabranch.linux.idle import SETTING, restarts
from anabranch.linux.namespace import write_setting
from anabranch.linux.tcp_info import IPPROTO_MPTCP

PINS = Path("/sys/fs/bpf")
SECURITY = Path("/sys/kernel/security")
MPTCP = IPPROTO_MPTCP, IPPROTO_MPTCP

STAGE_MODULES = "veth", "bridge", "sch_tbf", "sch_netem"
RATE_BPS = 2e6
"""Of each path: an emulated processor sends so much without being late."""
DELAY_US = 10_000
QUEUE_BYTES = 18_000
"""Of each path: small beside the receive buffer, so that windows end with a loss."""
JOINS_AFTER_S = 0.3
"""A path joins once the peer has acknowledged data."""
LOOK_S = 0.25
"""A look at the sockets itself takes seconds there."""
LOOKS = 3
"""With two subflows that have left slow start."""
MOST_TRANSFER_S = 30.0
FEW = 0.02
"""Callbacks that may be missed, as a part of the ACKs."""
RECORDED_S = 5.0
REPLAYED = "lia", "coupled-cubic"
"""A law in text, and one in C with notes of its own that follow time."""


OWN = Path("/controllers")
"""The controllers as modules of this kernel."""
DEBUGGING = Path("/sys/kernel/debug")
STEP = struct.Struct("=6I4q2I64I")
"""`struct ab_step` of a law without notes."""
REFUSALS: set[str] = set()
"""Lines of the kernel's log that a check has caused on purpose."""


class Absent(Exception):
    """The kernel's packages lack something that a check needs; the text says what."""


def main() -> None:
    """Tells what each check found; a check that fails does not end the others."""
    tell(check="boot", state="passed", detail=platform.release(), seconds=uptime_s())
    scene = Scene()
    warn_again()
    checks = SUPPORTED if new_enough(platform.release()) else REFUSED
    for name, check in checks.items():
        begun = time.monotonic()
        try:
            state, detail = "passed", check()
        except Absent as absent:
            state, detail = "absent", str(absent)
        except Exception as error:
            traceback.print_exc()
            state, detail = "failed", f"{type(error).__name__}: {error}"
        tell(check=name, state=state, detail=detail, seconds=time.monotonic() - begun)
    begun, wrong = time.monotonic(), left(scene)
    state, seconds = "failed" if wrong else "passed", time.monotonic() - begun
    tell(check="nothing left", state=state, detail="; ".join(wrong), seconds=seconds)
    tell(end=True)


def tell(**told: Any) -> None:
    """A line for the host."""
    print(json.dumps(told), flush=True)


def uptime_s() -> float:
    """Since the kernel began to run."""
    return float(Path("/proc/uptime").read_text().split()[0])


class Command:
    """A command of anabranch in a child of this process."""

    def __init__(self, *arguments: str) -> None:
        """It has begun."""
        self._output: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed with this object
        sys.stdout.flush()
        self._number = os.fork()
        if self._number == 0:
            try:
                os.dup2(self._output.fileno(), 1)
                os.dup2(self._output.fileno(), 2)
                sys.argv = ["anabranch", *arguments]
                cli.main()
            except SystemExit as ended:
                os._exit(ended.code if isinstance(ended.code, int) else int(ended.code is not None))
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(70)

    def runs(self) -> bool:
        """Whether it has not ended."""
        return os.waitid(os.P_PID, self._number, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None

    def kill(self) -> None:
        """Ends it at once."""
        os.kill(self._number, signal.SIGKILL)
        os.waitpid(self._number, 0)

    def wait(self) -> tuple[int, str]:
        """Its exit status and what it printed."""
        _, ended = os.waitpid(self._number, 0)
        self._output.seek(0)
        return os.waitstatus_to_exitcode(ended), self._output.read().decode()


def linux(*arguments: str, expected: int = 0) -> str:
    """What a command of `anabranch linux` prints; its exit status is as expected."""
    ended, said = Command("linux", *arguments).wait()
    assert ended == expected, f"linux {' '.join(arguments)}: exit status {ended}, said {said!r}"
    return said


def linux_for_each(command: str, laws: Iterable[str], *, expected: int = 0) -> list[str]:
    """What a command prints for each law, all at the same time; their exit status is as expected."""
    begun = {law: Command("linux", command, law) for law in laws}
    ended = {law: each.wait() for law, each in begun.items()}
    for law, (number, said) in ended.items():
        assert number == expected, f"linux {command} {law}: exit status {number}, said {said!r}"
    return [said for _, said in ended.values()]


def checked() -> str:
    """`linux check` finds all that controllers need."""
    _, said = Command("linux", "check", "--json", "-").wait()
    found = json.loads(said)
    lacking = [row for row in found["facts"] if row["state"] != "yes" and row["needed_for"]]
    wrong = [row for row in lacking if "load" in row["needed_for"]]
    assert found["load"] == "yes", "; ".join(map(shown, wrong))
    if lacking:
        raise Absent(f"for `linux run` alone: {'; '.join(map(shown, lacking))}")
    return f"all of {len(found['facts'])} rows yes"


def shown(row: dict[str, str]) -> str:
    """A row of `linux check`."""
    return f"{row['name']}: {row['state']}, {row['detail']}"


def loaded() -> str:
    """All controllers load, and both the kernel and `status` list them."""
    linux_for_each("load", names())
    assert set(names().values()) <= set(available()), available()
    listed = {row["law"] for row in json.loads(linux("status", "--json", "-"))["controllers"]}
    assert listed == set(names()), listed
    return f"{len(listed)} controllers"


def idled() -> str:
    """In idle time a window does under each controller what it does under the kernel's Reno."""
    told = []
    for setting in ("1", "0"):
        write_setting(SETTING, setting)
        rows = restarts(["reno", *names().values()])
        wrong = [row for row in rows if not row.grown or row.decayed != (setting == "1")]
        assert not wrong, f"with {SETTING} = {setting}: {wrong}"
        told.append(f"{rows[0].before_segments} → {rows[0].after_segments} under reno")
        told.append(
            f"{rows[1].before_segments} → {rows[1].after_segments} under {rows[1].controller}"
        )
    write_setting(SETTING, "1")
    return f"{', '.join(told[:2])}; without decay {', '.join(told[2:])}"


class Paths(Stage):
    """A stage with a delay at the sender's devices. netem no longer counts a packet as one of its
    socket. Otherwise a slow link would never have more than two of each socket in its queue (TCP
    Small Queues), and a window would have no effect.
    """

    def _connect(self, route: Any, path: int, here: int, there: int) -> None:
        super()._connect(route, path, here, there)
        if here == 1:
            (index,) = route.link_lookup(ifname=f"path{path}")
            route.tc("add", "netem", index, 0x10000, delay=DELAY_US)


@contextmanager
def stage() -> Iterator[Stage]:
    """Two hosts and two paths. Raises Absent without the devices for them."""
    try:
        made = Paths(RATE_BPS, QUEUE_BYTES, paths=2)
    except Exception as error:
        if missing := [name for name in STAGE_MODULES if not has_module(name)]:
            raise Absent(f"these packages have no module {', '.join(missing)}") from error
        raise
    try:
        yield made
    finally:
        made.close()


def has_module(name: str) -> bool:
    """Whether a module was loaded, as far as it is not built in."""
    return Path("/sys/module", name).exists()


class Watch:
    """The subflows of connections, as `linux status --watch` shows them beside a transfer."""

    def __init__(self, name: str) -> None:
        """Of those under the controller that the kernel calls `name`."""
        self.looks: list[list[dict[str, Any]]] = []
        """The subflows of an MPTCP connection, at each look that saw two."""
        self.last = ""
        """The file as it was at the last look."""
        self._name, self._file, self._seen = name, Path(f"/tmp/status-{name}"), 0
        wait = ("--watch", str(LOOK_S), "--json", str(self._file))
        self._command = Command("linux", "status", *wait)

    def look(self) -> None:
        """Reads the file if it is a new one."""
        with suppress(FileNotFoundError):
            if (stamp := self._file.stat().st_mtime_ns) == self._seen:
                return
            self._seen = stamp
            self.last = self._file.read_text()
            for row in json.loads(self.last)["connections"]:
                rows = row["subflows"]
                right = row["controller"] == self._name and row["protocol"] == "MPTCP"
                if right and len(rows) == 2:
                    self.looks.append(rows)

    def growing(self) -> list[list[dict[str, Any]]]:
        """The looks at which both subflows grew by the law. The growth is 0 in slow start, and
        None without a sibling.
        """
        return [rows for rows in self.looks if all((each["growth"] or 0) > 0 for each in rows)]

    def close(self) -> None:
        """Ends the command."""
        self._command.kill()
        self._file.unlink(missing_ok=True)


def sent(stage: Stage, name: str, enough: Callable[[Watch], bool]) -> Watch:
    """Transfers bytes over two paths under a controller until enough was seen, and compares them."""
    block = random.Random(1).randbytes(1 << 16)
    pair, digests, at, received = (
        Pair(stage, 9000, name, MPTCP),
        [hashlib.sha256() for _ in "ab"],
        0,
        0,
    )
    watch, begun, joined = Watch(name), time.monotonic(), False
    try:
        while at > received or not enough(watch):
            now = time.monotonic()
            assert now < begun + MOST_TRANSFER_S, f"{received} bytes; {watch.last}"
            if not joined and now > begun + JOINS_AFTER_S:
                stage.set_endpoint(1, SUBFLOW)
                joined = True
            watch.look()
            with suppress(BlockingIOError):
                while not enough(watch):
                    count = pair.sender.send(block[at % len(block) :])
                    digests[0].update(block[at % len(block) :][:count])
                    at += count
            with suppress(BlockingIOError):
                while part := pair.receiver.recv(1 << 20):
                    digests[1].update(part)
                    received += len(part)
            time.sleep(0.005)
    finally:
        watch.close()
        pair.close()
    assert digests[0].digest() == digests[1].digest(), "other bytes came than were sent"
    return watch


def coupled() -> str:
    """A transfer over two paths under OLIA arrives whole, and its windows grow slower than Reno's."""
    with stage() as there:
        seen = sent(there, names()["olia"], lambda watch: len(watch.growing()) >= LOOKS).growing()
    growth = [each["of_reno"] for rows in seen for each in rows]
    delivered = [each["delivered"] for each in seen[-1]]
    assert min(delivered) > 0.1 * sum(delivered), f"segments by subflow: {delivered}"
    middle = statistics.median(growth)
    assert middle < 0.9, f"growth relative to Reno's: {growth}"
    counters = _core.kernel_counters("olia")
    assert counters["coupled"] > 0 and counters["missed"] <= FEW * counters["acks"], counters
    assert counters["repairs"] == 0, counters
    told = f"growth {middle:.2f} of Reno's, {counters['missed']} of {counters['acks']} missed"
    return f"sha256 same, segments {delivered[0]} + {delivered[1]}, {told}"


def decided() -> str:
    """`linux couple` runs beside a transfer under LIA with sbd, tells subflows their groups, and
    ends when the controller is unloaded.
    """

    def told(watch: Watch) -> list[list[int]]:
        groups = [[each["group"] for each in rows] for rows in watch.looks]
        return [each for each in groups if all(each)]

    linux("unload", "lia")
    linux("load", "lia+sbd")
    deciding = Command("linux", "couple", "lia+sbd")
    try:
        with stage() as there:
            seen = sent(there, names()["lia"], lambda watch: bool(told(watch)))
        assert deciding.runs(), deciding.wait()
    finally:
        linux("unload", "lia+sbd")
        ended, said = deciding.wait()
    assert ended == 0 and "was unloaded" in said, said
    return f"sha256 same, groups {told(seen)[-1]}"


def replayed() -> str:
    """The steps of LIA and of Coupled CUBIC at each ACK come out the same in every form."""
    return "; ".join(f"{law}: {steps_of(law)} steps, all the same" for law in REPLAYED)


def steps_of(law: str) -> int:
    """The number of steps of a law, all of which come out the same in every form."""
    with attached([law], record=True) as there, stage() as made:
        pair = Pair(made, 9000, there.kernel_name(law), MPTCP)
        try:
            feed([pair], JOINS_AFTER_S)
            made.set_endpoint(1, SUBFLOW)
            feed([pair], RECORDED_S)
            steps = there.steps()[law]
            wrong = {kind: count for kind, count in there.judge(law, steps).items() if count}
        finally:
            pair.close()
    assert len(steps) > 100, f"{law}: {len(steps)} steps"
    assert not wrong, f"of {len(steps)} steps of {law}: {wrong}"
    return len(steps)


def locked() -> str:
    """Lockdown for integrity does no harm. Under confidentiality `check` and `load` name it, and
    nothing is loaded. Only a restart lowers the level.
    """
    subprocess.run(["mount", "-t", "securityfs", "securityfs", SECURITY], check=True)
    file = SECURITY / "lockdown"
    if not file.exists():
        raise Absent("this kernel has no lockdown")
    file.write_text("integrity")
    linux("load", "lia")
    linux("unload", "lia")
    file.write_text("confidentiality")
    rows = json.loads(linux("check", "--json", "-", expected=1))["facts"]
    found = {row["name"]: row for row in rows}
    assert found["lockdown"]["state"] == "no", found["lockdown"]
    assert "confidentiality" in found["lockdown"]["detail"], found["lockdown"]
    assert found["fields"]["state"] == "no", found["fields"]
    said = linux("load", "lia", expected=2)
    assert "the kernel is locked down (confidentiality)" in " ".join(said.split()), said
    assert not _core.kernel_loaded()
    return "loads under integrity, not under confidentiality"


def unloaded() -> str:
    """All controllers that are loaded can be unloaded, and are gone from the kernel's list."""
    there = list(_core.kernel_loaded())
    linux_for_each("unload", there)
    assert not [name for name in available() if name.startswith("ab_")], available()
    assert not json.loads(linux("status", "--json", "-"))["controllers"]
    return f"{len(there)} controllers"


def modular() -> str:
    """The controllers as modules of the kernel do what they do as BPF, and take the same steps."""
    if (why := OWN / "absent").exists():
        raise Absent(why.read_text())
    if (why := OWN / "failed").exists():
        raise AssertionError(why.read_text())
    linux("load", "lia")
    try:
        told = [declined("ab_lia", "the kernel has a controller ab_lia already")]
    finally:
        linux("unload", "lia")
    assert eventually(lambda: "ab_lia" not in available()), available()
    with debugfs(), inserted([f"ab_{law.replace('-', '_')}" for law in names()]):
        assert set(names().values()) <= set(available()), available()
        said = linux("load", "lia", expected=2)
        assert "the kernel has a controller ab_lia already" in said, said
        rows = restarts(["reno", *names().values()])
        assert all(row.grown and row.decayed for row in rows), rows
        told += [measured(), moved(), stepped()]
    assert not [name for name in available() if name.startswith("ab_")], available()
    return ", ".join([*told, *unwanted()])


def measured() -> str:
    """The offsets that a module measures are those of BTF."""
    rows = (DEBUGGING / "ab_olia/layout").read_text().splitlines()
    found = dict(row.split(" ", 1) for row in rows)
    expected = json.loads((OWN / "layout.json").read_text())
    assert found == expected, f"{found}; in BTF {expected}"
    return f"layout as in BTF ({', '.join(f'{name} {at}' for name, at in found.items())})"


def moved() -> str:
    """A transfer over two paths under OLIA arrives whole, and its windows grow slower than Reno's."""
    with stage() as there:
        seen = sent(there, "ab_olia", lambda watch: len(watch.growing()) >= LOOKS).growing()
    growth = statistics.median([each["of_reno"] for rows in seen for each in rows])
    rows = (DEBUGGING / "ab_olia/counters").read_text().splitlines()
    counters = {name: int(count) for name, count in map(str.split, rows)}
    wrong = [counters[name] for name in ("missed", "mismatches", "repairs", "crowded")]
    assert growth < 0.9 and counters["coupled"] > 0 and not any(wrong), (growth, counters)
    return f"sha256 same, growth {growth:.2f} of Reno's, {counters['acks']} ACKs, none missed"


def stepped() -> str:
    """The steps of LIA in a module come out the same in every other form of the law."""
    with attached(["lia"], record=True) as there, stage() as made:
        pair = Pair(made, 9000, "ab_lia", MPTCP)
        try:
            feed([pair], JOINS_AFTER_S)
            made.set_endpoint(1, SUBFLOW)
            feed([pair], RECORDED_S)
        finally:
            pair.close()
        content = (DEBUGGING / "ab_lia/steps").read_bytes()
        steps = [line_of(each) for each in STEP.iter_unpack(content)]
        wrong = {kind: count for kind, count in there.judge("lia", steps).items() if count}
    assert len(steps) > 100, f"{len(steps)} steps"
    assert not wrong, f"of {len(steps)} steps: {wrong}"
    return f"{len(steps)} steps, all the same"


def line_of(step: tuple[int, ...]) -> str:
    """A step in the form in which `steps` of a controller gives it."""
    acked, before, after, srtt, socket, breaks, credit, left_over, growth, _, paths, me, *views = (
        step
    )
    while views and not any(views[-4:]):
        del views[-4:]
    rest = (acked, before, after, credit, left_over, growth, srtt, socket, breaks)
    return " ".join(map(str, (paths, me, len(views) // 4, *views, *rest)))


def unwanted() -> list[str]:
    """A module is refused where it does not find the layout, and without MPTCP."""
    release = platform.release()
    unknown = f"the layout of MPTCP in Linux {release} is unknown, without the socket of a subflow"
    told = [declined("unknown/ab_lia", unknown)]
    write_setting("net.mptcp.enabled", "0")
    try:
        told.append(declined("ab_lia", "is net.mptcp.enabled 1?"))
    finally:
        write_setting("net.mptcp.enabled", "1")
    assert "ab_lia" not in available(), available()
    return told


def declined(module: str, reason: str) -> str:
    """The line of the kernel's log that has the reason for which it does not take a module."""
    log = KernelLog()
    said = insert(module)
    lines = [text for _, text in log.new() if reason in text]
    # busybox tries the other system call as well: there may be two
    assert said and lines, said
    REFUSALS.update(lines)
    return f"refused: {lines[0]}"


@contextmanager
def debugfs() -> Iterator[None]:
    """The kernel's files for debugging, as long as the block lasts."""
    subprocess.run(["mount", "-t", "debugfs", "none", DEBUGGING], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", DEBUGGING], check=True)


@contextmanager
def inserted(modules: list[str]) -> Iterator[None]:
    """Modules in the kernel as long as the block lasts, with their steps recorded."""
    there: list[str] = []
    try:
        for module in modules:
            said = insert(module, "record=1")
            assert not said, said
            there.append(module)
        yield
    finally:
        # Sockets that are closing hold them for a moment.
        kept = [module for module in there if not eventually(lambda name=module: removed(name))]
    assert not kept, f"cannot be removed: {kept}"
    assert not list(DEBUGGING.glob("ab_*")), list(DEBUGGING.glob("ab_*"))


def insert(module: str, *parameters: str) -> str:
    """What the kernel says against a module; nothing if it took it."""
    command = ["insmod", OWN / f"{module}.ko", *parameters]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stderr.strip() if done.returncode else ""


def removed(module: str) -> bool:
    """Whether the kernel has let a module go."""
    return subprocess.run(["rmmod", module], capture_output=True).returncode == 0


def refused() -> str:
    """A kernel that is too old is named by `check`, and `load` says that it cannot run them."""
    least = ".".join(map(str, LEAST_KERNEL))
    found = {
        fact["name"]: fact
        for fact in json.loads(linux("check", "--json", "-", expected=1))["facts"]
    }
    kernel = found["kernel"]
    assert kernel["state"] == "no" and f"Linux {least} or later" in kernel["remedy"], kernel
    assert found["fields"]["state"] == "no", found["fields"]
    answers = linux_for_each("load", [*names(), "lia+sbd"], expected=2)
    for said in answers:
        assert "this kernel cannot run the controller" in said, said
        assert f"it is Linux {platform.release()}, and controllers need {least} or" in said, said
        assert "`anabranch linux check` shows what is missing" in said, said
    assert not _core.kernel_loaded()
    return f"load: {' '.join(answers[0].split())}"


def left(scene: Scene) -> list[str]:
    """What is not as it was before the checks."""
    own = {f"the kernel says: {line}" for line in REFUSALS}
    found = [each for each in scene.wrong() if each not in own]
    if pins := [str(path) for path in PINS.rglob("*") if not path.is_dir()]:
        found.append(f"pins are left: {pins}")
    return found


REFUSED = {"refused": refused}
SUPPORTED: dict[str, Callable[[], str]] = {
    "check": checked,
    "load": loaded,
    "idle": idled,
    "transfer": coupled,
    "couple": decided,
    "replay": replayed,
    "unload": unloaded,
    "module": modular,
    "lockdown": locked,
}

if __name__ == "__main__":
    main()

"""Engines of sweeps: clusters of Dask, what ends them, and what they refuse."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, wait
from contextlib import contextmanager
from pathlib import Path
from socket import socket

import pytest

from anabranch.sweeps import Store
from anabranch.sweeps import engines as engines_
from anabranch.sweeps.clusters import cluster
from anabranch.sweeps.engines import engine
from anabranch.sweeps.rows import version
from anabranch.sweeps.work import OtherVersion

pytest.importorskip("pyarrow")
pytest.importorskip("distributed")

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = [sys.executable, "-c", "from anabranch.cli import main; main()", "sweep"]
DASK = "distributed.cli"
QUICK = [
    *("khalili/scenario-c", "--set", "duration=2 s", "--set", "warmup=0 s"),
    *("--set", "flow.multipath.count=1", "--set", "flow.single-path.count=1"),
    *("--set", "flow.multipath.spread=0 s", "--set", "flow.single-path.spread=0 s"),
]
WAIT_S = 50.0
"""For what takes a second or two, unless something is wrong."""


def anabranch(*words: str | Path, at: Path, **given: str) -> subprocess.CompletedProcess[str]:
    command = [*PROGRAM, *map(str, words)]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd=at,
        env=os.environ | given,
        timeout=WAIT_S,
    )


def until(holds: Callable[[], object]) -> None:
    end = time.monotonic() + WAIT_S
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def rows(folder: Path) -> str:
    return str(Store(folder).read("classes").to_pylist())  # equal where a number is not one


def sleeping(task: tuple[float, str]) -> int:
    """A task that says that it has begun, and takes some seconds."""
    took_s, file = task
    Path(file).touch()
    time.sleep(took_s)
    return os.getpid()


def described(folder: Path, text: str) -> str:
    (folder / "cluster.yaml").write_text(text)
    return str(folder / "cluster.yaml")


LOCAL = "options: {n_workers: 1, threads_per_worker: 1, dashboard_address: null}\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", r"cluster\.yaml: write fields, such as cluster:"),
        ("cluster: [", r"cluster\.yaml is no YAML"),
        ("cluster: !!python/object/apply:os.getcwd []", r"cluster\.yaml is no YAML: could not"),
        ("scale: 3", r"cluster\.yaml: the field cluster is None; name a class"),
        ("clustre: a.B", r"did you mean `cluster`\? In .*cluster\.yaml the fields are"),
        ("cluster: LocalCluster", "write it with its module"),
        ("cluster: distributed.LocalClust", "distributed has no class or function LocalClust"),
        ("cluster: nowhere.Cluster", "nowhere cannot be imported .* pip install nowhere"),
        ("cluster: distributed.LocalCluster\noptions: 3", "the field options is 3"),
        ("cluster: distributed.LocalCluster\nscale: two", "the field scale is 'two'"),
        ("cluster: distributed.LocalCluster\nscale: 0", "the field scale is 0"),
        ("cluster: distributed.LocalCluster\nadapt: 3", "the field adapt is 3"),
        (
            "cluster: distributed.LocalCluster\nadapt: {minimum: 3, maximum: 2}",
            "give numbers of workers, as in adapt",
        ),
        (
            "cluster: distributed.LocalCluster\nscale: 1\nadapt: {minimum: 0, maximum: 2}",
            "has scale and adapt",
        ),
        (
            "cluster: distributed.LocalCluster\noptions: {memory_limit: much}",
            r"cluster\.yaml: distributed\.LocalCluster refuses its options: .*much",
        ),
    ],
)
def test_what_is_wrong_with_a_file_of_a_cluster_is_said(
    tmp_path: Path, text: str, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        cluster(described(tmp_path, text))


def test_a_file_of_a_cluster_that_is_not_there_is_named() -> None:
    with pytest.raises(ValueError, match=r"there is no file nowhere\.yaml"):
        cluster("nowhere.yaml")


def test_a_file_names_a_cluster_and_the_number_of_its_workers(tmp_path: Path) -> None:
    text = f"cluster: distributed.LocalCluster\n{LOCAL}"
    for more, workers, many in [("", 0, 1), ("scale: 2\n", 0, 2), ("scale: 2\n", 1, 1)]:
        with engine(described(tmp_path, text + more), workers) as found:
            found.client.wait_for_workers(many, timeout=WAIT_S)
            assert (len(found.client.nthreads()), found.workers) == (many, many)
            assert found.submit(len, "four").result(WAIT_S) == 4


def test_a_function_of_a_file_returns_a_cluster(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "from distributed import LocalCluster\n"
        "def mine():\n    return LocalCluster(1, threads_per_worker=1, dashboard_address=None)\n"
    )
    with engine(f"{file}:mine") as found:
        assert found.submit(len, "four").result(WAIT_S) == 4
    for on, said in [("mine", "write threads, dask"), (f"{file}:other", "has no function other")]:
        with pytest.raises(ValueError, match=said), engine(on):
            pass


def test_logs_of_dask_come_back_after_a_sweep() -> None:
    before = logging.getLogger("distributed").level
    with engine("dask", 1):
        assert logging.getLogger("distributed.nanny").getEffectiveLevel() > logging.CRITICAL
    assert logging.getLogger("distributed").level == before


def test_what_a_worker_has_begun_is_not_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines_, "GRACE_S", 2.0)
    with engine("dask", 1) as found:
        first, *others = (
            found.submit(sleeping, (0.5, str(tmp_path / str(number)))) for number in range(4)
        )
        until((tmp_path / "0").exists)
        assert [one.cancel() for one in (first, *others)] == [False, True, True, True]
        assert first.result(WAIT_S) > 0
        ended, _ = wait(others, timeout=WAIT_S)
        assert len(ended) == 3 and all(one.cancelled() for one in others)
        late = found.submit(sleeping, (60.0, str(tmp_path / "late")))
        until((tmp_path / "late").exists)
        assert not late.cancel()
        with pytest.raises(CancelledError):  # after its grace
            late.result(WAIT_S)


GREEDY = """
import anabranch as ab

class Greedy(ab.Controller):
    def __init__(self, paths, random):
        super().__init__(paths, random)
        self.greedy, self.kept = random.random() < 0.1, []

    def on_ack(self, path):
        while self.greedy and path.now > 1:
            self.kept.append(bytearray(10_000_000))
        path.window += 1 / path.window
"""


def test_a_run_that_takes_all_memory_fails_and_others_go_on(tmp_path: Path) -> None:
    (tmp_path / "greedy.py").write_text(GREEDY)
    text = LOCAL.replace("n_workers: 1", "n_workers: 2, memory_limit: 400MB")
    described(tmp_path, f"cluster: distributed.LocalCluster\n{text}")
    words = ["--controllers", "greedy.py:Greedy", "--seeds", "5", "--on", "cluster.yaml"]
    done = anabranch(*QUICK, *words, "--store", "s", at=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "its worker died, again and again: memory may have ended" in done.stdout
    assert done.stderr == ""
    failed = {one.seed for one in Store(tmp_path / "s").failures()}
    made = set(Store(tmp_path / "s").read().to_pydict()["seed"])
    assert failed and made and failed | made == {1, 2, 3, 4, 5}


def test_workers_do_not_grow_over_many_tasks() -> None:
    with engine("dask", 1) as found:

        def resident() -> int:
            (pages,) = found.client.run(lambda: Path("/proc/self/statm").read_text()).values()
            return int(pages.split()[1]) * os.sysconf("SC_PAGE_SIZE")

        sizes = []
        for _ in range(4):
            tasks = [found.submit(bytes, 100_000) for _ in range(300)]
            wait(tasks, timeout=WAIT_S)
            sizes.append(resident())
        assert sizes[-1] < sizes[0] + 50e6  # results are 90 MB


@contextmanager
def processes() -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Starts programs, and ends them."""
    there: list[subprocess.Popen[bytes]] = []

    def start(*words: str) -> subprocess.Popen[bytes]:
        quiet = subprocess.DEVNULL
        there.append(subprocess.Popen([sys.executable, *words], stdout=quiet, stderr=quiet))
        return there[-1]

    try:
        yield start
    finally:
        for one in there:
            one.kill()
            one.wait()


OTHER = """
import anabranch.sweeps.rows
anabranch.sweeps.rows.version = lambda: "0.0.9+feed"
"""

WITHOUT = """
import sys
sys.modules["anabranch"] = None
from distributed.cli import dask_worker
dask_worker.main()
"""


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (f"{OTHER}from distributed.cli import dask_worker\ndask_worker.main()", "0.0.9.feed"),
        (WITHOUT, "cannot import anabranch"),
    ],
)
def test_a_worker_of_another_version_is_refused_by_its_address_before_any_task(
    tmp_path: Path, code: str, said: str
) -> None:
    (tmp_path / "worker.py").write_text(code)
    distributed = pytest.importorskip("distributed")
    with (
        processes() as start,
        distributed.LocalCluster(n_workers=0, dashboard_address=None) as there,
        distributed.Client(there) as client,
    ):
        address = there.scheduler_address
        start(str(tmp_path / "worker.py"), address, "--no-nanny", "--no-dashboard")
        client.wait_for_workers(1, timeout=WAIT_S)
        (name,) = client.nthreads()
        with (
            pytest.raises(
                OtherVersion, match=rf"the worker at {name} .*{said}.*sweep is of (?s:.*)install"
            ) as refused,
            engine(address),
        ):
            pass
        assert version() in str(refused.value)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize("while_it", ["works", "gives its result"])
def test_a_task_is_cancelled_when_its_scheduler_ends(while_it: str, how: signal.Signals) -> None:
    class Last:
        def __init__(self, scheduler: int) -> None:
            self.scheduler = scheduler

        def __reduce__(self) -> tuple[type, tuple[()]]:
            os.kill(self.scheduler, how)
            time.sleep(1)
            return int, ()

    def task(scheduler: int) -> object:
        if while_it == "works":
            os.kill(scheduler, how)
            time.sleep(1)
        return Last(scheduler)

    with processes() as start, socket() as taken:
        taken.bind(("127.0.0.1", 0))
        host, port = taken.getsockname()
        taken.close()
        scheduler = start("-m", f"{DASK}.dask_scheduler", f"--host={host}:{port}", "--no-dashboard")
        start("-m", f"{DASK}.dask_worker", f"tcp://{host}:{port}", "--no-nanny")
        with engine(f"tcp://{host}:{port}") as found:
            handed = found.submit(task, scheduler.pid)
            with pytest.raises(CancelledError):
                handed.result(WAIT_S)


def test_an_interrupt_of_the_terminal_ends_a_sweep_on_dask_in_order(tmp_path: Path) -> None:
    words = [*QUICK[1:], "--seeds", "50000", "--on", "dask", "--workers", "2", "--store", "s"]
    driver = subprocess.Popen(
        [*PROGRAM, QUICK[0], *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        start_new_session=True,
    )
    # From the third part on tasks take about a second, so some are at work.
    until(lambda: len(list(tmp_path.glob("s/parts/*/runs.parquet"))) > 4)
    before = Store(tmp_path / "s").read().num_rows
    os.killpg(driver.pid, signal.SIGINT)  # workers too, as a terminal does
    out, err = driver.communicate(timeout=WAIT_S)
    assert (driver.returncode, err) == (130, "")
    assert "the same command continues" in out
    assert Store(tmp_path / "s").read().num_rows > before  # what was at work is kept


SBATCH = """#!/bin/sh
test -z "$SLURM_FAULT" || { echo "sbatch: error: $SLURM_FAULT" >&2; exit 1; }
cp "$1" "$SLURM_FOLDER/$$.sh"
setsid sh "$SLURM_FOLDER/$$.sh" > "$SLURM_FOLDER/$$.out" 2>&1 &
echo $! >> "$SLURM_FOLDER/jobs"
echo "Submitted batch job $!"
"""
"""What runs a job at once, in the background."""

SCANCEL = """#!/bin/sh
echo "$1" >> "$SLURM_FOLDER/cancelled"
kill -- "-$1"
"""


@pytest.fixture
def slurm(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The environment in which there are commands of Slurm."""
    pytest.importorskip("dask_jobqueue")
    folder = tmp_path / "slurm"
    folder.mkdir()
    for name, text in [("sbatch", SBATCH), ("scancel", SCANCEL)]:
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    yield {
        "PATH": f"{folder}:{os.environ['PATH']}",
        "SLURM_FOLDER": str(folder),
        "DASK_CONFIG": str(folder),
    }
    for job in (folder / "jobs").read_text().split() if (folder / "jobs").exists() else []:
        try:
            os.killpg(int(job), signal.SIGKILL)
        except ProcessLookupError:
            continue


SLURM = """
cluster: dask_jobqueue.SLURMCluster
options:
  cores: 1
  memory: 1 GB
  walltime: "00:10:00"
  queue: normal
scale: 2
"""


def test_rows_are_the_same_on_slurm_as_on_threads(tmp_path: Path, slurm: dict[str, str]) -> None:
    described(tmp_path, SLURM)
    words = [*QUICK, "--seeds", "40", "--controllers", "lia,olia"]
    done = anabranch("run", *words, "--on", "cluster.yaml", "--store", "a", at=tmp_path, **slurm)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert "80 runs made" in done.stdout
    assert anabranch(*words, "--store", "b", at=tmp_path).returncode == 0
    assert rows(tmp_path / "a") == rows(tmp_path / "b")
    jobs, cancelled = (
        set((tmp_path / "slurm" / name).read_text().split()) for name in ("jobs", "cancelled")
    )
    assert len(jobs) == 2 and cancelled == jobs
    (script, _) = (tmp_path / "slurm").glob("*.sh")
    assert "#SBATCH -t 00:10:00" in script.read_text()


def test_a_job_that_slurm_refuses_ends_the_sweep_with_its_words(
    tmp_path: Path, slurm: dict[str, str]
) -> None:
    described(tmp_path, SLURM)
    fault = {"SLURM_FAULT": "invalid partition"}
    words = [*QUICK, "--on", "cluster.yaml", "--store", "a"]
    done = anabranch(*words, at=tmp_path, **slurm, **fault)
    assert done.returncode == 2 and "sbatch: error: invalid partition" in done.stderr
    assert "Traceback" not in done.stderr
    (tmp_path / "slurm" / "sbatch").unlink()
    done = anabranch(*words, at=tmp_path, **slurm)
    assert done.returncode == 2 and "jobs are submitted by sbatch, which is not" in done.stderr


def test_a_cluster_without_workers_is_refused(tmp_path: Path, slurm: dict[str, str]) -> None:
    described(tmp_path, SLURM.replace("scale: 2", ""))
    done = anabranch(*QUICK, "--on", "cluster.yaml", "--store", "a", at=tmp_path, **slurm)
    assert done.returncode == 2 and "say how many, as in scale: 100" in done.stderr


def test_kills_of_driver_scheduler_and_workers_lose_and_double_nothing(tmp_path: Path) -> None:
    program = [sys.executable, str(ROOT / "benches" / "sweep_kills.py")]
    words = ["--kills", "3", "--seed", "1", "--folder", str(tmp_path), "--chunk", "60"]
    done = subprocess.run(
        [*program, *words], capture_output=True, text=True, check=False, timeout=100
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "each run is there once" in done.stdout

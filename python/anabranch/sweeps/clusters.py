"""Clusters of Dask: what `--on` names, and how they are started."""

from __future__ import annotations

import importlib
import logging
import os
import shutil
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

from ..offers import lookup
from .functions import IN_FILE, function
from .libraries import EXTRAS, MissingLibrary, library

FIELDS = ("cluster", "options", "scale", "adapt")
"""What a file of a cluster may have."""

LIMITS = ("minimum", "maximum")
"""What its field `adapt` has."""

SETTINGS = {
    # A task that took four workers with it is the cause. Three deaths may be chance where jobs are
    # preempted.
    "distributed.scheduler.allowed-failures": 3,
    # Workers keep no data, so nothing can be written to disk to free memory, and one that paused
    # would wait for ever. One that needs too much is ended, and its nanny starts another one.
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": 0.95,
    "distributed.worker.profile.enabled": False,  # grows, and nobody looks at it
    # Workers on this machine write to the terminal of the driver.
    "distributed.nanny.pre-spawn-environ.DASK_LOGGING__DISTRIBUTED": "critical",
}
"""Settings of Dask for clusters that are started here."""

SOURCES = ("distributed", "distributed.client", "tornado", "tornado.application", "dask_jobqueue")
"""What writes logs in the process of the driver."""


def cluster(on: str, workers: int = 0) -> tuple[Any, int]:
    """What a text names: the address of a scheduler, a cluster or a client; and how many workers
    have been asked for, 0 where others say that.

    The text is `dask`, for processes on this machine; an address, such as `tcp://host:8786`;
    `FILE.yaml`, which names the class of a cluster; or `FILE.py:FUNCTION`, for a function that
    returns a cluster or a client. `workers` says how many processes, and goes before what a file
    says. Raises ValueError, MissingLibrary, and OSError for a file that cannot be read.
    """
    if on != "dask" and "://" not in on and not on.endswith((".yaml", ".yml")):
        make = _function(on)  # told before Dask is looked for
    distributed = library("distributed")
    if "://" in on:
        return on, 0
    with library("dask").config.set(SETTINGS), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Port .* is already in use")  # of a page that is not used
        if on == "dask":
            many = workers or len(os.sched_getaffinity(0))
            return local(distributed, many), many
        if on.endswith((".yaml", ".yml")):
            return described(Path(on), workers)
        try:
            made = make()
        except Exception as error:  # of the user's
            raise ValueError(f"--on {on} fails: {type(error).__name__}: {error}") from error
        if isinstance(made, distributed.Client):
            return made, 0
        return made, _sized(on, made, workers or None, {})


def local(distributed: Any, many: int) -> Any:
    """Processes on this machine. The memory is shared out evenly, with a share for the driver: one
    that takes more than its share is ended and started again.
    """
    return distributed.LocalCluster(
        n_workers=many,
        threads_per_worker=1,
        memory_limit=distributed.system.MEMORY_LIMIT // (many + 1),
        dashboard_address=None,
    )


def described(file: Path, workers: int = 0) -> tuple[Any, int]:
    """The cluster that a file of YAML describes, and how many workers it is to have. `workers` goes
    before the file's own number. Raises ValueError naming file and field, OSError.
    """
    content = _content(file)
    name = content.get("cluster")
    if not isinstance(name, str):
        raise ValueError(
            f"{file}: the field cluster is {name!r}; name a class or a function that gives a "
            "cluster, such as dask_jobqueue.SLURMCluster"
        )
    options = content.get("options", {})
    if not isinstance(options, dict):
        raise ValueError(f"{file}: the field options is {options!r}; give a table of options")
    scale, limits = _size(file, content, workers)
    make = _imported(file, name)
    try:
        made = make(**options)
    except Exception as error:  # of any library
        raise ValueError(f"{file}: {name} refuses its options: {_said(error)}") from None
    return made, _sized(str(file), made, scale, limits)


def _content(file: Path) -> dict[str, Any]:
    """The fields of a file."""
    yaml = library("yaml")
    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(f"--on is {str(file)!r}; there is no file {file}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{file} is not text; a cluster is a YAML file in UTF-8") from None
    except yaml.YAMLError as error:
        raise ValueError(f"{file} is no YAML: {_said(error)}") from None
    if not isinstance(content, dict):
        raise ValueError(f"{file}: write fields, such as cluster: dask_jobqueue.SLURMCluster")
    for field in content:
        if field not in FIELDS:
            lookup("field of a cluster", field, FIELDS, f"in {file} the fields are")
            raise ValueError(f"{file}: the field {field!r} is spelt otherwise: {', '.join(FIELDS)}")
    return content


def _size(
    file: Path, content: Mapping[str, Any], workers: int
) -> tuple[int | None, dict[str, int]]:
    """How many workers there are to be: a number, or limits, or neither."""
    scale, limits = content.get("scale"), content.get("adapt", {})
    if scale is not None and "adapt" in content:
        raise ValueError(f"{file} has scale and adapt; give one of them")
    if scale is not None and not _whole(scale, 1):
        raise ValueError(f"{file}: the field scale is {scale!r}; give a number of workers")
    if "adapt" in content and not (
        isinstance(limits, dict)
        and set(limits) == set(LIMITS)
        and all(map(_whole, limits.values()))
        and limits["maximum"] >= max(limits["minimum"], 1)
    ):
        raise ValueError(
            f"{file}: the field adapt is {limits!r}; give numbers of workers, as in "
            "adapt: {minimum: 0, maximum: 100}"
        )
    return (workers, {}) if workers else (scale, limits)


def _sized(of: str, made: Any, scale: int | None, limits: dict[str, int]) -> int:
    """Has a cluster start its workers, and start others for those that end; how many were asked
    for.
    """
    if scale:
        limits = {"minimum": scale, "maximum": scale}
    try:
        command = getattr(getattr(made, "job_cls", None), "submit_command", None)
        if command and not shutil.which(command.split()[0]):
            raise ValueError(
                f"{of}: jobs are submitted by {command}, which is not on the PATH here; start the "
                "sweep where it is"
            )
        if limits:
            made.scale(max(limits["minimum"], 1))  # there is work
        elif not getattr(made, "worker_spec", True) and not getattr(made, "_adaptive", None):
            raise ValueError(f"{of}: the cluster has no workers; say how many, as in scale: 100")
        _check_started(of, made)
        if limits:
            made.adapt(**limits)  # `scale` alone would not replace a job that has ended
    except BaseException:
        made.close()
        raise
    return limits.get("maximum", 0)


def _check_started(of: str, made: Any) -> None:
    """Raises ValueError where a job could not be submitted: Dask would log it, and wait for ever."""
    distributed = library("distributed")
    if not isinstance(made, distributed.SpecCluster):
        return
    try:
        made.sync(made._correct_state)
        for worker in made.workers.values():
            if worker.status.name == "created":  # it was tried, and failed
                made.sync(worker.start)
    except (OSError, RuntimeError) as error:
        for worker in made.workers.values():
            if worker.status.name == "created":
                worker.status = distributed.Status.failed  # or closing would wait for it
        raise ValueError(f"{of}: a worker cannot be started: {_said(error)}") from None


def _whole(value: Any, least: int = 0) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _imported(file: Path, name: str) -> Callable[..., Any]:
    """A class or a function by its module and name."""
    where, _, last = name.rpartition(".")
    root = where.partition(".")[0]
    if not where:
        raise ValueError(
            f"{file}: the field cluster is {name!r}; write it with its module, such as "
            "dask_jobqueue.SLURMCluster"
        )
    try:
        module = library(where) if root in EXTRAS else importlib.import_module(where)
    except MissingLibrary as error:
        raise MissingLibrary(f"{file}: cluster: {error}", name=root) from None
    except ImportError as error:
        raise ValueError(
            f"{file}: cluster: {where} cannot be imported ({error}); install what brings it, for "
            f"this Python: pip install {root.replace('_', '-')}, if it is called so"
        ) from None
    found = getattr(module, last, None)
    if not callable(found):
        raise ValueError(f"{file}: cluster: {where} has no class or function {last}")
    return found  # type: ignore[no-any-return]


def _function(on: str) -> Callable[[], Any]:
    """The function of a file that returns a cluster. Raises ValueError."""
    if not IN_FILE.match(on):
        raise ValueError(
            f"--on is {on!r}; write threads, dask, the address of a scheduler such as "
            "tcp://host:8786, FILE.yaml that names a cluster, or FILE.py:FUNCTION for a function "
            "that returns one"
        )
    return function(on, "--on")


def _said(error: BaseException) -> str:
    """What an error and those behind it say, in one line."""
    texts = [" ".join(str(error).split()) or type(error).__name__]
    while (error := error.__cause__ or error.__context__) is not None:  # type: ignore[assignment]
        texts.append(" ".join(str(error).split()))
    return ": ".join(dict.fromkeys(text for text in texts if text))


@contextmanager
def without_main() -> Iterator[None]:
    """Processes that are started meanwhile do not import the main module: tasks need nothing of it,
    and a script without a guard would begin its sweep in each of them.
    """
    own = vars(sys.modules["__main__"])
    names = ("__file__", "__spec__")
    before: dict[str, Any] = {name: own[name] for name in names if name in own}
    own.pop("__file__", None)
    own["__spec__"] = None
    try:
        yield
    finally:
        own |= before


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Threads and processes that are started meanwhile, and those that they start later, are not
    told of Ctrl-C: a terminal sends it to workers on this machine too, and they would die of it.
    """
    resource_tracker.ensure_running()  # the thread that starts it is told of Ctrl-C from then on
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def quiet() -> Iterator[None]:
    """Keeps logs of Dask off the terminal: what matters in them comes out of futures as errors."""
    library("distributed")  # sets levels when it is imported
    before = {name: logging.getLogger(name).level for name in SOURCES}
    for name in SOURCES:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)

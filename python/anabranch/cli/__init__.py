"""The command line.

Exit status: 0 done, 1 a check did not hold, 2 the input was wrong, 3 a proof is open, 130
interrupted.
"""

from __future__ import annotations

import gc
import os
import sys

INTERRUPTED = 130
"""Exit status that shells report for an interrupted command."""


def main() -> None:
    """Runs a command; an error that a user can cause gives one clear message, never a traceback."""
    # NumPy's linear algebra starts a thread for each core at once, which takes longer than a short
    # run, and the matrices here are small.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Commands make many objects and hardly any that refer to each other in circles.
    gc.set_threshold(100_000, 10, 10)
    status = _status()
    try:
        from . import streams

        streams.finish()
    except OSError as error:
        if not status:
            print(f"error: standard output: {message(error)}", file=sys.stderr)
        status = status or 2
    sys.exit(status)


def _status() -> int | str | None:
    """Runs a command; its exit status."""
    try:
        from . import streams

        streams.prepare()
        if sys.argv[1:] == ["--version"]:
            print_version()  # before all that only commands need
            return 0
        from .application import app, only  # takes long enough to be interrupted

        with only(sys.argv[1:2]):
            app(prog_name="anabranch")
    except SystemExit as ended:
        return ended.code
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except (ValueError, OSError) as error:  # ScenarioError and TheoryError are ValueErrors
        print(f"error: {message(error)}", file=sys.stderr)
        return 2
    except MemoryError as error:
        print(f"error: out of memory{f': {error}' * bool(str(error))}", file=sys.stderr)
        return 2
    return 0


def print_version() -> None:
    """Prints the name of the program and its version."""
    from .._core import __version__

    print(f"anabranch {__version__}")


def message(error: Exception) -> str:
    """Text of an error; for an operating system's error it names the file."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error)

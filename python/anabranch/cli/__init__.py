"""The command line.

Exit status: 0 done, 1 a check did not hold, 2 the input was wrong, 130 interrupted.
"""

from __future__ import annotations

import sys

INTERRUPTED = 130
"""What shells report for a command that was interrupted."""


def main() -> None:
    """Runs a command; what a user can cause is one clear message, never a traceback."""
    try:
        from .application import app  # takes long enough to be interrupted

        app(prog_name="anabranch")
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except (ValueError, OSError) as error:  # ScenarioError and TheoryError are ValueErrors
        print(f"error: {message(error)}", file=sys.stderr)
        sys.exit(2)


def message(error: Exception) -> str:
    """What to tell; an operating system's error names its file."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}"
    return str(error)

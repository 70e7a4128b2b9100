"""Standard output and standard error: readers that go away, and encodings without all letters."""

from __future__ import annotations

import codecs
import io
import os
import sys
import unicodedata
from typing import IO, Any

ERRORS = "anabranch.spelled"
"""Name of the error handler that spells characters which an encoding lacks."""

SPELLED = {
    "±": "+-",
    "–": "-",
    "−": "-",
    "→": "->",
    "↓": "v",
    "×": "x",
    "·": "*",
    "§": "section ",
    "≠": "!=",
    "≥": ">=",
    "≤": "<=",
    "√": "sqrt ",
    "Σ": "sum ",
    "∞": "inf",
    "’": "'",
    "│": "|",
}
"""Characters of messages and tables, spelled in ASCII."""


class Output(io.FileIO):
    """Standard output. If the reader closes the pipe, only the output ends: files are still
    written, and the exit status is that of the command.
    """

    deserted = False
    """Whether the reader has closed the pipe."""

    def write(self, data: Any, /) -> int:
        """Writes `data`, or discards it once the reader is gone. Raises other OSErrors."""
        try:
            return super().write(data)
        except BrokenPipeError:
            self.deserted = True
            return memoryview(data).nbytes


def prepare() -> None:
    """Sets up standard output and error of this process.

    A stream that is not a file stays as it is.
    """
    out = sys.stdout
    if isinstance(out, io.TextIOWrapper) and isinstance(out.buffer, io.BufferedWriter | io.FileIO):
        out.flush()
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(Output(out.fileno(), "wb", closefd=False)),
            encoding=out.encoding,
            errors=ERRORS,
            line_buffering=out.line_buffering,
            write_through=out.write_through,
        )
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr.reconfigure(errors=ERRORS)


def finish() -> None:
    """Writes buffered output. Raises OSError if that fails, and discards the rest."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise


def deserted() -> bool:
    """Whether the reader of standard output has closed the pipe: a command that goes on forever
    ends then.
    """
    return bool(getattr(getattr(getattr(sys.stdout, "buffer", None), "raw", None), "deserted", 0))


def writable(text: str, stream: IO[str]) -> str:
    """`text` with the characters that the encoding of `stream` lacks spelled in ASCII."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, ERRORS).decode(encoding)


def _spelled(error: UnicodeError) -> tuple[str, int]:
    """Handles an error of encoding: spells the characters and goes on behind them."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_spell, error.object[error.start : error.end])), error.end


def _spell(character: str) -> str:
    """A character in ASCII: by the table, without its accent, or a Greek letter by its name."""
    if character in SPELLED:
        return SPELLED[character]
    plain = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    if plain:
        raised = unicodedata.decomposition(character).startswith("<super>")
        return "^" * raised + plain
    name = unicodedata.name(character, "")
    return name.rpartition(" ")[2].lower() if name.startswith("GREEK ") else "?"


codecs.register_error(ERRORS, _spelled)

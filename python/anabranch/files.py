"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import sys
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

STANDARD_OUTPUT = "-"
"""Stands for standard output in place of a file; `./-` is a file of that name."""


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


UMASK = _umask()
"""The mask of new files. It is read once, because reading changes it for a moment, and a second
thread would read the wrong mask.
"""

PROBE_BYTES = 1 << 16
"""Free bytes that a disk must have before a run whose result will be written."""


def is_standard_output(path: object) -> bool:
    """Whether `path` stands for standard output."""
    return str(path) == STANDARD_OUTPUT


def atomic_write(path: str | Path, data: bytes | str) -> None:
    """Writes `data` beside `path` and then moves it there. On OSError no partial file is left.

    A symbolic link is followed. A device or a pipe is written to directly: a file must not replace
    it. `-` is standard output.
    """
    _write(path, [data.encode() if isinstance(data, str) else data])


@contextmanager
def beside(path: str | Path | None) -> Iterator[Path | None]:
    """Yields a file beside `path` to write to and moves it there at the end; on an error no file is
    left.

    Yields None for None, and `path` itself if that is a device or a pipe.
    """
    if path is None or _is_special(path):
        yield Path(path) if path else None
        return
    target = Path(os.path.realpath(path))
    with _named(path):
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        os.close(handle)
    try:
        yield Path(name)
        with _named(path):
            _move(name, target)
    finally:
        Path(name).unlink(missing_ok=True)


def write_json(path: str | Path, content: object) -> None:
    """Writes JSON, compressed when the name ends in .gz; never leaves half a file. `-` is standard
    output.

    `content` may hold records and arrays. The text is never in memory as a whole.
    """
    from .records import pieces  # records take numpy, and --help does without

    parts: Iterable[bytes] = (piece.encode() for piece in pieces(content))
    if is_standard_output(path):
        parts = chain(parts, [b"\n"])
    _write(path, _compressed(parts) if str(path).endswith(".gz") else parts)


def _compressed(parts: Iterable[bytes]) -> Iterator[bytes]:
    """A file of gzip without a time, so that equal contents are equal files."""
    packer = zlib.compressobj(zlib.Z_BEST_COMPRESSION, wbits=zlib.MAX_WBITS | GZIP)
    yield from (packer.compress(part) for part in parts)
    yield packer.flush()


GZIP = 16
"""Added to zlib's window bits to request a gzip header."""


def check_writable(path: str | Path) -> None:
    """Raises OSError now rather than after a long run if `path` cannot be written, as where the
    directory is missing, the rights are, or the disk is full.
    """
    if is_standard_output(path):
        return
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a directory; name a file")
    if _is_special(target):
        return
    folder = Path(os.path.realpath(target)).parent
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder} does not exist; make the directory first")
    with _named(target), tempfile.TemporaryFile(dir=folder) as file:
        file.write(bytes(PROBE_BYTES))  # a full disk still takes empty files
        file.flush()
        os.fsync(file.fileno())


def _write(path: str | Path, parts: Iterable[bytes]) -> None:
    """Writes parts, each whole characters, as `atomic_write` says."""
    with _named(path):
        if is_standard_output(path):
            _print(parts)
        elif _is_special(path):
            with Path(path).open("wb") as file:
                file.writelines(parts)
        else:
            _write_beside(Path(os.path.realpath(path)), parts)


def _print(parts: Iterable[bytes]) -> None:
    """Writes to standard output, which in a notebook accepts text only."""
    buffer = getattr(sys.stdout, "buffer", None)
    sys.stdout.flush()
    for part in parts:
        if buffer is None:
            sys.stdout.write(part.decode())
        else:
            buffer.write(part)
    sys.stdout.flush()


def _write_beside(target: Path, parts: Iterable[bytes]) -> None:
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(parts)
        _move(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _move(name: str, target: Path) -> None:
    """Moves a temporary file to its place, with the rights that a new file has."""
    os.chmod(name, 0o666 & ~UMASK)
    os.replace(name, target)


def _is_special(path: str | Path) -> bool:
    """Whether `path` exists and is neither a file nor a directory: a device, pipe or terminal."""
    target = Path(path)
    return target.exists() and not target.is_file() and not target.is_dir()


@contextmanager
def _named(path: str | Path) -> Iterator[None]:
    """Makes errors name the requested file, not the temporary one beside it."""
    try:
        yield
    except OSError as error:
        raise OSError(f"{path} cannot be written: {error.strerror or error}") from error

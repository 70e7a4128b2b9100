"""Files that are there whole or not at all."""

from __future__ import annotations

import gzip
import json
import os
import tempfile
from pathlib import Path


def atomic_write(path: str | Path, data: bytes | str) -> None:
    """Writes `data` beside `path` and then moves it there. Raises OSError; then nothing is left."""
    target = Path(path)
    content = data.encode() if isinstance(data, str) else data
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def write_json(path: str | Path, content: object) -> None:
    """Writes JSON, compressed when the name ends in .gz; never leaves half a file."""
    data = json.dumps(content, separators=(",", ":")).encode()
    atomic_write(path, gzip.compress(data, mtime=0) if str(path).endswith(".gz") else data)


def check_writable(path: str | Path) -> None:
    """Raises OSError now rather than after a long run if `path` cannot be written."""
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a directory; name a file")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{target.parent} does not exist; make the directory first")
    with tempfile.TemporaryFile(dir=target.parent):
        pass

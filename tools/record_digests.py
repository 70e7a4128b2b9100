"""Records the digests of the shipped scenarios from a debug build; the tests compare the release
build.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCENARIOS = ROOT / "python/anabranch/scenarios"
RECORD = ROOT / "tests/golden/digests.txt"


def digest(file: Path) -> str:
    """The digest of seed 1, by the example program, in a debug build."""
    command = [
        "cargo",
        "run",
        "--quiet",
        "-p",
        "simulator",
        "--example",
        "hops",
        "--",
        str(file),
        "1",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.split("digest ")[1].split()[0]


def main() -> None:
    """Writes one line for each scenario."""
    files = sorted(SCENARIOS.rglob("*.toml"))
    lines = [f"{file.relative_to(SCENARIOS).with_suffix('')} {digest(file)}\n" for file in files]
    RECORD.write_text("".join(lines))


if __name__ == "__main__":
    main()

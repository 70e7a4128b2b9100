"""Records what each coupled law saw and said on the real kernel, for crates/ports/tests/traces.

Run it as root on a quiet machine: sudo .venv/bin/python tools/record_traces.py
"""

from __future__ import annotations

from pathlib import Path

from anabranch import _core
from anabranch.linux import run
from anabranch.linux.controllers import Attached

TRACES = Path(__file__).parent.parent / "crates" / "ports" / "tests" / "traces"

SCENARIO = "khalili/scenario-c"
OVERRIDES = (
    "duration=20 s",
    "warmup=1 s",
    "flow.multipath.count=2",
    "flow.single-path.count=2",
    "link.ap1.rate=2 Mb/s",
    "link.ap2.rate=2 Mb/s",
)
STEPS = 400
"""Steps that are kept of each law, one after the other from the middle of the run: a file of 40 KB.
"""


def main() -> None:
    """Writes a file for each law that couples."""
    TRACES.mkdir(exist_ok=True)
    for law, _ in _core.kernel_programs():
        if law == "reno":
            continue
        found: list[str] = []

        def keep(controllers: Attached, law: str = law, found: list[str] = found) -> None:
            found.extend(controllers.steps()[law])

        run(SCENARIO, [1], controller=law, overrides=OVERRIDES, record=keep, keep_invalid=True)
        first = max(0, len(found) - STEPS) // 2
        kept = found[first : first + STEPS]
        head = (
            f"# {law}: {len(kept)} of {len(found)} steps of {SCENARIO} with {', '.join(OVERRIDES)}"
        )
        columns = (
            "# usable me places (cwnd srtt_us since_loss between_losses)... "
            "acked cwnd after credit after growth srtt_us socket breaks"
        )
        (TRACES / f"{law}.txt").write_text("\n".join([head, columns, *kept]) + "\n")
        print(f"{law}: {len(found)} steps, {len(kept)} kept")


if __name__ == "__main__":
    main()

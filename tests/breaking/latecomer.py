"""A controller whose later users win."""

from __future__ import annotations

import anabranch as ab


class Latecomer(ab.Controller):
    """Keeps its round trip 30 ms above the first one that it saw. A later user takes the queue that
    it finds for a part of the path, as in LEDBAT.
    """

    aim = 0.0

    def on_ack(self, path: ab.PathView) -> None:
        if path.srtt == 0.0:
            return
        self.aim = self.aim or path.last_rtt + 0.03
        step = path.acked / path.window
        path.window = max(2.0, path.window + (step if path.srtt < self.aim else -step))

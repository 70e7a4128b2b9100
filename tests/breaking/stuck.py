"""A controller that never grows its window again after a timeout."""

from __future__ import annotations

import anabranch as ab


class Stuck(ab.Controller):
    """Reno up to its first timeout."""

    stuck = False

    def on_ack(self, path: ab.PathView) -> None:
        if not self.stuck:
            super().on_ack(path)

    def on_timeout(self, path: ab.PathView) -> None:
        super().on_timeout(path)
        self.stuck = True

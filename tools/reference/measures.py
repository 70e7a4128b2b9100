"""The columns of a result."""

from __future__ import annotations

from anabranch.metrics import METRICS

from .markdown import table


def parts() -> dict[str, str]:
    """The columns of each table of a result."""
    return {
        f"metrics {name}": table(
            ["column", "unit", "meaning"],
            ([f"`{m.name}`", m.unit, m.meaning] for m in METRICS if m.table == name),
        )
        for name in dict.fromkeys(metric.table for metric in METRICS)
    }

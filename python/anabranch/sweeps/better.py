"""Which way of a metric is better, by its name or as it is said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..offers import lookup

MORE = frozenset({"throughput", "goodput", "jain", "utilisation", "completed", "delivered"})
"""Words in names of metrics of which more is better."""

LESS = frozenset(
    {
        *("rtt", "srtt", "delay", "fct", "rto", "queue", "held", "loss", "lost", "dropped"),
        *("drops", "retransmits", "timeouts", "recoveries", "undone", "probes", "energy"),
    }
)
"""Words of which less is better."""

WAYS = {"more": True, "less": False}


def ways(given: Mapping[str, str] | str | None, metrics: Sequence[str]) -> list[bool]:
    """Whether more is better, for each of the metrics: as `given` says, by name or in a text such
    as "throughput_bps:more,rtt_mean_s:less", else as their names do.

    Raises ValueError for a metric of which neither says it.
    """
    said = {
        lookup("metric", name, metrics, "the metrics of the figure are"): WAYS[
            lookup("way", way, WAYS, "what is better is")
        ]
        for name, way in _pairs(given)
    }
    return [said[name] if name in said else way(name) for name in metrics]


def _pairs(given: Mapping[str, str] | str | None) -> list[tuple[str, str]]:
    if not isinstance(given, str):
        return list((given or {}).items())
    pairs = [text.strip().partition(":") for text in given.split(",")]
    if not all(name and way for name, _, way in pairs):
        raise ValueError(f"--better is {given!r}; write METRIC:more or METRIC:less, with commas")
    return [(name.strip(), way.strip()) for name, _, way in pairs]


def way(metric: str) -> bool:
    """Whether more of a metric is better, by its name. Raises ValueError where it does not tell.

    >>> way("throughput_bps"), way("rtt_mean_s")
    (True, False)
    """
    words = set(metric.split("_"))
    more, less = bool(words & MORE), bool(words & LESS)
    if more == less:
        raise ValueError(
            f"whether more or less of {metric} is better does not follow from its name: "
            f"say it with --better {metric}:more or --better {metric}:less"
        )
    return more

"""What a goal is scored on: a network's runs under the controller, and those of its twins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..offers import lookup
from ..plan import Class, Plan
from ..result import Result
from ..scenario import Scenario
from .rendering import SUBJECT
from .variants import COPY

Values = NDArray[np.float64]
"""One value for each replication, shape (n,)."""

ITSELF = "itself"
"""The variant under the controller: the scenario as it is."""


@dataclass(frozen=True)
class Trial:
    """A scenario's replications. Each has its own delays (`variants.shaken`), and the twins of a
    replication have the same delays and seed, so that differences are paired.
    """

    plan: Plan
    """Of the scenario under the controller, without the small differences of delays."""
    seeds: tuple[int, ...]
    runs: Mapping[str, Sequence[Result]]
    """By variant a result of one run for each seed: `ITSELF` and the twins of the goal. Empty for a
    goal of theory alone."""
    scenarios: Mapping[str, Sequence[Scenario]] = field(default_factory=dict)
    """As `runs`, with the controller written into them."""

    @property
    def subject(self) -> Class:
        """The class of the user whose controller is under test."""
        return self._planned(SUBJECT)

    @property
    def users(self) -> list[str]:
        """The classes of other users with data without end."""
        return [c.name for c in self._bulk if c.name != SUBJECT]

    @property
    def has_transfers(self) -> bool:
        """Whether somebody makes short transfers."""
        return any(c.transfer_bytes for c in self.plan.classes)

    @property
    def paths(self) -> range:
        """The numbers of the subject's paths, from 0."""
        return range(len(self.subject.paths))

    @property
    def twins(self) -> list[str]:
        """The variants beside the scenario itself."""
        return [name for name in self.runs if name != ITSELF]

    @property
    def links(self) -> list[str]:
        """The links with a rate, which have queues that matter."""
        return [link.name for link in self.plan.links if link.rate_bps is not None]

    def rate(self, name: str, variant: str = ITSELF, metric: str = "goodput_bps") -> Values:
        """Mean rate of the users of a class in bit/s, shape (n,). Raises KeyError for an unknown
        class or variant.
        """
        return np.array([self._users(run, name, metric).mean() for run in self._runs(variant)])

    def together(self, names: Sequence[str], variant: str = ITSELF) -> Values:
        """Goodput of all users of these classes in bit/s, shape (n,)."""
        sizes = {c.name: c.count for c in self.plan.classes}
        return np.asarray(
            np.sum([sizes[name] * self.rate(name, variant) for name in names], axis=0)
        )

    def rates(self, name: str, variant: str = ITSELF) -> Values:
        """Goodput of each user of a class in bit/s, shape (n, users)."""
        return np.array([self._users(run, name, "goodput_bps") for run in self._runs(variant)])

    def path_rate(self, path: int, variant: str = ITSELF, metric: str = "goodput_bps") -> Values:
        """The subject's rate on a path, numbered from 0, in bit/s, shape (n,). The real kernel has
        no goodput of single paths: NaN.
        """
        found = [run.path(SUBJECT, path, metric).mean() for run in self._runs(variant)]
        return np.array(found)

    def lost(self, name: str, variant: str = ITSELF) -> Values:
        """The part of the packets of a class that is lost, shape (n,)."""
        totals = [
            (self._paths(run, name, "lost_packets"), self._paths(run, name, "sent_packets"))
            for run in self._runs(variant)
        ]
        return np.array([lost / max(sent, 1.0) for lost, sent in totals])

    def link(self, name: str, metric: str, variant: str = ITSELF) -> Values:
        """A metric of a link, shape (n,)."""
        return np.array([run.link(name, metric)[0] for run in self._runs(variant)])

    def full_rtt_s(self, variant: str = ITSELF) -> float:
        """The round trip of the subject's longest path in seconds, with the 99th percentiles of the
        delays of the queues that it crosses.
        """
        queues_s = [
            float(self.link(link.name, "queue_delay_p99_s", variant).max())
            if link.rate_bps is not None
            else 0.0
            for link in self.plan.links
        ]
        return max(
            path.base_rtt_s + sum(queues_s[link] for link in path.links)
            for path in self.subject.paths
        )

    def completion_s(self, variant: str = ITSELF) -> Values:
        """Mean time in seconds of the short transfers that begin after the warm-up, shape (n,); NaN
        without any. One that is not completed counts with its age at the end, which is less than
        its time.
        """
        found = []
        for run in self._runs(variant):
            names = {c.name for c in run.plan.classes if c.transfer_bytes}
            flows = run.runs[0].flows
            start_s = np.asarray(flows.start_s)
            counted = np.isin(np.asarray(flows.class_), list(names))
            counted &= start_s >= run.plan.warmup_s
            took_s = np.asarray(flows.fct_s)[counted]
            age_s = run.plan.duration_s - start_s[counted]
            times_s = np.where(np.isfinite(took_s), took_s, age_s)
            found.append(float(times_s.mean()) if len(times_s) else np.nan)
        return np.array(found)

    def arrived(self, path: int, variant: str = ITSELF) -> list[tuple[Values, Values]]:
        """For each replication the times of samples in seconds, shape (s,), and the bytes that had
        arrived on a path of the subject since the start, shape (s,). Needs series.
        """
        found = []
        for run in self._runs(variant):
            one = run.runs[0]
            owners = np.asarray(one.flows.class_)[one.paths.flow]
            (row,) = np.flatnonzero((owners == SUBJECT) & (one.paths.path == path))
            found.append((one.series.t_s, one.series.paths.arrived_bytes[:, row]))
        return found

    def _runs(self, variant: str) -> Sequence[Result]:
        return self.runs[lookup("variant", variant, self.runs, "the variants are")]

    @property
    def _bulk(self) -> list[Class]:
        return [c for c in self.plan.classes if not c.transfer_bytes and c.protocol == "tcp"]

    def _planned(self, name: str) -> Class:
        names = [c.name for c in self.plan.classes]
        return self.plan.classes[names.index(lookup("class", name, names, "the classes are"))]

    def _copies(self, run: Result, name: str) -> list[str]:
        """The classes of a replication that are users of a class of the scenario or its twin."""
        classes = [one.partition(COPY)[0] for one in run.classes]
        name = lookup("class", name, dict.fromkeys(classes), "the classes are")
        return [one for one, own in zip(run.classes, classes, strict=True) if own == name]

    def _users(self, run: Result, name: str, metric: str) -> Values:
        return np.array([run.rate(copy, metric)[0] for copy in self._copies(run, name)])

    def _paths(self, run: Result, name: str, metric: str) -> float:
        """The sum of a metric over the paths of the users of a class."""
        total = 0.0
        for copy in self._copies(run, name):
            paths = run.plan.classes[run.classes.index(copy)].paths
            total += sum(float(run.path(copy, p, metric).sum()) for p in range(len(paths)))
        return total

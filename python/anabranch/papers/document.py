"""A source document: its experiments as configurations, and an evaluator for each of its claims."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from ..report import Section
from ..statistics import Interval
from .findings import Finding
from .laboratory import SIMULATION, Configuration, Laboratory
from .ledger import Claim, claims
from .row import Row

Evaluator = Callable[[Claim, Laboratory], Finding]


@dataclass
class Paper:
    """A document: the configurations of its experiments, and an evaluator for each of its
    claims.
    """

    key: str
    title: str
    experiments: dict[str, dict[str, Configuration]]
    """Configurations of each experiment of the ledger; none where theory answers it, or where the
    document gives none.
    """
    auxiliary: dict[str, Configuration] = field(default_factory=dict)
    """Configurations that claims need in addition to those of an experiment."""
    explaining: dict[str, Configuration] = field(default_factory=dict)
    """Configurations that explain a miss: a claim is judged without them in a world that lacks
    them.
    """
    unclaimed: dict[str, Configuration] = field(default_factory=dict)
    """Configurations that no claim needs: for the side-by-side table and further tables."""
    measured: tuple[str, ...] = ()
    """Configurations that the real kernel can run, in the order in which it runs them."""
    sampled: tuple[str, ...] = ()
    """The part of `measured` that a quick measurement of the whole document takes."""
    shortened: tuple[str, ...] = ()
    """Overrides that shorten configurations for a quick measurement."""
    sensitivity: dict[str, Configuration] = field(default_factory=dict)
    """Configurations that show what the open parameters move."""
    sensitivity_text: str = ""
    """Meaning and unit of the numbers of that table."""
    evaluators: dict[str, tuple[Evaluator, tuple[str, ...]]] = field(default_factory=dict)
    side_by_side: Callable[[Laboratory], Sequence[Row]] = lambda lab: ()
    """Rows of published rates with theory and simulation, for the configurations that have been
    run.
    """
    moved: Callable[[Laboratory], Sequence[tuple[str, dict[str, Interval]]]] = lambda lab: ()
    """Results of the sensitivity configurations: for each variant a value per column."""
    sections: Callable[[Laboratory], Sequence[Section]] = lambda lab: ()
    """Sections of the report before the claims: figures and tables from the configurations that
    have been run.
    """
    brief: tuple[str, ...] = ()
    """Claims that a quick run of the whole document judges; all claims if empty."""
    shown: tuple[str, ...] = ()
    """Configurations whose windows and queues the report plots over time."""

    @cached_property
    def configurations(self) -> dict[str, Configuration]:
        """Every configuration that a claim may need; experiments share some."""
        shared: dict[str, Configuration] = {}
        for configurations in (*self.experiments.values(), self.auxiliary, self.explaining):
            shared |= configurations
        return shared

    def configurations_of(self, world: str, *, quick: bool = False) -> dict[str, Configuration]:
        """Every configuration that a world can run; on the kernel the quick ones are short."""
        every = {**self.configurations, **self.unclaimed, **self.sensitivity}
        if world == SIMULATION:
            return every
        extra = self.shortened if quick else ()
        return {
            name: replace(every[name], overrides=(*every[name].overrides, *extra))
            for name in self.measured
        }

    @cached_property
    def prefix(self) -> str:
        """Prefix of the ids in the ledger; mostly the key."""
        return next(iter(self.claims)).split(".")[0]

    def full(self, id: str) -> str:
        """The ledger's id of a claim."""
        return f"{self.prefix}.{id}"

    def claim(self, id: str, *configurations: str) -> Callable[[Evaluator], Evaluator]:
        """Registers the evaluator of a claim and the configurations that it needs.

        Raises KeyError for a configuration that does not exist and ValueError for a second
        evaluator.
        """
        full = self.full(id)
        for name in configurations:
            if name not in self.configurations:
                raise KeyError(f"{full} needs the configuration {name!r}, which does not exist")

        def register(evaluator: Evaluator) -> Evaluator:
            if full in self.evaluators:
                raise ValueError(f"{full} has an evaluator already")
            self.evaluators[full] = (evaluator, configurations)
            return evaluator

        return register

    @property
    def claims(self) -> dict[str, Claim]:
        """The claims of the ledger."""
        return claims(self.key)

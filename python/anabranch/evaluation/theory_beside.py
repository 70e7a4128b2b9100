"""Theory beside measurements: the same measure of the equilibrium that the laws have."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..controller import outside
from ..prediction import as_result, predicted
from ..result import Result, provenance
from ..theory import TheoryError
from .criterion import Case, Criterion
from .entry import Measured
from .planning import Contender, loaded
from .running import UNANSWERED, measured, reason

Key = tuple[str, tuple[str, ...], str]
"""A scenario, overrides, and the text of a controller; empty for the scenario's own."""


@dataclass
class Predictions:
    """Equilibria, computed once each."""

    known: dict[Key, Result | str] = field(default_factory=dict)
    """Results, or reasons why there is none."""

    def of(self, criterion: Criterion, case: Case, contender: Contender) -> Measured:
        """Theory's value of a case under a controller, or the reason why it has none. An error that
        nobody expected is one too: the simulated rows stand without theory.
        """
        try:
            return self._of(criterion, case, contender)
        except Exception as error:
            return Measured(why=f"it failed with {type(error).__name__}: {reason(error)}")

    def _of(self, criterion: Criterion, case: Case, contender: Contender) -> Measured:
        """The same. Raises errors that nobody expected."""
        if outside(contender.given):
            return Measured(why="theory has no model of a Python class")
        try:
            result = self._result(case.scenario, tuple(case.overrides), contender.text)
            beside = {
                name: self._result(case.scenario, (*case.overrides, *more), "")
                for name, more in case.beside.items()
            }
        except UNANSWERED as error:
            return Measured(why=reason(error))
        return measured(criterion, case, result, beside)

    def _result(self, scenario: str, overrides: tuple[str, ...], controller: str) -> Result:
        """The equilibrium of a scenario. Raises TheoryError where there is none."""
        key = (scenario, overrides, controller)
        if key not in self.known:
            try:
                self.known[key] = _predicted(*key)
            except UNANSWERED as error:
                self.known[key] = reason(error)
        found = self.known[key]
        if isinstance(found, str):
            raise TheoryError(found)
        return found


def _predicted(name: str, overrides: tuple[str, ...], controller: str) -> Result:
    """The equilibrium in the shape of a result."""
    scenario, given = loaded(name), controller or None
    plan = scenario.plan(overrides=overrides, controller=given)
    origin = provenance(given, overrides, rtt="queueing", utility="log")
    return as_result(scenario, predicted(plan, "queueing"), origin)

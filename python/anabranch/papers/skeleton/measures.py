"""Measures of this paper that are no expression: the ledger calls them by their names."""

from anabranch.papers import Cell, Laboratory, measure


@measure
def timeouts(lab: Laboratory, cell: Cell) -> float:
    """Timeouts of all users of a cell, in the mean of the seeds."""
    result = lab[cell]
    users = {one.name: len(one.paths) for one in result.plan.classes}
    return sum(
        float(result.path(name, path, "timeouts").sum(axis=1).mean())
        for name, paths in users.items()
        for path in range(paths)
    )

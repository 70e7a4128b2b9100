"""What comes with the package: scenarios, documents, kinds of plots."""

from __future__ import annotations

from anabranch.papers import PAPERS
from anabranch.plot import KINDS
from anabranch.scenario import load, shipped

from .markdown import table


def parts() -> dict[str, str]:
    """The lists of `anabranch list`, with the sources of the scenarios."""
    plans = {name: load(name).plan() for name in shipped()}
    scenarios = ([f"`{name}`", plan.title, plan.source] for name, plan in plans.items())
    papers = ([f"`{one.key}`", one.title, str(len(one.claims))] for one in PAPERS.values())
    plots = (
        [f"`{name}`", one.summary, "yes" if one.series else "no", "yes" if one.several else "no"]
        for name, one in KINDS.items()
    )
    return {
        "scenarios": table(["name", "what it asks", "source"], scenarios),
        "papers": table(["name", "title", "claims"], papers),
        "plots": table(["kind", "what it shows", "needs `--series`", "several results"], plots),
    }

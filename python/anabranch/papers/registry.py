"""The registry of documents, and the evaluation of their claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ..offers import UnknownName, find, lookup, offer
from .beside import explained
from .findings import Finding, not_run
from .laboratory import LEAST_RUNS, SIMULATION, Laboratory, Progress, Simulation, World
from .paper import Home, Paper, shipped
from .reading import LedgerError

PAPERS: dict[str, Paper] = {
    "khalili": shipped("khalili"),
    "tse": shipped("tse"),
    "couple-plus": shipped("couple_plus"),
    "wifi": shipped("wifi"),
    "cs218": shipped("cs218"),
    "peng-2016": shipped("peng_2016"),
    "ware-2019": shipped("ware_2019"),
    "ferlin-2016": shipped("ferlin_2016"),
}
"""The documents by key."""

MOST_NAMED = 6
"""Configurations that a reason names; of more it says how many."""

SEEDS_BESIDE = 5
"""Seeds of the simulation that is compared with another world, as many as in the documents."""


def opened(name: str | Path) -> Paper:
    """A shipped document by its key, or the paper of a folder with a ledger.

    Raises UnknownName for a name that is neither, and LedgerError for a folder that is not one.
    """
    if is_folder(name):
        folder = Path(name).resolve()
        ours = folder.parent == Path(__file__).parent  # its Python is part of a package
        return shipped(folder.name) if ours else Paper(Home(Path(name)))
    return PAPERS[lookup("document", str(name), PAPERS, "the documents are")]


def is_folder(name: str | Path) -> bool:
    """Whether a name is that of a folder rather than of a shipped document."""
    return (
        isinstance(name, Path)
        or (Path(name).is_dir() and find(name, PAPERS) is None)
        or "/" in name
    )


def select(names: Sequence[str]) -> dict[str, list[str]]:
    """Claim ids by document for the names that a user gave: documents, folders or claims; no names
    select all. With claims of a folder named as well, these are judged and not all of them.

    Raises KeyError, listing the known names, for a name that is none of these.
    """
    if not names:
        return {key: list(paper.claims) for key, paper in PAPERS.items()}
    folders = {name: opened(name) for name in names if is_folder(name)}
    papers = {**folders, **PAPERS}
    chosen: dict[str, list[str]] = {}
    for name in names:
        if name in folders:
            chosen.setdefault(name, [])
            continue
        key, id = _named(name, papers)
        ids = [id] if id else list(papers[key].claims)
        chosen.setdefault(key, []).extend(id for id in ids if id not in chosen.get(key, []))
    return {key: ids or list(papers[key].claims) for key, ids in chosen.items()}


def _named(name: str, papers: Mapping[str, Paper]) -> tuple[str, str]:
    """The document of a name and, if it is one, the claim. Raises UnknownName."""
    for key, paper in papers.items():
        if name == key or (name.startswith(f"{key}.") and name in paper.claims):
            return key, "" if name == key else name
    keys = {id: key for key, paper in reversed(list(papers.items())) for id in (key, *paper.claims)}
    found = find(name, keys)
    if found is None:
        of = find(name.split(".")[0], papers)
        known = ", ".join(papers[of].claims if of else papers)
        raise UnknownName(
            f"there is no document or claim {name!r}{offer(name, keys)}\n"
            f"help: the {f'claims of {of}' if of else 'documents'} are {known}"
        )
    return keys[found], "" if found == keys[found] else found


def evaluate(
    key: str | Path | Paper,
    ids: Sequence[str],
    *,
    seeds: int = 20,
    world: World | None = None,
    quick: bool = False,
    progress: Progress | None = None,
) -> tuple[list[Finding], Laboratory]:
    """Runs the configurations that the claims `ids` of document `key` need, and judges each claim.
    `key` is a shipped document or the path of a folder with a ledger.

    `world` is the simulation by default. With another world the same configurations are also
    simulated, and `quick` measures short configurations, of the whole document only a sample. With
    all claims of a document, the configurations in its tables that no claim needs run too.

    After an interrupt the claims whose configurations had all finished are judged, the others are
    `not_run`, and the laboratory's `interrupted` is set. Raises the errors of the world, and
    KeyError for an unknown document or claim, and LedgerError for a folder that is wrong. A claim
    whose measure fails on the results is `not_run`, with the reason, and stands in the
    laboratory's `wrong`.
    """
    paper = key if isinstance(key, Paper) else opened(key)
    ids = [lookup("claim", id, paper.claims, "the claims are") for id in ids]
    world = world or Simulation()
    laboratory = Laboratory(paper.configurations_of(world.name, quick=quick), seeds, world=world)
    laboratory.run(_wanted(paper, ids, laboratory, quick), progress)
    if world.name != SIMULATION:
        laboratory.beside = Laboratory(laboratory.configurations, SEEDS_BESIDE)
        laboratory.beside.run(laboratory.results, None if laboratory.interrupted else progress)
    return [_judged(paper, id, laboratory) for id in ids], laboratory


def _wanted(paper: Paper, ids: Sequence[str], laboratory: Laboratory, quick: bool) -> list[str]:
    """The configurations to run for some claims; a slow world has its own order, and with `quick`
    the explaining configurations are left out.
    """
    simulated = laboratory.world.name == SIMULATION
    if simulated and quick and paper.brief and len(ids) == len(paper.claims):
        ids = paper.brief
    own = [paper.evaluators[id] for id in ids if id in paper.evaluators]
    needed = {configuration: None for _, configurations in own for configuration in configurations}
    if len(ids) == len(paper.claims):
        needed |= dict.fromkeys(paper.unclaimed)
    if simulated:
        return list(needed)
    if quick and len(ids) == len(paper.claims):
        return list(paper.sampled)
    if quick:
        needed = {
            configuration: None for configuration in needed if configuration not in paper.explaining
        }
    return [configuration for configuration in laboratory.configurations if configuration in needed]


def _judged(paper: Paper, id: str, laboratory: Laboratory) -> Finding:
    """A claim's finding, if it can be evaluated and all of its configurations have been run."""
    if id not in paper.evaluators:
        return not_run(paper.claims[id], "nothing evaluates this claim yet")
    evaluator, configurations = paper.evaluators[id]
    needed = [
        configuration
        for configuration in configurations
        if laboratory.beside is None or configuration not in paper.explaining
    ]
    if why := _missing(needed, laboratory):
        return not_run(paper.claims[id], why)
    if len({tuple(laboratory[configuration].seeds) for configuration in needed}) > 1:
        laboratory = laboratory.paired(configurations)
        if len(laboratory[needed[0]].runs) < LEAST_RUNS:
            why = "its configurations have no two seeds in common and cannot be compared in pairs"
            return not_run(paper.claims[id], why)
    try:
        found = evaluator(paper.claims[id], laboratory)
    except LedgerError as error:  # the other claims keep their verdicts
        laboratory.wrong.append(str(error))
        return not_run(paper.claims[id], str(error))
    if found.verdict == "reproduced":
        return found
    evidence = f"{found.evidence} {explained(laboratory, needed)}".strip()
    return replace(found, evidence=evidence)


def _missing(needed: Sequence[str], laboratory: Laboratory) -> str:
    """Why a claim cannot be judged; empty if it can."""
    if laboratory.beside is not None and not needed:
        return (
            "no measured configuration decides it: its verdict is that of the run without --world"
        )
    missing = [configuration for configuration in needed if configuration not in laboratory.results]
    simulated = [
        configuration for configuration in missing if configuration not in laboratory.configurations
    ]
    absent = [configuration for configuration in missing if configuration in laboratory.absent]
    if simulated:
        return f"it needs configurations that are only simulated: {', '.join(simulated)}"
    if absent:
        return "; ".join(f"{name}: {laboratory.absent[name]}" for name in absent)
    if missing and laboratory.interrupted:
        return "interrupted before all of its configurations had been run"
    if missing:
        some = ", ".join(missing[:MOST_NAMED])
        more = f" and {len(missing) - MOST_NAMED} more" if len(missing) > MOST_NAMED else ""
        return f"--quick of the whole document does not measure {some}{more}"
    return ""

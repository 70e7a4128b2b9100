"""One home for each bound: no number in a paper's Python decides a verdict.

A verdict comes from a band, which is in the ledger, or from a truth. So what must not have a number
is what gives a truth: a measure that returns `bool`, and what it calls.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import anabranch.papers
from anabranch.papers import PAPERS

HOME = Path(anabranch.papers.__file__).parent
COUNTS = (-1, 0, 1, 2)
"""Whole numbers that compare places and counts: an index, an empty list, both of two paths."""

JUDGES = {"Check", "Finding", "difference_or_none", "finding", "judge", "worst"}
"""What gives a verdict."""


def modules(folder: Path) -> dict[str, ast.Module]:
    """The Python of a paper."""
    return {file.stem: ast.parse(file.read_text()) for file in sorted(folder.glob("*.py"))}


def functions(trees: dict[str, ast.Module]) -> dict[str, ast.FunctionDef]:
    """The functions of a paper by name."""
    return {
        node.name: node
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
    }


def constants(trees: dict[str, ast.Module]) -> set[str]:
    """Names that stand for a number or several."""
    found = set()
    for tree in trees.values():
        for node in tree.body:
            if isinstance(node, ast.Assign) and _is_number(node.value):
                found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return found


def _is_number(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp):
        return _is_number(node.operand)
    if isinstance(node, ast.Tuple | ast.List):
        return all(_is_number(one) for one in node.elts)
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def deciding(trees: dict[str, ast.Module]) -> Iterator[ast.FunctionDef]:
    """The measures of a paper that return a truth, and the functions of the paper they call."""
    known = functions(trees)
    todo = [one for one in known.values() if _is_truth(one)]
    seen: set[str] = set()
    while todo:
        one = todo.pop()
        if one.name in seen:
            continue
        seen.add(one.name)
        yield one
        names = {node.id for node in ast.walk(one) if isinstance(node, ast.Name)}
        todo += [known[name] for name in names & set(known)]


def _is_truth(one: ast.FunctionDef) -> bool:
    measures = any(isinstance(d, ast.Name) and d.id == "measure" for d in one.decorator_list)
    return measures and isinstance(one.returns, ast.Name) and one.returns.id == "bool"


def bounds(one: ast.FunctionDef, named: set[str]) -> Iterator[str]:
    """The comparisons of a function with a number."""
    for node in ast.walk(one):
        if isinstance(node, ast.Compare):
            for side in (node.left, *node.comparators):
                number = _is_number(side) and not (
                    isinstance(side, ast.Constant) and side.value in COUNTS
                )
                if number or (isinstance(side, ast.Name) and side.id in named):
                    yield f"{one.name}, line {node.lineno}: {ast.unparse(node)}"


@pytest.mark.parametrize("key", PAPERS)
def test_no_number_in_a_papers_python_decides_a_verdict(key: str) -> None:
    paper = PAPERS[key]
    trees = modules(paper.home.folder)
    named = constants(trees)
    assert [text for one in deciding(trees) for text in bounds(one, named)] == []


@pytest.mark.parametrize("key", PAPERS)
def test_no_python_of_a_paper_gives_a_verdict(key: str) -> None:
    paper = PAPERS[key]
    for name, tree in modules(paper.home.folder).items():
        used = {
            alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        assert not used & JUDGES, name


def test_a_number_that_decides_is_found() -> None:
    text = """
LEAST = 0.7

@measure
def grows(lab, cell: Cell) -> bool:
    return part(lab[cell]) >= LEAST

@measure
def share(lab, cell: Cell) -> float:
    return lab[cell] if lab[cell] > 0.5 else 0.0

def part(result):
    return result.mean() > 0.3
"""
    trees = {"measures": ast.parse(text)}
    found = sorted(t for one in deciding(trees) for t in bounds(one, constants(trees)))
    assert [line.split(": ")[1] for line in found] == [
        "part(lab[cell]) >= LEAST",
        "result.mean() > 0.3",
    ]


@pytest.mark.parametrize("key", PAPERS)
def test_a_bound_without_a_statement_in_the_ledger_says_why_it_is_ours(key: str) -> None:
    """A bound is in the claim's statement or tolerance, or is marked as ours with a reason."""
    for claim in PAPERS[key].claims.values():
        for name, entry in claim.expected.items():
            if isinstance(entry, dict) and "ours" in entry:
                assert len(entry["ours"]) > 10, (claim.id, name)
            elif isinstance(entry, dict) and {"min", "max"} & set(entry):
                assert claim.tolerance, (claim.id, name)

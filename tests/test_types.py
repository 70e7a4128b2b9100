"""Plans and tables are read through their types: what mypy then sees, and what JSON becomes."""

from __future__ import annotations

import ast
import json
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path

import numpy as np
import pytest

import anabranch as ab
from anabranch import metrics, plan, planned_network, runs, tables
from anabranch.files import write_json
from anabranch.plan import Plan
from anabranch.planned_network import Attachment, DropTail, Link
from anabranch.records import PIECE, Missing, Record, meanings, pieces, plain
from anabranch.result import read_json
from anabranch.runs import Run
from anabranch.scenario import shipped
from anabranch.tables import Classes, Flows, Paths

PACKAGE = Path(__file__).parent.parent / "python/anabranch"

OPEN = {
    "flent.py": "the JSON of Flent's files",
    "qlog/fields.py": "objects of a log, whose values have types when they are asked for",
    "qlog/texts.py": "events of earlier versions of qlog, before they become fields",
    "qlog/writing.py": "events of a log, as JSON",
    "qlog/xquic.py": "events of xquic, before they become fields",
    "sweeps/configuration.py": "a plan and a configuration as JSON",
    "sweeps/files.py": "what a file of TOML says, before it becomes a sweep",
    "sweeps/rows.py": "columns of a row by name: axes are keys of the scenario",
    "capture.py": "what the reader of captures gives, before it becomes tables",
    "cli/compare.py": "keyword arguments of two worlds; the comparison as JSON",
    "cli/draw.py": "options of a plot by name",
    "cli/dynamics.py": "what theory adds to a result, as JSON",
    "cli/maps.py": "what theory adds to a result, as JSON",
    "cli/paired.py": "the comparison in pairs as JSON",
    "prediction.py": "what theory adds to a result, as JSON",
    "fairness/audit.py": "an audit as JSON",
    "breaking/finding.py": "a finding as JSON",
    "breaking/front.py": "findings as JSON",
    "breaking/journal.py": "lines of a journal as JSON",
    "breaking/network.py": "a network as JSON",
    "breaking/queues.py": "a queue as a scenario's text has it",
    "breaking/rendering.py": "a scenario's text as nested data, which is made",
    "breaking/variants.py": "a scenario's text as nested data, which is changed",
    "evaluation/comparing.py": "files of evaluations as JSON",
    "evaluation/entry.py": "a measure as JSON",
    "evaluation/evaluating.py": "an evaluation as JSON",
    "explorer/prediction.py": "a request of the page as JSON",
    "fairness/ensemble.py": "a judgement as JSON",
    "fairness/judgement.py": "a judgement as JSON",
    "fairness/references.py": "a scenario's text as nested data, which is changed",
    "cli/lawcheck.py": "a property of a law as JSON",
    "cli/lawproof.py": "a proof as JSON",
    "controller.py": "what the extension module says of a controller",
    "environment.py": "what gymnasium hands on beside observations",
    "frames.py": "coordinates of a dataset, as xarray takes them",
    "linux/running.py": "provenance, as JSON",
    "papers/couple_plus/logs.py": "arguments of a run",
    "papers/couple_plus/rules.py": "what a short run shows, by name",
    "papers/findings.py": "findings as JSON",
    "papers/grid.py": "names of an expression and their values, of any type",
    "papers/judging.py": "names of an expression and their values, of any type",
    "papers/language.py": "names of an expression and their values, of any type",
    "papers/ledger.py": "what a ledger expects: TOML, by claim",
    "papers/library.py": "functions of expressions by name",
    "papers/logs.py": "arguments of a run",
    "papers/readings.py": "what plans have, by name; ways to one number",
    "papers/paper.py": "names of an expression and their values, of any type",
    "papers/reading.py": "a ledger's tables as TOML has them, and their schema",
    "papers/tracing.py": "functions of expressions by name",
    "papers/measurements.py": "the text of pages as data",
    "papers/tse/steps.py": "what a log accounts for, by name",
    "papers/wifi/logs.py": "arguments of a run",
    "plot/animation/data.py": "what the page's script reads, as JSON",
    "records.py": "where JSON becomes records, and records become JSON",
    "remarks.py": "a path with few events as JSON",
    "report/page.py": "what a template is given",
    "result.py": "a result as JSON; its provenance, and what theory and fairness add to it",
    "runs.py": "a run as JSON",
    "scenario.py": "a scenario's text as nested data",
    "statistics.py": "an interval as JSON",
    "advice/candidates.py": "a scenario as nested data",
    "advice/fitting.py": "JSON that it writes",
    "advice/judging.py": "JSON that it writes",
    "advice/measured/iperf3.py": "what a report of iperf3 says, before it becomes a link",
    "advice/saying.py": "JSON that it writes",
    "sharing/closed_loop.py": "scenarios as nested data",
    "sharing/drawing.py": "a scenario as nested data",
    "sharing/errors.py": "JSON that it writes",
    "sharing/finding.py": "JSON that it writes",
    "sharing/live.py": "JSON that it writes",
    "sharing/wifi.py": "a scenario as nested data",
    "cli/transferring.py": "what a transfer says, and JSON that it writes",
    "cli/tunnelling.py": "options as the extension module takes them",
    "linux/quic.py": "what a transfer says",
    "linux/quic_users.py": "what a transfer says",
    "sweeps/clusters.py": "a cluster's file as YAML has it",
}
"""Files that have data without types, and why; in plots it is how something looks, too."""

LOOKS = (
    "plot/",
    "papers/cs218/figures.py",
    "papers/wifi/figures.py",
)
"""Where keyword arguments of Matplotlib are."""

FIELDS = {
    field.name.rstrip("_")
    for module in (plan, planned_network, runs, tables)
    for record in vars(module).values()
    if isinstance(record, type) and issubclass(record, Record) and is_dataclass(record)
    for field in fields(record)
}

TYPED = {"plan", "planned", "run", "runs", "series", "flows", "paths", "links", "stations"}
"""Names that are plans, runs and tables wherever the package has them, as variable or attribute."""


@pytest.mark.parametrize("file", sorted(PACKAGE.rglob("*.py")), ids=lambda f: f.stem)
def test_no_plan_and_no_table_is_read_by_a_string(file: Path) -> None:
    read = [f"{file}:{line}: {text}" for line, text in subscripts(file)]
    assert not read, "\n".join(read)


def test_data_without_types_has_a_reason() -> None:
    found = {name for file in PACKAGE.rglob("*.py") if (name := str(file.relative_to(PACKAGE)))}
    untyped = Counter(
        {name: (PACKAGE / name).read_text().count("dict[str, Any]") for name in found}
    )
    untyped = +untyped  # without those that have none
    assert {name for name in untyped if not name.startswith(LOOKS)} <= set(OPEN) <= set(untyped)
    print(f"dict[str, Any]: {untyped.total()} in {len([n for n in untyped.values() if n])} files")


def test_the_short_form_of_a_plan_counts_what_it_lists() -> None:
    shown = repr(ab.load("cs218/large").plan())
    assert (
        shown.startswith("Plan(name='large', title='212 nodes") and "classes=[12 of Class]" in shown
    )
    assert len(shown) < 1000
    (link, *_) = ab.load("khalili/scenario-c").plan().links
    assert repr(link).startswith("Link(name='ap1', rate_bps=10000000")


@pytest.mark.parametrize("name", shipped())
def test_a_plan_becomes_json_and_comes_back(name: str) -> None:
    found = ab.load(name).plan()
    content = json.loads(json.dumps(found.to_json()))
    assert Plan.from_json(content) == found
    assert content["links"][0]["name"] == found.links[0].name


def test_the_plan_of_every_table_has_no_field_that_its_types_have_not() -> None:
    root = Path(__file__).parent.parent / "crates/scenario/tests"
    text = (root / "everything.toml").read_text()
    raw = json.loads(ab._core.plan(text, "everything"))
    assert Plan.from_json(raw).to_json() == raw


def test_what_an_older_file_lacks_is_off() -> None:
    content = {"name": "wire", "rate_bps": 1000, "delay_s": 0.1, "queue": None, "loss": 0.0}
    link = Link.from_json(content)
    assert (link.duplicate, link.per_user, link.loss_chain) == (0, False, None)
    assert link.attachments == []
    with pytest.raises(ValueError, match="Link has no 'name'"):
        Link.from_json({})


def test_an_older_file_has_a_field_under_its_former_name() -> None:
    content = {"name": "up", "rate_bps": None, "delay_s": 0.1, "queue": None, "loss": 0.0}
    place = {"medium": 0, "from": [1], "to": [0]}
    link = Link.from_json(content | {"air": [place]})
    assert link.attachments == [Attachment(medium=0, from_=[1], to=[0])]
    assert Link.from_json(content | {"attachments": [place]}) == link
    assert "air" not in link.to_json()


def test_an_older_file_has_a_scheduler_by_its_name() -> None:
    root = Path(__file__).parent.parent / "crates/scenario/tests"
    raw = json.loads(ab._core.plan((root / "everything.toml").read_text(), "everything"))
    kinds = set()
    older = json.loads(json.dumps(raw))
    for planned in older["classes"]:
        kind = planned["scheduler"].pop("kind")
        parameters = planned["scheduler"]
        planned["scheduler"] = {kind: parameters} if parameters else kind
        kinds.add(kind)
    assert {"min-rtt", "weighted"} <= kinds
    assert Plan.from_json(older) == Plan.from_json(raw)


def test_a_queue_is_of_the_kind_that_it_says() -> None:
    content = {"kind": "droptail", "limit_packets": 5, "limit_bytes": None}
    base = {"name": "wire", "rate_bps": 1000, "delay_s": 0.1, "loss": 0.0}
    link = Link.from_json(base | {"queue": content})
    assert link.queue == DropTail(limit_packets=5, limit_bytes=None)
    with pytest.raises(ValueError, match="'smart' is not one of droptail, red"):
        Link.from_json(base | {"queue": {"kind": "smart"}})


def test_a_run_becomes_json_and_comes_back(tmp_path: Path) -> None:
    short = ["duration=8 s", "warmup=1 s"]
    result = ab.run("khalili/scenario-c", overrides=short, series=True, events=True)
    result.save(tmp_path / "run.json.gz")
    again = ab.Result.load(tmp_path / "run.json.gz")
    assert json.dumps(again.to_json()) == json.dumps(result.to_json())
    (run,), (other,) = result.runs, again.runs
    np.testing.assert_array_equal(run.series.paths.cwnd_segments, other.series.paths.cwnd_segments)
    assert run.events_log.link == other.events_log.link


@pytest.mark.parametrize(
    "shape", [(0,), (7,), (3 * PIECE + 1,), (4, 0), (PIECE, 3), (2, PIECE + 1), (2, 3, PIECE)]
)
def test_json_in_pieces_is_the_json_of_plain_data(shape: tuple[int, ...]) -> None:
    numbers = np.linspace(-1, 1, int(np.prod(shape))).reshape(shape)
    odd = np.where(numbers > 0.9, np.nan, np.where(numbers < -0.9, -np.inf, numbers))
    words = [f"n\u00e9 {number}" for number in range(shape[0])]
    content = {"a": numbers, 2: (odd, numbers.astype(int), 1), "w": words, "e": [{}, [], None]}
    expected = json.dumps(plain(content), separators=(",", ":"))
    assert "".join(pieces(content)) == expected


def test_json_of_long_columns_takes_no_memory_in_proportion_to_them(tmp_path: Path) -> None:
    content = {"t_s": np.linspace(0, 1, 400_000), "kind": ["drop"] * 400_000}
    tracemalloc.start()
    write_json(tmp_path / "long.json.gz", content)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 4 << 20
    assert read_json(tmp_path / "long.json.gz") == plain(content)


def test_tables_can_be_read_as_the_json_has_them() -> None:
    (run,) = ab.run("khalili/scenario-c", overrides=["duration=8 s", "warmup=1 s"]).runs
    assert run["flows"]["class"] == run.flows.class_  # type: ignore[index]
    assert "series" not in run and run.get("series") is None  # type: ignore[operator, attr-defined]
    with pytest.raises(KeyError, match="Flows has no 'rate'"):
        run["flows"]["rate"]  # type: ignore[index]


def test_a_column_that_a_world_does_not_know_is_absent() -> None:
    run = Run(flows=Flows(class_=["a"]), paths=Paths(), classes=Classes())
    assert not run.flows.has("goodput_bps") and not run.has("seed")
    with pytest.raises(Missing, match="Flows has no 'goodput_bps'; it has class"):
        run.flows.goodput_bps  # noqa: B018 the access is what is tested
    with pytest.raises(KeyError, match="goodput_bps"):
        run.flows.column("goodput_bps")


def test_every_column_of_a_simulation_is_declared_and_every_other_one_is_of_the_kernel() -> None:
    short = ["duration=8 s", "warmup=1 s"]
    (run,) = ab.run("khalili/scenario-c", overrides=short, series=True, events=True).runs
    for table in (run.flows, run.paths, run.links, run.classes, run.series.paths):
        for name, meaning in meanings(type(table)).items():
            assert table.has(name) != meaning.text.startswith("linux: "), name


def test_metrics_are_the_columns_that_have_a_unit() -> None:
    known = {(metric.table, metric.name): metric for metric in metrics.METRICS}
    assert len(known) == len(metrics.METRICS)
    assert known["flows", "throughput_bps"].unit == "bit/s"
    assert ("flows", "user") not in known
    assert all(metric.meaning for metric in metrics.METRICS)
    assert tables.Flows.PLACE == "flows"


def subscripts(file: Path) -> Iterator[tuple[int, str]]:
    """Subscripts by a string of what has types."""
    for node in ast.walk(ast.parse(file.read_text())):
        match node:
            case ast.Subscript(value=value, slice=ast.Constant(value=key)):
                if key in FIELDS and last(value) in TYPED:
                    yield node.lineno, ast.unparse(node)


def last(node: ast.expr) -> str:
    """The name of a variable or attribute, of an item that of its list."""
    match node:
        case ast.Attribute(value=ast.Call()):  # of what a function gave
            return ""
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Subscript(value=value, slice=ast.Constant(value=int()) | ast.Name()):
            return last(value)
        case _:
            return ""

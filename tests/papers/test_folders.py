"""Folders of papers: broken ones are refused with file, line and remedy; the skeleton runs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anabranch as ab
from anabranch.cli.papers import new_command
from anabranch.papers import PAPERS, Laboratory, LedgerError, check, evaluate, opened, select
from anabranch.papers.lines import line_of
from anabranch.papers.reading import schema
from anabranch.papers.readings import BASIC


def anabranch(*words: object) -> subprocess.CompletedProcess[str]:
    """Runs the program."""
    call = [sys.executable, "-c", "from anabranch.cli import main; main()", *map(str, words)]
    return subprocess.run(call, capture_output=True, text=True, check=False)


@pytest.fixture
def paper(tmp_path: Path) -> Path:
    """A new paper."""
    new_command("mine", tmp_path)
    return tmp_path / "mine"


def changed(folder: Path, file: str, old: str, new: str) -> int:
    """Changes a file; the line of the change."""
    text = (folder / file).read_text()
    assert text.count(old) == 1, old
    (folder / file).write_text(text.replace(old, new))
    return text[: text.index(old)].count("\n") + 1


RATE = 'rate("lia-10", "multipath")'

BROKEN = {
    "an unknown metric": (
        "ledger.toml",
        RATE,
        'of_users("lia-10", "multipath", "throughput_bsp")',
        "throughput_bps",
    ),
    "an unknown measure": ("ledger.toml", RATE, 'rates("lia-10", "multipath")', "`rate`"),
    "an unknown cell": ("ledger.toml", RATE, 'rate("lia-11", "multipath")', "`lia-10`"),
    "an unknown class": ("ledger.toml", RATE, 'rate("lia-10", "multipaths")', "`multipath`"),
    "an unknown name": ("ledger.toml", RATE, 'gain(SIZE, "multipath")', "`SIZES`"),
    "a missing argument": ("ledger.toml", RATE, 'rate("lia-10")', "takes (cell, users)"),
    "no expression": ("ledger.toml", RATE, "rate(", "cannot be read"),
    "an attribute": ("ledger.toml", RATE, "SIZES.clear()", "calls something that is no name"),
    "a band upside down": ("ledger.toml", "min = 1.22, max = 1.36", "min = 1.36, max = 1.22", "exchange"),
    "no band": ("ledger.toml", "min = 1.22, max = 1.36, ", "", "give min, max or both"),
    "a wrong key": ("ledger.toml", "min = 1.22", "minimum = 1.22", "minimum"),
    "an unknown explanation": ("ledger.toml", '["small_gain"]', '["large_gain"]', "large_gain"),
    "a band without a measure": ("ledger.toml", ", measure = '" + RATE + "'", "", "no measure"),
    "a loop over nothing": ("ledger.toml", "min = 1.22", "for = { n = [] }, min = 1.22", "nothing is judged"),
    "a claim twice": ("ledger.toml", 'id = "mine.gain"', 'id = "mine.table1.lia"', "two claims"),
    "a file included twice": ("ledger.toml", '["cells.toml"]', '["cells.toml", "cells.toml"]', "included twice"),
    "a condition upside down": ("ledger.toml", "max = 2 }]", "max = 2, min = 3 }]", "exchange"),
    "no TOML": ("ledger.toml", 'kind = "table"', "kind = table", "Invalid value"),
    "a cell without a scenario": (
        "cells.toml",
        'scenario = "network.toml"  # a file beside this one, or a shipped scenario such as khalili/scenario-c\n',
        "",
        "has no scenario",
    ),
    "an unknown scenario": ("cells.toml", 'scenario = "network.toml"', 'scenario = "net.toml"', "net.toml"),
    "a wrong override": ("cells.toml", "flow.multipath.count", "flow.multipaths.count", "multipath"),
    "a cyclic include": ("cells.toml", "[[cells]]", 'include = ["ledger.toml"]\n[[cells]]', "take one of the two out"),
    "a file to include that is not there": ("ledger.toml", '"cells.toml"', '"sells.toml"', "sells.toml"),
    "definitions in a circle": ("ledger.toml", "SIZES = [10, 30]", 'SIZES = "SIZES"', "circle"),
    "a metric of another table": ("ledger.toml", RATE, 'of_users("lia-10", "multipath", "queue_packets")', "metric"),
    "a path that the class does not have": ("ledger.toml", RATE, 'path("lia-10", "multipath", 2, "loss")', "count from 0 to 1"),
    "a loop over numbers": ("cells.toml", 'for = { n = "SIZES", law = ["lia", "olia"] }', 'for = "SIZES"', "a table of names"),
    "a loop over too many": ("ledger.toml", "min = 1.22", 'for = { n = "range(99999)" }, min = 1.22', "at most"),
    "numbers without end": ("ledger.toml", RATE, "len(range(10 ** 9))", "at most"),
    "a list without end": ("ledger.toml", RATE, "len([0] * 10 ** 9)", "parts"),
    "a number without end": ("ledger.toml", RATE, "((9 ** 64) ** 64) ** 64", "bits"),
    "a format without end": ("ledger.toml", '"""Mb/s more: ', '"""{1:999999999d} more: ', "99 characters"),
    "names without end": ("ledger.toml", 'kind = "table"', 'cells = ["' + "{a,b}" * 30 + '"]\nkind = "table"', "at most"),
    "a weight that is no number": ("cells.toml", "[[cells]]", '[[cells]]\nweight = "SIZES"', "a number belongs there"),
    "an override that is no list": ("cells.toml", 'set = [', 'set = [\n  "*7",', "a list of overrides"),
    "a cell that is no file": ("cells.toml", 'name = "{law}-{n}"', 'name = "../{law}-{n}"', "no good name"),
    "a controller that is not there": ("cells.toml", 'controller = "{law}"', 'controller = "mine.py:Mine"', "mine.py"),
    "a quick claim that is not there": ("ledger.toml", "[define]", '[quick]\nclaims = ["gian"]\n[define]', "mine.gain"),
}  # fmt: skip


def rates(cell: str = "lia-10", users: str = "multipath", more: str = "") -> str:
    """A row of the table of rates."""
    return f"""[[rates]]
scenario = "S"
setting = "1"
cell = "{cell}"
users = "{users}"
controller = "lia"
{more}
"""


def variants(start: str, users: str) -> str:
    """A table of open parameters."""
    return f"""[sensitivity]
value = 'rate(cell, "{users}")'
[[sensitivity.variant]]
name = "as chosen"
from = "{start}"
"""


SECTIONS = {
    "a row of rates without its cell": (rates(cell="lia-11"), "`lia-10`"),
    "a row of rates without its class": (rates(users="multi"), "`multipath`"),
    "a row of rates without theory": (rates(), "[report.theory]"),
    "a row of rates of no number": (
        rates(more='claim = "mine.gain"\nexpected = "gain at N1 = {{n}}"'),
        "no number as its value",
    ),
    "a figure of nothing": (
        '[[section]]\ntitle = "T"\n[[section.figure]]\ncaption = "C"\n',
        "a figure has draw",
    ),
    "a caption with an unknown name": (
        """[[section]]
title = "T"
[[section.table]]
caption = "{N}"
head = ["a"]
rows = "[[1]]"
""",
        "there is no 'N'",
    ),
    "variants without a value": (
        '[[sensitivity.variant]]\nname = "as chosen"\nfrom = "lia-*"\n',
        '"value" is a required',
    ),
    "a variant's value of an unknown class": (variants("lia-*", "multi"), "`multipath`"),
    "a variant of no cell": (variants("sack-*", "multipath"), "no cell is called"),
}


@pytest.mark.parametrize("what", SECTIONS)
def test_tables_and_figures_are_checked_before_anything_runs(what: str, paper: Path) -> None:
    text, remedy = SECTIONS[what]
    before = (paper / "ledger.toml").read_text()
    (paper / "ledger.toml").write_text(before + "\n" + text)
    with pytest.raises(LedgerError) as raised:
        check(opened(paper))
    found = re.match(r".*/ledger\.toml:(\d+): ", str(raised.value))
    assert found and remedy in str(raised.value), raised.value
    assert int(found[1]) > before.count("\n")


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_folder_is_refused_with_file_line_and_remedy(what: str, paper: Path) -> None:
    file, old, new, remedy = BROKEN[what]
    line = changed(paper, file, old, new)
    with pytest.raises(LedgerError) as raised:
        check(opened(paper))
    text = str(raised.value)
    found = re.match(r"(.*/(\w+\.toml)):(\d+): ", text)
    assert found and remedy in text, text
    # The entry's line: that of the change, or of the table or the use that has it.
    assert found[2] in ("ledger.toml", "cells.toml") and int(found[3]) >= 1
    if found[2] == file and what not in ("definitions in a circle",):
        assert abs(int(found[3]) - line) <= 8, text


def test_the_command_says_the_same_with_status_2_and_runs_nothing(paper: Path) -> None:
    changed(paper, "ledger.toml", "min = 1.22, max = 1.36", "min = 1.36, max = 1.22")
    for words in (("reproduce", paper, "--quick"), ("paper", "check", paper)):
        done = anabranch(*words)
        assert done.returncode == 2 and not done.stdout, done
        assert (
            done.stderr.startswith(f"error: {paper}/ledger.toml:")
            and "Traceback" not in done.stderr
        )


def test_a_measure_that_fails_is_named_and_other_claims_keep_their_verdicts(paper: Path) -> None:
    line = changed(paper, "ledger.toml", RATE, 'timeouts("lia-10") / 0')
    out = paper / "out.json"
    done = anabranch("reproduce", paper, "--seeds", "2", "--json", out)
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert f"{paper}/ledger.toml:{line}: " in done.stderr
    assert "has no value: ZeroDivisionError" in done.stderr
    verdicts = {row["id"]: row["verdict"] for row in json.loads(out.read_text())}
    assert verdicts["mine.table1.lia"] == "not_run" and verdicts["mine.gain"] != "not_run"


def test_whatever_a_papers_python_raises_is_an_error_of_its_claim(paper: Path) -> None:
    changed(paper, "measures.py", "    result = lab[cell]\n", "    result = lab[cell].nothing\n")
    changed(paper, "ledger.toml", RATE, 'timeouts("lia-10")')
    (finding,), lab = evaluate(paper, ["mine.table1.lia"], seeds=2)
    assert finding.verdict == "not_run" and "AttributeError" in finding.why
    assert lab.wrong == [finding.why]


def test_a_list_of_cells_is_traced_however_its_annotation_is_written(paper: Path) -> None:
    text = (paper / "measures.py").read_text()
    own = """

@measure
def of_all(lab: Laboratory, cells: Sequence[Cell]) -> float:
    return float(sum(lab[cell].rate("multipath").mean() / 1e6 for cell in cells))
"""
    changed(paper, "ledger.toml", RATE, 'of_all([f"lia-{n}" for n in SIZES]) / 2')
    for head in ("", "from __future__ import annotations\n"):
        imports = "from collections.abc import Sequence\n"
        (paper / "measures.py").write_text(head + imports + text + own)
        assert opened(paper).judged["mine.table1.lia"].cells == ("lia-10", "lia-30")


def test_measures_of_modules_that_are_imported_are_found_and_read_again(paper: Path) -> None:
    changed(paper, "ledger.toml", RATE, "constant()")
    text = (paper / "measures.py").read_text()
    (paper / "measures.py").write_text("from . import more\n" + text)
    for number in (1.3, 5.0):
        body = "from anabranch.papers import measure\n\n\n@measure\ndef constant():\n"
        (paper / "more.py").write_text(f"{body}    return {number}  # {'x' * int(number)}\n")
        assert opened(paper).measures["constant"]() == number


def test_what_is_no_truth_is_not_taken_for_one(paper: Path) -> None:
    """A comparison of seeds is one for each, and users of a run are no replications."""
    old = "min = 1.22, max = 1.36, measure = '" + RATE + "'"
    text = (paper / "ledger.toml").read_text()
    for new, why in (
        (f"measure = '{RATE} > 1000'", r"write all\(...\), or compare means"),
        ('min = 0, measure = \'each_user("lia-10", "multipath")\'', "take the mean over users"),
        (f"measure = 'all({RATE} > 1000 for n in SIZES if n > 50)'", "nothing to hold"),
    ):
        (paper / "ledger.toml").write_text(text.replace(old, new))
        try:
            check(opened(paper))
            _, lab = evaluate(paper, ["mine.table1.lia"], seeds=1)
            (found,) = lab.wrong
        except LedgerError as error:
            found = str(error)
        assert re.search(why, found), found


def test_an_explanation_needs_a_truth_or_a_bound_and_points_to_hold(paper: Path) -> None:
    text = (paper / "ledger.toml").read_text()
    measure = 'mean(path("olia-10", "multipath", 1, "cwnd_segments"))'
    miss = text.replace('value = "more", min = 0', 'value = "more", min = 1000')
    cases = {
        f"measure = '{measure}', max = 2 }}": f"measure = '{{n: {measure} for n in SIZES if n > 99}}', max = 2 }}",
        "max = 2 }]": "}]",
    }
    for number, (old, new) in enumerate(cases.items()):
        (paper / "ledger.toml").write_text(miss.replace(old, new).replace(", }]", " }]"))
        if number:
            _, lab = evaluate(paper, ["mine.gain"], seeds=2)
            assert "a condition is a truth, or has min or max" in lab.wrong[0]
        else:
            (finding,), _ = evaluate(paper, ["mine.gain"], seeds=2)
            assert "no longer holds" in finding.why


def test_a_python_file_that_cannot_be_imported_is_named(paper: Path) -> None:
    (paper / "measures.py").write_text("import nothing_of_this_name\n")
    with pytest.raises(LedgerError, match=r"measures.py cannot be imported: ModuleNotFoundError"):
        check(opened(paper))


def test_an_explanation_that_no_claim_names_is_checked_too(paper: Path) -> None:
    changed(paper, "ledger.toml", 'because = ["small_gain"]\n', "")
    check(opened(paper))
    changed(paper, "ledger.toml", 'text = "OLIA keeps {path(', 'text = "OLIA keeps {paths(')
    with pytest.raises(LedgerError, match="did you mean `path`"):
        check(opened(paper))


def test_a_measures_file_that_ends_the_program_and_a_file_for_a_folder_are_errors(
    paper: Path,
) -> None:
    with pytest.raises(LedgerError, match="give the folder that has"):
        check(opened(paper / "ledger.toml"))
    (paper / "measures.py").write_text("raise SystemExit(0)\n")
    with pytest.raises(LedgerError, match="SystemExit"):
        check(opened(paper))


def test_a_scenario_that_changes_is_read_again_by_theory(paper: Path) -> None:
    """A notebook edits a file and asks again."""
    changed(paper, "ledger.toml", RATE, 'most_throughput("lia-10")')
    text = (paper / "network.toml").read_text()
    for factor in (1, 3):
        fast = text.replace('duration = "60 s"', f'duration = "{60 * factor} s"')
        (paper / "network.toml").write_text(
            fast.replace('rate = "10 Mb/s"', f'rate = "{factor}0 Mb/s"')
        )
        lab = Laboratory(opened(paper).cells)
        assert BASIC["most_throughput"](lab, "lia-10") == pytest.approx(10 + 10 * factor)


def test_cells_that_are_the_same_runs_run_once(paper: Path) -> None:
    (paper / "cells.toml").open("a").write("[[cells]]\nname = 'again'\nfrom = 'lia-10'\n")
    lab = Laboratory(opened(paper).cells, seeds=1)
    lab.run(["lia-10", "again"])
    assert lab["again"] is lab["lia-10"]


def test_a_folder_with_a_colon_in_its_name_has_cells(paper: Path) -> None:
    folder = paper.rename(paper.parent / "a:b")
    assert ab.load(f"{folder}:lia-10").plan().classes[0].count == 10


def test_a_new_paper_runs_as_it_is_and_its_cells_are_scenarios(paper: Path) -> None:
    done = anabranch("reproduce", paper, "mine.gain", "--seeds", "3", "--json", paper / "out.json")
    assert done.returncode == 0, done.stderr
    (found,) = json.loads((paper / "out.json").read_text())
    assert found["verdict"] == "reproduced" and "Mb/s more: " in found["why"]
    assert set(found["obtained"]) == {"gain at N1 = 10", "gain at N1 = 30"}
    result = ab.run(f"{paper}:lia-10", seeds=(1,))
    assert result.rate("multipath").shape == (1,)
    assert select([str(paper)]) == {str(paper): ["mine.table1.lia", "mine.gain"]}
    assert select([str(paper), "mine.gain"]) == {str(paper): ["mine.gain"]}


def test_a_cell_takes_a_law_of_the_folder_with_parameters(paper: Path) -> None:
    (paper / "half.law").write_text(
        "law half: TCP on each path\nparam beta = 0.5 in (0, 1]: the part of the window that a loss costs\n\n"
        "growth  = 1 / w\nbackoff = w * (1 - beta)\n"
    )
    changed(paper, "cells.toml", 'controller = "{law}"', 'controller = "half.law:beta=0.4"')
    check(opened(paper))
    findings, lab = evaluate(paper, ["mine.table1.lia"], seeds=2)
    assert findings[0].verdict != "not_run"
    assert lab["lia-10"].plan.classes[0].controller.endswith("half:beta=0.4")


def test_a_new_paper_needs_a_free_name_that_is_a_key(paper: Path) -> None:
    for name, why in (("mine", "is there already"), ("My paper", "is no key")):
        done = anabranch("paper", "new", name, "--in", paper.parent)
        assert done.returncode == 2 and why in done.stderr


@pytest.mark.parametrize("key", PAPERS)
def test_the_shipped_papers_have_that_form_and_nothing_is_wrong_in_them(key: str) -> None:
    check(PAPERS[key])
    jsonschema_rs.meta.validate(schema())


TABLES = st.recursive(
    st.one_of(st.integers(), st.text(max_size=6), st.lists(st.integers(), max_size=2)),
    lambda inner: st.dictionaries(st.text("abc_- .", min_size=1, max_size=4), inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(st.text("abc", min_size=1, max_size=3), TABLES, max_size=4))
def test_every_entry_of_a_file_is_found_in_its_line(tables: dict[str, object]) -> None:
    import tomli_w

    text = tomli_w.dumps(tables)

    def visit(
        value: object, path: list[str | int], check: Callable[[list[str | int]], None]
    ) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                check([*path, key])
                visit(inner, [*path, key], check)

    lines = text.splitlines()

    def check(path: list[str | int]) -> None:
        line = lines[line_of(text, path) - 1]
        value: object = tables
        for key in path:
            value = value[key]  # type: ignore[index]
        if not isinstance(value, dict):
            assert "=" in line, (path, text)

    visit(tables, [], check)

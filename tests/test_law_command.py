"""`anabranch law`, and laws in files where other commands take a controller."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anabranch as ab
from anabranch import _core
from anabranch.cli import lawcheck
from anabranch.theory import properties
from anabranch.written import shipped_laws
from test_cli import anabranch

SHORT = ["--set", "duration=10 s", "--set", "warmup=2 s", "-n", "2"]

RENO = "growth = 1/w\nbackoff = w/2\n"

BROKEN = {
    "more": (
        "growth = 2/w\nbackoff = w/2\n",
        {
            "one path is TCP": ("growth is 2 segments for a window of ACKs", [1.0]),
            "no more than TCP": ("path 0 grows by 2 segments for a window of ACKs", [1.0]),
        },
    ),
    "timid": (
        "growth = 1/w\nbackoff = w - w/4\n",
        {"one path is TCP": ("a loss leaves 0.75 of the window, and TCP leaves 0.5", [1.0])},
    ),
    "seconds": (
        "growth = if n == 1 then 1/w else min(rtt, 1)/w_tot\nbackoff = w/2\n",
        {
            "scale-free in time": (
                "growth of path 0 is 0.05, and 0.5 where all round trips are ten times as long",
                [1.0, 1.0],
            )
        },
    ),
    "order": (
        "# what comes first is lost beside 1e16, and what comes last is not\n"
        "spill = if w_tot > n then sum_s(if w_s > 1.5 then 1e16 else 1) - 1e16 else 1\n"
        "growth = if n == 1 then 1/w else min(max(spill, 0), 1)/w_tot\nbackoff = w/2\n",
        {"order is nothing": ("growth of path 0 is ", [1.0, 1.0, 2.0])},
    ),
    "shrinking": (
        "growth = if n == 1 then 1/w else -1/w\nbackoff = w/2\n",
        {"somebody grows": ("every path shrinks, the first one by 1 segments", [1.0, 1.0])},
    ),
    "deaf": (
        "growth = if n == 1 then 1/w else 1/w_tot\nbackoff = if n > 2 then w else w/2\n",
        {"losses reduce": ("a loss on path 0 leaves 1 of 1 segments", [1.0, 1.0, 1.0])},
    ),
    "bursting": (
        "growth = if n > 1 and w > 5 then 3 else 1/w\nbackoff = w/2\n",
        {
            "no more than TCP": ("path 1 grows by 30 segments", [1.0, 10.0]),
            "windows stay finite": ("path 1 gains 3 segments for one that", [1.0, 10.0]),
        },
    ),
}
"""Laws in text, and of each property that one breaks what happens and the windows of the smallest
example."""

NOT_GRAVE = "no more than TCP"
"""What laws that ship break too."""


def law_file(folder: Path, text: str, name: str = "my.law") -> str:
    """A law in a file."""
    file = folder / name
    file.write_text(text)
    return str(file)


def said(done: subprocess.CompletedProcess[str]) -> str:
    """What a command printed, without the lines of tables and where these break."""
    return " ".join(re.sub(r"[│┃]", " ", done.stdout).split())


def checked(*words: str) -> tuple[int, dict[str, Any]]:
    """Status and JSON of a check."""
    done = anabranch("law", "check", *words, "--json", "-")
    assert "Traceback" not in done.stderr
    content: dict[str, Any] = json.loads(done.stdout)
    return done.returncode, content


# check


def test_a_law_that_keeps_all_is_said_to_hold() -> None:
    done = anabranch("law", "check", "gentle")
    assert (done.returncode, done.stderr) == (0, "")
    out = said(done)
    assert out.startswith("gentle: linked increases;")
    assert "beta 0.5 0.5 (0, 1] a loss costs" in out
    for name, *_ in properties.PROPERTIES:
        assert f"{name} holds" in out
    assert "broken" not in out and "not so" not in out
    for network in ("shared-bottleneck", "two-bottlenecks", "scenario-c"):
        assert re.search(rf"khalili/{network} \w+ \d+\.\d{{3}}, \S+ ", out)
    assert "kernel: growth in integer arithmetic has an error of at most " in out


def test_the_check_of_a_law_is_written_as_json(tmp_path: Path) -> None:
    status, content = checked("gentle")
    assert status == 0 and content["kind"] == "anabranch law check"
    assert content["law"]["label"] == "gentle" and content["law"]["text"] == ab.Law.load("gentle")
    assert [one["property"] for one in content["properties"]] == [
        name for name, *_ in properties.PROPERTIES
    ]
    assert all(one["holds"] and "example" not in one for one in content["properties"])
    rates = {one["network"]: one["rates_mbps"] for one in content["networks"]}
    assert len(rates) == 3
    assert rates["khalili/scenario-c"]["multipath"] > rates["khalili/scenario-c"]["single-path"]
    file = tmp_path / "check.json"
    done = anabranch("law", "check", "gentle", "--json", str(file))
    assert (done.returncode, json.loads(file.read_text())) == (0, content)


@pytest.mark.parametrize("name", BROKEN)
def test_a_law_that_breaks_something_gets_status_1_and_the_smallest_example(
    tmp_path: Path, name: str
) -> None:
    text, expected = BROKEN[name]
    status, content = checked(law_file(tmp_path, text))
    assert status == int(any(broken != NOT_GRAVE for broken in expected))
    found = {one["property"]: one["example"] for one in content["properties"] if not one["holds"]}
    assert {broken: example["windows_segments"] for broken, example in found.items()} == {
        broken: windows for broken, (_, windows) in expected.items()
    }
    for broken, (what, windows) in expected.items():
        assert what in found[broken]["what"]
        assert found[broken]["rtts_s"] == [0.1] * len(windows)
        assert found[broken]["losses"] == [0.01] * len(windows)


def test_the_example_stands_beside_what_it_breaks(tmp_path: Path) -> None:
    done = anabranch("law", "check", law_file(tmp_path, BROKEN["more"][0]))
    assert (done.returncode, done.stderr) == (1, "")
    out = said(done)
    growth = "growth is 2 segments for a window of ACKs, and that of TCP is 1"
    assert f"one path is TCP broken {growth}, at w 1, rtt 100 ms, p 0.01" in out
    assert "no more than TCP not so path 0 grows by 2 segments" in out
    assert "losses reduce holds a loss makes the window smaller" in out


def test_more_than_tcp_on_several_paths_alone_is_not_grave(tmp_path: Path) -> None:
    text = "growth = if n == 1 then 1/w else 1.5/w\nbackoff = w/2\n"
    status, content = checked(law_file(tmp_path, text))
    broken = [one["property"] for one in content["properties"] if not one["holds"]]
    assert (status, broken) == (0, [NOT_GRAVE])


def test_parameters_behind_a_law_are_those_that_are_checked(tmp_path: Path) -> None:
    for law in ("gentle:beta=0.3", f"{law_file(tmp_path, ab.Law.load('gentle'))}:beta=0.3"):
        status, content = checked(law)
        assert content["law"]["label"] == "gentle:beta=0.3"
        assert status == 1  # on one path it is no TCP
        assert content["properties"][0]["example"]["what"].startswith("growth is 0.6 segments")


@pytest.mark.parametrize("name", shipped_laws())
def test_no_law_that_ships_as_text_breaks_what_is_called_grave(name: str) -> None:
    found = properties.checked(ab.Law.load(name))
    assert [one.name for one in found if one.broken and one.broken.grave] == []


@pytest.mark.parametrize("name", ["lia", "olia"])
def test_a_shipped_law_keeps_and_breaks_the_same_as_its_text(name: str) -> None:
    text, shipped = (properties.checked(law) for law in (ab.Law.load(name), name))
    for one, other in zip(text, shipped, strict=True):
        assert one.name == other.name and (one.broken is None) == (other.broken is None)
        if one.broken and other.broken:
            assert one.broken.what == other.broken.what
            np.testing.assert_array_equal(one.broken.state.windows, other.broken.state.windows)


def test_a_law_that_the_kernel_cannot_run_says_why(tmp_path: Path) -> None:
    text = "growth = if n == 1 then 1/w else exp(-w)/w_tot\nbackoff = w/2\n"
    done = anabranch("law", "check", law_file(tmp_path, text))
    assert "kernel: the law, line 1, character 34: the kernel has no exponential" in said(done)


def test_a_law_without_a_fixed_point_has_no_rates_and_says_why() -> None:
    text = "growth = if n == 1 then 1/w else 1/w_tot\nbackoff = if n == 1 then w/2 else w\n"
    with np.errstate(all="ignore"):
        found = lawcheck.rest(ab.Law(text), "khalili/scenario-c")
    assert found.rates_mbps == {} and found.verdict == "no fixed point"
    assert "no equilibrium of 'scenario-c' found" in found.why


# show, list and c


def test_a_law_that_is_shown_reads_back(tmp_path: Path) -> None:
    done = anabranch("law", "show", "gentle")
    assert (done.returncode, done.stderr) == (0, "")
    file = law_file(tmp_path, done.stdout)
    assert ab.Law.load(file) == ab.Law.load("gentle")
    assert anabranch("law", "show", file).stdout == done.stdout
    changed = anabranch("law", "show", f"{file}:beta=0.3+hystart").stdout
    assert ab.Law(changed).name == "gentle:beta=0.3+hystart"
    assert ab.Law.load(law_file(tmp_path, changed, "changed.law")).name == ab.Law(changed).name


def test_what_is_shown_ends_with_a_line() -> None:
    assert anabranch("law", "show", "gentle:beta=0.3").stdout.endswith("\n")


def test_every_law_that_ships_as_text_is_listed() -> None:
    done = anabranch("law", "list")
    assert (done.returncode, done.stderr) == (0, "")
    out = said(done)
    assert "beta (0, 1] docs/how-to/write-a-law.md" in out
    for name in shipped_laws():
        assert f" {name} {' '.join(_core.law(ab.Law.load(name))['summary'].split()[:3])}" in out


def test_a_law_is_printed_as_the_c_that_the_kernel_runs(tmp_path: Path) -> None:
    done = anabranch("law", "c", "gentle")
    assert (done.returncode, done.stderr) == (0, "")
    expected = _core.law_c(ab.Law.load("gentle"))
    assert done.stdout == expected["c"]
    for line in (
        "AB_FUNCTION ab_s64 ab_growth(const struct ab_views *v)",
        "AB_FUNCTION ab_s64 ab_backoff(const struct ab_views *v)",
        f"Error of growth: at most {expected['relative']} u of growth",
        "#define AB_MIN_SSTHRESH 2 /*",
    ):
        assert line in done.stdout
    file = law_file(tmp_path, f"min_ssthresh = 1\n{ab.Law.load('gentle')}")
    changed = anabranch("law", "c", f"{file}:beta=0.3").stdout
    assert "#define AB_MIN_SSTHRESH 1 /*" in changed and changed != done.stdout
    done = anabranch("law", "c", law_file(tmp_path, "growth = exp(-w)\nbackoff = w/2"))
    assert done.returncode == 2 and done.stdout == ""
    assert "line 1, character 10: the kernel has no exponential function" in done.stderr


# What is wrong


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["check", "cubic"], "there is no file or shipped law 'cubic'; those that ship are balia"),
        (["show", "none.law"], "the law none.law cannot be read: No such file"),
        (["c", "gentle:beta=2"], "beta is 2; it lies in (0, 1]"),
        (["check", "gentle:bta=0.3"], "no parameter `bta`; did you mean `beta`?"),
        (
            ["check", "gentle", "--json", "/no/such/place/x.json"],
            "/no/such/place does not exist; make the directory first",
        ),
        (["check", "gentle:beta=0.5+hystrat"], "did you mean `hystart`?"),
        (["chekc", "gentle"], "chekc"),
    ],
)
def test_wrong_input_gets_a_clear_error_and_status_2(words: list[str], why: str) -> None:
    done = anabranch("law", *words)
    assert done.returncode == 2 and done.stdout == ""
    assert why in done.stderr and "Traceback" not in done.stderr


def test_a_mistake_in_a_file_is_said_with_file_line_and_character(tmp_path: Path) -> None:
    file = law_file(tmp_path, "law mine\ngrowth = 1/w_tto\nbackoff = w/2\n")
    for command in ("check", "show", "c"):
        done = anabranch("law", command, file)
        assert done.returncode == 2
        assert f"{file}:2:12: nothing is called `w_tto`; did you mean `w_tot`?" in done.stderr
        assert "    growth = 1/w_tto\n               ^^^^^\n" in done.stderr


@pytest.mark.parametrize("command", ["check", "show", "c"])
def test_an_unknown_law_offers_the_one_that_was_meant(command: str) -> None:
    done = anabranch("law", command, "gentel")
    assert done.returncode == 2 and "did you mean `gentle`?" in done.stderr


def test_a_slow_start_may_stand_behind_the_name_of_a_law_that_ships() -> None:
    done = anabranch("law", "show", "gentle+hystart")
    assert done.returncode == 0 and ab.Law(done.stdout).name == "gentle+hystart"


# Other commands


def test_values_in_braces_are_compared_as_laws_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    law_file(tmp_path, ab.Law.load("gentle"))
    monkeypatch.chdir(tmp_path)
    given = ["compare", "khalili/scenario-c", "--controllers", "my.law:beta={0.2,0.8}"]
    done = anabranch(*given, *SHORT, "--json", "c.json")
    assert (done.returncode, done.stderr) == (0, "")
    out = said(done)
    for users in ("multipath", "single-path"):
        assert re.search(rf"{users} gentle:beta=0\.2 [\d.]+ .* gentle:beta=0\.8 [\d.]+ ", out)
    assert "differences to gentle:beta=0.2 are means" in out
    content = json.loads((tmp_path / "c.json").read_text())
    assert list(content["controllers"]) == ["gentle:beta=0.2", "gentle:beta=0.8"]
    for label, one in content["controllers"].items():
        assert one["plan"]["classes"][0]["controller"] == label
        assert ab.Law(one["plan"]["classes"][0]["law"]).name == label
    assert {one["controller"] for one in content["differences"]} == {"gentle:beta=0.8"}


@pytest.mark.parametrize(
    ("controllers", "why"),
    [
        ("my.law:beta={0.2,0.20}", "names gentle:beta=0.2 more than once"),
        ("my.law:beta={0.2}", "write two or more names, such as lia,olia or my.law:beta={0.2,0.5}"),
        ("lia,my.law:beta={0.2,2}", "my.law:9:13: beta is 2; it lies in (0, 1]"),
        ("my.law,yours.law", "the law yours.law cannot be read"),
    ],
)
def test_a_wrong_list_of_laws_is_refused_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, controllers: str, why: str
) -> None:
    law_file(tmp_path, ab.Law.load("gentle"))
    monkeypatch.chdir(tmp_path)
    done = anabranch("compare", "khalili/scenario-c", "--controllers", controllers)
    assert (done.returncode, done.stdout) == (2, "") and why in done.stderr


def test_run_and_theory_take_the_file_of_a_law_by_its_label(tmp_path: Path) -> None:
    law = f"{law_file(tmp_path, ab.Law.load('gentle'))}:beta=0.3"
    file = tmp_path / "r.json"
    words = ["khalili/scenario-c", "-c", law, "--json", str(file)]
    for command in (["run", *words, *SHORT], ["theory", *words]):
        done = anabranch(*command)
        assert done.returncode == 0 and "multipath gentle:beta=0.3 10 " in said(done)
        assert ab.Result.load(file).plan.classes[0].controller == "gentle:beta=0.3"

"""`anabranch theory` with its fluid model, fair allocations and maps."""

import json
import os
import re
import subprocess
import sys

import pytest

from anabranch.cli import main

DROPTAIL = """
name = "plain"
duration = "10 s"
link = [{ name = "wire", rate = "10 Mb/s", delay = "20 ms" }]
flow = [{ name = "a", controller = "reno", path = [{ links = ["wire"] }] }]
"""

UNLIMITED = """
name = "unlimited"
duration = "10 s"
link = [{ name = "wire", delay = "20 ms" }]
flow = [{ name = "a", controller = "reno", path = [{ links = ["wire"] }] }]
"""


@pytest.fixture
def theory(monkeypatch, capsys):
    """Runs the command as a user does, in this process; gives status, output and errors."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["anabranch", "theory", *map(str, words)])
        try:
            main()
            status = 0
        except SystemExit as done:
            status = int(done.code or 0)
        out = capsys.readouterr()
        return status, out.out, out.err

    return run


def test_fluid_shows_eigenvalues_verdicts_and_times_and_keeps_them(theory, tmp_path):
    file = tmp_path / "a.json"
    status, out, err = theory("khalili/scenario-c", "--fluid", "--json", file)
    assert status == 0, err
    assert "without delay stable, with delay unstable" in out
    assert "every window at one segment" in out and "RED's average of ap2" in out
    kept = json.loads(file.read_text())["theory"]["fluid"]
    assert kept["without_delay"] == "stable" and len(kept["eigenvalues_per_s"]) == 7
    assert all(0.0 < seconds < 10.0 for seconds in kept["settles_s"].values())


def test_a_law_that_jumps_is_said_to_be_interpolated(theory):
    _, out, _ = theory("khalili/scenario-a", "--controller", "olia", "--fluid")
    assert "olia jumps where paths tie" in out and "within 5 %" in out


def test_fair_allocations_stand_beside_the_equilibrium(theory, tmp_path):
    file = tmp_path / "a.json"
    words = ["--alpha", "2", "--maxmin", "--pareto", "--rtt", "base", "--json", file]
    status, out, err = theory("khalili/scenario-a", *words)
    assert status == 0, err
    assert "α = 2" in out and "max-min" in out and "dominating" in out
    assert "not Pareto-optimal: type2 could get 35.3 % more" in out  # 1/0.739 - 1
    kept = json.loads(file.read_text())["theory"]
    assert kept["fair"]["max-min"]["throughput_bps"]["type2"] == pytest.approx(1e6, rel=1e-6)
    assert kept["pareto"]["headroom"] == pytest.approx(0.353, abs=1e-3)


def test_an_optimal_equilibrium_is_said_to_be_one(theory):
    _, out, _ = theory("khalili/scenario-c", "--pareto")
    assert "is Pareto-optimal" in out and "dominating" not in out


def test_a_law_with_several_steady_states_is_answered_with_a_stable_one(theory, tmp_path):
    file = tmp_path / "a.json"
    words = ["khalili/shared-bottleneck", "--controller", "balia"]
    status, out, err = theory(*words, "--all", "--json", file)
    assert status == 0, err
    assert "3 steady states found, 2 stable, 1 unstable" in out
    assert "Steady states, per user" in out and out.count("unstable") == 3
    kept = json.loads(file.read_text())["theory"]
    answer, *others = kept["steady_states"]
    assert answer["windows_segments"] == kept["equilibrium"]["windows_segments"]
    assert [each["stability"] for each in others] == ["stable", "unstable"]
    assert "; --all shows each" in theory(*words)[1]


def test_compare_says_where_theory_has_several_answers(monkeypatch, capsys):
    words = ["khalili/shared-bottleneck", "--controller", "balia", "--repeat", "2"]
    short = ["--set", "duration=12 s", "--set", "warmup=4 s", "--tolerance", "9"]
    monkeypatch.setattr(sys, "argv", ["anabranch", "compare", *words, *short])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    assert "theory: 3 steady states found, 2 stable" in " ".join(capsys.readouterr().out.split())


def test_a_law_with_one_steady_state_says_so(theory):
    _, out, _ = theory("khalili/scenario-c")
    assert "one steady state found; it is stable" in out and "--all" not in out


def test_a_link_with_room_has_neither_a_loss_nor_a_price(theory):
    _, out, _ = theory("khalili/scenario-b-before", "--utility", "tcp")
    rows = [line.replace("│", " ").split() for line in out.splitlines()]
    assert ["z", "38.301", "0", "0", "0"] in rows


def test_max_min_says_where_each_class_is_limited(theory):
    _, out, _ = theory("khalili/scenario-a", "--maxmin")
    assert "max-min, limited by: type2 at ap, type1 at server" in out


def test_a_portrait_is_drawn_into_its_file(theory, tmp_path):
    file = tmp_path / "phase.png"
    words = ["--portrait", file, "--axes", "multipath.1,queue:ap2"]
    status, out, err = theory("khalili/scenario-c", *words)
    assert status == 0, err
    assert file.read_bytes().startswith(b"\x89PNG") and "Eigenvalues" not in out


def test_a_map_is_printed_drawn_and_kept(theory, tmp_path):
    picture, file = tmp_path / "map.svg", tmp_path / "map.json"
    words = ["--map", "link.ap1.rate=5..15:3 Mb/s", "--map", "flow.multipath.count=5,10"]
    status, out, err = theory("khalili/scenario-c", *words, "--out", picture, "--json", file)
    assert status == 0, err
    assert "Rate per user (Mb/s): multipath" in out and "link.ap1.rate →" in out
    assert picture.read_text().startswith("<?xml")
    kept = json.loads(file.read_text())["theory"]["what_if"]
    assert kept["axes"][0]["values"] == ["5 Mb/s", "10 Mb/s", "15 Mb/s"]
    assert kept["throughput_bps"][1][1][0] == pytest.approx(1.301e6, rel=1e-3)


@pytest.mark.parametrize(
    ("words", "note"),
    [
        (["flow.multipath.controller=lia,olia,balia"], "scenario-c · equilibrium"),
        (
            ["flow.multipath.controller=lia,olia", "link.ap1.rate=5 Mb/s,9 Mb/s"],
            "scenario-c · equi",
        ),
        (
            ["flow.multipath.controller=olia", "flow.multipath.count=5,10"],
            "-c · olia · equilibrium",
        ),
        (["flow.single-path.controller=reno,ewtcp"], "scenario-c · balia · equilibrium"),
        (["flow.multipath.count=5,10"], "scenario-c · balia · equilibrium"),
    ],
)
def test_a_map_says_the_controller_below_it_only_where_all_cells_have_it(
    theory, tmp_path, words, note
):
    picture = tmp_path / "map.svg"
    maps = [word for axis in words for word in ("--map", axis)]
    status, _, err = theory("khalili/scenario-c", "-c", "balia", *maps, "--out", picture)
    assert status == 0, err
    assert note in picture.read_text()


def test_a_map_over_controllers_takes_the_values_of_a_laws_parameter_in_braces(theory, tmp_path):
    law, picture = tmp_path / "mine.law", tmp_path / "map.svg"
    law.write_text("param beta = 1; growth = beta/w; backoff = w/2; law mine")
    words = ["--map", f"flow.multipath.controller=lia,{law}:beta={{0.2,0.5}}", "--out", picture]
    status, out, err = theory("khalili/scenario-c", *words)
    assert status == 0, err
    assert "mine.law:beta=0.2" in out and "mine.law:beta=0.5" in out
    assert "mine.law:beta=0.5" in picture.read_text()


@pytest.mark.parametrize("second", [[], ["--map", "link.ap1.rate=5 Mb/s,10 Mb/s"]])
def test_all_numbers_of_a_map_have_the_same_decimals(theory, second):
    words = ["--map", "flow.multipath.count=5,10,30", *second]
    status, out, err = theory("khalili/scenario-c", *words)
    assert status == 0, err
    shown = re.findall(r"\d+\.(\d+)", out.split("Rate per user", 1)[1])
    assert len(shown) >= 6 and {len(places) for places in shown} == {4}, out


def test_a_single_parameter_is_a_table_with_a_column_for_each_class(theory):
    status, out, _ = theory(
        "khalili/scenario-c", "--map", "flow.multipath.count=5,10", "--of", "jain"
    )
    assert status == 0
    assert "Jain's index" in out and "flow.multipath.count" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--alpha", "-1"], "alpha is -1; it is from 0 to 32"),
        (["--portrait", "phase.txt"], "must end in one of"),
        (["--portrait", "/no/such/folder/phase.png"], "/no/such/folder"),
        (["--axes", "multipath.0,multipath.1"], "--portrait"),
        (["--portrait", "phase.png", "--axes", "multipath.0"], "write two"),
        (["--portrait", "phase.png", "--axes", "multipath.0,moon.1"], "no axis 'moon.1'"),
        (["--fluid", "--rtt", "base"], "leave --rtt out"),
        (["--out", "map.png"], "say of what with --map"),
        (["--map", "link.ap1.rate"], "write KEY=V1,V2"),
        (["--map", "a.b=1,2"] * 3, "one or two axes"),
        (["--map", "link.ap9.rate=1 Mb/s,2 Mb/s"], "ap9"),
        (["--map", "flow.multipath.count=1,2", "--of", "delay"], "rate, total, jain"),
        (["--map", "flow.multipath.count=1,2", "--out", "map.txt"], "must end in one of"),
        (["--set", "flow.multipath.controller=nonesuch"], "nonesuch"),
        (["--controller", "bbr"], "the controller 'bbr' has no drift"),
        (["--controller", "cubic", "--fluid"], "the controller 'cubic' has no drift"),
    ],
)
def test_wrong_words_end_with_status_two_and_say_what_would_be_right(
    words, message, theory, tmp_path, monkeypatch
):
    source = os.path.abspath("scenarios/khalili/scenario-c.toml")
    monkeypatch.chdir(tmp_path)
    status, out, err = theory(source, *words)
    assert status == 2
    assert message in err and "Traceback" not in err and not out
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        (DROPTAIL, ["--fluid"], "'wire' is congested and its queue is droptail"),
        (UNLIMITED, [], "its window grows without bound"),
    ],
)
def test_what_theory_cannot_answer_ends_with_status_two(text, words, message, theory, tmp_path):
    file = tmp_path / "s.toml"
    file.write_text(text)
    status, _, err = theory(file, *words)
    assert status == 2
    assert message in err and "Traceback" not in err


def test_help_has_examples_and_imports_nothing_heavy():
    code = (
        "import sys; sys.argv = ['anabranch', 'theory', '--help']\n"
        "from anabranch.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print([name for name in ('numpy', 'scipy', 'cvxpy', 'matplotlib') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "--portrait phase.png" in done.stdout and "--maxmin" in done.stdout
    assert done.stdout.strip().endswith("[]")

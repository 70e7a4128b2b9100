"""Laws that are written as text: what a text says, where it is wrong, and that it is the same law
as the shipped one wherever a controller goes.
"""

from __future__ import annotations

import copy
import pickle
import re
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import anabranch as ab
from anabranch import _core, theory
from anabranch.theory import balance
from anabranch.written import shipped_laws

GENTLE = """\
law gentle: linked increases; a loss costs the less the more paths there are
param beta = 0.5 in (0, 1]: a loss costs beta/n of the window
growth  = 2*beta
          / (n^2 * w_tot)  # a line that begins with a blank belongs to the one before
backoff = w * (1 - beta/n)
"""

RENO = "growth = 1/w\nbackoff = w/2\n"

SHORT = ["duration=10 s", "warmup=2 s"]

SCENARIO = "khalili/scenario-c"

MOST_SECONDS = 1.0
"""For an error, whatever the text."""


def refusal(text: str) -> tuple[str, str, int]:
    """What is said of a text that is no law, what stands above the carets, and in which line.

    Place, excerpt and carets of the error agree with each other and with the text.
    """
    begun = time.perf_counter()
    with pytest.raises(ab.ScenarioError) as wrong:
        ab.Law(text)
    assert time.perf_counter() - begun < MOST_SECONDS
    head, shown, carets = str(wrong.value).split("\n")
    place = re.fullmatch(r"the law, line (\d+), character (\d+): (.*)", head)
    assert place is not None, head
    line, character = int(place[1]), int(place[2])
    assert carets.strip(" ") and set(carets) <= {" ", "^"}
    marked = shown[carets.index("^") : carets.rindex("^") + 1]
    assert text.split("\n")[line - 1][character - 1 :].startswith(marked)
    return place[3], marked, line


def placed(paths: int, seed: int) -> NDArray[np.float64]:
    """Log windows, log losses and log round trips of a few paths."""
    random = np.random.default_rng(seed)
    w, p, rtt = (
        random.uniform(low, high, paths) for low, high in ((2, 60), (1e-3, 0.1), (0.01, 0.3))
    )
    return np.asarray(np.log(np.concatenate([w, p, rtt])))


def digest(controller: str, *, seed: int = 1) -> str:
    """Of every event of a short run."""
    return ab.run(SCENARIO, seeds=(seed,), controller=controller, overrides=SHORT).runs[0].digest


# What a text says.


def test_a_law_has_the_parameters_of_its_text_and_a_name_that_says_which_differ() -> None:
    gentle = ab.Law(GENTLE)
    assert isinstance(gentle, str) and gentle == GENTLE
    assert gentle.parameters == {"beta": 0.5} and gentle.name == "gentle"
    changed = gentle(beta=0.3)
    assert changed.parameters == {"beta": 0.3} and changed.name == "gentle:beta=0.3"
    assert changed(beta=0.5).name == "gentle"
    assert gentle() is gentle and gentle.parameters == {"beta": 0.5}
    assert "gentle:beta=0.3" in repr(changed) and "\n" not in repr(changed)


def test_parameters_stand_in_the_name_in_the_order_of_the_text() -> None:
    law = ab.Law(f"law two\nparam b = 1\nparam a = 2 in [0, inf)\nparam c = -1e-3\n{RENO}")
    assert law.name == "two" and list(law.parameters) == ["b", "a", "c"]
    assert law(a=3, c=0.25, b=-4.5).name == "two:b=-4.5,a=3,c=0.25"
    assert law(a=3, b=1).name == "two:a=3"


def test_a_law_is_a_law_again_after_it_was_copied_or_sent_to_another_process() -> None:
    law = ab.Law(GENTLE)(beta=0.3)
    for again in (pickle.loads(pickle.dumps(law)), copy.deepcopy(law)):
        assert type(again) is ab.Law and again == law and again.name == "gentle:beta=0.3"


def test_a_law_in_one_line_or_with_the_line_ends_of_windows_is_the_same() -> None:
    state = np.array([3.0, 40.0]), np.array([0.02, 0.2]), np.array([0.01, 0.002])
    plain = GENTLE.partition("\n")[2].replace(": a loss costs beta/n of the window", "")
    plain = re.sub(r"\n +| *#.*", "", plain).strip()
    for text in (GENTLE.replace("\n", "\r\n"), plain.replace("\n", "; ")):
        law = ab.Law(text)
        assert law.parameters == {"beta": 0.5}
        for formula in (_core.growth, _core.backoff):
            np.testing.assert_array_equal(formula(law, *state), formula(GENTLE, *state))


def test_with_lines_set_parameters_wherever_they_stand_and_the_last_one_counts() -> None:
    assert ab.Law(f"with beta = 0.3\n{GENTLE}").name == "gentle:beta=0.3"
    assert ab.Law(f"{GENTLE}with beta = 0.3\nwith beta = 0.25").parameters == {"beta": 0.25}
    assert ab.Law(f"{GENTLE}with beta = 0.3")(beta=0.2).name == "gentle:beta=0.2"
    assert ab.Law(f"{GENTLE}with slow_start = hystart").name == "gentle+hystart"
    both = f"{GENTLE}with slow_start = hystart\nwith beta = 1"
    assert ab.Law(both).name == "gentle:beta=1+hystart"
    assert ab.Law(f"{GENTLE}with arithmetic = kernel").name == "kernel:gentle"
    assert ab.Law(f"{GENTLE}with arithmetic = real").name == "gentle"


# Where a text is wrong.


@pytest.mark.parametrize(
    ("text", "said", "marked", "line"),
    [
        ("", "the law has no `growth`", "", 1),
        ("growth = 1/w\n", "has no `backoff`: add a line such as `backoff = w/2`", "", 2),
        ("backoff = w/2", "has no `growth`: add a line such as `growth = 1/w`", "", 1),
        ("growth = 1/w_tto\nbackoff = w/2", "did you mean `w_tot`?", "w_tto", 1),
        ("big = w\ngrowth = 1/bgi\nbackoff = w/2", "did you mean `big`?", "bgi", 2),
        (f"{RENO}other = quality", "nothing is called `quality`; in a formula", "quality", 3),
        ("growth = 1/w\n  + mx(1, 2)\nbackoff = w/2", "did you mean `max`?", "mx", 2),
        ("growth = sum(w)\nbackoff = w/2", "needs the letter of a path, as in `sum_s", "sum", 1),
        ("growth = 1/w_s\nbackoff = w/2", "no path is called `s` here", "w_s", 1),
        ("growth = max_s(w)\nbackoff = w/2", "does not depend on path `s`", "w", 1),
        ("growth = sum_s(sum_s(w_s))\nbackoff = w/2", "is a path already", "sum_s(w_s)", 1),
        ("growth = is_largest(n)/w\nbackoff = w/2", "the same number for every path", "n", 1),
        ("growth = p\nbackoff = w/2", "`p` is not known in a formula", "p", 1),
        (f"{RENO}note a = 0\non ack: a = w", "not known in an update on ack", "w", 4),
        (f"{RENO}note age = 0\non loss: aeg = 1", "did you mean `age`?", "aeg", 4),
        (f"{RENO}on tick: a = 1", "no event `tick`; there are `ack` and `loss`", "tick", 3),
        (f"{GENTLE}with bta = 0.3", "no parameter `bta`; did you mean `beta`?", "bta", 6),
        (f"{RENO}with beta = 0.3", "no parameter `beta`; the law has none", "beta", 3),
        (f"{GENTLE}with beta = 2", "beta is 2; it lies in (0, 1]", "2", 6),
        (f"{GENTLE}with beta = half", "`half` is no number", "half", 6),
        (f"{GENTLE}with arithmetic = krenel", "it is real or kernel", "krenel", 6),
        (f"param beta = 0 in (0, 1]\n{RENO}", "beta is 0; it lies in (0, 1]", "0", 1),
        (f"param beta = 1 in [2, 1]\n{RENO}", "`[2, 1]` is no interval", "[2, 1]", 1),
        (f"param w = 1\n{RENO}", "`w` means something already", "w", 1),
        (f"min = 1\n{RENO}", "`min` is a word of the language", "min", 1),
        (f"a_s = 1\n{RENO}", "would be `a` of path `s`", "a_s", 1),
        (f"{RENO}{RENO}", "`growth` is declared already", "growth", 3),
        (f"{RENO}law one\nlaw two", "the law has a name already", "two", 4),
        (f"{RENO}min_ssthresh = 0.5", "is 0.5; it is 1 segment at least", "0.5", 3),
        ("growth = w > 2\nbackoff = w/2", "`growth` is a condition", "w > 2", 1),
        ("growth = if w then 1 else 2\nbackoff = w/2", "a condition such as", "w", 1),
        ("growth = (w > 2)*3\nbackoff = w/2", "and a number belongs here", "(w > 2)", 1),
        ("growth = 1 = w\nbackoff = w/2", "`=` compares nothing: write `==`", "=", 1),
        ("growth = 1 < w < 2\nbackoff = w/2", "comparisons do not chain", "<", 1),
        ("growth = min(w)/w\nbackoff = w/2", "over all paths it is `min_s`", "min(w)", 1),
        ("growth = 1e400/w\nbackoff = w/2", "`1e400` is no number", "1e400", 1),
        ("growth = (1/w\nbackoff = w/2", "stands where an operator or `)` should", "", 1),
        ("growth = 1/w\nbackoff = w/2 € 3", "`€` means nothing", "€", 2),
        ("β = 2\ngrowth = β/ww\nbackoff = w/2", "nothing is called `ww`", "ww", 2),
    ],
)
def test_a_mistake_is_said_with_its_place_and_what_would_be_right(
    text: str, said: str, marked: str, line: int
) -> None:
    why, found, place = refusal(text)
    assert said in why and (found.rstrip(), place) == (marked, line)


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        ("1/(w - 1)", "the divisor may be zero: it lies from 0"),
        ("1/(n - sum_s(w_s))", "the divisor may be zero"),
        ("1/count_s(w_s > 2)", "the divisor may be zero"),
        ("1/l", "the divisor may be zero"),
        ("l^-2", "the divisor may be zero"),
        ("sqrt(w - 5)", "the root may be of a negative number"),
        ("ln(w - 1)", "the logarithm may be of a number that is not above zero"),
        ("l^0.5", "the power may be of a number that is not above zero"),
    ],
)
def test_what_may_be_no_number_somewhere_is_refused_and_a_bound_mends_it(
    formula: str, said: str
) -> None:
    why, marked, line = refusal(f"a = 1\ngrowth = a/w + {formula}\nbackoff = w/2")
    assert said in why and "max(…, 1)" in why
    assert (marked.strip("()"), line) == (formula.strip("()"), 2)
    bounded = re.sub(r"w - \d|n - .*(?=\)$)|count.*|\bl\b", r"max(\g<0>, 1)", formula)
    ab.Law(f"a = 1\ngrowth = a/w + {bounded}\nbackoff = w/2")


@pytest.mark.parametrize("formula", ["1/0", "sqrt(-1)", "ln(0)", "(-2)^0.5", "1/none", "0/0"])
def test_what_is_no_number_anywhere_is_refused_too(formula: str) -> None:
    why, marked, line = refusal(f"param none = 0\ngrowth = 1/w + {formula}\nbackoff = w/2")
    assert (marked.strip("()"), line) == (formula.strip("()"), 2) and why


@pytest.mark.parametrize(
    ("definitions", "marked"),
    [
        (["growth = growth"], "growth"),
        (["growth = a/w", "a = b", "b = a"], "a"),
        (["growth = 1/w", "a = 1 + sum_s(a_s)"], "a_s"),
        (["growth = a0/w", *(f"a{k} = a{(k + 1) % 50} + 1" for k in range(50))], "a0"),
    ],
)
def test_a_definition_by_itself_is_refused(definitions: list[str], marked: str) -> None:
    why, found, _ = refusal("\n".join([*definitions, "backoff = w/2"]))
    assert "is defined by itself" in why and found == marked


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"growth = {' + '.join(['1'] * 10**6)}\nbackoff = w/2", "a law has 65536 at most"),
        (f"growth = {'(' * 10**6}w{')' * 10**6}\nbackoff = w/2", "a law has 65536 at most"),
        (f"growth = {'+'.join(['w'] * 30_000)}\nbackoff = w/2", "more than 500 words and signs"),
        (f"growth = {'(' * 200}w{')' * 200}\nbackoff = w/2", "nested more than 64 levels deep"),
        (f"growth = {'-' * 400}w\nbackoff = w/2", "nested more than 64 levels deep"),
        (f"growth = w{'^2' * 200}\nbackoff = w/2", "nested more than 64 levels deep"),
        (
            "".join(f"a{k} = {'+'.join(f'w*{i}.{k}' for i in range(99))}\n" for k in range(40))
            + RENO,
            "more than 4096 parts",
        ),
        ("".join(f"a{k} = {k}\n" for k in range(5000)) + RENO, "more than 64 names"),
        (
            "".join(f"note a{k} = 0\n" for k in range(9)) + RENO,
            "more than 8 notes",
        ),
        (
            "growth = sum_s(sum_t(sum_u(sum_v(w_s*w_t*w_u*w_v))))\nbackoff = w/2",
            "nested more than 3 levels deep",
        ),
    ],
    ids=[
        "terms",
        "bytes",
        "words",
        "brackets",
        "signs",
        "powers",
        "parts",
        "names",
        "notes",
        "sums",
    ],
)
def test_a_law_that_is_too_large_is_refused_at_once(text: str, said: str) -> None:
    why, _, _ = refusal(text)
    assert said in why


def test_long_definitions_in_a_long_row_are_refused_and_end_no_process() -> None:
    code = (
        "import anabranch as ab\n"
        "rows = [f'a{k} = a{k + 1}' + '+w' * 490 for k in range(60)]\n"
        "text = '\\n'.join(['growth = a0/w', 'backoff = w/2', *rows, 'a60 = w'])\n"
        "try: ab.Law(text)\n"
        "except ab.ScenarioError as why: print('refused', 'line' in str(why))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "refused True\n")


@pytest.mark.parametrize("sign", ["×", "→ a", "\ufeff", "§2.4", "'"])
def test_a_line_that_begins_with_no_name_is_refused_in_whatever_alphabet(sign: str) -> None:
    why, _, line = refusal(f"{RENO}{sign}")
    assert "a statement begins with a name" in why and line == 3


def test_a_parameter_that_is_given_wrongly_is_said_like_a_with_line() -> None:
    gentle = ab.Law(GENTLE)
    said = r"(?s)line 7, character 13: beta is 2; it lies in \(0, 1\].*with beta = 2\n {16}\^$"
    with pytest.raises(ab.ScenarioError, match=said):
        gentle(beta=2)
    with pytest.raises(ab.ScenarioError, match=r"no parameter `bta`; did you mean `beta`\?"):
        gentle(bta=0.3)
    with pytest.raises(ab.ScenarioError, match="`nan` is no number"):
        gentle(beta=float("nan"))


def test_a_parameter_may_come_from_an_array() -> None:
    names = [ab.Law(GENTLE)(beta=beta).name for beta in np.array([0.25, 0.75])]
    assert names == ["gentle:beta=0.25", "gentle:beta=0.75"]


def test_an_unknown_slow_start_offers_the_one_that_was_meant() -> None:
    with pytest.raises(ab.ScenarioError, match=r"no slow start `hystrat`; did you mean `hystart`"):
        ab.Law(f"{GENTLE}with slow_start = hystrat")


# Laws in files.


def test_a_law_is_found_by_its_shipped_name_or_as_a_file(tmp_path: Path) -> None:
    assert ab.Law.load("gentle").name == "gentle"
    assert ab.Law.load("gentle", beta=0.3).name == "gentle:beta=0.3"
    file = tmp_path / "mine.law"
    file.write_text(GENTLE)
    for source in (file, str(file)):
        assert ab.Law.load(source, beta=0.3) == ab.Law(GENTLE)(beta=0.3)
    file.write_text(RENO)
    assert ab.Law.load(file).name == "mine"


def test_a_file_that_is_no_law_and_a_name_that_is_none_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ab.ScenarioError, match=r"law 'gentel'; did you mean `gentle`\?"):
        ab.Law.load("gentel")
    file = tmp_path / "mine.law"
    file.write_text("law mine\ngrowth = 1/ww\nbackoff = w/2\n")
    with pytest.raises(ab.ScenarioError, match=r"mine\.law:2:12: nothing is called `ww`"):
        ab.Law.load(file)
    file.write_text(GENTLE)
    with pytest.raises(ab.ScenarioError, match=r"beta is 7; it lies in"):
        ab.Law.load(file, beta=7)
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ab.ScenarioError, match=r"mine\.law cannot be read"):
        ab.Law.load(file)


@pytest.mark.parametrize("name", shipped_laws())
def test_every_law_that_ships_as_text_says_what_it_is_and_from_where(name: str) -> None:
    about = _core.law(ab.Law.load(name))
    assert about["name"] == about["label"] == name
    assert about["summary"] and about["source"]
    assert all(meaning for *_, meaning in about["parameters"])


def in_a_scenario(folder: Path, controller: str) -> Path:
    """A scenario file under a controller, beside a folder with the laws `gentle` and `lia`."""
    laws = folder / "laws"
    laws.mkdir(exist_ok=True)
    (laws / "my.law").write_text(GENTLE)
    (laws / "lia.law").write_text(ab.Law.load("lia"))
    scenario = folder / "own.toml"
    text = ab.load(SCENARIO).text
    scenario.write_text(text.replace('controller = "lia"', f'controller = "{controller}"'))
    return scenario


@pytest.mark.parametrize(
    ("controller", "label"),
    [
        ("laws/my.law", "gentle"),
        ("laws/my.law:beta=0.3", "gentle:beta=0.3"),
        ("./laws/my.law:beta=0.3+hystart", "gentle:beta=0.3+hystart"),
        ("laws/../laws/my.law+hystart", "gentle+hystart"),
        ("kernel:laws/my.law:beta=0.3", "kernel:gentle:beta=0.3"),
    ],
)
def test_a_law_that_a_scenario_names_comes_into_it_from_beside_its_file(
    tmp_path: Path, controller: str, label: str
) -> None:
    file = in_a_scenario(tmp_path, controller)
    before = len(file.read_text().splitlines())
    scenario = ab.load(file)
    assert len(scenario.text.splitlines()) == before  # so that errors behind it keep their lines
    (tmp_path / "laws" / "my.law").unlink()
    multipath, single = scenario.plan().classes
    assert multipath.controller == label and single.law is None
    assert multipath.law is not None and multipath.law.startswith(GENTLE)
    assert ab.Law(multipath.law).name == label


@pytest.mark.parametrize(
    ("controller", "said"),
    [
        ("laws/none.law", r"own\.toml: the law laws/none\.law cannot be read: No such file"),
        ("laws/my.law:bta=1", r"own\.toml: laws/my\.law:.*no parameter `bta`; did you mean `beta`"),
        ("laws/my.law:beta=2", r"own\.toml: laws/my\.law:.*beta is 2; it lies in \(0, 1\]"),
        ("laws/my.law+hystrat", r"no slow start `hystrat`; did you mean `hystart`"),
        ("kernel:laws/my.law+hystart", r"has the kernel's slow start"),
    ],
)
def test_a_scenario_with_a_wrong_law_says_which_and_why(
    tmp_path: Path, controller: str, said: str
) -> None:
    file = in_a_scenario(tmp_path, controller)
    with pytest.raises(ab.ScenarioError, match=said):
        ab.load(file)


@pytest.mark.parametrize(
    ("value", "label"),
    [
        (f"'''\n{GENTLE}with beta = 0.3\n'''", "gentle:beta=0.3"),
        ("'growth = 1/w; backoff = w/3'", "law"),
    ],
)
def test_the_text_of_a_law_may_stand_in_a_scenario(value: str, label: str) -> None:
    text = ab.load(SCENARIO).text.replace('controller = "lia"', f"controller = {value}")
    own = ab.Scenario.parse(text).plan().classes[0]
    assert own.controller == label and own.law is not None and ab.Law(own.law).name == label
    with pytest.raises(
        ab.ScenarioError, match=r"(?s)`multipath`: controller: .*`ww`.*<scenario>:\d+:14"
    ):
        ab.Scenario.parse(text.replace(value, "'growth = 1/ww; backoff = w/3'"))


def test_a_law_in_a_scenario_runs_as_the_same_law_given_beside_it(tmp_path: Path) -> None:
    inside = ab.run(ab.load(in_a_scenario(tmp_path, "laws/lia.law")), overrides=SHORT)
    assert inside.runs[0].digest == digest("lia")
    inside = ab.run(ab.load(in_a_scenario(tmp_path, "laws/my.law:beta=0.3")), overrides=SHORT)
    assert inside.runs[0].digest == digest(ab.Law(GENTLE)(beta=0.3))


# The same law as the shipped one.


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", ["lia", "olia", "balia"])
def test_a_shipped_law_as_text_makes_the_same_run(name: str, seed: int) -> None:
    law = ab.Law.load(name)
    assert _core.controller(law)["written"] and not _core.controller(name)["written"]
    assert digest(law, seed=seed) == digest(name, seed=seed)


def test_a_slow_start_behind_a_file_is_that_of_the_shipped_law(tmp_path: Path) -> None:
    file = tmp_path / "my.law"
    file.write_text(ab.Law.load("lia"))
    assert _core.controller_name(f"{file}+hystart") == "lia+hystart"
    assert digest(f"{file}+hystart") == digest("lia+hystart") != digest("lia")


def test_a_law_in_a_file_runs_as_the_kernel_runs_it_if_that_is_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "my.law"
    for name in ("lia", "olia"):
        file.write_text(ab.Law.load(name))
        found = _core.controller(f"kernel:{file}")
        assert found["text"] == f"kernel:{name}" and found["port"] and found["ported"]
        assert ab.Law(found["source"]).name == f"kernel:{name}"
        assert digest(f"kernel:{file}") == digest(f"kernel:{name}") != digest(name)
    file.write_text("growth = exp(-w)\nbackoff = w/2\n")
    with pytest.raises(ab.ScenarioError, match=r"line 1, .*: the kernel has no exponential"):
        _core.controller(f"kernel:{file}")


def test_theory_has_the_equilibrium_of_the_shipped_law() -> None:
    text, shipped = (
        theory.Fluid(theory.Network.from_plan(ab.load(SCENARIO).plan(controller=controller)))
        for controller in (ab.Law.load("lia"), "lia")
    )
    found, expected = (fluid.equilibrium.class_rates_bps for fluid in (text, shipped))
    assert found == pytest.approx(expected, rel=1e-9)
    assert found["multipath"] > 1.1 * found["single-path"]


@pytest.mark.parametrize("paths", [1, 2, 3])
@pytest.mark.parametrize("name", ["lia", "balia"])
def test_exact_slopes_of_a_text_are_those_that_differences_of_the_shipped_law_tell(
    name: str, paths: int
) -> None:
    text, shipped = (balance.Law(law, paths, rtts_vary=True) for law in (ab.Law.load(name), name))
    for seed in range(5):
        place = placed(paths, seed)
        w, p, rtt = np.exp(place).reshape(3, paths)
        assert text.exact(w, rtt, p) is not None and shipped.exact(w, rtt, p) is None
        np.testing.assert_array_equal(text.imbalance(place), shipped.imbalance(place))
        found, expected = text.slopes(place), shipped.slopes(place)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)
        assert np.abs(expected).max() > 1e-3


def test_slopes_are_numbers_however_large_windows_are() -> None:
    law = balance.Law(ab.Law("growth = 1/w_tot\nbackoff = w"), 2)
    place = np.log([1.0, 1.0, 0.01, 0.01, 0.1, 0.1])
    place[:2] = 300.0
    with np.errstate(all="ignore"):
        assert np.isfinite(law.imbalance(place)).all() and np.isfinite(law.slopes(place)).all()


def test_slopes_by_round_trips_are_none_where_these_are_given() -> None:
    law = balance.Law(ab.Law.load("balia"), 2)
    assert not law.slopes(placed(2, 1))[:, 4:].any()
    by_rtt = balance.Law(ab.Law.load("balia"), 2, rtts_vary=True).slopes(placed(2, 1))[:, 4:]
    assert by_rtt.all()


# Results.


@pytest.fixture(scope="module")
def result() -> ab.Result:
    law = ab.Law(f"{GENTLE}share = w/w_tot\nsmall = w < 2\n")(beta=0.3)
    return ab.run(SCENARIO, controller=law, overrides=SHORT, series=True)


def test_a_saved_result_keeps_the_law_in_its_plan(result: ab.Result, tmp_path: Path) -> None:
    file = tmp_path / "r.json.gz"
    result.save(file)
    again = ab.Result.load(file)
    assert again.plan == result.plan and again.table() == result.table()
    multipath, single = again.plan.classes
    assert (multipath.controller, single.controller) == ("gentle:beta=0.3", "reno")
    assert multipath.law is not None and single.law is None
    assert digest(multipath.law) == again.runs[0].digest
    assert again.to_xarray().attrs["controller"] == "gentle:beta=0.3"


def test_a_saved_result_is_whole_without_the_file_of_its_law(tmp_path: Path) -> None:
    file = tmp_path / "my.law"
    file.write_text(GENTLE)
    ran = ab.run(SCENARIO, controller=f"{file}:beta=0.3", overrides=SHORT, series=True)
    ran.save(tmp_path / "r.json.gz")
    file.unlink()
    again = ab.Result.load(tmp_path / "r.json.gz")
    assert again.plan.classes[0].controller == "gentle:beta=0.3"
    assert again.to_xarray().attrs["controller"] == "gentle:beta=0.3"


def test_a_scenario_with_a_law_written_into_it_is_the_same_as_with_it_beside() -> None:
    scenario, law = ab.load(SCENARIO), ab.Law(GENTLE)(beta=0.3)
    for inside in (
        ab.Scenario.written(scenario.document(controller=law)),
        scenario.changed(controller=law),
    ):
        assert inside.plan().classes == scenario.plan(controller=law).classes


def test_series_have_what_the_law_names(result: ab.Result) -> None:
    table = result.runs[0].series.internals
    assert set(table.name) == {"share", "in_small"}
    share, small = (
        table.value[[own == name for own in table.name]] for name in ("share", "in_small")
    )
    assert share.shape == small.shape == (20, len(result.runs[0].series.t_s))
    whole = share[0::2] + share[1::2]  # the paths of a user
    whole = whole[np.isfinite(whole)]
    assert len(whole) and np.allclose(whole, 1.0)
    assert set(np.unique(small[np.isfinite(small)])) <= {0.0, 1.0}


def test_what_olia_names_as_text_is_what_the_shipped_law_shows() -> None:
    text, shipped = (
        ab.run(SCENARIO, controller=law, overrides=SHORT, series=True).runs[0].series.internals
        for law in (ab.Law.load("olia"), "olia")
    )
    assert set(text.name) == {*_core.law(ab.Law.load("olia"))["quantities"]}
    for name, same in {"alpha": "alpha", "in_best": "in_best", "l": "l_segments"}.items():
        found, expected = (
            table.value[[own == word for own in table.name]]
            for table, word in ((text, name), (shipped, same))
        )
        np.testing.assert_array_equal(found, expected)


# Lists of controllers.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("lia", ["lia"]),
        ("lia, olia", ["lia", "olia"]),
        ("my.law:beta={0.2,0.5}", ["my.law:beta=0.2", "my.law:beta=0.5"]),
        ("a.law:x=1,y=2,lia", ["a.law:x=1,y=2", "lia"]),
        ("a.law:x=1,b.law:x=2", ["a.law:x=1", "b.law:x=2"]),
        (
            "my.law:x={1,2},y={3,4}+hystart",
            [f"my.law:x={x},y={y}+hystart" for x in (1, 2) for y in (3, 4)],
        ),
        ("{lia,olia}+hystart,reno", ["lia+hystart", "olia+hystart", "reno"]),
        ("kernel:{lia,my.law:x=1}", ["kernel:lia", "kernel:my.law:x=1"]),
    ],
)
def test_several_controllers_are_told_apart_by_commas_and_made_by_braces(
    text: str, expected: list[str]
) -> None:
    assert ab.several(text) == expected


def test_the_text_of_a_law_is_one_controller_whatever_commas_it_has() -> None:
    for text in (ab.Law.load("lia"), "growth = min(1/w, 1); backoff = w/2"):
        assert ab.several(text) == [text]


def test_every_value_in_braces_is_another_law(tmp_path: Path) -> None:
    file = tmp_path / "my.law"
    file.write_text(GENTLE)
    laws = ab.several(f"{file}:beta={{0.2, 0.5,1}}")
    assert [_core.controller_name(law) for law in laws] == [
        *("gentle:beta=0.2", "gentle", "gentle:beta=1")
    ]
    after = [_core.backoff(law, *(np.array([v]) for v in (10.0, 0.1, 0.01)))[0] for law in laws]
    assert all(small < large for large, small in pairwise(after))


def test_the_c_of_many_arguments_stays_small() -> None:
    many = ", ".join(f"w_tot/{k + 2}" for k in range(10)) + ", w, n, w_tot, max(w, n), min(n, w)"
    law = ab.Law(f"growth = 1/max({many}, max(w, max(n, max(w, n)), min(w, n)))\nbackoff = w/2")
    assert len(_core.law_c(law)["c"]) < 10_000


def test_whether_a_law_is_right_does_not_hang_on_the_value_of_a_parameter() -> None:
    text = (
        "param flag = 0 in [0, 1]\nweight = if flag > 0.5 then w else 1\n"
        "growth = 1/(w*sum_s(weight_s))\nbackoff = w/2"
    )
    for flag in (0, 1):
        assert "ab_growth" in _core.law_c(ab.Law(text)(flag=flag))["c"]


@pytest.mark.parametrize("line", ["on ack: since_loss = 2*acked", "steady least_rtt = 1"])
def test_notes_behind_symbols_are_not_updated_by_a_law(line: str) -> None:
    with pytest.raises(ab.ScenarioError, match=r"belongs to the symbols `l` and `rtt_min`"):
        ab.Law(f"{line}\ngrowth = 1/(w + l + rtt_min)\nbackoff = w/2")


def test_a_note_too_many_for_the_kernel_is_named_at_its_place() -> None:
    notes = "".join(f"note {name} = 0\n" for name in "abcde")
    with pytest.raises(ab.ScenarioError, match=r"line 5, character 6: .*4 notes .*`e` is one more"):
        _core.law_c(ab.Law(f"{notes}growth = 1/(w + abs(a+b+c+d+e))\nbackoff = w/2"))
    with pytest.raises(ab.ScenarioError, match="`rtt_min` is one more"):
        _core.law_c(ab.Law(f"{notes[:-11]}growth = rtt_min/(w + abs(a+b+c+d))\nbackoff = w/2"))

"""Controllers that are Python classes: what they see and set, and what ends a run."""

from __future__ import annotations

import functools
import itertools
import traceback
from pathlib import Path

import pytest

import anabranch as ab
from anabranch.controller import given_name, label, outside
from test_cli import anabranch

SHORT = ["duration=8 s", "warmup=2 s"]
SCENARIO = "khalili/two-equal-paths"


def test_a_class_that_does_nothing_does_about_as_tcp_on_each_path() -> None:
    options = {"seeds": 3, "overrides": ["duration=40 s", "warmup=10 s"]}
    own = ab.run(SCENARIO, controller=ab.Controller, **options)
    tcp = ab.run(SCENARIO, controller="uncoupled", **options)
    assert own.plan.classes[0].controller == "py:Controller"
    assert own.mean("user").mean == pytest.approx(tcp.mean("user").mean, rel=0.15)


class Random(ab.Controller):
    """Draws its windows."""

    def on_ack(self, path: ab.PathView) -> None:
        path.window = self.random.uniform(5.0, 15.0)


def test_a_seed_gives_the_same_run_and_every_connection_numbers_of_its_own() -> None:
    runs = [ab.run("khalili/scenario-c", [1, 2], controller=Random, overrides=SHORT) for _ in "ab"]
    digests = [[run.digest for run in result.runs] for result in runs]
    assert digests[0] == digests[1] and digests[0][0] != digests[0][1]
    made: list[float] = []

    class Noted(Random):
        def __init__(self, paths, random):  # type: ignore[no-untyped-def]
            super().__init__(paths, random)
            made.append(random.random())

    ab.run("khalili/scenario-c", controller=Noted, overrides=SHORT)
    assert len(made) == len(set(made)) == 10


def test_a_class_sees_times_rates_and_what_is_in_flight() -> None:
    seen: list[tuple[float, ...]] = []

    class Look(ab.Controller):
        def on_ack(self, path: ab.PathView) -> None:
            super().on_ack(path)
            row = (path.now, path.srtt, path.min_rtt, path.last_rtt, path.delivery_rate)
            seen.append((*row, path.in_flight, path.delivered, path.one_way_delay))
            assert path in self.paths or path.index in (0, 1)

    ab.run(SCENARIO, controller=Look, overrides=SHORT)
    now, srtt, least, last, rate, flight, delivered, delay = zip(*seen[50:], strict=True)
    assert list(now) == sorted(now) and now[-1] <= 8.0
    assert min(srtt) > 0.1 and all(a <= b + 1e-12 for a, b in zip(least, last, strict=True))
    assert max(rate) * 1500 * 8 < 15e6 and max(flight) > 10 and max(delivered) > 100
    assert min(delay) > 0.0


def test_a_timer_comes_at_its_time_and_may_set_the_windows_of_all_paths() -> None:
    times: list[float] = []

    class Clock(ab.Controller):
        def __init__(self, paths, random):  # type: ignore[no-untyped-def]
            super().__init__(paths, random)
            self.timer = 0.5

        def on_ack(self, path: ab.PathView) -> None:
            assert path.window == (8.0 if times else 10.0)

        def on_loss(self, path: ab.PathView) -> None:
            pass

        def on_timer(self, now: float) -> None:
            assert self.timer is None
            times.append(now)
            self.timer = now + 0.25
            for path in self.paths:
                path.window = 8.0

    result = ab.run(SCENARIO, controller=Clock, overrides=SHORT, series=True)
    # From the start of the connection on, which is at random; then every quarter of a second.
    assert all(b - a == pytest.approx(0.25) for a, b in itertools.pairwise(times))
    assert len(times) > 10
    windows = result.runs[0].series.paths.cwnd_segments
    assert float(windows[-1][0]) == 8.0


def test_a_pacing_rate_limits_what_a_path_sends() -> None:
    class Paced(ab.Controller):
        def on_ack(self, path: ab.PathView) -> None:
            super().on_ack(path)
            path.window = 100.0
            path.pacing_rate = 50.0  # segments a second: 0.6 Mb/s on each path

    result = ab.run(SCENARIO, controller=Paced, overrides=[*SHORT, "flow.user.spread=0 s"])
    assert result.mean("user").mean == pytest.approx(1.2e6, rel=0.05)


class Fails(ab.Controller):
    """Fails after a second."""

    how = "raise"

    def on_ack(self, path: ab.PathView) -> None:
        super().on_ack(path)
        if path.now > 6.0:
            self.fail(path)

    def fail(self, path: ab.PathView) -> None:
        """As it is told."""
        if self.how == "raise":
            raise RuntimeError("mine")
        setattr(path, *self.how.split())  # type: ignore[misc]


def test_an_exception_ends_the_run_with_its_own_traceback_and_the_time() -> None:
    with pytest.raises(RuntimeError, match="mine") as raised:
        ab.run(SCENARIO, controller=Fails, overrides=SHORT)
    text = "".join(traceback.format_exception(raised.value))
    assert 'raise RuntimeError("mine")' in text and "in fail" in text
    assert "in a controller, at 6.0" in text


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("window", float("nan"), "path 1: window is NaN after on_ack; it is a number of segments"),
        (
            "window",
            0.5,
            "path 1: window is 0.5 after on_ack; it is a number of segments, at least 1",
        ),
        ("window", float("inf"), "path 1: window is inf after on_ack"),
        ("ssthresh", 0.0, "path 1: ssthresh is 0 after on_ack; it is above 0 segments"),
        ("pacing_rate", -1.0, "path 1: pacing_rate is -1 after on_ack; it is None, or above 0"),
    ],
)
def test_what_no_path_can_have_is_an_error_that_names_path_and_method(
    name: str, value: float, said: str
) -> None:
    class Wrong(ab.Controller):
        def on_ack(self, path: ab.PathView) -> None:
            if path.index == 1 and path.now > 6.0:
                setattr(path, name, value)

    with pytest.raises(ValueError, match=r"path 1") as raised:
        ab.run(SCENARIO, controller=Wrong, overrides=SHORT)
    assert said in str(raised.value)


def test_a_timer_that_does_not_move_on_is_an_error_and_no_endless_run() -> None:
    class Stuck(ab.Controller):
        def on_ack(self, path: ab.PathView) -> None:
            self.timer = path.now

        def on_timer(self, now: float) -> None:
            self.timer = now

    with pytest.raises(ValueError, match="which is now, after on_timer; it is later, or None"):
        ab.run(SCENARIO, controller=Stuck, overrides=SHORT)


FILE = """
import anabranch as ab

class Mine(ab.Controller):
    def __init__(self, paths, random, gain=1.0):
        super().__init__(paths, random)
        self.gain = gain

    def on_ack(self, path):
        path.window += self.gain * path.acked / path.window
"""


def test_a_class_in_a_file_is_taken_from_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "my.py"
    file.write_text(FILE)
    given = f"{file}:Mine:gain=0.5"
    done = anabranch("run", SCENARIO, "-c", given, "--set", SHORT[0], "--set", SHORT[1])
    assert done.returncode == 0 and "py:Mine:gain=0.5" in done.stdout
    assert label(given) == "py:Mine:gain=0.5" and given_name(given) == given
    result = ab.run(SCENARIO, controller=given, overrides=SHORT)
    assert result.command()[-6:-4] == ["--controller", given] or given in result.command()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("none.py:Mine", "there is no file none.py"),
        ("{file}:Other", "has no class Other; it has Mine"),
        ("{file}:Mine:gain=much", "'gain=much' is no argument such as gain=0.5"),
    ],
)
def test_a_class_that_is_not_there_is_said_clearly(tmp_path: Path, given: str, said: str) -> None:
    file = tmp_path / "my.py"
    file.write_text(FILE)
    done = anabranch("run", SCENARIO, "-c", given.format(file=file))
    assert done.returncode == 2 and said in done.stderr


def test_what_is_no_controller_is_refused() -> None:
    with pytest.raises(TypeError, match="it is a name, a law, or a class"):
        outside(3)

    class Gains(ab.Controller):
        def __init__(self, paths, random, gain=1.0):  # type: ignore[no-untyped-def]
            super().__init__(paths, random)

    named = outside(functools.partial(Gains, gain=2))
    assert named and named.name == "py:Gains:gain=2"
    with pytest.raises(ab.ScenarioError, match=r"derive the class from ab\.Controller"):
        outside(functools.partial(Gains, gian=2))


def test_a_result_of_a_class_is_saved_and_loaded_without_it(tmp_path: Path) -> None:
    result = ab.run(SCENARIO, controller=Random, overrides=SHORT)
    result.save(tmp_path / "r.json.gz")
    again = ab.Result.load(tmp_path / "r.json.gz")
    assert again.table() == result.table() and again.remarks() == result.remarks()

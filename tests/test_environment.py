"""A scenario as an environment of gymnasium."""

from __future__ import annotations

import itertools
import threading

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from anabranch.environment import FEATURES, Environment, Vector

SHORT = ("duration=8 s", "warmup=2 s", "flow.user.spread=0 s")


@pytest.fixture
def env() -> Environment:
    return Environment("khalili/two-equal-paths", flow="user", overrides=SHORT)


@pytest.mark.filterwarnings("ignore")
def test_the_checker_of_gymnasium_passes(env: Environment) -> None:
    check_env(env)
    env.close()


def episode(env: Environment, factor: float, seed: int) -> tuple[list[np.ndarray], list[float]]:
    seen, _ = env.reset(seed=seed)
    rows, rewards, over = [seen], [], False
    while not over:
        seen, reward, terminated, over, info = env.step(np.full(2, factor))
        assert not terminated
        rows.append(seen)
        rewards.append(reward)
    assert "harm" in info
    return rows, rewards


def test_the_same_seed_and_actions_give_the_same_episode(env: Environment) -> None:
    first, again, other = (episode(env, 1.02, seed) for seed in (1, 1, 2))
    assert np.array_equal(first[0], again[0]) and first[1] == again[1]
    assert first[1] != other[1]
    env.close()


def test_a_window_is_what_the_actions_make_it(env: Environment) -> None:
    rows, _ = episode(env, 1.1, 3)
    windows = [float(row[0, FEATURES.index("window")]) for row in rows[:5]]
    for before, after in itertools.pairwise(windows):
        assert after == pytest.approx(1.1 * before, rel=1e-6)
    env.close()


def test_what_others_lack_beside_another_controller_is_taken_away_at_the_end() -> None:
    env = Environment("khalili/two-equal-paths", flow="user", overrides=SHORT, beside="lp")
    _, rewards = episode(env, 1.1, 1)
    taken = env.rate_mbps()
    assert 0.02 < env._harm() < 1.0 and rewards[-1] == pytest.approx(-env._harm())
    assert taken > 1.0
    env.close()


def test_an_episode_that_is_given_up_leaves_no_thread() -> None:
    before = threading.active_count()
    env = Environment("khalili/two-equal-paths", flow="user", overrides=SHORT)
    env.reset(seed=1)
    env.step(np.ones(2))
    env.reset(seed=2)
    env.close()
    assert threading.active_count() == before


def test_environments_side_by_side_give_what_each_gives_alone() -> None:
    def make() -> Environment:
        return Environment("khalili/two-equal-paths", flow="user", overrides=SHORT)

    both = Vector([make, make])
    seen, _ = both.reset(seed=[1, 2])
    alone = [make().reset(seed=seed)[0] for seed in (1, 2)]
    assert np.array_equal(seen, alone)
    seen, rewards, *_ = both.step(np.ones((2, 2), dtype=np.float32))
    assert seen.shape == (2, 2, len(FEATURES)) and rewards.shape == (2,)
    both.close()


def test_wrong_settings_are_refused_with_what_would_be_right() -> None:
    with pytest.raises(
        ValueError, match="flow is 'nobody'; the flows are user, tcp-left, tcp-right"
    ):
        Environment("khalili/two-equal-paths", flow="nobody")
    with pytest.raises(ValueError, match="interval_s is 0; it is above 0 s"):
        Environment("khalili/two-equal-paths", interval_s=0)

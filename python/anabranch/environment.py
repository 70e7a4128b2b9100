"""A scenario as an environment of gymnasium: an agent sets the windows of one connection.

    env = Environment("khalili/two-equal-paths", flow="user")
    observation, info = env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step(env.action_space.sample())

The simulator runs in a thread of its own, and waits for the agent at every tick of `interval_s`.
The agent has one connection of the first flow that `run` gives a controller; others of that flow,
and of other flows that `run` gives one, run the default `Controller`.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Sequence
from random import Random
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import SyncVectorEnv
from gymnasium.vector.utils import iterate

from ._core import PathView
from .controller import Controller
from .result import Result, run
from .scenario import Scenario, load
from .subjects import subjects

FEATURES = ("window", "srtt", "min_rtt", "queueing", "delivery_rate", "loss")
"""Features of each path: window (segments), smoothed and minimum RTT (s), their difference over the
minimum, segments delivered per second since the last tick, and congestion events since then.
"""

SMALLEST, LARGEST = 0.5, 2.0
"""Factors of a window at a tick."""

MOST_REFERENCES = 1000
"""Seeds for which the other flows' rates under the reference controller are cached."""

LEAST_RATE = 1e-3
"""Mb/s below which the utility does not fall further."""


class Ended(Exception):
    """The agent wants no more of this episode."""


class Agent(Controller):
    """A controller that asks for an action at every tick and changes no window between ticks."""

    def __init__(self, paths: Sequence[PathView], random: Random, env: Environment) -> None:
        """The first connection of a run is the agent's."""
        super().__init__(paths, random)
        self.env = env
        self.own = env.claim()
        self.losses = [0] * len(paths)
        self.delivered = [0.0] * len(paths)
        if self.own:
            self.timer = env.interval_s

    def on_ack(self, path: PathView) -> None:
        """Between two ticks windows stay; other connections do as `Controller` does."""
        if not self.own:
            super().on_ack(path)

    def on_loss(self, path: PathView) -> None:
        """Counts the event for the next observation; other connections halve the window."""
        self.losses[path.index] += 1
        if not self.own:
            super().on_loss(path)

    def on_timeout(self, path: PathView) -> None:
        """Counts the event and sets the window to one segment, with an agent as without."""
        self.losses[path.index] += 1
        super().on_timeout(path)

    def on_timer(self, now: float) -> None:
        """Passes the state of the paths to the agent, and applies its action."""
        seen = self.seen()
        self.losses = [0] * len(self.paths)
        for path, factor in zip(self.paths, self.env.ask(seen), strict=True):
            path.window = max(path.floor, path.window * float(factor))
        self.timer = now + self.env.interval_s

    def seen(self) -> np.ndarray:
        """(paths, features)"""
        rows = []
        for path in self.paths:
            new = path.delivered - self.delivered[path.index]
            self.delivered[path.index] = path.delivered
            least = path.min_rtt if np.isfinite(path.min_rtt) else 0.0
            waiting = (path.srtt - least) / least if least > 0.0 else 0.0
            rate = new / self.env.interval_s
            lost = float(self.losses[path.index])
            rows.append([path.window, path.srtt, least, max(waiting, 0.0), rate, lost])
        return np.array(rows, dtype=np.float32)


class Environment(gymnasium.Env[np.ndarray, np.ndarray]):
    """One connection of a scenario, which an agent controls.

    An action is a factor for the window of each path, from 0.5 to 2. The reward of a tick is the
    change of the user's utility, log Mb/s; at the end of the episode it is reduced by `harm` times
    the fraction of rate that all others lost, compared with the same seed under the controller
    `beside`.
    """

    def __init__(
        self,
        scenario: str | Scenario = "khalili/two-equal-paths",
        *,
        flow: str = "user",
        interval_s: float = 0.2,
        overrides: Sequence[str] = ("duration=20 s", "warmup=5 s"),
        harm: float = 1.0,
        beside: str = "lia",
    ) -> None:
        """Raises ScenarioError for a wrong scenario, ValueError for a flow that is not there or an
        interval that is not above 0.
        """
        if not interval_s > 0.0:
            raise ValueError(f"interval_s is {interval_s}; it is above 0 s")
        self.scenario = scenario if isinstance(scenario, Scenario) else load(scenario)
        self.overrides, self.flow = list(overrides), flow
        self.interval_s, self.harm, self.beside = interval_s, harm, beside
        plan = self.scenario.plan(overrides=self.overrides)
        own = next((c for c in plan.classes if c.name == flow), None)
        if own is None:
            names = ", ".join(c.name for c in plan.classes)
            raise ValueError(f"flow is {flow!r}; the flows are {names}")
        self.packet_bits = 8.0 * own.packet_bytes
        first = subjects(plan.classes)[0]
        if own is not first:
            raise ValueError(
                f"flow is {flow!r}; the agent has a connection of {first.name!r}, the first flow that "
                "`run` gives a controller"
            )
        shape = (len(own.paths), len(FEATURES))
        most = np.finfo(np.float32).max
        self.observation_space = gymnasium.spaces.Box(0.0, most, shape, np.float32)
        self.action_space = gymnasium.spaces.Box(SMALLEST, LARGEST, shape[:1], np.float32)
        self._references: dict[int, float] = {}
        self.metadata = {"render_modes": []}
        self._thread: threading.Thread | None = None
        self._begun = self._claimed = self._running = False

    def claim(self) -> bool:
        """True for the first connection that asks: the agent controls that one."""
        first, self._claimed = not self._claimed, True
        return first

    def ask(self, seen: np.ndarray) -> np.ndarray:
        """In the run's thread: passes an observation on, and waits for an action. Raises Ended if
        the episode was given up.
        """
        self._seen.put(seen)
        action = self._actions.get()
        if action is None:
            raise Ended
        return np.asarray(action)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Starts a run: with the seed that is given, else with a random one."""
        super().reset(seed=seed)
        self.close()
        self.seed = seed if seed is not None else int(self.np_random.integers(1, 2**31))
        self._seen: queue.Queue[np.ndarray | None] = queue.Queue()
        self._actions: queue.Queue[np.ndarray | None] = queue.Queue()
        self._claimed = False
        self._outcome: Result | BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        seen = self._seen.get()
        if seen is None:
            self._failed()
            raise RuntimeError("the run ended before the first tick")
        self._observation, self._utility = seen, self._utility_of(seen)
        self._running = True
        return seen, {"seed": self.seed}

    def begin(self, action: np.ndarray) -> None:
        """Gives the action, and does not wait: `step` does. Environments that have all begun run
        at the same time.
        """
        if not self._begun:
            self._actions.put(np.clip(action, SMALLEST, LARGEST))
            self._begun = True

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Runs to the next tick. The episode is truncated at the end of the scenario."""
        if not self._running:
            raise gymnasium.error.ResetNeeded(
                "the episode has ended, or none was begun: call reset()"
            )
        self.begin(action)
        self._begun = False
        seen = self._seen.get()
        self._running = seen is not None
        if seen is None:
            self._failed()
            harm = self._harm()
            return self._observation, -self.harm * harm, False, True, {"harm": harm}
        utility = self._utility_of(seen)
        reward = utility - self._utility
        self._observation, self._utility = seen, utility
        return seen, reward, False, False, {}

    def close(self) -> None:
        """Ends the run, if one is going on."""
        if self._thread is not None:
            if self._thread.is_alive():
                self._actions.put(None)
            self._thread.join()
        self._thread, self._begun, self._running = None, False, False

    def rate_mbps(self) -> float:
        """Mean rate of the user in the finished episode, after the warm-up."""
        assert isinstance(self._outcome, Result)
        return float(self._outcome.mean(self.flow).mean) / 1e6

    def _run(self) -> None:
        """The thread of the run."""
        try:
            self._outcome = run(
                self.scenario,
                [self.seed],
                controller=lambda paths, random: Agent(paths, random, self),
                overrides=self.overrides,
            )
        except BaseException as error:
            self._outcome = error
        finally:
            self._seen.put(None)

    def _failed(self) -> None:
        """Raises the run's error, unless the episode was given up."""
        if self._thread is not None:
            self._thread.join()
        if isinstance(self._outcome, BaseException) and not isinstance(self._outcome, Ended):
            raise self._outcome

    def _utility_of(self, seen: np.ndarray) -> float:
        """Logarithm of the rate delivered since the last tick, in Mb/s."""
        mbps = float(seen[:, FEATURES.index("delivery_rate")].sum()) * self.packet_bits / 1e6
        return float(np.log(max(mbps, LEAST_RATE)))

    def _others(self, result: Result) -> float:
        """The rate of all other flows together in bit/s."""
        others = (name for name in result.classes if name != self.flow)
        return sum(float(result.mean(name).mean) for name in others)

    def _harm(self) -> float:
        """Fraction of rate that the others lost, compared with the same seed under `beside`."""
        if not isinstance(self._outcome, Result):
            return 0.0
        if self.seed not in self._references:
            if len(self._references) == MOST_REFERENCES:
                self._references.pop(next(iter(self._references)))
            beside = run(
                self.scenario, [self.seed], controller=self.beside, overrides=self.overrides
            )
            self._references[self.seed] = self._others(beside)
        here, there = self._others(self._outcome), self._references[self.seed]
        return max(0.0, 1.0 - here / there) if there > 0.0 else 0.0


class Vector(SyncVectorEnv):
    """Environments side by side: their runs go on at the same time, each in its thread."""

    def step(self, actions: Any) -> Any:
        """Begins a step in all of them, then waits for each."""
        ended = self._autoreset_envs
        for env, action, over in zip(
            self.envs, iterate(self.action_space, actions), ended, strict=True
        ):
            # Wrappers may change the action, so the step of the inner environment begins here.
            if not over and isinstance(env, Environment):
                env.begin(np.asarray(action))
        return super().step(actions)

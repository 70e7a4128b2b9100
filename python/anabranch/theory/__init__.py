"""Theory of a scenario: equilibria, fluid dynamics, fair allocations, response functions.

Theory sees plans and laws, never simulation results: an oracle must not depend on the results that
it judges. `dcf` models saturated stations on one channel of 802.11.

    >>> network = Network.from_plan(load("khalili/scenario-c").plan())
    >>> equilibrium(network).class_rates_bps          # fixed point of the shipped laws
    >>> steady_states(network)                        # all of them, where a law has several
    >>> optimum(network, floor=1.0, rtt=0.150)        # what an optimal algorithm would give
    >>> stability(Fluid(network)).verdict             # whether it comes back there
    >>> prove("lia", "do-no-harm").verdict            # over ranges, by interval arithmetic
    >>> saturation(10, phy("g", 54)).throughput_bps   # what ten stations get out of one channel

SciPy and CVXPY are imported when a function needs them, not with this package.
"""

from . import closed_forms, coding, dcf, khalili, throughput
from .dcf import Phy, Saturation, phy, saturation
from .equilibrium import Equilibrium, equilibrium, steady_states
from .errors import TheoryError
from .fair import Allocation, alpha_fair, improvement, max_min
from .fluid import Fluid
from .network import Link, Network, Path, UserClass, left_out, refusal, single_user
from .optimum import Optimum, ParetoCheck, max_throughput_bps, optimum, pareto_check
from .portrait import Portrait, portrait
from .proof import CLAIMS, FixedPoint, Harm, Proof, harm_of, prove
from .queueing import DropTail, Queue, Red
from .stability import Stability, stability
from .throughput import (
    loss_at_rate,
    pftk_approximate_rate_bps,
    pftk_rate_bps,
    sqrt_rate_bps,
    sqrt_window,
    tfrc_rate_bps,
)
from .trajectory import (
    Convergence,
    Trajectory,
    convergence,
    settling_time_s,
    starts,
    trajectory,
    watch_s,
)
from .whatif import Axis, WhatIf, axis_from, what_if

__all__ = [
    "CLAIMS",
    "Allocation",
    "Axis",
    "Convergence",
    "DropTail",
    "Equilibrium",
    "FixedPoint",
    "Fluid",
    "Harm",
    "Link",
    "Network",
    "Optimum",
    "ParetoCheck",
    "Path",
    "Phy",
    "Portrait",
    "Proof",
    "Queue",
    "Red",
    "Saturation",
    "Stability",
    "TheoryError",
    "Trajectory",
    "UserClass",
    "WhatIf",
    "alpha_fair",
    "axis_from",
    "closed_forms",
    "coding",
    "convergence",
    "dcf",
    "equilibrium",
    "harm_of",
    "improvement",
    "khalili",
    "left_out",
    "loss_at_rate",
    "max_min",
    "max_throughput_bps",
    "optimum",
    "pareto_check",
    "pftk_approximate_rate_bps",
    "pftk_rate_bps",
    "phy",
    "portrait",
    "prove",
    "refusal",
    "saturation",
    "settling_time_s",
    "single_user",
    "sqrt_rate_bps",
    "sqrt_window",
    "stability",
    "starts",
    "steady_states",
    "tfrc_rate_bps",
    "throughput",
    "trajectory",
    "watch_s",
    "what_if",
]

"""What theory says about a scenario: equilibria, optima and response functions.

Theory sees plans and laws, never simulation results: an oracle must not know what it judges.

    >>> network = Network.from_plan(json.loads(_core.plan(text)))
    >>> equilibrium(network).class_rates_bps          # fixed point of the shipped laws
    >>> optimum(network, floor=1.0, rtt=0.150)        # what an optimal algorithm would give

SciPy and CVXPY are imported when a function needs them, not with this package.
"""

from . import closed_forms, khalili, throughput
from .equilibrium import Equilibrium, equilibrium
from .errors import TheoryError
from .network import Link, Network, Path, UserClass, left_out, single_user
from .optimum import Optimum, ParetoCheck, max_throughput_bps, optimum, pareto_check
from .queueing import Queue
from .throughput import pftk_rate_bps, sqrt_rate_bps, sqrt_window, tfrc_rate_bps

__all__ = [
    "Equilibrium",
    "Link",
    "Network",
    "Optimum",
    "ParetoCheck",
    "Path",
    "Queue",
    "TheoryError",
    "UserClass",
    "closed_forms",
    "equilibrium",
    "khalili",
    "left_out",
    "max_throughput_bps",
    "optimum",
    "pareto_check",
    "pftk_rate_bps",
    "single_user",
    "sqrt_rate_bps",
    "sqrt_window",
    "tfrc_rate_bps",
    "throughput",
]

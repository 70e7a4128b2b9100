"""Errors of theory."""


class TheoryError(ValueError):
    """A network has no equilibrium or optimum, or the solver did not reach it.

    The message names the link, path or class at fault and the residual that remained. It is a
    ValueError because the question has no answer: the command line ends with status 2.
    """

"""What goes wrong in theory."""


class TheoryError(RuntimeError):
    """A network has no equilibrium or optimum, or the solver did not reach it.

    The message names the link, path or class at fault and the residual that remained.
    """

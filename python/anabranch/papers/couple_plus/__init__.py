"""Xue et al. 2017: unfairness among subflows of Multipath TCP with network coding."""

# Importing them registers the claims.
from . import definitions, losses, mobile, schemes, static, uncongested, wishes
from .figures import sections
from .paper import PAPER

PAPER.sections = sections

__all__ = [
    "PAPER",
    "definitions",
    "losses",
    "mobile",
    "schemes",
    "static",
    "uncongested",
    "wishes",
]

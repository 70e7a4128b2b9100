"""CS 218 project report, Fall 2017: CS218_ALGO, RTT Compensator, Uncoupled and Fully Coupled."""

# Importing them registers the claims.
from . import algorithms, dual, manet, topologies, wired, wishes
from .paper import PAPER
from .tables import sections

PAPER.sections = sections

__all__ = ["PAPER", "algorithms", "dual", "manet", "topologies", "wired", "wishes"]

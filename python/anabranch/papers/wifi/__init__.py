"""Fairness of Multipath TCP over wireless networks: the section 'Fairness' of a report."""

# Importing them registers the claims.
from . import added, downlink, hosts, structure, uplink, wishes
from .figures import sections
from .paper import PAPER

PAPER.sections = sections

__all__ = ["PAPER", "added", "downlink", "hosts", "structure", "uplink", "wishes"]

"""Coupling where a bottleneck is shared: the ledger of MPTCP-SBD's abstract."""

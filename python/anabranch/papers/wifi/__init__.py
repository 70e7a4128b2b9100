"""Fairness of Multipath TCP over wireless networks: its ledger, and what that measures."""

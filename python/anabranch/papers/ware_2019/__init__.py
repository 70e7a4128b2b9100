"""Harm, and the settings of Prudentia: their ledger, and what that measures."""

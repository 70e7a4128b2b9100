"""The CS 218 report on CS218_ALGO: its ledger, and what that measures."""

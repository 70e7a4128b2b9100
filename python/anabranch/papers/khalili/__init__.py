"""The draft on LIA's unfairness: its ledger, and what that measures."""

"""The paper on unfairness among coded subflows: its ledger, and what that measures."""

"""The draft and the article on Balia: their ledger, and what that measures."""

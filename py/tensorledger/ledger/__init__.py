"""The ledger of a Python process: every live tensor that was made while it was on, and where it was made."""

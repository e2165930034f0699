"""Verdicts: whether what was measured is what was expected."""

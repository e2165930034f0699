"""Cells: one scenario on one target, from inputs to a result."""

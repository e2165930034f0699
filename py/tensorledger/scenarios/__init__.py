"""Scenarios: which there are, and what file is meant by what someone wrote."""

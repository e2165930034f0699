"""Targets: the concrete runtimes that scenarios run on, how people write them, and which there are."""

"""Stub until the branch of Python recipes is merged."""

MODELS: tuple[str, ...] = ("classifier", "extractor")
USAGES: tuple[str, ...] = ("eager",)
ALLOCATORS = ("default",)
CYCLES = 16


def takes(model):
    return model in MODELS


def rows(*a):
    return iter(())

"""Why a model, or a file, is not converted."""

from __future__ import annotations


class CannotConvert(ValueError):
    """The model has no form that TensorFlow.js would load and be right with, or its file is not one we read.

    The message says which, where, and what to do instead.
    """

"""Why a model, or a file, is not converted."""

from __future__ import annotations


class CannotConvert(ValueError):
    """The model has no form that TensorFlow.js would load and be right with, or its file is not one we read.

    The message says which, where, and what to do instead.
    """

    def __init__(self, message: str, *, of_format: bool = False) -> None:
        """``of_format``: the model is well, and could be converted to another format perhaps."""
        super().__init__(message)
        self.of_format = of_format

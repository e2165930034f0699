"""Why a model, or a file, is not converted."""

from __future__ import annotations

LONGEST = 2000
"""Characters of a line; a name in a file may have any number."""


def _short(line: str) -> str:
    if len(line) <= LONGEST:
        return line
    half = LONGEST // 2
    return f"{line[:half]} … {len(line) - 2 * half:,} characters … {line[-half:]}"


class CannotConvert(ValueError):
    """The model has no form that TensorFlow.js would load and be right with, or its file is not one we read.

    The message says which, where, and what to do instead.
    """

    def __init__(self, message: str, *, of_format: bool = False) -> None:
        """``of_format``: the model is well, and could be converted to another format perhaps."""
        super().__init__("\n".join(map(_short, message.splitlines())))
        self.of_format = of_format

"""Leaks that are known, told by where they were made or by what holds them, as ``tensor_leaks_ignore`` has them."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

from tensorledger.protocol.messages import Frame, LiveTensor

HELD = "held by "


class Known:
    """Patterns: FILE, FILE:LINE, FILE::FUNCTION, of the user's innermost frame, or ``held by WORDS``; * is any text.

    What a module makes as it is imported is known too. A file is the end of a path: ``models.py`` and
    ``tests/models.py`` both mean ``/home/me/tests/models.py``.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        given = [pattern.strip() for pattern in patterns]
        self._held = [pattern.removeprefix(HELD) for pattern in given if pattern.startswith(HELD)]
        self._places = [_place(pattern) for pattern in given if not pattern.startswith(HELD)]

    @property
    def by_holder(self) -> bool:
        """Whether what holds a leak matters."""
        return bool(self._held)

    def __contains__(self, leak: LiveTensor) -> bool:
        """Say whether a leak is one of these. What holds it must have been looked for."""
        if leak.stack and leak.stack[0].function == "<module>":
            return True  # made once, as its module was imported for the first time
        if any(fnmatchcase(words, f"{pattern}*") for pattern in self._held for words in leak.held):
            return True
        return bool(leak.stack) and any(_made_at(leak.stack[0], *place) for place in self._places)


def _place(pattern: str) -> tuple[str, str, str]:
    """Return file, line and function of a pattern; the empty string for any."""
    file, colons, function = pattern.partition("::")
    if colons:
        return file, "", function
    file, colon, line = pattern.rpartition(":")
    return (file, line, "") if colon and line.isdecimal() else (pattern, "", "")


def _made_at(frame: Frame, file: str, line: str, function: str) -> bool:
    path = Path(frame.file).as_posix()
    return (
        (fnmatchcase(path, file) or fnmatchcase(path, f"*/{file}"))
        and line in ("", str(frame.line))
        and (not function or fnmatchcase(frame.function, function))
    )

"""What reading a broken file raises, beside what is to be expected of it."""

from __future__ import annotations

import errno
import json
import lzma
import struct
import zlib
from typing import Any

from tensorledger.conversion.refusal import CannotConvert

UNREADABLE = (
    NotImplementedError,  # a compression that zipfile has not
    RuntimeError,  # an archive with a password, and much of HDF5's; RecursionError is one
    MemoryError,
    ArithmeticError,  # OverflowError of numbers that fit nowhere
    zlib.error,
    lzma.LZMAError,
    struct.error,
)
OF_THE_FILE = {None, errno.EINVAL, errno.EOVERFLOW, errno.ERANGE, errno.EFBIG}
"""The numbers of those OSErrors that say something of a file's content: None is h5py's."""
DEEPEST = 256
"""Levels of a description; no model's comes near, and what walks over it calls itself for each."""


def parsed(text: str | bytes) -> Any:
    """Return what JSON says. Raises ValueError for what is none, and for what is deeper than any model."""
    try:
        found = json.loads(text, parse_constant=_no_json)
    except RecursionError as error:
        raise ValueError("it is nested deeper than any model") from error
    if _is_deep(found):
        raise ValueError("it is nested deeper than any model")
    return found


def _no_json(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _is_deep(described: Any) -> bool:
    level: list[Any] = [described]
    for _ in range(DEEPEST):
        level = [
            inner
            for one in level
            if isinstance(one, dict | list)
            for inner in (one.values() if isinstance(one, dict) else one)
            if isinstance(inner, dict | list)
        ]
    return bool(level)


def words(error: BaseException) -> str:
    """Return what an exception says; of one without words, what it is."""
    if isinstance(error, MemoryError):
        return "it takes more memory than there is"
    return str(error) or type(error).__name__


def named(source: object, error: CannotConvert) -> CannotConvert:
    """Return a refusal that says of which model it is."""
    if str(source) in str(error):
        return error
    return CannotConvert(f"{source}: {error}", of_format=error.of_format)

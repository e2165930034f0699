"""Reads a TOML file into a struct, with errors that name the file and the place in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import msgspec
import msgspec.structs
import msgspec.toml

from tensorledger.environment.tree import shown

T = TypeVar("T")


class BadDefinition(Exception):
    """An expectation, a deviation or a model description that cannot be used; the message names file and place."""


def read_table(path: Path) -> dict[str, Any]:
    """Return a file's content. Raises BadDefinition."""
    try:
        table: dict[str, Any] = msgspec.toml.decode(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, msgspec.DecodeError) as error:
        raise BadDefinition(f"{shown(path)}: {error}") from error
    return table


def read(path: Path, kind: type[T]) -> T:
    """Return a file's content as ``kind``. Raises BadDefinition, for an unknown key too."""
    try:
        return msgspec.convert(read_table(path), kind)
    except msgspec.ValidationError as error:
        keys = ", ".join(field.name for field in msgspec.structs.fields(kind))  # type: ignore[arg-type]
        there = f" (the keys of the file: {keys})" if "unknown field" in str(error) else ""
        raise BadDefinition(f"{shown(path)}: {error}{there}") from error

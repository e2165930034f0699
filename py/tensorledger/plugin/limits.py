"""What a test is held to: its markers, read and checked."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pytest

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}
_SIZE = re.compile(r"\s*(?P<number>\d+(?:\.\d+)?|\.\d+)\s*(?P<unit>[A-Za-z]*)\s*")


@dataclass(frozen=True)
class LiveTensors:
    """How many tensors a test may leave."""

    count: int = 0
    ignore: tuple[str, ...] = ()


@dataclass(frozen=True)
class TensorGrowth:
    """How many bytes of tensors each further run of a test may add."""

    size: float
    cycles: int = 10
    ignore: tuple[str, ...] = ()


@dataclass(frozen=True)
class Limits:
    """All that one test is held to."""

    live: LiveTensors | None = None
    growth: TensorGrowth | None = None


def limits_of(item: pytest.Item, every: bool) -> Limits | None:
    """Return what a test is held to, None where to nothing. ``every``: each test is to leave none.

    Raises ValueError, which says what is wrong with a marker.
    """
    marked = item.get_closest_marker("limit_live_tensors")
    grows = item.get_closest_marker("limit_tensor_growth")
    live = _read(marked, _live) if marked else LiveTensors() if every else None
    growth = _read(grows, _growth) if grows else None
    return Limits(live, growth) if live or growth else None


def _read(mark: pytest.Mark, build: Any) -> Any:
    try:
        return build(*mark.args, **mark.kwargs)
    except (TypeError, ValueError) as error:
        said = re.sub(r"^_(live|growth)\(\)", f"{mark.name}()", str(error))
        written = ", ".join([*map(repr, mark.args), *(f"{name}={value!r}" for name, value in mark.kwargs.items())])
        raise ValueError(f"@pytest.mark.{mark.name}({written}): {said}") from None


def _live(count: int = 0, *, ignore: Iterable[str] = ()) -> LiveTensors:
    return LiveTensors(_whole(count, "count", 0), _patterns(ignore))


def _growth(size: str | float, *, cycles: int = 10, ignore: Iterable[str] = ()) -> TensorGrowth:
    return TensorGrowth(bytes_of(size), _whole(cycles, "cycles", 1), _patterns(ignore))


def _whole(value: Any, name: str, least: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} is a whole number of at least {least}, and not {value!r}")
    return value


def _patterns(ignore: Iterable[str]) -> tuple[str, ...]:
    if isinstance(ignore, str):
        ignore = (ignore,)
    return tuple(ignore)


def bytes_of(size: str | float) -> float:
    """Return a size in bytes: a number, or text such as "1 KiB" or "0.5 MB". Raises ValueError."""
    if isinstance(size, (int, float)) and not isinstance(size, bool) and size >= 0:
        return size
    match = _SIZE.fullmatch(size) if isinstance(size, str) else None
    if match is None or match["unit"].upper() not in UNITS:
        raise ValueError(f"a size is a number of bytes or text such as '1 KiB', and not {size!r}")
    return float(match["number"]) * UNITS[match["unit"].upper()]

"""What a model takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Input:
    """One of the things that a model takes."""

    name: str
    shape: tuple[int | None, ...]
    """The batch first; None where any size will do."""
    dtype: str
    below: int | None = None
    """Its numbers are whole, from 0 and below this: indices into an embedding."""
    padding: float | None = None
    """The number that a mask leaves out, where the model has one."""

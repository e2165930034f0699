"""tensorledger: settles by measurement how neural-network models give memory back."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from tensorledger.version import __version__

if TYPE_CHECKING:
    from tensorledger.conversion.refusal import CannotConvert
    from tensorledger.ledger.track import track
    from tensorledger.library import check, convert
    from tensorledger.plugin.telling import TensorLeakWarning

__all__ = ["CannotConvert", "TensorLeakWarning", "__version__", "check", "convert", "track"]

_FROM = {
    "track": "tensorledger.ledger.track",
    "convert": "tensorledger.library",
    "check": "tensorledger.library",
    "CannotConvert": "tensorledger.conversion.refusal",
    "TensorLeakWarning": "tensorledger.plugin.telling",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for: the package by itself stays light."""
    if name in _FROM:
        return getattr(importlib.import_module(_FROM[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

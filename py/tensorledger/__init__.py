"""tensorledger: settles by measurement how neural-network models give memory back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorledger.version import __version__

if TYPE_CHECKING:
    from tensorledger.ledger.track import track

__all__ = ["__version__", "track"]


def __getattr__(name: str) -> Any:
    """Import ``track`` when it is asked for: the package by itself stays light."""
    if name == "track":
        from tensorledger.ledger.track import track

        return track
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

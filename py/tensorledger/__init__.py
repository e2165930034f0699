"""tensorledger: settles by measurement how neural-network models give memory back."""

from tensorledger.version import __version__

__all__ = ["__version__"]

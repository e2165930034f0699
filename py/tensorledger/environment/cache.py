"""Where things are kept that are made or fetched once per user."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

VARIABLE = "TENSORLEDGER_CACHE"


class CacheUnusable(Exception):
    """The cache folder cannot be written."""

    def __init__(self, folder: Path, reason: OSError) -> None:
        super().__init__(
            f"cannot write to the cache folder {folder}: {reason.strerror or reason}\n"
            f"Set {VARIABLE} to a folder that can be written."
        )


def _users() -> Path:
    """Return the folder for the caches of this user, as the XDG Base Directory Specification and macOS have it."""
    xdg = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if xdg.is_absolute():
        return xdg
    return Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")


def cache_folder() -> Path:
    """Return the cache's folder, which exists and can be written: ``$TENSORLEDGER_CACHE``, or the platform's own place.

    Raises ``CacheUnusable``.
    """
    chosen = os.environ.get(VARIABLE)
    folder = Path(chosen).absolute() if chosen else _users() / "tensorledger"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()  # permission bits alone do not tell: read-only mounts, quotas
    except OSError as reason:
        raise CacheUnusable(folder, reason) from reason
    return folder

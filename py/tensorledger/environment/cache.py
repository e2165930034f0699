"""Where things are kept that are made or fetched once per user."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import platformdirs

VARIABLE = "TENSORLEDGER_CACHE"


class CacheUnusable(Exception):
    """The cache folder cannot be written."""

    def __init__(self, folder: Path, reason: OSError) -> None:
        super().__init__(
            f"cannot write to the cache folder {folder}: {reason.strerror or reason}\n"
            f"Set {VARIABLE} to a folder that can be written."
        )


def cache_folder() -> Path:
    """Return the cache's folder, which exists and can be written: ``$TENSORLEDGER_CACHE``, or the platform's own place.

    Raises ``CacheUnusable``.
    """
    chosen = os.environ.get(VARIABLE)
    folder = Path(chosen).absolute() if chosen else platformdirs.user_cache_path("tensorledger")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()  # permission bits alone do not tell: read-only mounts, quotas
    except OSError as reason:
        raise CacheUnusable(folder, reason) from reason
    return folder

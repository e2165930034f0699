"""The releases that a sweep fetches, within a budget of disk space. What was there before is the user's, and stays."""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from tensorledger.environment.releases import discard, fetched, folder_of, is_here
from tensorledger.targets.target import Target

MARK = ".fetched-by-atlas"
"""A file in a release that a sweep has fetched, with its bytes; only such a one is ever discarded."""

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)
_UNITS = {unit: 1024**power for power, unit in enumerate(("", "K", "M", "G", "T"))}


def bytes_of(written: str) -> int:
    """Return the bytes that "8G" or "500M" means. Raises ValueError."""
    match = _SIZE.fullmatch(written.strip())
    if match is None:
        raise ValueError(f"{written!r} is no size; write 8G or 500M")
    return int(float(match[1]) * _UNITS[match[2].upper()])


class Shelf:
    """Fetches releases, and discards those again that it has fetched, now or in an earlier run."""

    def __init__(self, budget: int) -> None:
        """``budget``: bytes that what sweeps have fetched may take together, those in use aside."""
        self._budget = budget
        self.discarded: list[str] = []
        """The releases that were discarded, in that order."""

    def bring(self, target: Target, needed: Collection[Target]) -> None:
        """Fetch a release if need be, after making room; those in ``needed`` stay.

        Raises ReleaseMissing, NodeMissing or CacheUnusable.
        """
        assert target.version is not None and target.backend is not None
        if is_here(target.version, target.backend):
            return
        self._make_room({folder_of(str(other.version), str(other.backend)) for other in needed})
        home = fetched(target.version, target.backend)
        with suppress(OSError):  # then it stays for good
            (home / MARK).write_text(str(_size(home)), encoding="ascii")

    def _make_room(self, needed: Collection[Path]) -> None:
        marks = sorted(folder_of("0", "cpu").parent.glob(f"*/{MARK}"), key=lambda mark: mark.stat().st_mtime)
        sizes = {mark.parent: int(mark.read_text(encoding="ascii") or 0) for mark in marks}
        used = sum(sizes.values())
        for home, size in sizes.items():
            if used <= self._budget:
                return
            if home not in needed and discard(home):
                used -= size
                self.discarded.append(home.name)


def _size(folder: Path) -> int:
    return sum(
        entry.stat(follow_symlinks=False).st_blocks * 512
        for root, _, names in os.walk(folder)
        for entry in map(Path(root).joinpath, names)
        if not entry.is_symlink()
    )

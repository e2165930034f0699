"""What is read of measurements, and told as figures: the same way by every claim."""

from __future__ import annotations

from tensorledger.atlas.shows import Point, Shows
from tensorledger.recipes.row import Row


def point(shows: Shows, name: str) -> Point | None:
    """Return a checkpoint of the last cycle; None where it was not reached."""
    return next((found for found in (shows.cycle.points if shows.cycle else ()) if found.name == name), None)


def amount(found: Point | None) -> dict[str, int | None]:
    """Return what is alive at a point; nulls where it was not reached."""
    return {"tensors": found.tensors, "bytes": found.bytes} if found else {"tensors": None, "bytes": None}


def left(row: Row) -> dict[str, int | None]:
    """Return what a row says is left; nulls where nothing was read."""
    return {"tensors": row.left.tensors, "bytes": row.left.bytes} if row.left else {"tensors": None, "bytes": None}


def nothing(found: Point) -> bool:
    """Say whether nothing is alive at a point."""
    return not (found.tensors or found.bytes)

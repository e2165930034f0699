"""What gives the resident size back to the system: a rule on figures, in words."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from tensorledger.recipes.row import Resident, Row
from tensorledger.workers.allocators import DEFAULT

SMALL = 4 * 2**20
"""Bytes of resident size that are no rise: what the first use of anything adds."""
SYSTEM = "system"


def levers(rows: Iterable[Row]) -> list[Row]:
    """Return the rows with ``lever`` worked out; that of the system allocator from the same crossing's row under it."""
    found = list(rows)
    system = {_crossing(row): row.resident for row in found if row.allocator == SYSTEM}
    return [msgspec.structs.replace(row, lever=_of(row, system.get(_crossing(row)))) for row in found]


def lever(here: Resident, system: Resident | None = None) -> str:
    """Say what gives back at least half of what the resident size rose by, the least intrusive first.

    ``system`` is what the same crossing measured with the system allocator; None: it was not measured, or this is it.

    - "nothing to give back": the size rose by no more than SMALL;
    - "trim": ``malloc_trim`` gives back half;
    - "system allocator": with it the size rose by half as much at most;
    - "system allocator and trim": the same, but only after a trim;
    - "none": none of these. What is left is held, or cached for good.
    """
    rise = here.end - here.start
    if rise <= SMALL:
        return "nothing to give back"
    if here.trimmed - here.start <= rise / 2:
        return "trim"
    if system is not None and system.end - system.start <= rise / 2:
        return "system allocator"
    if system is not None and system.trimmed - system.start <= rise / 2:
        return "system allocator and trim"
    return "none"


def _of(row: Row, system: Resident | None) -> str | None:
    if row.resident is None:
        return None
    return lever(row.resident, system if row.allocator == DEFAULT else None)


def _crossing(row: Row) -> tuple[str, ...]:
    return row.model, row.target, row.usage, row.recipe

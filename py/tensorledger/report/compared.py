"""Two merged runs compared: what got worse, what got better, and what is otherwise than before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from tensorledger.report.merged import Key, Merged, Seen
from tensorledger.results.result import Result

Kind = Literal["worse", "better", "otherwise", "new", "gone"]
BROKEN = ("error", "fail")
JUDGED = ("deviates", "caught", "pass")


@dataclass(frozen=True)
class Change:
    """A cell that is not as it was before."""

    key: Key
    kind: Kind
    said: str
    """What of it, in a line."""
    before: Seen | None
    after: Seen | None


def changes(before: Merged, after: Merged) -> Iterator[Change]:
    """Yield the cells that are not as before, those that got worse first."""
    found = [change for key in {**after.cells, **before.cells} if (change := _change(key, before, after))]
    order: tuple[Kind, ...] = ("worse", "better", "otherwise", "new", "gone")
    yield from sorted(found, key=lambda change: order.index(change.kind))


def _change(key: Key, before: Merged, after: Merged) -> Change | None:
    if key not in before.cells:
        new = after.shown(key)
        return Change(key, "new", new.verdict, None, new)
    old = before.shown(key)
    if key not in after.cells:
        return Change(key, "gone", f"it was: {old.verdict}", old, None)
    new = after.shown(key)
    if old.verdict != new.verdict:
        kind: Kind = "otherwise"
        if new.verdict in BROKEN and old.verdict not in BROKEN:
            kind = "worse"
        elif old.verdict in BROKEN and new.verdict in JUDGED:
            kind = "better"
        return Change(key, kind, f"{old.verdict} → {new.verdict}", old, new)
    return _numbers(key, old, new)


def _numbers(key: Key, old: Seen, new: Seen) -> Change | None:
    """Compare what the last cycle left, exactly, in a cell of the same verdict."""
    was, now = _left(old.result), _left(new.result)
    said = ", ".join(
        f"{was[quantity]:,} → {now[quantity]:,} {quantity}"
        for quantity in was
        if quantity in now and was[quantity] != now[quantity]
    )
    if not said:
        return None
    more = any(now[quantity] > was[quantity] for quantity in was if quantity in now)
    less = any(now[quantity] < was[quantity] for quantity in was if quantity in now)
    kind: Kind = "otherwise" if more and less else "worse" if more else "better"
    return Change(key, kind, f"{new.verdict}: {said} left", old, new)


def _left(result: Result) -> dict[str, int]:
    """Return what the last cycle left, of what was read."""
    if not result.checkpoints:
        return {}
    end = result.checkpoints[-1]
    read = {quantity: getattr(end, quantity) for quantity in ("tensors", "bytes", "buffers")}
    return {quantity: value for quantity, value in read.items() if value is not None}

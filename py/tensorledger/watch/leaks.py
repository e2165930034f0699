"""The tensors that rounds have left, by the line that made them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tensorledger.watch.found import Leak
from tensorledger.watch.trace import Place


@dataclass(frozen=True)
class Left:
    """A group of like tensors, as the observer tells it."""

    count: int
    shape: tuple[int, ...]
    dtype: str
    bytes: int | None
    name: str | None
    kept: bool
    reachable: bool | None
    stack: str | None
    rounds: Mapping[str, int]

    @classmethod
    def told(cls, said: Mapping[str, Any], born: int) -> Left:
        """Return what an observer has said; ``born``: the round in which its realm came, which that does not know."""
        rounds = {(name or str(born)): count for name, count in said["rounds"].items() if count > 0}
        return cls(**{**said, "shape": tuple(said["shape"]), "rounds": rounds})


def leaks(left: Sequence[Left], places: Mapping[str, Place], rounds: Sequence[int]) -> list[Leak]:
    """Return those that rounds leave, the most bytes first: like ones of a place together, however that was come to.

    What only the last round made is not among them where others left something: that is replaced each time.
    """
    groups: dict[object, list[Left]] = {}
    for group in left:
        place = places.get(group.stack or "")
        frames = place.frames if place else []
        own = [frame for frame in frames if frame.of == "user" or (place and place.bundled)] or frames[:1]
        where = tuple((frame.file.partition("?")[0], frame.line, frame.column) for frame in own)
        groups.setdefault((where, group.shape, group.dtype), []).append(group)
    found = [_leak(groups[key], places) for key in groups]
    for least in (len(rounds), 2, 1):
        lasting = [leak for leak in found if len(leak.rounds) >= least]
        if lasting:
            return sorted(lasting, key=lambda leak: -leak.count * (leak.bytes or 0))
    return []


def _leak(like: Sequence[Left], places: Mapping[str, Place]) -> Leak:
    first = like[0]
    place = places.get(first.stack or "")
    rounds: dict[str, int] = {}
    for group in like:
        for name, count in group.rounds.items():
            rounds[name] = rounds.get(name, 0) + count
    known = [group.reachable for group in like if group.reachable is not None]
    return Leak(
        count=sum(group.count for group in like),
        shape=list(first.shape),
        dtype=first.dtype,
        bytes=first.bytes,
        name=first.name,
        reachable=any(known) if known else None,
        stack=place.frames if place else [],
        kept=first.kept,
        rounds=dict(sorted(rounds.items(), key=lambda item: int(item[0]))),
        source=place.source if place else "",
        bundled=bool(place and place.bundled),
    )

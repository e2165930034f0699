"""The recipes object of DESIGN.md, schema ``tensorledger/recipes/1``. New keys may come; none is renamed or removed."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from tensorledger.protocol.messages import Reading
from tensorledger.results.result import Failure

SCHEMA = "tensorledger/recipes/1"

KEPT = "kept"
"""What is said of a bystander that has all that it had."""
HARMED = "BystanderHarmed"
"""What the scenarios behind rows throw, in both languages, where it has not."""


class Left(msgspec.Struct, frozen=True, kw_only=True):
    """What a cycle left, relative to its own baseline: of a row's cycles the one that left most."""

    tensors: int | None
    bytes: int | None
    buffers: int | None

    @classmethod
    def most(cls, ends: Iterable[Reading]) -> Left:
        """Return what the cycle left that left most tensors, or most bytes among those."""
        worst = max(ends, key=lambda end: (end.tensors or 0, end.bytes or 0))
        return cls(tensors=worst.tensors, bytes=worst.bytes, buffers=worst.buffers)

    @property
    def nothing(self) -> bool:
        """Say whether nothing is left."""
        return not (self.tensors or self.bytes or self.buffers)


class Rise(msgspec.Struct, frozen=True, kw_only=True):
    """What a cycle adds, by level; each in bytes but the first. Null: not read."""

    tensors: float | None
    bytes: float | None
    native: float | None
    """Of the C allocator's bytes in use, or of TensorFlow's own allocator's, whichever rises faster: the regions that
    the latter gives out from are among the former's, so that a sum would count them twice."""
    resident: float | None


class Resident(msgspec.Struct, frozen=True, kw_only=True):
    """The process's resident size, in bytes: before the first cycle, after the last, and after a trim."""

    start: int
    end: int
    trimmed: int


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One crossing: a model, used in one way, released in one way, on one target."""

    model: str
    language: str
    target: str
    recipe: str
    applies: bool
    left: Left | None
    """Null where it does not apply or could not be run."""
    error: Failure | None
    usage: str
    allocator: str | None = None
    """The setting of the allocator (Python only)."""
    reason: str = ""
    """Why it does not apply."""
    bystander: str | None = None
    """What became of a model beside it, which nobody released: "kept", or what it lost."""
    cycles: int = 0
    growth: Rise | None = None
    resident: Resident | None = None
    lever: str | None = None
    """What gives the resident size back to the system (Python only)."""
    seconds: float = 0.0
    """How long it took to measure."""

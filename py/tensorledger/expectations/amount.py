"""An expected number: an absolute count, or a sum of the model's named parts and counts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from tensorledger.environment.tree import shown
from tensorledger.expectations.description import QUANTITIES, Description
from tensorledger.expectations.toml import BadDefinition

Written = int | str | msgspec.UnsetType
"""As in the file: 4, or "weights + optimizer.scalars"."""


ON_GPU = ("gpu", "gpu_allocated")
"""Bytes of a backend's that are exact as well: of the textures and buffers in use, and of all that there are."""


class Counts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is expected at one checkpoint, or per cycle; a quantity that is not written is not judged."""

    tensors: Written = msgspec.UNSET
    bytes: Written = msgspec.UNSET
    buffers: Written = msgspec.UNSET
    buffer_bytes: Written = msgspec.UNSET
    gpu: Written = msgspec.UNSET
    gpu_allocated: Written = msgspec.UNSET

    def stated(self) -> Iterator[tuple[str, int | str]]:
        """Yield each quantity that is written, with what is."""
        for quantity in (*QUANTITIES, *ON_GPU):
            written = getattr(self, quantity)
            if written is not msgspec.UNSET:
                yield quantity, written

    def over(self, other: Counts) -> Counts:
        """Return these counts, and the other's where these say nothing."""
        return Counts(**{**dict(other.stated()), **dict(self.stated())})


NOTHING = Counts(tensors=0, bytes=0, buffers=0)
"""Back at the baseline."""


@dataclass(frozen=True)
class Amount:
    """A number with what it is made of, for people."""

    value: int
    made_of: str

    def __str__(self) -> str:
        return f"{self.value} = {self.made_of}" if self.made_of else str(self.value)


def amount(written: int | str, quantity: str, description: Description, runtime: str) -> Amount:
    """Work a written number out. Raises BadDefinition for a part that the model does not have."""
    if isinstance(written, int):
        return Amount(written, "")
    if quantity in ON_GPU:
        raise BadDefinition(f"{written!r}: a model's parts say nothing of {quantity}; write a number")
    terms: list[tuple[str, int]] = []
    for name in map(str.strip, written.split("+")):
        if not name:
            raise BadDefinition(f"{written!r} is not a sum of parts")
        if name.isdecimal():
            terms.append((name, int(name)))
        else:
            parts = description.within(runtime, name)
            terms += [(f"{part} {found.amount(quantity)}", found.amount(quantity)) for part, found in parts.items()]
    said = " + ".join(said for said, _ in terms)
    return Amount(sum(value for _, value in terms), f"{said} ({shown(description.path)})")

"""What an HDF5 file holds itself: no other file is followed to, and nothing is taken that it does not store."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from contextlib import nullcontext
from math import prod
from pathlib import Path
from typing import Any

from tensorledger.conversion.refusal import CannotConvert

DEEPEST = 64
"""Groups within each other; Keras has some ten."""
BLOATED, SMALL = 1100, 2**20
"""How much more than is stored a compression can hold at most (deflate: 1,032 times), and what is small in any case."""


_HEAP, _HEADER, _OBJECT = b"GCOL\x01\0\0\0", 16, 16
"""How a global heap begins, which holds texts, and the bytes of its header and of an object's."""


def open_file(file: Path, content: Any) -> Any:
    """Open an HDF5 file, by its path or as an open file. Raises CannotConvert where HDF5 would read it for ever."""
    import h5py

    with open(content, "rb") if isinstance(content, Path) else nullcontext(content) as opened:
        if _is_endless(opened):
            raise CannotConvert(f"{file} is broken: a heap of its texts comes to no end")
    return h5py.File(content, "r")


def _is_endless(opened: Any) -> bool:
    """Say whether a global heap has free space of no size, after which HDF5 looks at the same place again."""
    size = os.fstat(opened.fileno()).st_size
    if not size:
        return False
    with mmap.mmap(opened.fileno(), size, access=mmap.ACCESS_READ) as content:
        at = content.find(_HEAP)
        while at >= 0:
            place, end = at + _HEADER, min(size, at + int.from_bytes(content[at + 8 : at + 16], "little"))
            while place + _OBJECT <= end:
                index = int.from_bytes(content[place : place + 2], "little")
                length = int.from_bytes(content[place + 8 : place + 16], "little")
                if index == length == 0:
                    return True
                place += _OBJECT + -(-length // 8) * 8 if index else length
            at = content.find(_HEAP, at + 1)
    return False


def is_bloated(size: int, stored: int) -> bool:
    """Say whether something claims to be larger than what is stored of it can be."""
    return size > SMALL and size > BLOATED * stored


def inside(file: Path, group: Any, name: str) -> Any:
    """Return what is in a group by a name, which may lead through others. Raises CannotConvert where it leads outside.

    A soft link may lead outside too, and Keras writes none. Raises KeyError where nothing is there.
    """
    import h5py

    for part in name.split("/"):
        if not part:
            continue
        if not isinstance(group, h5py.Group):
            raise KeyError(name)
        if not isinstance(group.get(part, getlink=True), h5py.HardLink):
            if part not in group and group.get(part, getlink=True) is None:
                raise KeyError(name)
            raise CannotConvert(f"{file}: {name!r} is a link, to another file perhaps, and is not followed")
        group = group[part]
    return group


def datasets(file: Path, group: Any, place: str = "", above: tuple[int, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Yield an archive's weights in the order in which tensorflowjs writes them: a group's own, else those inside."""
    import h5py

    address = h5py.h5o.get_info(group.id).addr
    if address in above or len(above) > DEEPEST:
        raise CannotConvert(f"{file} is broken: the group {place!r} holds itself, or is deeper than any model's")
    found = {key: inside(file, group, key) for key in group}
    own = {key: one for key, one in found.items() if isinstance(one, h5py.Dataset)}
    if own:
        yield from ((f"{place}{key}", dataset) for key, dataset in own.items())
        return
    for key, one in found.items():
        if isinstance(one, h5py.Group):
            yield from datasets(file, one, f"{place}{key}/", (*above, address))


def checked(file: Path, place: str, dataset: Any) -> tuple[int, ...]:
    """Return a dataset's shape. Raises CannotConvert where its numbers are elsewhere, or more than it can hold."""
    import h5py

    if not isinstance(dataset, h5py.Dataset):
        raise CannotConvert(f"{file} is broken: {place!r} is no array")
    if dataset.external or dataset.is_virtual:
        raise CannotConvert(f"{file}: the numbers of {place!r} are in another file, which is not followed")
    if dataset.shape is None:
        raise CannotConvert(f"{file} is broken: {place!r} holds nothing")
    shape = tuple(int(size) for size in dataset.shape)
    if is_bloated(prod(shape) * dataset.dtype.itemsize, dataset.id.get_storage_size()):
        raise CannotConvert(f"{file} is broken: {place!r} claims to be {list(shape)}, and stores no such array")
    return shape

"""What an HDF5 file holds itself: no other file is followed to, and nothing is taken that it does not store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from math import prod
from pathlib import Path
from typing import Any

from tensorledger.conversion.apart import breakdown
from tensorledger.conversion.refusal import CannotConvert

DEEPEST = 64
"""Groups within each other; Keras has some ten."""
READ = ("model_config", "training_config", "keras_version", "weight_names")
"""The attributes that are read, which are tried though the list of them be broken."""
CHUNKED = 2**26
"""Bytes of an array in chunks, which may be packed, that are tried; Keras writes arrays in one piece."""
BLOATED, SMALL = 1100, 2**20
"""How much more than is stored a compression can hold at most (deflate: 1,032 times), and what is small in any case."""


def open_file(file: Path, content: Any) -> Any:
    """Open an HDF5 file, by its path or as an open file, once a process of its own has come through it.

    Raises CannotConvert where that has crashed, or came to no end; OSError.
    """
    import h5py

    broke = breakdown(lambda: _walk(file, content))
    if broke:
        raise CannotConvert(f"{file} is broken: HDF5 {broke} as it reads it")
    return h5py.File(content, "r")


def _walk(file: Path, content: Any) -> None:
    """Touch all that reading may touch. What is raised here is raised again where it is read."""
    import h5py

    with h5py.File(content, "r") as found:
        waiting, seen = [found], set()
        while waiting:
            group = waiting.pop()
            for name in (*READ, *_listed(group.attrs)):
                with suppress(Exception):
                    group.attrs.get(name)
            for key in _listed(group):
                with suppress(Exception):
                    one = inside(file, group, key)
                    address = h5py.h5o.get_info(one.id).addr
                    if isinstance(one, h5py.Group) and address not in seen:
                        seen.add(address)
                        waiting.append(one)
                    elif isinstance(one, h5py.Dataset):
                        _touch(file, key, one)


def _listed(names: Iterable[str]) -> list[str]:
    with suppress(Exception):
        return list(names)
    return []


def _touch(file: Path, key: str, dataset: Any) -> None:
    shape = checked(file, key, dataset)
    if dataset.chunks is not None and prod(shape) * dataset.dtype.itemsize <= CHUNKED:
        dataset[()]


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

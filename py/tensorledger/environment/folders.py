"""Folders and files that are there complete or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_folder(destination: Path) -> Iterator[Path]:
    """Yield a folder to fill, which becomes ``destination`` when the block ends well and is removed when it does not.

    It is made beside ``destination``, in ``.<name>.<random>``: renaming is atomic only within a file system. A process
    that is killed leaves that behind, and no ``destination``. Raises ``FileExistsError`` if there is one with something
    in it.
    """
    if destination.is_file() or (destination.is_dir() and any(destination.iterdir())):
        raise FileExistsError(f"{destination} exists already")
    destination.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{destination.name}.", dir=destination.parent) as beside:
        folder = Path(beside) / destination.name
        folder.mkdir()
        yield folder
        os.replace(folder, destination)


@contextmanager
def whole_file(destination: Path) -> Iterator[Path]:
    """Yield a path to write, which becomes ``destination`` when the block ends well and is removed when it does not.

    What else is written beside it is removed. Raises ``FileExistsError`` if ``destination`` exists.
    """
    if destination.exists():
        raise FileExistsError(f"{destination} exists already")
    destination.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{destination.name}.", dir=destination.parent) as beside:
        unfinished = Path(beside) / destination.name
        yield unfinished
        os.replace(unfinished, destination)


def write_whole(path: Path, text: str) -> None:
    """Write a file, UTF-8, so that it is whole or as it was: what a link leads to, and never in the place of a device.

    Raises OSError.
    """
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
        return
    path = path.resolve()
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", text=True)
    unfinished = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        umask = os.umask(0)
        os.umask(umask)
        unfinished.chmod(0o666 & ~umask)
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise

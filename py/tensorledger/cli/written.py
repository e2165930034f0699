"""Files that are written from templates; none takes the place of another."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import click

import tensorledger

TEMPLATES = Path(tensorledger.__file__).resolve().parent / "templates"


@dataclass(frozen=True)
class New:
    """A file to write: of which templates, one after the other, where, and what stands in them as ``{word}``."""

    templates: tuple[str, ...]
    path: Path
    words: Mapping[str, str]

    def write(self, here: Path) -> None:
        """Write it. Raises click.UsageError, which says why that cannot be."""
        text = "".join((TEMPLATES / f"{template}.txt").read_text(encoding="utf-8") for template in self.templates)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("x", encoding="utf-8") as opened:
                opened.write(filled(text, self.words))
        except OSError as error:
            message = f"{shown(self.path, here)} could not be written: {error.strerror or error}"
            raise click.UsageError(message) from error


def write(files: Iterable[New], here: Path) -> None:
    """Write files, and tell of each; or none, where one is there already: then it raises click.UsageError."""
    files = list(files)
    existing = [shown(file.path, here) for file in files if os.path.lexists(file.path)]
    if existing:
        raise click.UsageError(f"nothing was written: {', '.join(existing)}: there already")
    for file in files:
        file.write(here)
        click.echo(f"wrote {shown(file.path, here)}")


def filled(text: str, words: Mapping[str, str]) -> str:
    """Put words in the place of their names."""
    for name, word in words.items():
        text = text.replace(f"{{{name}}}", word)
    return text


def shown(path: Path, here: Path) -> str:
    """Return a path as people should read it in a folder."""
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)

"""What `make bench` writes: docs/benchmarks.json, and docs/benchmarks.md, which is made of it and of nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
from findings import AIMS, Findings

from tensorledger.environment.folders import write_whole
from tensorledger.environment.tree import tree
from tensorledger.results.marked import markdown

SCHEMA = "tensorledger/benchmarks/1"
DATA, PAGE = tree() / "docs" / "benchmarks.json", tree() / "docs" / "benchmarks.md"


class Entry(msgspec.Struct, frozen=True):
    """One benchmark, as it was run last."""

    name: str
    says: str
    """The first line of its file."""
    began: str
    seconds: float
    loads: tuple[float, float]
    """The machine's load over a minute, when it began and when it ended."""
    broke: str = ""
    """Why it did not come to its end."""
    findings: Findings | None = None

    @property
    def whole(self) -> bool:
        return self.findings is not None and not self.findings.wrong and not self.broke


class Document(msgspec.Struct, frozen=True):
    """All benchmarks, on one machine."""

    schema: str
    machine: dict[str, str]
    entries: list[Entry]

    def having(self, entry: Entry, order: list[str]) -> Document:
        """Return a document with an entry in the place of the one of its name."""
        entries = {each.name: each for each in [*self.entries, entry]}
        return Document(SCHEMA, self.machine, [entries[name] for name in order if name in entries])


def read(path: Path = DATA) -> Document:
    """Read a document. Raises OSError, or msgspec.MsgspecError where it is none."""
    return msgspec.json.decode(path.read_bytes(), type=Document)


def text_of(document: Document) -> str:
    """Return the file's text: the machine, and a line for each entry."""
    entries = ",\n".join(msgspec.json.encode(entry).decode() for entry in document.entries)
    head = msgspec.json.encode({"schema": document.schema, "machine": document.machine}).decode()
    return f'{head[:-1]},"entries":[\n{entries}\n]}}\n'


def write(document: Document, data: Path = DATA, made: Path = PAGE) -> None:
    """Write both files."""
    write_whole(data, text_of(document))
    write_whole(made, page(document))


HEAD = """\
# Benchmarks

`make bench` has measured this and written it: this page is made of [`benchmarks.json`](benchmarks.json), where the
figures of every turn are, and of nothing else. What is measured, and how:
[`benchmarks/README.md`](../benchmarks/README.md).
Ratios are between ways that ran in turn, in one run; figures are medians, and beside them are quartiles.
*twin*: the same of two ways that do the same; 1 or 0 but for noise. An aim is *within the noise* where it lies between
the quartiles, or where the twin's upper quartile does not keep to it either.
"""


def page(document: Document) -> str:
    """Return the page."""
    return "\n".join(_parts(document))


def _parts(document: Document) -> Iterator[str]:
    yield HEAD
    yield markdown(["the machine", ""], document.machine.items()) + "\n"
    aims = [(entry.name, aim) for entry in document.entries if entry.findings for aim in entry.findings.aims]
    met = sum(aim.met for _, aim in aims)
    yield f"## The aims: {met} of {len(aims)} met\n"
    yield markdown(["benchmark", *AIMS], [[f"[{name}](#{name})", *aim.row] for name, aim in aims]) + "\n"
    for entry in document.entries:
        yield f"## {entry.name}\n"
        begin, end = entry.loads
        yield entry.says
        yield f"({entry.began}, {entry.seconds:.0f} s; load {begin:.1f} at the beginning, {end:.1f} at the end.)\n"
        if entry.broke:
            yield f"**It broke**: {entry.broke}\n"
        if entry.findings is not None:
            yield from (f"**Not measured**: {wrong}\n" for wrong in entry.findings.wrong)
            for table in entry.findings.tables:
                yield f"{table.title[:1].upper()}{table.title[1:]}:\n\n{markdown(table.columns, table.rows)}\n"
                if table.note:
                    yield f"{table.note}\n"

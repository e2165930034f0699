"""Generated parts of pages that people write: what stands between two marks is a command's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class NoMarks(ValueError):
    """The page has no place for the part."""


def replaced(page: str, name: str, part: str) -> str:
    """Return a page with what is between ``<!-- name -->`` and ``<!-- /name -->`` replaced. Raises NoMarks."""
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    before, found, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise NoMarks(f"there is no {begin} … {end}: put the two where the part is to stand, each in a line of its own")
    return f"{before}{begin}{part}{end}{after}"


def markdown(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of Markdown."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)

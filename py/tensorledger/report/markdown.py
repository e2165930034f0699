"""A report in Markdown, as GitHub and GitLab show it; what comes from results is in code, where nothing is a link."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Sequence

from tensorledger.report.compared import Change
from tensorledger.report.merged import Key, Merged, name_of
from tensorledger.report.plain import broken, counts, details, failed, headline, outcome, runs, why
from tensorledger.results.marked import markdown as table
from tensorledger.terminal.marks import MARKS

LIMIT = 1024 * 1024
"""Bytes that GitHub takes as the summary of a step."""
WIDE = 12
"""Targets of a table; more make another."""
NAMED = 8
"""Cells that are named of those that have a reason in common."""


def markdown(merged: Merged, changes: Sequence[Change] | None = None, limit: int = LIMIT) -> str:
    """Return the report; what is beyond ``limit`` bytes is left out, whole blocks at a time, and that is said."""
    written: list[str] = []
    room = limit - 200
    blocks = list(_blocks(merged, changes))
    for number, block in enumerate(blocks):
        room -= len(block.encode("utf-8", "replace")) + 2
        if room < 0:
            written.append(f"*Cut: {len(blocks) - number:,} more parts, for which there is no room here.*")
            break
        written.append(block)
    return "\n\n".join(written) + "\n"


def _blocks(merged: Merged, changes: Sequence[Change] | None) -> Iterator[str]:
    bad = broken(merged)
    yield f"## tensorledger: {outcome(merged)}"
    if merged.cells:
        yield counts(merged)
    yield from (f"> ⚠ {code(problem)}" for problem in merged.problems)
    if changes is not None:
        yield from _changed(changes)
    if bad:
        yield "### Not as expected"
        yield from (_cell(merged, key) for key in bad)
    for check in failed(merged):
        summary = f"{MARKS['fail'][0]} <code>{_inline(check.model)}</code> is not ready"
        yield f"<details><summary>{summary}</summary>\n\n{fenced(why(check))}\n\n</details>"
    if merged.cells:
        yield "### Scenarios by targets"
        yield from _grids(merged)
    yield from _grouped(merged, "deviates", "Deviations, as documented")
    yield from _grouped(merged, "skip", "Skipped")


def _changed(changes: Sequence[Change]) -> Iterator[str]:
    yield "### What changed"
    if not changes:
        yield "Nothing: every cell is as it was before."
        return
    rows = [[change.kind, code(name_of(change.key)), code(change.said)] for change in changes]
    for start in range(0, len(rows), 500):
        yield table(["", "cell", "what"], rows[start : start + 500])


def _cell(merged: Merged, key: Key) -> str:
    seen = merged.shown(key)
    summary = (
        f"{MARKS[seen.verdict][0]} <code>{_inline(name_of(key))}</code> <code>{_inline(headline(seen.result))}</code>"
    )
    text = "\n".join([details(seen.result), *runs(merged, key)])
    return f"<details><summary>{summary}</summary>\n\n{fenced(text)}\n\n</details>"


def _grids(merged: Merged) -> Iterator[str]:
    groups: dict[str, list[str]] = {}
    for target in merged.targets:
        name, _, rest = target.partition("@")
        groups.setdefault(f"{name}/{rest.partition('/')[2]}", []).append(target)
    fit = [merged.targets] if len(merged.targets) <= WIDE else groups.values()
    for targets in fit:
        for start in range(0, len(targets), WIDE):
            yield _grid(merged, targets[start : start + WIDE])


def _grid(merged: Merged, targets: Sequence[str]) -> str:
    def mark(key: Key) -> str:
        return MARKS[merged.shown(key).verdict][0] if key in merged.cells else ""

    scenarios = [name for name in merged.scenarios if any((name, target) in merged.cells for target in targets)]
    rows = [[code(name), *(mark((name, target)) for target in targets)] for name in scenarios]
    return table(["scenario", *map(code, targets)], rows)


def _grouped(merged: Merged, verdict: str, title: str) -> Iterator[str]:
    """Yield the cells of a verdict by their reason."""
    by_reason: dict[str, list[Key]] = {}
    for key in merged.cells:
        seen = merged.shown(key)
        if seen.verdict == verdict:
            by_reason.setdefault(headline(seen.result), []).append(key)
    if by_reason:
        yield f"### {title}"
        yield table(["why", "cells"], [[code(reason), _names(keys)] for reason, keys in by_reason.items()])


def _names(keys: Sequence[Key]) -> str:
    more = f" and {len(keys) - NAMED:,} more" if len(keys) > NAMED else ""
    return ", ".join(code(name_of(key)) for key in keys[:NAMED]) + more


def code(text: str) -> str:
    """Return text as code in a line, whatever is in it."""
    line = " ".join(text.split()) or " "
    fence = "`" * (_longest(line) + 1)
    space = " " if line[0] == "`" or line[-1] == "`" else ""
    return f"{fence}{space}{line}{space}{fence}"


def fenced(text: str) -> str:
    """Return text as a block of code, whatever is in it."""
    fence = "`" * max(3, _longest(text) + 1)
    return f"{fence}text\n{text}\n{fence}"


def _longest(text: str) -> int:
    runs: Iterable[str] = re.findall("`+", text)
    return max(map(len, runs), default=0)


def _inline(text: str) -> str:
    return html.escape(" ".join(text.split())).replace("`", "&#96;")

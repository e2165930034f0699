"""What is said of a cell in plain text, whatever shows it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rich.text import Text

from tensorledger.checking.checked import Checked
from tensorledger.protocol.messages import Frame
from tensorledger.report.merged import ORDER, Key, Merged
from tensorledger.results.result import Result
from tensorledger.terminal.cell import details as shown
from tensorledger.terminal.marks import MARKS

BROKEN = ("error", "fail")
"""The verdicts that are not as expected."""


def headline(result: Result) -> str:
    """Return why a cell came out as it did, in a line; the empty string where nothing is said."""
    return (result.reason.splitlines() or [""])[0]


def details(result: Result) -> str:
    """Return the rest: what was not met, where it broke, and what is left by the line that made it."""
    parts = [part.plain for part in shown(result) if isinstance(part, Text)]
    return "\n".join([result.reason, *parts])


def culprit(result: Result) -> Frame | None:
    """Return the user's line that a broken cell is to be told at: of what is left, or of what was thrown."""
    if result.verdict not in BROKEN or result.caught:
        return None
    stacks = [leak.stack for leak in result.leaks] + ([result.error.stack] if result.error else [])
    frames = (frame for stack in stacks for frame in stack if frame.of == "user" and frame.line is not None)
    return next(frames, None)


def runs(merged: Merged, key: Key) -> Iterator[str]:
    """Yield what each run says of a cell that several have."""
    seen = merged.cells[key]
    if len({found.run for found in seen}) > 1:
        yield from (f"{merged.runs[found.run].file}: {found.verdict}" for found in seen)


def broken(merged: Merged) -> list[Key]:
    """Return the cells that are not as expected, errors first."""
    found = [key for key in merged.cells if merged.shown(key).verdict in BROKEN]
    return sorted(found, key=lambda key: ORDER.index(merged.shown(key).verdict))


def failed(merged: Merged) -> list[Checked]:
    """Return the checks of models that are not as they should be."""
    return [check for check in merged.checks if not check.ok]


def why(check: Checked) -> str:
    """Return what is wrong with a checked model, a line each."""
    off = [f"{one.target} as {one.format}: {one.error or one.reason}" for one in check.parity if not one.ok]
    refused = [f"refused as {one.format}: {one.reason}" for one in check.refused]
    lives = [f"{found.scenario}[{found.target}]: {found.reason}" for found in check.results if found.verdict in BROKEN]
    return "\n".join([*([check.error] if check.error else []), *off, *refused, *lives]) or "nothing was compared"


def outcome(merged: Merged) -> str:
    """Return what came of all of it, in a line."""
    said = []
    if merged.cells:
        skipped = all(merged.shown(key).verdict == "skip" for key in merged.cells)
        bad = len(broken(merged))
        count = f"{len(merged.cells):,} cell{'' if len(merged.cells) == 1 else 's'}"
        said.append(
            f"{bad:,} of {count} not as expected" if bad else f"{count} {'skipped' if skipped else 'as expected'}"
        )
    if merged.checks:
        bad = len(failed(merged))
        count = f"{len(merged.checks):,} checked model{'' if len(merged.checks) == 1 else 's'}"
        said.append(f"{bad:,} of {count} not ready" if bad else f"{count} ready")
    if merged.rows:
        bad = sum(row.error is not None for row in merged.rows)
        said.append(f"{len(merged.rows):,} rows of recipes{f', of which {bad:,} broke' if bad else ''}")
    if merged.atlases:
        said.append(f"{len(merged.atlases)} atlas{'' if len(merged.atlases) == 1 else 'es'}")
    return "; ".join(said)


def counts(merged: Merged) -> str:
    """Return how many cells are of each verdict, in a line."""
    found = Counter(merged.shown(key).verdict for key in merged.cells)
    return " · ".join(f"{MARKS[verdict][0]} {found[verdict]:,} {verdict}" for verdict in ORDER if found[verdict])

"""The grid of scenarios by targets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from rich.columns import Columns
from rich.console import Group
from rich.markup import escape
from rich.table import Table

from tensorledger.terminal.marks import MARKS

NAMED = 4
"""Targets up to which the columns bear their names; more have numbers, and a list above."""


def grid(verdicts: Iterable[tuple[str, str, str]]) -> Group:
    """Return the grid of (scenario, target, verdict), in the order in which they come first."""
    cells = {(scenario, target): verdict for scenario, target, verdict in verdicts}
    scenarios = list(dict.fromkeys(scenario for scenario, _ in cells))
    targets = list(dict.fromkeys(target for _, target in cells))
    blank = len(cells) < len(scenarios) * len(targets)
    table = Table(caption=_legend(cells.values(), blank=blank), caption_justify="left")
    if len(targets) <= NAMED:
        names = Columns()
        headings = [escape(target).replace("@", "\n@").replace("/", "\n/") for target in targets]
    else:
        headings = [str(number) for number in range(1, len(targets) + 1)]
        names = Columns(f"{number} {escape(target)}" for number, target in zip(headings, targets, strict=True))
    table.add_column("scenario", overflow="fold", min_width=8)
    for heading in headings:
        table.add_column(heading, justify="center", min_width=1)
    for scenario in scenarios:
        table.add_row(escape(scenario), *(_mark(cells.get((scenario, target))) for target in targets))
    return Group(names, table)


def _mark(verdict: str | None) -> str:
    if verdict is None:
        return ""
    mark, style = MARKS[verdict]
    return f"[{style}]{mark}[/]"


def _legend(verdicts: Iterable[str], *, blank: bool) -> str:
    counts = Counter(verdicts)
    said = [f"{mark} {count} {verdict}" for verdict, (mark, _) in MARKS.items() if (count := counts[verdict])]
    return "   ".join([*said, *(["blank: not written in that language"] if blank else [])])


def seconds(spent: Iterable[tuple[str, float]]) -> str:
    """Say where the time went: the seconds of the cells of each target, the longest first."""
    by_target: Counter[str] = Counter()
    for target, time in spent:
        by_target[target] += time  # type: ignore[assignment]
    return "seconds by target: " + ", ".join(f"{target} {time:.0f}" for target, time in by_target.most_common())

"""The grid of scenarios by targets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from rich.markup import escape
from rich.table import Table

from tensorledger.terminal.marks import MARKS


def grid(verdicts: Iterable[tuple[str, str, str]]) -> Table:
    """Return the grid of (scenario, target, verdict), in the order in which they come first."""
    cells = {(scenario, target): verdict for scenario, target, verdict in verdicts}
    scenarios = list(dict.fromkeys(scenario for scenario, _ in cells))
    targets = list(dict.fromkeys(target for _, target in cells))
    table = Table(caption=_legend(cells.values()), caption_justify="left")
    table.add_column("scenario", no_wrap=True)
    for target in targets:
        table.add_column(target.replace("@", "\n@").replace("/", "\n/"), justify="center")
    for scenario in scenarios:
        table.add_row(escape(scenario), *(_mark(cells.get((scenario, target))) for target in targets))
    return table


def _mark(verdict: str | None) -> str:
    if verdict is None:
        return ""
    mark, style = MARKS[verdict]
    return f"[{style}]{mark}[/]"


def _legend(verdicts: Iterable[str]) -> str:
    counts = Counter(verdicts)
    said = [f"{mark} {count} {verdict}" for verdict, (mark, _) in MARKS.items() if (count := counts[verdict])]
    return "   ".join([*said, "blank: not written in that language"])

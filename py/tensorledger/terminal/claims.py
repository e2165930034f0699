"""Claims in the terminal: the table of verdicts, and the evidence of one."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from tensorledger.claims.claim import FAILS, HOLDS, UNMEASURED, Settled
from tensorledger.claims.page import lines

STYLES = {HOLDS: "green", FAILS: "red", UNMEASURED: "bold yellow"}


def table(settled: Sequence[Settled]) -> Table:
    """Return the verdicts, one line a claim."""
    found = Table(box=SIMPLE_HEAD, pad_edge=False)
    for heading in ("", "claim", "verdict", "where it holds"):
        found.add_column(heading)
    for each in settled:
        found.add_row(
            each.id, escape(each.text), Text(each.verdict, STYLES.get(each.verdict, "yellow")), escape(each.where)
        )
    return found


def evidence(settled: Settled) -> Table:
    """Return what a claim's parts came to; targets that follow each other and are alike share a line."""
    found = Table(title=f"{settled.id}: {escape(settled.text)}", title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    for heading in ("part", "targets", "holds", "measured by", "figures"):
        found.add_column(heading)
    for part, targets, figures, first in lines(settled.evidence):
        mark = {True: "[green]yes[/]", False: "[red]no[/]", None: "[yellow]not measured[/]"}[first.holds]
        found.add_row(escape(part), escape(targets), mark, escape(first.scenario), escape(figures))
    return found

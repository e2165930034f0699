"""How a verdict looks."""

from __future__ import annotations

CAUGHT = "caught"
"""Of a scenario that leaks on purpose, in the suite: it failed as it must."""

MARKS = {
    "pass": ("✓", "green"),
    "deviates": ("≠", "cyan"),
    CAUGHT: ("◎", "green"),
    "fail": ("✗", "bold red"),
    "error": ("!", "bold red"),
    "skip": ("–", "yellow"),
}
"""Each verdict's mark and style."""


def marked(verdict: str) -> str:
    """Return a verdict as rich's markup."""
    mark, style = MARKS[verdict]
    return f"[{style}]{mark} {verdict}[/]"

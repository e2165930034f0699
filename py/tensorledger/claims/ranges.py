"""Targets and figures as people read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def kind(target: str) -> tuple[str, str]:
    """Return what a target must share with another to be in one range with it: the runtime and the backend."""
    name, _, rest = target.partition("@")
    return name, rest.partition("/")[2]


def span(targets: Sequence[str]) -> str:
    """Return what targets that follow each other are called: "tfjs 1.0.3 – 4.22.0"."""
    first, last = (target.removesuffix("/cpu").replace("@", " ") for target in (targets[0], targets[-1]))
    if kind(targets[0]) != kind(targets[-1]):
        return ", ".join(targets)
    return first if first == last else f"{first} – {last.partition(' ')[2] or last}"


def figures_of(figures: dict[str, Any]) -> str:
    """Return figures in one line: "tensors 4, bytes 814,120"."""
    return ", ".join(f"{name} {_value(value)}".strip() for name, value in figures.items())


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, dict):
        return f"({figures_of(value)})"
    if isinstance(value, list):
        return " · ".join(map(_value, value))
    return "none" if value is None else str(value)

"""Targets and figures as people read them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from tensorledger.environment.releases import published


def kind(target: str) -> tuple[str, str]:
    """Return what a target must share with another to be in one range with it: the runtime and the backend."""
    name, _, rest = target.partition("@")
    return name, rest.partition("/")[2]


def span(targets: Sequence[str]) -> str:
    """Return what targets are called: "tfjs 1.0.3 – 4.22.0" where all releases between are there, else one by one."""
    runs: list[list[str]] = []
    for target in targets:
        if runs and _follows(runs[-1][-1], target):
            runs[-1].append(target)
        else:
            runs.append([target])
    return ", ".join(_run(run) for run in runs)


def _run(run: list[str]) -> str:
    first, last = (target.removesuffix("/cpu").replace("@", " ") for target in (run[0], run[-1]))
    return first if first == last else f"{first} – {last.partition(' ')[2]}"


def _follows(one: str, other: str) -> bool:
    """Say whether a target is of the release that was published next."""
    if kind(one) != kind(other):
        return False
    known = _known()
    here, there = (target.partition("@")[2].partition("/")[0] for target in (one, other))
    return here in known and there in known and known[there] == known[here] + 1


@cache
def _known() -> dict[str, int]:
    return {release: number for number, release in enumerate(published(ask=False))}


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

"""What a claim is, and how its verdict follows from what was measured: by one rule for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import msgspec

from tensorledger.claims.lab import Lab, Unmeasured
from tensorledger.claims.ranges import kind, span
from tensorledger.targets.target import Target

SCHEMA = "tensorledger/claims/1"

HOLDS, FAILS, UNMEASURED = "holds", "fails", "cannot be measured here"
ONLY = "holds only for "


@dataclass(frozen=True)
class Measured:
    """What one part of a claim came to on one target."""

    scenario: str
    """What was run: a scenario, or a crossing of the recipes table."""
    holds: bool | None
    """Null: neither, as ``figures["why"]`` says."""
    figures: dict[str, Any]


Measure = Callable[[Lab, Target], Measured | None]
"""Measures on one target; returns None where the target has nothing to do with it."""


@dataclass(frozen=True)
class Part:
    """One thing that a claim says."""

    measure: Measure
    name: str = ""
    beside: bool = False
    """Asked beside the claim, and told; the verdict is not about it."""


@dataclass(frozen=True)
class Claim:
    """A sentence that people repeat, and how it is measured."""

    id: str
    text: str
    parts: tuple[Part, ...]
    targets: str = ""
    """The name of the targets that it is about, such as "tfjs"; empty: all."""
    newest: bool = False
    """Whether it is measured on the newest release alone: it is not about releases, and takes long."""

    def concerns(self, target: Target) -> bool:
        """Say whether it is about a target."""
        return not self.targets or target.name in self.targets.split()


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """What one part of a claim came to on one target."""

    target: str
    scenario: str
    figures: dict[str, Any]
    part: str = ""
    holds: bool | None
    """Null: it could not be measured, as ``figures`` says."""
    beside: bool = False


class Settled(msgspec.Struct, frozen=True, kw_only=True):
    """A claim with its verdict."""

    id: str
    verdict: str
    where: str
    evidence: list[Evidence]
    text: str


def evidence_of(claim: Claim, lab: Lab, target: Target) -> list[Evidence]:
    """Measure every part of a claim on a target."""
    found = []
    for part in claim.parts:
        try:
            measured = part.measure(lab, target)
        except Unmeasured as error:
            measured = Measured("", None, {"why": str(error)})
        if measured is not None:
            found.append(
                Evidence(
                    target=str(target),
                    scenario=measured.scenario,
                    figures=measured.figures,
                    part=part.name,
                    holds=measured.holds,
                    beside=part.beside,
                )
            )
    return found


def judged(evidence: Sequence[Evidence]) -> tuple[str, str]:
    """Return the verdict, and where the claim holds. A part that was measured nowhere keeps it from holding plainly."""
    parts = _parts(evidence)
    own = [part for part in parts if not part[0].beside]
    said = [found for part in own for found in part if found.holds is not None]
    if not said:
        reasons = dict.fromkeys(str(found.figures.get("why", "")) for part in own for found in part)
        return UNMEASURED, "; ".join(filter(None, reasons)) or "no target that it is about was asked for"
    where = "; ".join(map(_where, parts))
    if not any(found.holds for found in said):
        return FAILS, where
    if all(found.holds for found in said) and all(_known(part) for part in own):
        return HOLDS, where
    return f"{ONLY}{'; '.join(filter(None, map(_only, own)))}", where


def _parts(evidence: Sequence[Evidence]) -> list[list[Evidence]]:
    parts: dict[str, list[Evidence]] = {}
    for found in evidence:
        parts.setdefault(found.part, []).append(found)
    return list(parts.values())


def _known(part: Sequence[Evidence]) -> list[Evidence]:
    return [found for found in part if found.holds is not None]


def _only(part: list[Evidence]) -> str:
    """Say where a part holds; nothing where it does nowhere."""
    known, name = _known(part), part[0].part
    if not any(found.holds for found in known):
        return ""
    if all(found.holds for found in known):
        return name or spans(part)
    return f"{name + ', ' if name else ''}{spans(part)}"


def _where(part: list[Evidence]) -> str:
    """Say of a part on which of the targets it holds."""
    known = _known(part)
    name = f"{part[0].part}: " if part[0].part else ""
    if not known:
        return f"{name}not measured"
    if all(found.holds for found in known):
        return f"{name}on all {len(known)} measured" if len(known) > 1 else f"{name}on {known[0].target}"
    if not any(found.holds for found in known):
        return f"{name}nowhere" if len(known) == 1 else f"{name}on none of {len(known)} measured"
    return f"{name}{spans(part)}"


def spans(part: Sequence[Evidence]) -> str:
    """Return the targets on which a part holds, as ranges: "tfjs 1.0.3 – 4.22.0, keras"."""
    runs = groupby(part, key=lambda each: (each.holds, kind(each.target)))
    return ", ".join(span([each.target for each in run]) for (holds, _), run in runs if holds)

"""The committed claims are what a measurement says: of the default releases of TensorFlow.js, and of Keras 3."""

from __future__ import annotations

from typing import Any

import pytest
from outcomes import CHECKOUT

from tensorledger.claims.catalogue import CLAIMS, settle
from tensorledger.claims.claim import Evidence, Settled
from tensorledger.claims.lab import Measuring
from tensorledger.cli.claims import read
from tensorledger.environment import packages
from tensorledger.environment.tree import is_checkout
from tensorledger.targets.catalogue import default, lacking

LONG = {"B8", "B9"}
"""Three rows of 18 cycles each, of sizes that are statistics."""
STATISTICS = {("A12", "the JavaScript heap"), ("A12", "memory outside it"), ("B4", "as fast"), ("B10", "")}
"""Parts whose figures differ from run to run; their answers do not."""
ROUNDED = {"C1"}
"""Differences of predictions, which another processor may round otherwise."""

TARGETS = [target for target in default() if target.name in ("tfjs", "keras") and target.backend in ("cpu", None)]
WANTED = [claim for claim in CLAIMS if claim.id not in LONG]

pytestmark = pytest.mark.skipif(not is_checkout(), reason="the data are in a checkout")


@pytest.fixture(scope="module")
def committed() -> dict[tuple[str, str, str], Evidence]:
    settled = read(CHECKOUT / "docs" / "claims.json")
    return {(each.id, found.part, found.target): found for each in settled for found in each.evidence}


@pytest.fixture(scope="module")
def measured() -> list[Settled]:
    if not packages.installed():
        pytest.skip("npm packages are not installed: make setup")
    lacks = [reason for target in TARGETS if (reason := lacking(target))]
    if lacks:
        pytest.skip("; ".join(lacks))
    with Measuring() as lab:
        return settle(WANTED, lab, TARGETS, 2, lambda claim, target: None)


def _figures(claim: str, found: Evidence) -> dict[str, Any] | None:
    return None if (claim, found.part) in STATISTICS or claim in ROUNDED else found.figures


def test_each_part_comes_to_what_is_committed(
    measured: list[Settled], committed: dict[tuple[str, str, str], Evidence]
) -> None:
    wrong = []
    for each in measured:
        for found in each.evidence:
            said = committed[each.id, found.part, found.target]
            if (found.holds, _figures(each.id, found)) != (said.holds, _figures(each.id, said)):
                wrong.append(
                    f"{each.id} {found.part} on {found.target}: {found.holds}, {found.figures}; committed {said}"
                )
    assert wrong == []


def test_each_part_is_measured_where_it_was(
    measured: list[Settled], committed: dict[tuple[str, str, str], Evidence]
) -> None:
    names = {str(target) for target in TARGETS}
    ids = {claim.id for claim in WANTED}
    was = {key for key in committed if key[0] in ids and key[2] in names}
    assert {(each.id, found.part, found.target) for each in measured for found in each.evidence} == was

"""What gives the resident size back is a rule on figures."""

from __future__ import annotations

import pytest

from tensorledger.recipes.lever import lever, levers
from tensorledger.recipes.row import Left, Resident, Row

MIB = 2**20


def resident(end: float, trimmed: float, start: float = 300) -> Resident:
    return Resident(start=int(start * MIB), end=int(end * MIB), trimmed=int(trimmed * MIB))


@pytest.mark.parametrize(
    ("here", "system", "said"),
    [
        (resident(300, 300), None, "nothing to give back"),
        (resident(290, 280), None, "nothing to give back"),
        (resident(304, 304), None, "nothing to give back"),
        (resident(304.1, 304.1), None, "none"),
        (resident(400, 300), None, "trim"),
        (resident(400, 350), None, "trim"),
        (resident(400, 350.1), None, "none"),
        (resident(400, 350), resident(300, 300), "trim"),
        (resident(400, 380), resident(310, 305), "system allocator"),
        (resident(400, 380), resident(250, 250, start=200), "system allocator"),
        (resident(400, 380), resident(351, 350), "system allocator and trim"),
        (resident(400, 380), resident(380, 351), "none"),
    ],
)
def test_the_lever_is_the_first_that_gives_half_of_the_rise_back(
    here: Resident, system: Resident | None, said: str
) -> None:
    assert lever(here, system) == said


def row(allocator: str, size: Resident | None, recipe: str = "del") -> Row:
    return Row(
        model="classifier",
        language="py",
        target="keras",
        recipe=recipe,
        applies=size is not None,
        left=Left(tensors=0, bytes=0, buffers=0),
        error=None,
        usage="fit",
        allocator=allocator,
        resident=size,
    )


def test_the_system_allocator_s_figures_are_those_of_the_same_crossing() -> None:
    held, given_back = resident(400, 390), resident(301, 301)
    rows = [
        row("default", held),
        row("system", given_back),
        row("allow-growth", held),
        row("default", held, "complete"),
    ]
    assert [found.lever for found in levers(rows)] == ["system allocator", "nothing to give back", "none", "none"]


def test_a_row_without_sizes_has_no_lever() -> None:
    assert levers([row("default", None)])[0].lever is None

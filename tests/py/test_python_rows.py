"""Rows of the recipes table in Python: what is measured, what a row says of it, and models that cannot be made."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from tensorledger.models.zoo import ZOO
from tensorledger.protocol.messages import CheckpointReading, Cycle, Outcome, Reading, Thrown
from tensorledger.recipes.python import ALLOCATORS, MODELS, USAGES, Crossing, row_of, rows, takes
from tensorledger.recipes.row import Resident, Row
from tensorledger.targets.target import Target
from tensorledger.workers.pool import Workers

KERAS, TF_KERAS = Target("keras"), Target("tf-keras")
CROSSING = Crossing("classifier", KERAS, "fit", "del", "default")
MIB = 2**20


def reading(tensors: int, resident: float, in_use: int = 0, allocator: int | None = 0) -> Reading:
    return Reading(
        tensors=tensors,
        bytes=4 * tensors,
        buffers=tensors,
        buffer_bytes=4 * tensors,
        backend={"allocator": allocator},
        heap={},
        process={"resident": resident * MIB, "in_use": in_use},
    )


def cycle(before: Reading, after: Reading, thrown: Thrown | None = None) -> Cycle:
    return Cycle(baseline=before, checkpoints=[CheckpointReading(name="end", reading=after)], thrown=thrown, leaks=[])


def outcome(cycles: Sequence[Cycle] = (), error: Thrown | None = None, not_applicable: str | None = None) -> Outcome:
    return Outcome(
        recipe="del", cycles=list(cycles), agreements=[], not_applicable=not_applicable, running=[], error=error
    )


def lived(thrown: Thrown | None = None, allocator: int | None = 300) -> list[Cycle]:
    """Return a warm-up that adds much, three cycles that add 2 tensors each, one that trims, and the bystander's."""
    ends = [
        reading(n, size, 100 * n, allocator and allocator * n)
        for n, size in ((50, 500), (52, 510), (54, 520), (56, 530))
    ]
    starts = [reading(10, 300), *ends[:-1]]
    walked = [cycle(start, end, thrown) for start, end in zip(starts, ends, strict=True)]
    after = reading(56, 400)
    return [*walked, cycle(ends[-1], after), cycle(after, reading(60, 900))]


def test_a_row_says_what_the_last_cycle_left_what_each_adds_and_the_sizes() -> None:
    row = row_of(CROSSING, outcome(lived()), 3)
    assert row.left is not None and (row.left.tensors, row.left.bytes, row.left.buffers) == (2, 8, 2)
    assert row.growth is not None
    assert (row.growth.tensors, row.growth.bytes, row.growth.resident) == pytest.approx((2, 8, 10 * MIB))
    assert row.growth.native == pytest.approx(600), "300 a tensor given out, 100 a tensor taken from the C allocator"
    assert row.resident == Resident(start=300 * MIB, end=530 * MIB, trimmed=400 * MIB)
    assert (row.cycles, row.bystander, row.applies, row.error) == (3, "kept", True, None)


def test_what_is_left_is_of_the_cycle_that_left_most_the_warm_up_aside() -> None:
    counts = [10, 19, 20, 23, 23, 23, 23]
    readings = [reading(tensors, 300) for tensors in counts]
    row = row_of(CROSSING, outcome([cycle(before, after) for before, after in pairwise(readings)]), 3)
    assert row.left is not None and row.left.tensors == 3


def test_what_was_not_read_is_null_in_a_row() -> None:
    row = row_of(CROSSING, outcome(lived(allocator=None)), 3)
    assert row.growth is not None and row.growth.native == pytest.approx(200)


def test_harm_to_the_bystander_is_no_error_of_the_row() -> None:
    harmed = Thrown(type="BystanderHarmed", message="2 of its 4 variables are gone", checkpoint=None, stack=[])
    row = row_of(CROSSING, outcome(lived(harmed)), 3)
    assert (row.bystander, row.error) == ("2 of its 4 variables are gone", None)
    assert row.left is not None and row.left.tensors == 2


def test_what_a_model_cannot_be_used_for_does_not_apply_and_any_other_throw_is_an_error() -> None:
    unusable = Thrown(type="Unusable", message="it has no weights to train", checkpoint=None, stack=[])
    row = row_of(CROSSING, outcome(lived(unusable)[:1]), 3)
    assert (row.applies, row.reason, row.left, row.error) == (False, "it has no weights to train", None, None)
    broken = Thrown(type="ValueError", message="shapes", checkpoint=None, stack=[])
    row = row_of(CROSSING, outcome(lived(broken)[:1]), 3)
    assert row.applies and row.left is None and row.error is not None and row.error.message == "shapes"
    row = row_of(CROSSING, outcome(not_applicable="it wraps a whole function"), 3)
    assert (row.applies, row.reason) == (False, "it wraps a whole function")


def test_a_model_is_one_of_the_zoo_or_a_file_that_is_there(tmp_path: Path) -> None:
    assert set(MODELS) == set(ZOO) and all(map(takes, MODELS))
    for name, taken in (("mine.py", True), ("mine.keras", True), ("mine.h5", True), ("mine.mjs", False)):
        (tmp_path / name).touch()
        assert takes(str(tmp_path / name)) == taken
    assert not takes(str(tmp_path / "absent.py"))


# --- measured


def test_usages_and_settings_there_are_none_of_are_refused(workers: Workers) -> None:
    with pytest.raises(ValueError, match="no usage 'dreamt' in Python; there are eager"):
        next(rows("classifier", KERAS, ["del"], ["dreamt"], ["default"], workers))
    with pytest.raises(ValueError, match="no setting 'large'"):
        next(rows("classifier", KERAS, ["del"], ["eager"], ["large"], workers))


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("mine.py", "model = 3", "mine.py defines no function named model"),
        ("mine.py", "def model(keras): return keras", "returned no model of keras, but module"),
        ("mine.py", "def model(keras): raise OSError('the weights are elsewhere')", "the weights are elsewhere"),
        ("mine.py", "def model(", "was never closed"),
        ("mine.keras", "not a zip file", "zip"),
        ("mine.h5", "not HDF5", "signature"),
    ],
)
def test_a_model_that_cannot_be_made_is_every_row_s_error_and_tried_once(
    workers: Workers, tmp_path: Path, name: str, content: str, said: str
) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    found = list(rows(str(tmp_path / name), KERAS, ["del", "complete"], USAGES, ["default"], workers, cycles=2))
    assert len(found) == 2 * len(USAGES)
    assert {row.left for row in found} == {None}
    assert all(row.error is not None and said in row.error.message for row in found)
    assert sum(row.seconds > 0 for row in found) == 0


OWN = """
def model(keras):
    inputs = keras.Input((3, 2)), keras.Input((5,), dtype="int32")
    flat = keras.layers.Flatten()(inputs[0])
    words = keras.layers.Flatten()(keras.layers.Embedding(4, 3)(inputs[1]))
    return keras.Model(inputs, keras.layers.Dense(2)(keras.layers.Concatenate()([flat, words])))
"""


def complete(workers: Workers, model: str, target: Target, usages: Sequence[str]) -> list[Row]:
    return list(rows(model, target, ["complete"], usages, ["default"], workers, cycles=2))


@pytest.mark.parametrize("target", [KERAS, TF_KERAS], ids=str)
def test_complete_leaves_nothing_of_a_model_of_one_s_own_however_it_was_used(
    workers: Workers, tmp_path: Path, target: Target
) -> None:
    (tmp_path / "mine.py").write_text(OWN, encoding="utf-8")
    for row in complete(workers, str(tmp_path / "mine.py"), target, ("shared-traced", "predict", "fit")):
        assert row.error is None and row.left is not None and row.left.nothing, row
        assert row.bystander == "kept" and row.growth is not None and row.growth.tensors == 0
        assert row.lever is not None and row.resident is not None and row.resident.start > 100 * MIB


@pytest.mark.parametrize("target", [KERAS, TF_KERAS], ids=str)
@pytest.mark.parametrize("model", [name for name in MODELS if name not in ("classifier", "extractor")])
def test_complete_leaves_nothing_of_a_trained_model_of_the_zoo(workers: Workers, target: Target, model: str) -> None:
    (row,) = complete(workers, model, target, ("fit",))
    assert row.error is None and row.left is not None and row.left.nothing and row.bystander == "kept", row


def test_the_settings_are_measured_beside_each_other(workers: Workers) -> None:
    found = list(rows("nested", KERAS, ["del-collect"], ["eager"], ALLOCATORS, workers, cycles=2))
    assert [row.allocator for row in found] == list(ALLOCATORS)
    assert all(row.error is None and row.left is not None and row.left.nothing for row in found)

"""The Python worker: what it counts and lists, and what it notices of a scenario that meddles with the collector."""

from __future__ import annotations

from pathlib import Path

import pytest
from measured import left, measured

from tensorledger.atlas.measure import counting
from tensorledger.workers.pool import Workers

KEEPS = """
    kept = []
    def scenario(context):
        kept.append(context.tf.zeros([4]))
"""
MEDDLES = """
    import gc
    turn = iter(range(9))
    def scenario(context):
        if next(turn) == {cycle}:
            gc.{call}()
"""


def test_who_wants_counts_only_gets_the_same_counts_and_no_list_of_what_is_left(
    workers: Workers, tmp_path: Path
) -> None:
    with counting() as counts:
        listed, counted = (measured(each, tmp_path, KEEPS)[0] for each in (workers, counts))
    assert [left(cycle) for cycle in listed.cycles] == [left(cycle) for cycle in counted.cycles] == [(1, 16)] * 3
    assert [[group.count for group in cycle.leaks] for cycle in listed.cycles] == [[1]] * 3
    assert [cycle.leaks for cycle in counted.cycles] == [[]] * 3


@pytest.mark.parametrize("cycle", [0, 1])
@pytest.mark.parametrize("call", ["freeze", "unfreeze"])
def test_a_scenario_that_freezes_or_thaws_objects_is_told(
    workers: Workers, tmp_path: Path, call: str, cycle: int
) -> None:
    outcome, _ = measured(workers, tmp_path, MEDDLES.format(call=call, cycle=cycle))
    *before, thrown = [one.thrown for one in outcome.cycles]
    assert before == [None] * cycle
    assert thrown is not None and "called gc.freeze or gc.unfreeze" in thrown.message


@pytest.mark.parametrize("target", ["keras", "tf-keras"])
def test_a_scenario_that_does_nothing_leaves_no_object(workers: Workers, tmp_path: Path, target: str) -> None:
    outcome, _ = measured(workers, tmp_path, "def scenario(context):\n    yield 'nothing'\n", target, cycles=50)
    objects = [cycle.checkpoints[-1].reading.heap["objects"] for cycle in outcome.cycles]
    assert len(objects) == 51 and len(set(objects[10:])) == 1, objects

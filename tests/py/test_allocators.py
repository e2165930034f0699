"""The setting of TensorFlow's allocator is really in force in the worker, and no worker of another serves it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from measured import measured
from test_workers import CLEAN, KERAS, RUN, FakeStarter, Seen

from tensorledger.cells.cell import Cell, Settings, run_cell
from tensorledger.scenarios.catalogue import all_scenarios
from tensorledger.targets.target import Target
from tensorledger.workers.allocators import ALLOCATORS, UnknownAllocator, environment
from tensorledger.workers.pool import Workers

TELL = """
    import os
    from tensorflow.python.eager import context as eager

    def scenario(context):
        model = context.models.extractor()
        pool = context.tf.config.experimental.get_memory_info("CPU:0")["current"]
        growth = eager.context().config.gpu_options.allow_growth
        print([*(os.environ.get(name) for name in NAMES), pool > 0, growth])
        del model
        context.release()

    NAMES = ("TF_ONEDNN_USE_SYSTEM_ALLOCATOR", "TF_FORCE_GPU_ALLOW_GROWTH")
    """


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    with pytest.MonkeyPatch.context() as patch, Workers() as workers:
        # The setting decides, not the user's shell.
        patch.setenv("TF_ONEDNN_USE_SYSTEM_ALLOCATOR", "1")
        yield workers


@pytest.mark.parametrize(
    ("allocator", "told"),
    [
        ("default", [None, None, True, False]),
        ("system", ["1", None, False, False]),
        ("allow-growth", [None, "true", True, True]),
    ],
)
def test_each_setting_is_in_force(workers: Workers, tmp_path: Path, allocator: str, told: list[object]) -> None:
    outcome, log = measured(workers, tmp_path, TELL, cycles=1, allocator=allocator)
    assert outcome.cycles[-1].thrown is None
    assert log.splitlines()[-1] == str(told)


def test_a_clean_worker_serves_only_its_own_setting() -> None:
    starter = FakeStarter(CLEAN, CLEAN, CLEAN, CLEAN)
    pool = Workers(starter)
    for allocator in ("default", "system", "default", "system"):
        pool.run(KERAS, RUN, Seen().watch, 1.0, allocator=allocator)
    assert [worker.ran for _, worker in starter.started] == [2, 2]


def test_a_setting_there_is_none_of_is_refused_with_those_there_are() -> None:
    with pytest.raises(UnknownAllocator, match="no setting 'jemalloc' of the allocator; there are default, system"):
        environment("jemalloc")
    with pytest.raises(UnknownAllocator, match="jemalloc"):
        Settings(allocator="jemalloc")
    with pytest.raises(UnknownAllocator, match="jemalloc"), Workers() as workers:
        workers.run(KERAS, RUN, Seen().watch, 1.0, allocator="jemalloc")
    assert next(iter(ALLOCATORS)) == Settings().allocator


def test_javascript_has_no_allocator_to_set() -> None:
    cell = Cell(all_scenarios()["predict-dispose"], Target("tfjs", "4.22.0", "cpu"))
    result = run_cell(cell, Workers(FakeStarter()), Settings(allocator="system")).result
    assert (result.verdict, result.reason) == ("skip", "there is no allocator to set to 'system' in JavaScript")

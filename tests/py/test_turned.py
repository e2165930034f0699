"""An asynchronous scenario as a plain generator."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Iterator
from contextvars import ContextVar
from typing import Any

import pytest

from tensorledger.runtime.turned import turned

SETTING: ContextVar[int] = ContextVar("SETTING", default=0)


@pytest.fixture
def strays() -> Iterator[list[BaseException]]:
    found: list[BaseException] = []
    yield found
    assert found == [], "an error that no test expected"


def test_it_is_one_task_from_its_first_step_to_its_last(strays: list[BaseException]) -> None:
    async def walk() -> AsyncIterator[str]:
        task, before = asyncio.current_task(), SETTING.set(1)
        yield "first"
        await asyncio.sleep(0.001)
        assert asyncio.current_task() is task
        SETTING.reset(before)
        yield "second"

    assert list(turned(walk(), strays)) == ["first", "second"]  # type: ignore[arg-type]


def test_a_coroutine_is_run_to_its_end(strays: list[BaseException]) -> None:
    done = []

    async def walk() -> None:
        await asyncio.sleep(0)
        done.append(True)

    assert list(turned(walk(), strays)) == [] and done


def test_what_it_raises_comes_at_the_step_that_raises_it(strays: list[BaseException]) -> None:
    async def walk() -> AsyncIterator[str]:
        yield "first"
        raise KeyError("second")

    steps = turned(walk(), strays)  # type: ignore[arg-type]
    assert next(steps) == "first"
    with pytest.raises(KeyError, match="second"):
        next(steps)


def test_errors_of_tasks_that_nobody_awaits_are_collected(strays: list[BaseException]) -> None:
    async def stray() -> None:
        raise KeyError("stray")

    async def walk() -> None:
        task = asyncio.create_task(stray())
        await asyncio.sleep(0)
        del task
        gc.collect()

    assert list(turned(walk(), strays)) == []
    assert [repr(error) for error in strays] == ["KeyError('stray')"]
    strays.clear()


@pytest.mark.parametrize("steps", [0, 1, 2])
def test_what_is_left_running_is_ended_however_far_it_came(strays: list[BaseException], steps: int) -> None:
    ended: list[str] = []

    async def forever() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("task")

    async def walk() -> AsyncIterator[Any]:
        beside = asyncio.create_task(forever())
        try:
            for step in range(2):
                await asyncio.sleep(0)
                yield step
        finally:
            ended.append("walk")
        del beside

    walked = turned(walk(), strays)  # type: ignore[arg-type]
    for _ in range(steps):
        next(walked)
    if steps == 2:
        assert next(walked, None) is None
    walked.close()  # type: ignore[attr-defined]
    assert sorted(ended) == (["task", "walk"] if steps else [])

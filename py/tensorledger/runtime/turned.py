"""What is asynchronous as a plain generator: a walk that goes on, with all that runs beside it, when it is asked to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any


def turned(walked: AsyncGenerator[Any, Any] | Coroutine[Any, Any, Any], strays: list[BaseException]) -> Iterator[str]:
    """Yield what it yields, from one task; errors of tasks that nobody awaits are collected."""

    def take(loop: asyncio.AbstractEventLoop, told: dict[str, Any]) -> None:
        if told.get("exception") is not None:
            strays.append(told["exception"])

    async def walk() -> None:
        if isinstance(walked, Coroutine):
            await walked
            return
        async for name in walked:
            names.append(name)
            loop.stop()  # until the next step is asked for
            await asyncio.sleep(0)

    def stop(_: Any) -> None:
        loop.stop()

    names: list[str] = []
    with _loop() as loop:
        loop.set_exception_handler(take)
        task = loop.create_task(walk())
        task.add_done_callback(stop)
        try:
            loop.run_forever()
            while not task.done():
                yield names.pop()
                loop.run_forever()
        finally:
            task.remove_done_callback(stop)
        task.result()


@contextmanager
def _loop() -> Iterator[asyncio.AbstractEventLoop]:
    """Make a loop and end what is left on it, as ``asyncio.Runner`` does, which Python 3.10 has not."""
    loop = asyncio.new_event_loop()
    try:
        asyncio.set_event_loop(loop)
        yield loop
    finally:
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        if left:
            loop.run_until_complete(asyncio.wait(left))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
        asyncio.set_event_loop(None)
        loop.close()

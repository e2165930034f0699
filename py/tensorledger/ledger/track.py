"""``tensorledger.track()``: a ledger for a block of code, or for each call of a function."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar, get_args

from tensorledger.ledger.frames import Frames
from tensorledger.ledger.live import Ledger

F = TypeVar("F", bound=Callable[..., Any])


class track:
    """Keep a ledger of the tensors that are made inside, in whichever thread; they may outlive it.

    ::

        with tensorledger.track() as ledger:
            ...
        for group in ledger.live():
            print(group.count, group.shape, group.stack[0])

    As a decorator, ``@track()``, each call has a ledger of its own; the latest one is the function's ``ledger``.
    ``frames``: what is kept of where a tensor was made: "user" the innermost frame that is neither a library's nor
    tensorledger's, "all" that one and all outside it up to the outermost such one, "none" nothing.

    It uses a private hook of TensorFlow's. Where that is missing, it warns and asks Python's collector instead.
    """

    def __init__(self, *, frames: Frames = "user") -> None:
        if frames not in get_args(Frames):
            raise ValueError(f"frames is one of {', '.join(get_args(Frames))}, not {frames!r}")
        self._frames = frames
        self._ledger: Ledger | None = None

    def __enter__(self) -> Ledger:
        if self._ledger is not None:
            raise RuntimeError("this track() is on already, or was; make another one")
        self._ledger = Ledger(self._frames)
        self._ledger.start()
        return self._ledger

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._ledger is not None
        self._ledger.stop()

    def __call__(self, function: F) -> F:
        """Return the function with a ledger of each call; a generator's lasts from its first step to its end."""
        wrapper: Any

        if inspect.isasyncgenfunction(function):
            raise TypeError("track() does not decorate asynchronous generators; use it as a context manager inside")
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def wrapper(*args: Any, **kwargs: Any) -> Any:
                with track(frames=self._frames) as wrapper.ledger:
                    return await function(*args, **kwargs)

        elif inspect.isgeneratorfunction(function):

            @functools.wraps(function)
            def wrapper(*args: Any, **kwargs: Any) -> Any:
                with track(frames=self._frames) as wrapper.ledger:
                    return (yield from function(*args, **kwargs))

        else:

            @functools.wraps(function)
            def wrapper(*args: Any, **kwargs: Any) -> Any:
                with track(frames=self._frames) as wrapper.ledger:
                    return function(*args, **kwargs)

        decorated: F = wrapper
        return decorated

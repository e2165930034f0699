"""TensorFlow's eager-tensor profiler hook (private): called with each EagerTensor that is made. All ledgers share it.

TensorFlow has room for one hook and does not say which one is in. Who was there before is found by making a tensor
and looking which function is called; it is called on while a ledger is on, and put back afterwards.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType, SimpleNamespace
from typing import Any

Record = Callable[[Any], None]
"""Told each tensor. It must not raise: TensorFlow hands what it raises to the user's operation."""

SETTER = "TFE_Py_SetEagerTensorProfiler"


class Unavailable(Exception):
    """There is no hook to be had; the message says why."""


def _nothing(tensor: Any) -> None:
    pass


class Hook:
    """What TensorFlow calls: ``created``, with each tensor."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._records: tuple[Record, ...] = ()
        self._other: Any = None
        """The hook of somebody else that was there before."""
        self.created: Record = _nothing

    def join(self, record: Record) -> None:
        """Tell ``record`` each tensor from now on. Raises Unavailable."""
        with self._lock:
            put = _setter()
            if not self._is_in():
                self._other = _present()
                put(self)
            self._set((*self._records, record))

    def leave(self, record: Record) -> bool:
        """Tell it no more; the last one takes the hook out. Return whether it was in until now."""
        with self._lock:
            was_in = self._is_in()
            self._set(tuple(one for one in self._records if one is not record))
            if not self._records:
                if was_in:
                    _setter()(self._other)
                self._other = None
            return was_in

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep the hook in: ledgers that come and go meanwhile do not look again who was there.

        Looking takes a thread that makes a tensor, and for each such thread TensorFlow keeps a list, for good.
        Without a hook to be had, nothing is kept in.
        """
        try:
            self.join(_nothing)
        except Unavailable:
            yield
            return
        try:
            yield
        finally:
            self.leave(_nothing)

    def _set(self, records: tuple[Record, ...]) -> None:
        self._records = records
        told = tuple(one for one in records if one is not _nothing)
        self.created = told[0] if len(told) == 1 and self._other is None else _each(told, self._other)

    def _is_in(self) -> bool:
        """Say whether TensorFlow calls this hook: somebody may have put in another one since."""
        if not self._records:
            return False
        called: list[int] = []
        thread, usual = threading.get_ident(), self.created
        self.created = lambda tensor: called.append(1) if threading.get_ident() == thread else usual(tensor)
        try:
            made = _make_one()
        finally:
            self.created = usual
        return bool(called) or not made


HOOK = Hook()


def _each(records: tuple[Record, ...], other: Any) -> Record:
    def created(tensor: Any) -> None:
        for record in records:
            record(tensor)
        if other is not None:
            try:
                other.created(tensor)
            except Exception as error:
                _report(error, other)

    return created


def _report(error: Exception, other: Any) -> None:
    """Tell what somebody else's hook raised as Python does where nothing can be raised: no operation is to fail."""
    told = SimpleNamespace(
        exc_type=type(error),
        exc_value=error,
        exc_traceback=error.__traceback__,
        err_msg="Exception ignored in an eager tensor hook",
        object=other,
    )
    with suppress(Exception):
        sys.unraisablehook(told)


def _setter() -> Callable[[Any], None]:
    from tensorflow.python import pywrap_tfe

    setter: Callable[[Any], None] | None = getattr(pywrap_tfe, SETTER, None)
    if setter is None:
        raise Unavailable(f"this TensorFlow has no {SETTER}")
    return setter


def _make_one() -> bool:
    """Make a tensor; return False where TensorFlow has not begun: making one would fix its configuration."""
    from tensorflow.python.eager import context
    from tensorflow.python.framework import ops

    now = context._context
    if now is None or not now._initialized:
        return False
    ops.EagerTensor(0, now.device_name, None)
    return True


def _present() -> Any:
    """Return the hook that is in, None where there is none. Raises Unavailable where it cannot be told."""
    from tensorflow.python.framework.ops import EagerTensor

    found: list[Any] = []

    def profile(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            given = list(frame.f_locals.values())
            if any(isinstance(one, EagerTensor) for one in given):
                found.append(given[0])  # self; a plain function has none, and cannot be put back

    def look() -> None:
        sys.setprofile(profile)
        try:
            _make_one()
        finally:
            sys.setprofile(None)

    # In a thread of its own: in this one a profiler may be at work, which could not be put back.
    looking = threading.Thread(target=look, name="tensorledger")
    looking.start()
    looking.join()
    if not found:
        return None
    if not hasattr(found[0], "created"):
        raise Unavailable("another hook is in its place, and cannot be called from here")
    return found[0]

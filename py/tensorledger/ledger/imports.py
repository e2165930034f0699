"""Calls back when a module is imported for the first time: what waits for TensorFlow never imports it itself."""

from __future__ import annotations

import importlib.util
import sys
import threading
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

_lock = threading.RLock()


class _Finder(MetaPathFinder):
    """Stands before the other finders as long as someone waits, and has one of them find the module."""

    def __init__(self) -> None:
        self.waiting: dict[str, list[Callable[[], None]]] = {}
        self._searching = threading.local()

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return the spec that the others find, its loader told to call back once it has run."""
        if name not in self.waiting or getattr(self._searching, "on", False):
            return None
        self._searching.on = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._searching.on = False
        loader: Any = spec and spec.loader
        execute = getattr(loader, "exec_module", None)
        if execute is None:
            return None

        def run(module: ModuleType) -> None:
            del loader.exec_module  # the class's own again
            execute(module)
            with _lock:
                called = self.waiting.pop(name, [])
                _leave_if_idle()
            for callback in called:
                callback()

        loader.exec_module = run
        return spec


_finder = _Finder()


def when_imported(name: str, callback: Callable[[], None]) -> Callable[[], None]:
    """Call back once when the top-level module has been imported, in the thread that imports it: at once if it is.

    Return what cancels it, which may be called at any time.
    """
    with _lock:
        if getattr(sys.modules.get(name), "__spec__", None) is None:  # a stand-in that somebody put there has none
            _finder.waiting.setdefault(name, []).append(callback)
            if _finder not in sys.meta_path:
                sys.meta_path.insert(0, _finder)
            return lambda: _cancel(name, callback)
    callback()
    return lambda: None


def _cancel(name: str, callback: Callable[[], None]) -> None:
    with _lock:
        waiting = _finder.waiting.get(name, [])
        if callback in waiting:
            waiting.remove(callback)
        if not waiting:
            _finder.waiting.pop(name, None)
        _leave_if_idle()


def _leave_if_idle() -> None:
    if not _finder.waiting and _finder in sys.meta_path:
        sys.meta_path.remove(_finder)

"""What there was before the tests, out of the collector's sight while they run; and how old models are."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from tensorledger.ledger.live import Mark
from tensorledger.plugin.entry import FROZEN_BY_PYTHON


class Older:
    """Frozen (``gc.freeze``) as of the first test that is held to something.

    To collect what a test has left takes some milliseconds then; of a whole process with TensorFlow, two hundred. On
    suspicion it is thawed for a moment. A project that has frozen objects before, or says ``tensor_leaks_freeze =
    false``, is left alone, and waits for collections of all.
    """

    def __init__(self, freezes: bool) -> None:
        self._freezes = freezes and gc.get_freeze_count() <= FROZEN_BY_PYTHON
        self._begun = False
        self._seen: list[tuple[weakref.ref[Any], int]] = []
        """Models and the like that have come since, each with the moment by which it was there."""

    def begin(self, now: Mark, anew: bool) -> None:
        """Take what there is for older, if that is not done; ``anew``: what has come since, too."""
        if not self._begun or anew:
            self._see(now)
            self._begun = True
            if self._freezes:
                gc.freeze()

    def see(self, now: Mark) -> None:
        """Note which models there are by now."""
        if self._begun:
            self._see(now)

    def _see(self, now: Mark) -> None:
        from tensorflow.python.trackable.base import Trackable

        self._seen = [(ref, at) for ref, at in self._seen if ref() is not None]
        known = {id(ref()) for ref, _ in self._seen}
        for found in gc.get_objects():
            if issubclass(type(found), Trackable) and id(found) not in known:
                with suppress(TypeError):  # there are some without weak references
                    self._seen.append((weakref.ref(found), now.tensor))

    @contextmanager
    def thawed(self, now: Mark) -> Iterator[None]:
        """Put everything into the collector's sight for a moment."""
        self.see(now)
        thaws = self._freezes and self._begun
        if thaws:
            gc.unfreeze()
        try:
            yield
        finally:
            if thaws:
                gc.freeze()

    def newer(self, moment: Mark) -> set[int]:
        """Return the addresses of the models that are newer than a moment."""
        return {id(one) for ref, at in self._seen if at > moment.tensor and (one := ref()) is not None}

    def close(self) -> None:
        """Put everything back for good."""
        if self._freezes and self._begun:
            self._begun = False
            gc.unfreeze()

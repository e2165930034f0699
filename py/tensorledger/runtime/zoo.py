"""The models that scenarios live through. Each call makes a new one and lists it in ``held``."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tensorledger.models import zoo
from tensorledger.protocol.messages import Agreement, SavedModel


class Zoo:
    """A scenario's ``context.models``."""

    def __init__(self, keras: Any, held: list[Any], own: str, look_up: Callable[[str, str], SavedModel]) -> None:
        self._keras = keras
        self._held = held
        self._own = own
        self._look_up = look_up
        self._saved: dict[tuple[str, str], SavedModel] = {}
        self.agreements: dict[tuple[str, str], Agreement] = {}

    def classifier(self) -> Any:
        """Make the MLP of the first question."""
        return self._hold(zoo.classifier(self._keras))

    def extractor(self) -> Any:
        """Make the model of the second question."""
        return self._hold(zoo.extractor(self._keras))

    def load(self, name_or_path: str) -> Any:
        """Load a saved model: one of the zoo by its name, as this Keras saved it, or a file."""
        path = name_or_path
        if name_or_path in zoo.MODELS:
            path = self._lookup(name_or_path).keras
        elif not Path(path).exists():
            raise FileNotFoundError(f"{path}: neither a file nor a model of the zoo ({', '.join(zoo.MODELS)})")
        return self._hold(self._keras.models.load_model(path))

    def compare(self, name: str, prediction: Any) -> None:
        """Hold a loaded zoo model's prediction for its ``data`` against what its Keras predicted when it was made."""
        saved = self._lookup(name)
        max_abs, max_rel = difference(prediction.numpy().reshape(-1).tolist(), saved.predictions)
        before = self.agreements.get((name, self._own))
        if before is not None:
            max_abs, max_rel = _larger(before.max_abs, max_abs), _larger(before.max_rel, max_rel)
        self.agreements[name, self._own] = Agreement(
            model=name, source=self._own, max_abs=max_abs, max_rel=max_rel, bound=saved.bound
        )

    def _hold(self, model: Any) -> Any:
        self._held.append(model)
        return model

    def _lookup(self, name: str) -> SavedModel:
        key = (name, self._own)
        if key not in self._saved:
            self._saved[key] = self._look_up(*key)
        return self._saved[key]


def difference(values: list[float], reference: list[float]) -> tuple[float | None, float | None]:
    """Return the largest absolute and relative difference; None where a value is not finite or one is missing."""
    if len(values) != len(reference) or not all(map(math.isfinite, values)):
        return None, None
    off = [abs(value - there) for value, there in zip(values, reference, strict=True)]
    relative = [there and gap / abs(there) for gap, there in zip(off, reference, strict=True) if gap]
    exact = all(there for gap, there in zip(off, reference, strict=True) if gap)
    return max(off, default=0.0), max(relative, default=0.0) if exact else None


def _larger(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else max(one, other)

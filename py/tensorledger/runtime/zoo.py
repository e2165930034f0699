"""The models that scenarios live through. Each call makes a new one and lists it in ``held``."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tensorledger.models import zoo
from tensorledger.protocol.messages import Agreement, SavedModel
from tensorledger.runtime.files import load_file


class Zoo:
    """A scenario's ``context.models``."""

    def __init__(self, keras: Any, held: list[Any], own: str, look_up: Callable[[str, str], SavedModel]) -> None:
        self._keras = keras
        self._held = held
        self._own = own
        self._look_up = look_up
        self._saved: dict[tuple[str, str], SavedModel] = {}
        self.agreements: dict[tuple[str, str], Agreement] = {}
        self._makers: dict[str, Callable[[Any], Any]] = {}
        """The function ``model`` of each .py file that was loaded: its module is made once."""

    def make(self, name: str) -> Any:
        """Make a model of the zoo by its name. Raises KeyError where there is none such."""
        return self._hold(zoo.ZOO[name](self._keras))

    def classifier(self) -> Any:
        """Make the MLP of the first question."""
        return self.make("classifier")

    def extractor(self) -> Any:
        """Make the model of the second question."""
        return self.make("extractor")

    def shared(self) -> Any:
        """Make a model with a layer that is called twice."""
        return self.make("shared")

    def nested(self) -> Any:
        """Make a model within a model."""
        return self.make("nested")

    def recurrent(self) -> Any:
        """Make a stateful LSTM."""
        return self.make("recurrent")

    def convolutional(self) -> Any:
        """Make a small convolutional network."""
        return self.make("convolutional")

    def load(self, name_or_path: str) -> Any:
        """Load a saved model: one of the zoo by its name, as this Keras saved it, or a file.

        A file whose name ends in .py makes the model: it defines a function ``model(keras)``. Raises
        FileNotFoundError, TypeError where a .py file has no such function or it returns no model, and what Keras or
        the file raises.
        """
        path = name_or_path
        if name_or_path in zoo.MODELS:
            path = self._lookup(name_or_path).keras
        elif not Path(path).exists():
            raise FileNotFoundError(f"{path}: neither a file nor a model of the zoo ({', '.join(zoo.MODELS)})")
        if Path(path).suffix != ".py":
            return self._hold(self._keras.models.load_model(path))
        if path not in self._makers:
            self._makers[path] = maker(Path(path))
        made = self._makers[path](self._keras)
        if not isinstance(made, self._keras.Model):
            raise TypeError(f"{path}: model(keras) returned no model of {self._own}, but {type(made).__name__}")
        return self._hold(made)

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


def maker(path: Path) -> Callable[[Any], Any]:
    """Return the function ``model`` of a .py file. Raises what the file raises; TypeError where it has none."""
    found = getattr(load_file(path, "model"), "model", None)
    if not callable(found):
        raise TypeError(f"{path} defines no function named model")
    function: Callable[[Any], Any] = found
    return function


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

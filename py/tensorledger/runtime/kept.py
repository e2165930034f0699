"""What TensorFlow keeps of models that are gone: registered gradients, and traces in functions that live on.

Both are private to TensorFlow. Where a part is not there, a warning names it, and the rest is done.
"""

from __future__ import annotations

import gc
import warnings
import weakref
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from tensorledger.ledger import gradients

REGISTRY = "tensorflow.python.framework.ops.gradient_registry._registry"
CACHE = "tensorflow.core.function.polymorphism.function_cache.FunctionCache._primary"
FIRST = "_concrete_variable_creation_fn"
"""Where a ``tf.function`` has its first trace a second time; it is not looked at again after the first call."""


def handles(models: Iterable[Any]) -> set[str]:
    """Return the descriptions of the resources that the models' weights are."""
    found: list[Any] = []
    for model in models:
        with suppress(ValueError):  # tf_keras: it has none yet
            found += model.weights
    return {repr(weight.handle) for weight in found if hasattr(weight, "handle")}


def drop_traces(resources: set[str]) -> int:
    """Drop those traces of living ``tf.function``s that captured one of these; return how many.

    The function itself lives on, with its other traces. Called again with the same arguments, it is traced again.
    Functions that were made before a ``gc.freeze`` are not found.
    """
    try:
        from tensorflow.core.function.polymorphism.function_cache import FunctionCache
        from tensorflow.python.eager.polymorphic_function.polymorphic_function import Function
    except ImportError:
        _absent(CACHE)
        return 0
    dropped = []
    functions = []
    for found in gc.get_objects():
        if isinstance(found, FunctionCache):
            primary = getattr(found, "_primary", None)
            if primary is None:
                _absent(CACHE)
                return 0
            for (context, kind), trace in list(primary.items()):
                if _captures(trace, resources):
                    found.delete(kind, context)
                    dropped.append(trace)
        elif isinstance(found, Function):
            functions.append(found)
    for function in functions:
        if any(function.__dict__.get(FIRST) is trace for trace in dropped):
            setattr(function, FIRST, None)
    return len(dropped)


def _captures(trace: Any, resources: set[str]) -> bool:
    return any(hasattr(outside, "_id") and repr(outside) in resources for outside, _ in trace.graph.captures)


def registered() -> set[str]:
    """Return the names of the gradients that are registered now."""
    entries = gradients.registry()
    if entries is None:
        _absent(REGISTRY)
    return set(entries or ())


def drop_gradients(since: set[str]) -> int:
    """Collect, without those registered gradients that nothing but the registry keeps alive; return how many went.

    ``since``: names of gradients that stay in any case. A gradient is looked up only while a graph with its operation
    lives. So it is given to that graph to keep, taken out of the registry, and put back if the graph outlives a
    collection: it then belongs to something that is not gone.
    """
    entries = gradients.registry()
    if entries is None:
        _absent(REGISTRY)
        gc.collect()
        return 0
    taken = _take(entries, since)
    gc.collect()
    back = 0
    for name, refs in taken.items():
        for ref in refs:
            kept = getattr(ref(), _KEPT, {}).pop(name, None)
            if kept is not None:
                entries[name] = kept
        back += name in entries
    return len(taken) - back


_KEPT = "_tensorledger_gradients"


def _take(entries: dict[str, dict[str, Any]], since: set[str]) -> dict[str, list[weakref.ref[Any]]]:
    """Take the newer gradients out of the registry and give them to their graphs; return these, by name."""
    taken: dict[str, list[weakref.ref[Any]]] = {}
    for name, entry in gradients.traced().items():
        graphs = [] if name in since else gradients.graphs(entry)
        for graph in graphs:
            setattr(graph, _KEPT, {**getattr(graph, _KEPT, {}), name: entry})
        if graphs:
            taken[name] = [weakref.ref(graph) for graph in graphs]
            del entries[name]
    return taken


def _absent(part: str) -> None:
    warnings.warn(
        f"this TensorFlow has no {part}: what it keeps there of a released model stays", RuntimeWarning, stacklevel=3
    )

"""What TensorFlow's gradient registry holds: for each traced ``tf.custom_gradient`` a function, and so its graph.

The registry is a dictionary that TensorFlow only adds to. All of this is private to TensorFlow.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Iterator
from types import CellType, FunctionType, MethodType
from typing import Any

DEPTH = 6
"""Functions and containers between a registered gradient and a tensor of the graph that it holds."""
WIDTH = 2000
"""Objects at one depth that are looked into."""


def registry() -> dict[str, dict[str, Any]] | None:
    """Return the registry itself; None where this TensorFlow has it no longer, or elsewhere."""
    try:
        from tensorflow.python.framework import ops

        entries = ops.gradient_registry._registry
    except (ImportError, AttributeError):
        return None
    return entries if isinstance(entries, dict) else None


def traced() -> dict[str, dict[str, Any]]:
    """Return those entries that tracing has made: by a name that is given once, an entry that holds a function."""
    return {
        name: entry
        for name, entry in (registry() or {}).items()
        if name.startswith("CustomGradient") and getattr(entry.get("type"), "__closure__", None)
    }


def graphs(entry: dict[str, Any]) -> list[Any]:
    """Return the graphs, each once, that an entry's function holds."""
    return list({id(graph): graph for graph in _graphs(entry.get("type"))}.values())


def _graphs(function: Any) -> Iterator[Any]:
    """Yield the graphs of the symbolic tensors in a function's closure, and in those of the functions there."""
    from tensorflow.python.framework.ops import SymbolicTensor

    seen: set[int] = set()
    near = [function]
    for _ in range(DEPTH):
        further: list[Any] = []
        for one in near:
            if id(one) in seen:
                continue
            seen.add(id(one))
            if isinstance(one, SymbolicTensor):
                yield one.graph
            elif isinstance(one, FunctionType):
                further.extend(one.__closure__ or ())
            elif isinstance(one, MethodType):
                further.append(one.__func__)
            elif is_container(one):
                further.extend(gc.get_referents(one))
        near = further[:WIDTH]


def is_container(found: Any) -> bool:
    """Say whether something is one of Python's own containers, cells included."""
    return type(found) in (dict, list, tuple, set, frozenset, deque, CellType)

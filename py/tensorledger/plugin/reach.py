"""What objects hold, looked at forward from them: whether a tensor belongs to something that goes on living."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from types import FrameType, FunctionType, ModuleType, TracebackType
from typing import Any

import pytest

MOST = 1_000_000
"""Objects that are looked into, at most."""

_RUNNERS = ("_pytest", "pluggy", "tensorledger")
"""Packages whose functions run a test, and have all of a session in their locals."""

_NOT_INTO: tuple[type, ...] = (
    type,
    ModuleType,
    FrameType,
    pytest.Item,
    pytest.Collector,
    pytest.Config,
    pytest.FixtureRequest,
    pytest.FixtureDef,
    pytest.PytestPluginManager,
)
"""From these everything is reached: what a module or a class holds, a fixture that refers to it does not hold."""


def reached(roots: Iterable[Any], wanted: AbstractSet[int]) -> set[int]:
    """Return which of the wanted objects, by address, the roots hold.

    A function holds its closure and its defaults, not its module; a Keras layer does not hold the layers that were
    called on what it returned, though it refers to them.
    """
    found: set[int] = set()
    seen: set[int] = set()
    near = list(roots)
    while near and len(found) < len(wanted) and len(seen) < MOST:
        one = near.pop()
        if id(one) in seen or issubclass(type(one), _NOT_INTO):
            continue
        seen.add(id(one))
        if id(one) in wanted:
            found.add(id(one))
        near.extend(_held(one))
    return found


def _held(one: Any) -> Iterable[Any]:
    if isinstance(one, FunctionType):
        return (*(one.__closure__ or ()), one.__defaults__, one.__kwdefaults__, one.__dict__)
    try:
        called_later = object.__getattribute__(one, "_outbound_nodes")
    except Exception:
        return gc.get_referents(one)
    return [held for held in gc.get_referents(one) if held is not called_later and not _is_dict_of(held, one)] + [
        value for name, value in vars(one).items() if not name.startswith("_outbound_nodes")
    ]


def _is_dict_of(held: Any, one: Any) -> bool:
    return isinstance(held, dict) and held is one.__dict__


def of_traceback(error: BaseException | None) -> Iterator[Any]:
    """Yield the locals of the functions that an exception came through, its causes' too; pytest's and ours aside."""
    seen: set[int] = set()
    near = [error]
    while near:
        one = near.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        yield from BaseException.args.__get__(one)  # type: ignore[attr-defined]
        yield one.__dict__
        trace: TracebackType | None = one.__traceback__
        while trace is not None:
            if str(trace.tb_frame.f_globals.get("__name__")).partition(".")[0] not in _RUNNERS:
                yield from list(trace.tb_frame.f_locals.values())
            trace = trace.tb_next
        near += [one.__cause__, one.__context__, *getattr(one, "exceptions", ())]


def library_holders() -> Iterator[Any]:
    """Yield TensorFlow's own caches, which are of limited size, and the generators of which a process has one.

    All of it is private; what is not found here is among ``older_owners``, which takes longer.
    """
    context = sys.modules.get("tensorflow.python.eager.context")
    for caches in getattr(context, "_tensor_caches_map", {}).values():
        yield getattr(caches, "_zeros_cache", None)
        yield getattr(caches, "_ones_rank_cache", None)
    yield getattr(sys.modules.get("tensorflow.python.ops.stateful_random_ops"), "global_generator", None)
    state = sys.modules.get("keras.src.backend.common.global_state")
    yield getattr(getattr(state, "GLOBAL_STATE_TRACKER", None), "global_seed_generator", None)


def older_owners(newer: AbstractSet[int]) -> Iterator[Any]:
    """Yield models, layers, optimizers and traced functions that were there before, and TensorFlow's caches.

    ``newer``: addresses of what was not. What such an owner makes for itself when it is used for the first time, as
    the weights of a layer that had no input yet, is its own.
    """
    from tensorflow.python.eager import context
    from tensorflow.python.trackable.base import Trackable

    caches = getattr(context, "_EagerTensorCache", ())
    for found in gc.get_objects():
        kind = type(found)
        if issubclass(kind, caches) or (id(found) not in newer and issubclass(kind, Trackable)):
            yield found

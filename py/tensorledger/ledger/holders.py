"""What keeps a tensor alive: traced functions that captured it, or the shortest chain of referrers to a root.

A chain reads from the root in: ``my_module.CACHE['x'] -> Dense.kernel``. A root is a module's global, a class, or a
local of a function that runs. What only C code holds has no chain.
"""

from __future__ import annotations

import gc
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import (
    AsyncGeneratorType,
    CellType,
    CodeType,
    CoroutineType,
    FrameType,
    FunctionType,
    GeneratorType,
    MethodType,
    ModuleType,
)
from typing import Any

from tensorledger.ledger import gradients
from tensorledger.ledger.gradients import is_container

AT_ONCE = 50
"""Objects whose referrers are asked for in one go: the collector compares each reference with each of them."""
WIDTH = 2000
"""Objects that a search may come to."""
_OWN = (Path(__file__).parent, Path(__file__).parents[1] / "plugin")
"""Whose functions have the tensors that are looked at in their locals."""
REGISTRY = "TensorFlow's gradient registry"
SUSPENDED = (GeneratorType, CoroutineType, AsyncGeneratorType)
UNSEEN = "nothing that Python's collector sees: C code, or a call that runs"


class Holders:
    """Finds what holds tensors, as long as its seconds last. It looks at the objects of now: drop it soon."""

    def __init__(self, seconds: float, ignored: Iterable[Any] = (), *, thaw: bool = False) -> None:
        """``ignored``: no chain leads through these.

        ``thaw``: objects frozen by ``gc.freeze`` may be thawed, for good, where the others form no chain.
        """
        self._deadline = time.monotonic() + seconds
        self._ignored = {id(one) for one in ignored}
        self._thaw = thaw
        self._captures = captures()

    def of(self, tensors: Iterable[Any]) -> list[str]:
        """Say what holds these, each reason once."""
        said: dict[str, None] = {}
        for tensor in tensors:
            captured = self._captures.get(_identity(tensor), [])
            said.update(dict.fromkeys(captured))
            # The registry is for good. A graph that is not in it is held by something else, which a chain shows.
            if not any(one.startswith(REGISTRY) for one in captured):
                found = chain(tensor, self._deadline, self._ignored)
                if found == UNSEEN and self._thaw and gc.get_freeze_count():
                    gc.unfreeze()
                    found = chain(tensor, self._deadline, self._ignored)
                if found:
                    said[found] = None
        return list(said)


def captures() -> dict[int | str, list[str]]:
    """Return what traced functions hold: of each tensor's identity, the functions and the captures' names."""
    from tensorflow.python.framework.func_graph import FuncGraph

    graphs = [found for found in gc.get_objects() if isinstance(found, FuncGraph)]
    registered = _registered()
    held: dict[int | str, list[str]] = {}
    for graph in graphs:
        name = f"traced function {graph.name}"
        if id(graph) in registered:
            name = f"{REGISTRY}, {registered[id(graph)]}: {name}"
        for outside, inside in graph.captures:
            if hasattr(outside, "_id"):
                held.setdefault(_identity(outside), []).append(f"{name} captures it as {inside.op.name}")
    # Those in the registry first: they are the reason that the others stay, too.
    return {identity: sorted(said, key=lambda one: not one.startswith(REGISTRY))[:2] for identity, said in held.items()}


def _registered() -> dict[int, str]:
    """Return, by the graph's address, the name under which the gradient registry holds it (private)."""
    found: dict[int, str] = {}
    for name, entry in gradients.traced().items():
        for graph in gradients.graphs(entry):
            while graph is not None:
                found.setdefault(id(graph), name)
                graph = getattr(graph, "outer_graph", None)
    return found


def _identity(tensor: Any) -> int | str:
    from tensorflow.python.framework import dtypes

    if not hasattr(tensor, "_id"):
        return id(tensor)
    identity: int | str = repr(tensor) if tensor.dtype == dtypes.resource else tensor._id
    return identity


def chain(target: Any, deadline: float, ignored: AbstractSet[int] = frozenset()) -> str | None:
    """Return the shortest chain of referrers from a root to ``target``, in words; UNSEEN: none; None: none in time.

    ``deadline`` is one of ``time.monotonic``; ``ignored`` are addresses.
    """
    if time.monotonic() > deadline:
        return None
    locals_, attributes = _locals(), _attributes_of_tensors()
    inward: dict[int, Any] = {id(target): None}  # of each object, the next one towards the target
    seen: list[Any] = [target]
    near: list[Any] = [target]
    own = {id(inward), id(seen), id(locals_), id(attributes), *ignored}
    while near:
        for one in near:
            root = _root(one, locals_)
            if root is not None:
                return _words(root, one, inward)
        further: list[Any] = []
        own |= {id(near), id(further)}
        for start in range(0, len(near), AT_ONCE):
            if time.monotonic() > deadline or len(seen) > WIDTH:
                return None
            part = {id(one): one for one in near[start : start + AT_ONCE]}
            asked = tuple(part.values())
            referrers = gc.get_referrers(*asked)
            own |= {id(part), id(asked), id(referrers)}
            for one in asked:
                referrers.extend(attributes.get(id(one), ()))
            for referrer in referrers:
                if id(referrer) in inward or id(referrer) in own:
                    continue
                for held in gc.get_referents(referrer):
                    if id(held) in part:
                        inward[id(referrer)] = part[id(held)]
                        break
                else:
                    continue
                seen.append(referrer)
                further.append(referrer)
        near = further
    return UNSEEN


def _locals() -> dict[int, str]:
    """Return the names of what running functions have in their locals, by address: the collector does not see those."""
    names: dict[int, str] = {}
    mine = threading.get_ident()
    frame: FrameType | None  # one variable, and None in the end: this function's own frame is among these
    for thread, frame in sys._current_frames().items():
        while frame is not None:
            code = frame.f_code
            if code.co_flags & CO_OPTIMIZED and not (thread == mine and _ours(frame)):
                for name, value in _variables(frame):
                    names.setdefault(id(value), f"local {name} of {_called(code)}, which runs")
            frame = frame.f_back
    return names


def _attributes_of_tensors() -> dict[int, list[Any]]:
    """Return the tensors that have something as an attribute, by its address, or as the dictionary of their attributes.

    From Python 3.12 on, TensorFlow's tensors name that to who asks what they refer to, and not as its referrers.
    """
    found: dict[int, list[Any]] = {}
    if sys.version_info >= (3, 12):
        from tensorflow.python.framework.ops import EagerTensor

        for tensor in gc.get_objects():
            if isinstance(tensor, EagerTensor):
                for held in gc.get_referents(tensor):
                    if gc.is_tracked(held) and not isinstance(held, type):
                        found.setdefault(id(held), []).append(tensor)
    return found


def _called(code: CodeType) -> str:
    if sys.version_info < (3, 11):
        return code.co_name
    return code.co_qualname


def _variables(frame: FrameType) -> list[tuple[str, Any]]:
    """Return a function's locals, and leave no copy of them behind: it would hold what the function lets go of."""
    if sys.version_info >= (3, 13):  # f_locals is no copy there: it looks at the locals themselves
        return list(frame.f_locals.items())
    variables = frame.f_locals
    found = list(variables.items())
    # The frame, this function and the call refer to it. Where more do, somebody called locals() and kept what it gave.
    if sys.getrefcount(variables) <= 3:
        variables.clear()
    return found


def _ours(frame: FrameType) -> bool:
    return Path(frame.f_code.co_filename).parent in _OWN


def _root(found: Any, locals_: dict[int, str]) -> str | None:
    """Return what a root is called; None for anything else."""
    if id(found) in locals_:
        return locals_[id(found)]
    if isinstance(found, dict):
        name = found.get("__name__")
        if isinstance(name, str) and "__builtins__" in found:
            return name
        return None
    if isinstance(found, ModuleType):
        return found.__name__
    if isinstance(found, type):
        return f"{found.__module__}.{found.__qualname__}"
    return None


def _words(root: str, first: Any, inward: dict[int, Any]) -> str:
    """Spell out a chain. Containers and what belongs to their owner are part of its path; other objects are named."""
    text = root
    held = inward[id(first)]
    owner = first
    while held is not None:
        after = inward[id(held)]
        if isinstance(owner, FunctionType) and owner.__closure__ is held and isinstance(after, CellType):
            index = next(index for index, cell in enumerate(owner.__closure__ or ()) if cell is after)
            text += f"(closure {owner.__code__.co_freevars[index]})"
            owner, held = after, inward[id(after)]
            continue
        if isinstance(owner, SUSPENDED) and isinstance(held, FrameType):
            held = after  # up to Python 3.10 it is a frame that has the locals
            continue
        if not isinstance(owner, CellType):
            text += _step(owner, held, after)
        if _is_own_dict(owner, held) and after is not None:
            text += f".{_key(held, after)}"
            held, after = after, inward[id(after)]
        if after is not None and not is_container(held):
            text += f" -> {_noun(held)}"
        owner, held = held, after
    return text


def _step(owner: Any, held: Any, after: Any) -> str:
    """Return how one gets from an object to one that it refers to."""
    if _is_own_dict(owner, held):
        return ""
    if isinstance(owner, dict):
        name = _key(owner, held)
        if isinstance(owner.get("__name__"), str) and "__builtins__" in owner:
            return f".{name}"
        if isinstance(name, weakref.ref) or type(name).__name__ == "_localdummy":
            return ""  # a thread-local's variables of each thread
        return f"[{name!r}]" if isinstance(name, (str, int)) else f"[<{type(name).__name__}>]"
    if isinstance(owner, (list, tuple, deque)):
        return f"[{next((index for index, one in enumerate(owner) if one is held), '?')}]"
    if isinstance(owner, (set, frozenset)):
        return "{…}"
    if isinstance(owner, SUSPENDED):
        return _suspended(owner, held)
    for name in _attributes(owner):
        try:
            if object.__getattribute__(owner, name) is held:
                return f".{name}"
        except Exception:
            continue
    return ""


def _suspended(owner: Any, held: Any) -> str:
    frame = getattr(owner, "gi_frame", None) or getattr(owner, "cr_frame", None) or getattr(owner, "ag_frame", None)
    if frame is None:
        return ""
    name = next((name for name, value in _variables(frame) if value is held), None)
    return "" if name is None else f", local {name}"


def _attributes(owner: Any) -> Iterator[str]:
    """Yield the names under which an object may have others: those of its own, of its slots, of C."""
    if isinstance(owner, FunctionType):
        yield from ("__closure__", "__defaults__", "__kwdefaults__", "__dict__", "__wrapped__")
    if isinstance(owner, MethodType):
        yield from ("__self__", "__func__")
    own = _own_dict(owner)
    if own is not None:
        yield from list(own)
    for kind in type(owner).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        yield from (slots,) if isinstance(slots, str) else tuple(slots)
        if kind.__module__ == "builtins" or kind.__module__.startswith("_"):
            yield from (name for name, value in kind.__dict__.items() if type(value).__name__ == "member_descriptor")


def _own_dict(owner: Any) -> dict[str, Any] | None:
    try:
        own = object.__getattribute__(owner, "__dict__")
    except Exception:
        return None
    return own if isinstance(own, dict) else None


def _is_own_dict(owner: Any, held: Any) -> bool:
    if isinstance(owner, type):
        return isinstance(held, dict) and all(name in held for name in ("__module__", "__doc__"))
    return isinstance(held, dict) and not is_container(owner) and _own_dict(owner) is held


def _key(owner: dict[Any, Any], held: Any) -> Any:
    return next((name for name, value in list(owner.items()) if value is held), "?")


def _noun(found: Any) -> str:
    """Return what an object is called inside a chain."""
    if isinstance(found, FunctionType):
        return f"function {found.__qualname__}"
    if isinstance(found, SUSPENDED):
        return f"{type(found).__name__} {found.__qualname__}"
    return type(found).__name__

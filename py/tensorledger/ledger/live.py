"""The ledger: weak references to the tensors that were made while it was on, each with the stack that made it."""

from __future__ import annotations

import sys
import warnings
import weakref
from collections.abc import Callable, Iterator, Set
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from tensorledger.ledger.collect import collect as collect_garbage
from tensorledger.ledger.frames import Frames, Stack, spelt_out, taker
from tensorledger.ledger.hook import HOOK, Unavailable
from tensorledger.ledger.imports import when_imported
from tensorledger.protocol.messages import Frame, LiveTensor

HELD_EACH = 2
"""Members of a group of which it is said what holds them."""


class _Ref(weakref.ref[Any]):
    """A weak reference that is itself, whatever it refers to: tensors cannot be compared or hashed."""

    __slots__ = ("stack",)
    __hash__ = object.__hash__
    __eq__ = object.__eq__

    stack: Stack


@dataclass(frozen=True)
class Mark:
    """A moment. What is made later has greater numbers, each of its kind."""

    tensor: int = -1
    resource: int = -1


@dataclass(frozen=True)
class Alive:
    """What is alive at one moment. It holds the tensors: drop it soon."""

    tensors: dict[int, tuple[Any, Stack]]
    """By TensorFlow's own serial number of the tensor."""
    handles: dict[str, tuple[Any, Stack]]
    """By the resource's description: a variable and its handle are one."""

    def __len__(self) -> int:
        return len(self.tensors) + len(self.handles)

    @property
    def names(self) -> set[int | str]:
        """The identities of all."""
        return {*self.tensors, *self.handles}

    def only(self, wanted: Callable[[int | str, Any], bool]) -> Alive:
        """Return those of which ``wanted`` says so, asked with an identity and the tensor or handle itself."""
        return Alive(
            {serial: one for serial, one in self.tensors.items() if wanted(serial, one[0])},
            {name: one for name, one in self.handles.items() if wanted(name, one[0])},
        )

    def among(self, names: Set[int | str]) -> Alive:
        """Return those with one of these identities."""
        return self.only(lambda name, _: name in names)

    def sized(self) -> Iterator[tuple[int | str, Any, Stack, int]]:
        """Yield each one's identity, the tensor or handle, its stack and its bytes."""
        if not self:
            return
        from tensorledger.ledger.extent import extent, handle_extent

        for serial, (tensor, stack) in self.tensors.items():
            yield serial, tensor, stack, extent(tensor)[0]
        for description, (handle, stack) in self.handles.items():
            yield description, handle, stack, handle_extent(description, handle)[0]


class Ledger:
    """The live EagerTensors and resource handles that were made while it was on, in whichever thread.

    Resource and variant types aside, each EagerTensor counts, and each distinct resource handle: a variable and its
    handle once. It holds none of them. It does not import TensorFlow: until somebody does, it waits for that.
    """

    def __init__(self, frames: Frames = "user") -> None:
        self._refs: set[_Ref] = set()
        self._missed: list[Exception] = []
        self._record = _recorder(self._refs, self._missed, frames)
        self._started = Mark()
        self._census: set[int | str] | None = None
        """What there was before, where the hook is missing and the collector is asked."""
        self._on = False
        self._cancel = _nothing
        self._library: Any = None
        self._latest = Mark()

    def start(self) -> None:
        """Begin to record, as soon as TensorFlow is imported.

        Where TensorFlow's hook is missing: warn, and do it by a census of Python's collector.
        """
        self._cancel = when_imported("tensorflow", self._begin)

    def _begin(self) -> None:
        try:
            self._started = Mark(resource=_resources_so_far())
            HOOK.join(self._record)
        except Unavailable as why:
            warnings.warn(
                f"{why}: tensorledger counts by a census of Python's collector, which is slower and knows no frames",
                RuntimeWarning,
                stacklevel=5,
            )
            from tensorledger.runtime.census import Census

            self._census = Census().identities()
        self._library = sys.modules["tensorflow"]
        self._on = True

    @property
    def sees(self) -> bool:
        """Whether TensorFlow is imported, and can be asked: a test may hide it for a while."""
        return self._library is not None and sys.modules.get("tensorflow") is self._library

    def stop(self) -> None:
        """Record no more. What is alive can still be asked for."""
        self._cancel()
        if not self._on:
            return
        if self._census is not None:
            self._refs.update(self._found())
        elif not HOOK.leave(self._record):
            self._missed.append(RuntimeError("another eager tensor hook was put in its place"))
        self._on = False

    def mark(self) -> Mark:
        """Return this moment, for ``alive(since=…)``."""
        if self._on and self.sees:
            from tensorflow.python import pywrap_tfe

            self._latest = Mark(pywrap_tfe.TFE_Py_UID(), _resources_so_far())
        return self._latest

    @property
    def count(self) -> int:
        """How many are alive now; nothing is collected for it."""
        return len(self.alive())

    @property
    def bytes(self) -> int:
        """The bytes of those that are alive now, of each one's elements; nothing is collected for it."""
        return sum(size for *_, size in self.alive().sized())

    def live(self, *, collect: bool = True, held: float = 0) -> list[LiveTensor]:
        """Return what is alive, like ones that were made in the same place grouped, oldest first.

        ``collect``: collect garbage first. ``held``: seconds that may go into finding what holds them; 0: do not.
        """
        if collect:
            collect_garbage()
        return groups(self.alive(), held)

    def alive(self, since: Mark | None = None) -> Alive:
        """Return the tensors themselves, or those made since a mark. Warns where something escaped the ledger."""
        if self._missed:
            warnings.warn(
                f"the ledger is not exact, it could not see {len(self._missed)} time(s): {self._missed[0]!r}",
                RuntimeWarning,
                stacklevel=3,
            )
        if not self.sees:
            return Alive({}, {})
        from tensorflow.python.framework import dtypes

        since = since or self._started
        refs = self._found() if self._on and self._census is not None else list(self._refs)
        found = [(tensor, ref.stack) for ref in refs if (tensor := ref()) is not None and tensor._id > since.tensor]
        found.sort(key=lambda one: one[0]._id)
        tensors: dict[int, tuple[Any, Stack]] = {}
        handles: dict[str, tuple[Any, Stack]] = {}
        for tensor, stack in found:
            dtype = tensor.dtype
            if dtype == dtypes.resource:
                description = repr(tensor)
                number = _number(description)
                if number is None or number > max(since.resource, self._started.resource):
                    handles.setdefault(description, (tensor, stack))
            elif dtype != dtypes.variant:
                tensors[tensor._id] = tensor, stack
        return Alive(tensors, handles)

    def identities(self) -> set[int | str]:
        """Return what to hold against a census."""
        return self.alive().names

    def _found(self) -> list[_Ref]:
        from tensorledger.runtime.census import Census

        assert self._census is not None
        census = Census()
        refs = []
        for identity, tensor in [*census.tensors.items(), *census.handles.items()]:
            if identity not in self._census:
                ref = _Ref(tensor, self._refs.discard)
                ref.stack = ()
                refs.append(ref)
        return refs


def groups(alive: Alive, held: float = 0, *, thaw: bool = False) -> list[LiveTensor]:
    """Group like ones that were made in the same place; see ``Ledger.live`` and ``Holders``."""
    return [group for group, _ in members(alive, held, thaw=thaw)]


def members(
    alive: Alive, held: float = 0, *, thaw: bool = False, each: bool = False
) -> Iterator[tuple[LiveTensor, list[int | str]]]:
    """Yield the same groups, each with the identities of its members; ``each``: every one by itself."""
    if not alive:
        return
    from tensorledger.ledger.extent import resource_name, stated
    from tensorledger.ledger.holders import Holders

    spelt: dict[int, int] = {}
    places: dict[tuple[Frame, ...], int] = {}
    names: dict[tuple[tuple[int, ...] | None, str, int, str | None, int, int | str | None], list[int | str]] = {}
    some: dict[tuple[Any, ...], list[Any]] = {}
    what: tuple[tuple[int, ...] | None, str, int, str | None]
    for identity, tensor, stack, size in alive.sized():
        if isinstance(identity, int):
            what = (tuple(tensor.shape), tensor.dtype.name, size, None)
        else:
            what = (*stated(tensor), size, resource_name(identity))
        if id(stack) not in spelt:
            spelt[id(stack)] = places.setdefault(tuple(spelt_out(stack)), len(places))
        key = (*what, spelt[id(stack)], identity if each else None)
        names.setdefault(key, []).append(identity)
        if held and len(names[key]) <= HELD_EACH:
            some.setdefault(key, []).append(tensor)
    holders = Holders(held, (alive, alive.__dict__, alive.tensors, alive.handles), thaw=thaw) if some else None
    stacks = [list(place) for place in places]
    for key, named in names.items():
        shape, dtype, size, name, place, _ = key
        group = LiveTensor(
            count=len(named),
            shape=None if shape is None else list(shape),
            dtype=dtype,
            bytes=size,
            name=name,
            reachable=True,
            stack=stacks[place],
            held=holders.of(some[key]) if holders else [],
        )
        yield group, named


def _nothing() -> None:
    pass


def _recorder(refs: set[_Ref], missed: list[Exception], frames: Frames) -> Callable[[Any], None]:
    """Return what the hook calls. It is on the way of every operation, so it looks nothing up."""
    add, discard, take = refs.add, refs.discard, taker(frames)

    def record(tensor: Any) -> None:
        try:
            ref = _Ref(tensor, discard)
            try:
                ref.stack = take()
            except ValueError:  # a thread of TensorFlow's own, which no Python called
                ref.stack = ()
            add(ref)
        except Exception as error:
            error.__traceback__ = None  # its frames would keep the tensor
            missed.append(error)

    return record


def _number(description: str) -> int | None:
    """Return an anonymous resource's number, by which TensorFlow counts them; None where the resource is not one."""
    if 'container="Anonymous"' not in description:
        return None
    name = description.partition('name="')[2].partition('"')[0]
    number = name.removeprefix("Resource-").partition("-at-")[0] if "-at-" in name else name.rpartition("/")[2]
    return int(number) if number.isdecimal() else None


def _resources_so_far() -> int:
    """Return the number of the latest anonymous resource, by making one; -1 where none can have been made."""
    from tensorflow.python.eager import context
    from tensorflow.python.framework import dtypes
    from tensorflow.python.ops import gen_resource_variable_ops

    now = context._context
    if now is None or not now._initialized:
        return -1
    with suppress(Exception), context.eager_mode():
        handle = gen_resource_variable_ops.var_handle_op(
            dtype=dtypes.float32, shape=[], shared_name=context.anonymous_name(), container=""
        )
        return -1 if (number := _number(repr(handle))) is None else number
    return -1

"""The live tensors of a Python TensorFlow process: counted among the objects that the collector knows.

A tensor is an EagerTensor of a dtype that holds numbers or strings. A variable is counted by its resource handle, an
EagerTensor too, however many Python objects share it, and also when a traced function is the last to hold it.
Objects that were frozen (``gc.freeze``) when the process was forked are not looked at: they came with the import.
"""

from __future__ import annotations

import gc
import os
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy
import psutil
import tensorflow as tf
from tensorflow.python.framework.ops import EagerTensor
from tensorflow.python.ops import gen_resource_variable_ops

from tensorledger.protocol.messages import LiveTensor, Reading

_VARIABLE = 'type="tensorflow::Var"'


class Census:
    """Everything alive at one moment. It holds the tensors: drop it soon."""

    def __init__(self) -> None:
        self.blocks = sys.getallocatedblocks()
        """Of the interpreter's own allocator, for objects that the collector does not know too. It is not judged: it
        grows by 1 to 3 a cycle over the first 40 of nothing at all."""
        objects = gc.get_objects()
        self.objects = len(objects)
        self.tensors: dict[int, Any] = {}
        """By TensorFlow's own serial number of the tensor, which is never used twice."""
        self.handles: dict[str, Any] = {}
        """By the resource's description, which has a number of its own too."""
        for found in objects:
            if isinstance(found, EagerTensor):
                if found.dtype == tf.resource:
                    self.handles[repr(found)] = found
                elif found.dtype != tf.variant:
                    self.tensors[found._id] = found

    def sizes(self) -> Iterator[tuple[int | str, int, int | None]]:
        """Yield each one's identity, its bytes, and the address of its buffer (None: it has none to look at)."""
        for serial, tensor in self.tensors.items():
            yield serial, *_extent(tensor)
        for description, handle in self.handles.items():
            value = _value(description, handle)
            if value is not None:
                yield description, *_extent(value)
            else:
                yield description, _stated_bytes(handle), None

    def reading(self) -> Reading:
        """Return the four levels of this moment, in absolute numbers; bytes are those of each tensor's elements."""
        total = 0
        buffers: dict[object, int] = {}
        for identity, size, address in self.sizes():
            total += size
            if size:
                buffers[identity if address is None else address] = size
        return Reading(
            tensors=len(self.tensors) + len(self.handles),
            bytes=total,
            buffers=len(buffers),
            buffer_bytes=sum(buffers.values()),
            backend={"allocator": _allocator()},
            heap={"objects": self.objects, "blocks": self.blocks},
            process={**_pages(), "in_use": _in_use()},
        )

    def identities(self) -> set[int | str]:
        """Return what to hold a later census against."""
        return {*self.tensors, *self.handles}

    def since(self, before: set[int | str]) -> list[LiveTensor]:
        """Return what is alive and was not then, like ones grouped."""
        groups: Counter[tuple[tuple[int, ...] | None, str, int, str | None]] = Counter()
        for identity, size, _ in self.sizes():
            if identity in before:
                continue
            if isinstance(identity, int):
                tensor = self.tensors[identity]
                groups[tuple(tensor.shape), tensor.dtype.name, size, None] += 1
            else:
                shape, dtype = _stated(self.handles[identity])
                name = identity.partition('name="')[2].partition('"')[0].rpartition("/")[0]
                groups[shape, dtype, size, name or None] += 1
        return [
            LiveTensor(
                count=count,
                shape=None if shape is None else list(shape),
                dtype=dtype,
                bytes=size,
                name=name,
                reachable=None,
                stack=[],
            )
            for (shape, dtype, size, name), count in groups.items()
        ]


def _extent(tensor: Any) -> tuple[int, int | None]:
    """Return a tensor's bytes and its buffer's address. Strings: the bytes of their contents, no address."""
    if tensor.dtype == tf.string:
        return sum(len(text) for text in numpy.ravel(tensor.numpy())), None
    size = tensor.shape.num_elements() * tensor.dtype.size
    return size, _address(tensor) if size else None


def _address(tensor: Any) -> int | None:
    """Return where a tensor's elements are; None for a scalar of a dtype that Python's buffers do not know."""
    try:
        array = numpy.asarray(memoryview(tensor))
    except (ValueError, BufferError):
        array = tensor._numpy()
        if not isinstance(array, numpy.ndarray):
            return None
    return int(array.__array_interface__["data"][0])


def _value(description: str, handle: Any) -> Any:
    """Return the tensor inside a variable's handle, without copying it; None where there is none to be read."""
    if _VARIABLE not in description:
        return None
    with tf.init_scope():
        try:
            return gen_resource_variable_ops.read_variable_op(handle, tf.as_dtype(_stated(handle)[1]))
        except (tf.errors.OpError, TypeError):
            return None


def _stated(handle: Any) -> tuple[tuple[int, ...] | None, str]:
    """Return the shape and dtype that a handle says it has."""
    data = getattr(handle, "_handle_data", None)
    if data is None or not data.is_set or not data.shape_and_type:
        return None, "resource"
    stated = data.shape_and_type[0]
    shape = tf.TensorShape(stated.shape)
    return (tuple(shape) if shape.is_fully_defined() else None), tf.as_dtype(stated.dtype).name


def _stated_bytes(handle: Any) -> int:
    shape, dtype = _stated(handle)
    if shape is None or dtype in ("resource", "variant", "string"):
        return 0
    return int(tf.TensorShape(shape).num_elements() * tf.as_dtype(dtype).size)


def _allocator() -> int | None:
    """Return the bytes that TensorFlow's own allocator has given out; None where it does not say."""
    try:
        return int(tf.config.experimental.get_memory_info("CPU:0")["current"])
    except (ValueError, tf.errors.OpError):
        return None


def _pages() -> dict[str, float | None]:
    """Return the resident size, and what of it is in no file: its growth is that of the unique size.

    The unique size itself, which takes the kernel some 40 ms to add up, would be most of a cycle's time.
    """
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            _, resident, in_files, *_ = map(int, file.read().split())
    except OSError:
        return {"resident": None, "anonymous": None}
    size = os.sysconf("SC_PAGE_SIZE")
    return {"resident": resident * size, "anonymous": (resident - in_files) * size}


def _in_use() -> int | None:
    """Return the bytes that the C allocator has given out; None where the platform does not say."""
    heap_info = getattr(psutil, "heap_info", None)
    if heap_info is None:
        return None
    heap = heap_info()
    return int(heap.heap_used + heap.mmap_used)

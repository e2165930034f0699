"""The live tensors of a Python TensorFlow process: counted among the objects that the collector knows.

A tensor is an EagerTensor of a dtype that holds numbers or strings. A variable is counted by its resource handle, an
EagerTensor too, however many Python objects share it, and also when a traced function is the last to hold it.
Objects that were frozen (``gc.freeze``) when the process was forked are not looked at: they came with the import.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from typing import Any

import psutil
import tensorflow as tf
from tensorflow.python.framework.ops import EagerTensor

from tensorledger.ledger.extent import extent, handle_extent
from tensorledger.protocol.messages import Reading


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
            yield serial, *extent(tensor)
        for description, handle in self.handles.items():
            yield description, *handle_extent(description, handle)

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

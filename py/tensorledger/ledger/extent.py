"""How large one tensor is, and what a resource handle says of itself. This imports TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy
import tensorflow as tf
from tensorflow.python.ops import gen_resource_variable_ops

_VARIABLE = 'type="tensorflow::Var"'


def extent(tensor: Any) -> tuple[int, int | None]:
    """Return a tensor's bytes and its buffer's address. Strings: the bytes of their contents, no address."""
    if tensor.dtype == tf.string:
        return sum(len(text) for text in numpy.ravel(tensor.numpy())), None
    size = tensor.shape.num_elements() * tensor.dtype.size
    return size, _address(tensor) if size else None


def handle_extent(description: str, handle: Any) -> tuple[int, int | None]:
    """Return the same of what is behind a resource handle; no address where it cannot be read."""
    value = _value(description, handle)
    return (_stated_bytes(handle), None) if value is None else extent(value)


def stated(handle: Any) -> tuple[tuple[int, ...] | None, str]:
    """Return the shape and dtype that a handle says it has."""
    data = getattr(handle, "_handle_data", None)
    if data is None or not data.is_set or not data.shape_and_type:
        return None, "resource"
    first = data.shape_and_type[0]
    shape = tf.TensorShape(first.shape)
    return (tuple(shape) if shape.is_fully_defined() else None), tf.as_dtype(first.dtype).name


def resource_name(description: str) -> str | None:
    """Return the name in a handle's description, without the number that TensorFlow appends."""
    return description.partition('name="')[2].partition('"')[0].rpartition("/")[0] or None


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
            return gen_resource_variable_ops.read_variable_op(handle, tf.as_dtype(stated(handle)[1]))
        except (tf.errors.OpError, TypeError):
            return None


def _stated_bytes(handle: Any) -> int:
    shape, dtype = stated(handle)
    if shape is None or dtype in ("resource", "variant", "string"):
        return 0
    return int(tf.TensorShape(shape).num_elements() * tf.as_dtype(dtype).size)

"""tensorflow/tensorflow#61344, #35084: a dataset that calls Python for each element is made, read and deleted."""


def half(value):
    """Return half of a number, in Python."""
    return value * 0.5


def scenario(context):
    tf = context.tf
    numbers = tf.data.Dataset.from_tensor_slices([1.0, 2.0, 3.0])
    halves = numbers.map(lambda value: tf.py_function(half, [value], tf.float32))
    for _ in halves:
        pass
    yield "read"
    del halves, numbers
    yield "deleted"

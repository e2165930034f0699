"""A model is made, predicts and is released, and `size` bytes of the C allocator's stay a cycle. 0: its twin."""

import ctypes

LIBC = ctypes.CDLL(None)
LIBC.malloc.restype = ctypes.c_void_p
LIBC.malloc.argtypes = [ctypes.c_size_t]


def scenario(context):
    size = context.params["size"]
    model = context.models.classifier()
    yield "created"
    model(context.data.x, training=False)
    if size:
        ctypes.memset(LIBC.malloc(size), 1, size)
    del model
    context.release()
    yield "released"

"""Keeps `size` bytes of the C allocator's a cycle. 0: its twin, which frees them."""

import ctypes

LIBC = ctypes.CDLL(None)
LIBC.malloc.restype = ctypes.c_void_p
LIBC.malloc.argtypes = [ctypes.c_size_t]
LIBC.free.argtypes = [ctypes.c_void_p]


def scenario(context):
    size = context.params["size"]
    made = LIBC.malloc(size or 4096)
    ctypes.memset(made, 1, size or 4096)
    if not size:
        LIBC.free(made)
    yield "made"

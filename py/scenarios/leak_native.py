"""Leaks on purpose, a megabyte a cycle of the C allocator's: no Python object grows with it."""

import ctypes

LIBC = ctypes.CDLL(None)
LIBC.malloc.restype = ctypes.c_void_p
LIBC.malloc.argtypes = [ctypes.c_size_t]


def scenario(context):
    ctypes.memset(LIBC.malloc(2**20), 1, 2**20)
    yield "kept"

"""Leaks on purpose, bytes without tensors: one tensor is kept, and each cycle replaces it by a larger one."""

KEPT = {"tensor": None, "rows": 0}


def scenario(context):
    KEPT["rows"] += 1
    KEPT["tensor"] = context.tf.ones([KEPT["rows"], 64])
    yield "replaced"

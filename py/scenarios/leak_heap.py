"""Leaks on purpose, a thousand Python objects a cycle: no tensor, no byte that TensorFlow counts."""

KEPT = []


def scenario(context):
    KEPT.append([[number] for number in range(1000)])
    yield "kept"

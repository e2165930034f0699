"""Keeps `size` bytes of Python objects a cycle. 0: its twin, which keeps nothing."""

KEPT = []


def scenario(context):
    size = context.params["size"]
    made = [[float(number)] for number in range(size // 96)]  # a list of one 64, a float 24, its place 8
    if size:
        KEPT.append(made)
    yield "made"

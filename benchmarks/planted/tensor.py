"""Keeps a tensor of `size` bytes in every `every`th cycle. 0: its twin, which keeps none."""

KEPT = []
CYCLES = []


def scenario(context):
    size, every = context.params["size"], context.params["every"]
    made = context.tf.zeros([max(size, 4) // 4])
    yield "made"
    CYCLES.append(None)
    if size and len(CYCLES) % every == 0:
        KEPT.append(made)

"""Makes `count` tensors, has them alive at a checkpoint, and drops them."""


def scenario(context):
    value = context.tf.constant(1.0)
    made = [context.tf.identity(value) for _ in range(context.params["count"])]
    yield "alive"
    del made, value

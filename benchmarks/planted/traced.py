"""Keeps a traced function a cycle. size = 0: its twin, which lets it go."""

KEPT = []


def scenario(context):
    tf = context.tf

    @tf.function(autograph=False)
    def double(x):
        return x * 2

    double(context.data.x)
    if context.params["size"]:
        KEPT.append(double)
    yield "traced"
    del double

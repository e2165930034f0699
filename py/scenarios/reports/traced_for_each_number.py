"""tensorflow/tensorflow#24726: a traced function is called with a Python number that counts up."""

CALLS = 4


def scenario(context):
    tf = context.tf
    seen = []

    @tf.function
    def scaled(values, factor):
        seen.append(1)  # runs where the function is traced, and not where its graph runs
        return values * factor

    values = tf.ones([2])
    for factor in range(CALLS):
        scaled(values, float(factor))
    yield "called"
    if len(seen) > 1:
        raise AssertionError(f"{CALLS} numbers traced the function {len(seen)} times")

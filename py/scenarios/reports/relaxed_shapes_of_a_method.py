"""tensorflow/tensorflow#34905: a traced method that is to relax the shapes it was traced for."""

LENGTHS = range(1, 9)


def scenario(context):
    tf = context.tf
    seen = []

    class Summing:
        @tf.function(reduce_retracing=True)
        def total(self, values):
            seen.append(1)  # runs where the method is traced, and not where its graph runs
            return tf.reduce_sum(values)

    summing = Summing()
    for length in LENGTHS:
        summing.total(tf.ones([length]))
    yield "called"
    if len(seen) > 2:
        raise AssertionError(f"{len(LENGTHS)} lengths traced the method {len(seen)} times")

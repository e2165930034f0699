"""tensorflow/tensorflow#31175: a traced function is handed a model's method, which Python makes anew at each look."""

TIMES = 3


class Doubling:
    """What has the method."""

    def step(self, x):
        """Return twice as much."""
        return x + x


def scenario(context):
    tf, doubling = context.tf, Doubling()
    seen = []

    @tf.function
    def epoch(step, x):
        seen.append(1)  # runs where the function is traced, and not where its graph runs
        return step(x)

    x = tf.ones([2])
    for _ in range(TIMES):
        epoch(doubling.step, x)
    yield "called"
    if len(seen) > 1:
        raise AssertionError(f"{TIMES} calls with one method traced the function {len(seen)} times")

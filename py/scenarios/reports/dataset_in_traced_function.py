"""tensorflow/tensorflow#41395: a traced function goes through a dataset, again and again."""

TRACED = {}


def prepare(context):
    """Make the dataset and the traced function, and call it once."""
    tf = context.tf

    def through(dataset):
        total = tf.constant(0.0)
        for batch in dataset:
            total += tf.reduce_sum(batch)
        return total

    TRACED["numbers"] = tf.data.Dataset.from_tensor_slices(tf.ones([16, 8])).batch(4)
    TRACED["through"] = tf.function(through)
    TRACED["through"](TRACED["numbers"])


def scenario(context):
    for _ in range(3):
        TRACED["through"](TRACED["numbers"])
    yield "read"

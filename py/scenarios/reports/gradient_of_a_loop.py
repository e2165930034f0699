"""tensorflow/tensorflow#45016: the gradient of a while loop, in a traced function that is there already."""

TRACED = {}


def prepare(context):
    """Make the weights and the traced function, and call it once."""
    tf = context.tf
    weights = tf.Variable(tf.ones([5]))

    def gradient():
        with tf.GradientTape() as tape:
            total = tf.constant(0.0)
            for number in tf.range(5):
                total += weights[number] * weights[number]
        return tape.gradient(total, weights)

    TRACED["weights"] = weights
    TRACED["gradient"] = tf.function(gradient)
    TRACED["gradient"]()


def scenario(context):
    for _ in range(5):
        TRACED["gradient"]()
    yield "called"

"""tensorflow/tensorflow#124972: a traced function meets inputs of several shapes, and is then deleted."""


def scenario(context):
    tf = context.tf
    squares = tf.function(lambda values: tf.reduce_sum(values * values))
    sums = [squares(tf.ones([length])) for length in range(1, 9)]
    yield "called"
    del squares, sums
    context.keras.backend.clear_session()
    yield "deleted"

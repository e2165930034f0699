"""Loading and predicting inside a function, which returns the answer: is leaving its scope enough?"""


def answer(context):
    model = context.models.load("extractor")
    return int(context.tf.reduce_sum(context.tf.cast(model(context.data.x, training=False) > 0.5, "int32")))


def scenario(context):
    answer(context)
    context.held.clear()
    yield "returned"
    context.release()
    yield "released"

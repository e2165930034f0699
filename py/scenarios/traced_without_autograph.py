"""The shared traced function again, with do_not_convert under it, which is said to keep graphs from being cached."""

INFER = None


def infer(context):
    """Return the one function of this process, made when it is first asked for."""
    global INFER
    if INFER is None:
        tf = context.tf

        @tf.function
        @tf.autograph.experimental.do_not_convert
        def traced(model, inputs):
            return tf.stop_gradient(model(inputs, training=False))

        INFER = traced
    return INFER


def scenario(context):
    model = context.models.load("extractor")
    yield "loaded"
    prediction = infer(context)(model, context.data.x)
    yield "predicted"
    del prediction, model
    context.release()
    yield "released"

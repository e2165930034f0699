"""How many graphs one traced function keeps, for several models and for several shapes of one model's inputs.

``params``: ``converted`` is whether AutoGraph converts the function; ``vary`` is "models" or "shapes".
"""

COUNT = 3


def scenario(context):
    tf, x = context.tf, context.data.extractor.x

    def infer(model, inputs):
        return tf.stop_gradient(model(inputs, training=False))

    convert = context.params["converted"]
    traced = tf.function(infer if convert else tf.autograph.experimental.do_not_convert(infer))
    if context.params["vary"] == "models":
        models = [context.models.load("extractor") for _ in range(COUNT)]
        for model in models:
            traced(model, x)
        del model, models
    else:
        model = context.models.load("extractor")
        for rows in range(1, COUNT + 1):
            traced(model, x[:rows])
        del model
    yield f"{traced.experimental_get_tracing_count()} graphs for {COUNT} {context.params['vary']}"
    context.held.clear()
    context.release()
    yield "models deleted"
    del traced, infer
    context.release()
    yield "function deleted"

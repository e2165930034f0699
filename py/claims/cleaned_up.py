"""Two models in a module's globals, used as the second question has it; what each step of cleaning up gives back.

``params``: ``infer`` is "eager", or "traced" for one traced function that takes the model and the inputs.
"""

import gc

MODELS = {}
TRACED = []


def infer(context, model):
    if context.params["infer"] == "eager":
        return model(context.data.extractor.x, training=False)
    if not TRACED:
        tf = context.tf
        TRACED.append(tf.function(lambda model, inputs: tf.stop_gradient(model(inputs, training=False))))
    return TRACED[0](model, context.data.extractor.x)


def scenario(context):
    MODELS["first"] = context.models.load("extractor")
    MODELS["second"] = context.models.load("extractor")
    predictions = [infer(context, model) for model in MODELS.values()]
    yield "predicted"
    context.keras.backend.clear_session()
    del predictions
    gc.collect()
    yield "predictions deleted, session cleared, collected"
    context.held.clear()
    MODELS.clear()
    context.keras.backend.clear_session()
    gc.collect()
    yield "models deleted, collected"
    gc.collect(2)
    yield "collected again, by gc.collect(2)"

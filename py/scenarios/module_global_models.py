"""Two models in a module's globals, as the second question has them: they go when the globals are deleted."""

MODELS = {}


def scenario(context):
    MODELS["first"] = context.models.extractor()
    MODELS["second"] = context.models.extractor()
    yield "loaded"
    prediction = MODELS["first"](context.data.x, training=False)
    yield "predicted"
    del prediction
    MODELS.clear()
    context.release()
    yield "released"

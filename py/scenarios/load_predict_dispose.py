"""The classifier that this Keras saved: loaded, held against Keras's own predictions, and released."""


def scenario(context):
    model = context.models.load("classifier")
    yield "loaded"
    prediction = model(context.data.x, training=False)
    context.models.compare("classifier", prediction)
    yield "predicted"
    del prediction, model
    context.release()
    yield "released"

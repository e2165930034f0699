"""A prediction is the caller's: it lives beside the weights until the caller drops it."""


def scenario(context):
    model = context.models.classifier()
    yield "created"
    prediction = model(context.data.x, training=False)
    yield "predicted"
    del prediction, model
    context.release()
    yield "released"

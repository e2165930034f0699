"""The same for the deeper model, with dropout and layer normalization, none of it trainable."""


def scenario(context):
    model = context.models.extractor()
    yield "created"
    prediction = model(context.data.x, training=False)
    yield "predicted"
    del prediction, model
    context.release()
    yield "released"

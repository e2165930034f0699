"""model.predict in a loop, as a service does it; each call makes a data pipeline."""


def scenario(context):
    model = context.models.classifier()
    for _ in range(3):
        model.predict(context.data.x, verbose=0)
    yield "predicted"
    del model
    context.release()
    yield "released"

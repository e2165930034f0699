"""model.predict on batches of many sizes, each of which may be traced anew."""


def scenario(context):
    model = context.models.classifier()
    for rows in range(1, 9):
        model.predict(context.data.x[:rows], verbose=0)
    yield "predicted"
    del model
    context.release()
    yield "released"

"""Leaks on purpose: every prediction is kept in a list that nobody empties. The suite asserts that this is caught."""

PREDICTIONS = []


def scenario(context):
    model = context.models.classifier()
    PREDICTIONS.append(model(context.data.x, training=False))
    yield "predicted"
    del model
    context.release()
    yield "released"

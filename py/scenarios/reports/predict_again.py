"""Several reports: one model is asked for predictions by model.predict, again and again."""

import gc

MODEL = {}


def prepare(context):
    """Make the model, and have it predict once, so that what the first call makes is there before the baseline."""
    MODEL["it"] = context.models.classifier()
    MODEL["it"].predict(context.data.x, verbose=0)


def scenario(context):
    for _ in range(3):
        MODEL["it"].predict(context.data.x, verbose=0)
    gc.collect()  # tf_keras leaves cycles of objects, which hold tensors until then
    yield "predicted"

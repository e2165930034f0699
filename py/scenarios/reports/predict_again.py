"""Several reports: one model is asked for predictions by model.predict, again and again."""

MODEL = {}


def prepare(context):
    """Make the model, and have it predict once, so that what the first call makes is there before the baseline."""
    MODEL["it"] = context.models.classifier()
    MODEL["it"].predict(context.data.x, verbose=0)


def scenario(context):
    for _ in range(3):
        MODEL["it"].predict(context.data.x, verbose=0)
    yield "predicted"

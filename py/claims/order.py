"""Loading and predicting in a try, with clear_session() at its top or just before it."""

import gc


def used(context):
    model = context.models.load("extractor")
    model(context.data.extractor.x, training=False)


def scenario(context):
    if context.params["clear"] == "before":
        context.keras.backend.clear_session()
    try:
        if context.params["clear"] == "top":
            context.keras.backend.clear_session()
        used(context)
        yield "used"
    finally:
        context.held.clear()
        gc.collect()
    yield "left"

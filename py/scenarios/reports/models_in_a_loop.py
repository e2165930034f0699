"""keras-team/keras#19471 and #9345: clear_session, a model, del; in a loop, and nobody collects."""


def scenario(context):
    for _ in range(3):
        context.keras.backend.clear_session()
        model = context.models.classifier()
        context.held.clear()
        del model
    yield "deleted"

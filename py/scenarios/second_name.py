"""Another module has imported the model under a second name: deleting the first name releases nothing."""

import types

OTHER = types.ModuleType("other")


def scenario(context):
    model = context.models.classifier()
    OTHER.model = model
    yield "imported"
    del model
    context.release()
    yield "first name deleted"
    del OTHER.model
    context.release()
    yield "second name deleted"

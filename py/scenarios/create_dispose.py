"""A model is made and released; nothing else happens to it."""


def scenario(context):
    context.models.classifier()
    yield "created"
    context.release()
    yield "released"

"""Compiling makes an optimizer, which owns variables of its own before the first step of training."""


def scenario(context):
    model = context.models.classifier()
    yield "created"
    model.compile(optimizer="adam", loss="categorical_crossentropy", metrics=["accuracy"])
    yield "compiled"
    del model
    context.release()
    yield "released"

"""One batch of training adds the optimizer's slots; releasing the model is to release those too."""


def scenario(context):
    model = context.models.classifier()
    yield "created"
    model.compile(optimizer="adam", loss="categorical_crossentropy", metrics=["accuracy"])
    yield "compiled"
    model.fit(context.data.x, context.data.y, batch_size=8, epochs=1, verbose=0)
    yield "trained"
    del model
    context.release()
    yield "released"

"""How many tensors and bytes the weights of the saved classifier are, at each step of its life."""


def told(model, step):
    weights = model.get_weights()
    return f"{step}: {len(weights)} weights, {sum(weight.nbytes for weight in weights)} bytes"


def scenario(context):
    model = context.models.load("classifier")
    yield told(model, "loaded")
    model(context.data.x, training=False)
    yield told(model, "predicted")
    model.compile(optimizer="adam", loss="categorical_crossentropy")
    yield told(model, "compiled")
    model.fit(context.data.x, context.data.y, batch_size=8, epochs=1, verbose=0)
    yield told(model, "trained")
    del model
    context.release()

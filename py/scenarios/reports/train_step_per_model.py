"""tensorflow/tensorflow#62854: a training step is traced for each model, and deleted with it."""


def traced_step(tf, model, optimizer):
    """Return a training step of this model's own, traced."""

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    return step


def scenario(context):
    model = context.models.classifier()
    optimizer = context.keras.optimizers.Adam()
    step = traced_step(context.tf, model, optimizer)
    step(context.data.x, context.data.y)
    yield "trained"
    del step, optimizer, model
    context.release()
    yield "released"

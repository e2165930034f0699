"""A traced function for each model, which goes with it."""


def scenario(context):
    tf = context.tf
    model = context.models.load("extractor")
    yield "loaded"
    traced = tf.function(lambda inputs: tf.stop_gradient(model(inputs, training=False)))
    prediction = traced(context.data.x)
    yield "predicted"
    del prediction, traced, model
    context.release()
    yield "released"

"""Leaks on purpose: a variable that a list keeps."""

KEPT = []


def scenario(context):
    KEPT.append(context.tf.Variable(context.tf.ones([4, 4])))
    yield "made"

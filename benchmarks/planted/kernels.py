"""Runs an op under a new name a cycle, for which TensorFlow keeps a kernel. size = 0: its twin, with one name."""

COUNT = []


def scenario(context):
    tf = context.tf
    if context.params["size"]:
        COUNT.append(None)
    handle = tf.raw_ops.VarHandleOp(shape=[4], dtype=tf.float32, shared_name=f"name{len(COUNT)}")
    tf.raw_ops.AssignVariableOp(resource=handle, value=tf.zeros([4]))
    yield "assigned"
    tf.raw_ops.DestroyResourceOp(resource=handle)
    del handle

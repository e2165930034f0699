"""Processor time of eager inference beside that of the traced function, by turns, for one row and for eight.

The ledger watches both: it costs an eager call more than a traced one, but a fraction of the call.
"""

import time

TURNS, CALLS = 5, 10


def spent(act, *arguments, **options):
    start = time.process_time()
    for _ in range(CALLS):
        act(*arguments, **options)
    return time.process_time() - start


def scenario(context):
    tf, model = context.tf, context.models.load("extractor")
    traced = tf.function(lambda model, inputs: tf.stop_gradient(model(inputs, training=False)))
    for rows in (1, 8):
        x = context.data.extractor.x[:rows]
        eager = [0.0] * TURNS
        graph = [0.0] * TURNS
        model(x, training=False), traced(model, x)
        for turn in range(TURNS):
            eager[turn] = spent(model, x, training=False)
            graph[turn] = spent(traced, model, x)
        yield f"{rows} rows: {sorted(eager)[TURNS // 2] / sorted(graph)[TURNS // 2]:.2f} times"
    del model, traced, x
    context.release()

"""The recipe "complete": it releases what TensorFlow keeps of a model, and nothing that is not the model's."""

from __future__ import annotations

from pathlib import Path

import pytest
from measured import left, measured

from tensorledger.workers.pool import Workers

KERASES = ["keras", "tf-keras"]

SMALL = '''
import gc, warnings
from tensorledger.runtime import kept

def small(context, name="small"):
    """Make a model whose silu has a gradient of its own, which tracing registers."""
    keras = context.keras
    hidden = keras.layers.Dense(3, activation="silu")
    model = keras.Sequential([keras.Input((784,)), hidden, keras.layers.Dense(10)], name=name)
    context.held.append(model)
    return model

def train(context, model):
    model.compile(optimizer="adam", loss="mean_squared_error")
    model.fit(context.data.x, context.data.y, verbose=0)

TRACED = None

def traced(context):
    """Return the one traced function of this module, made when it is first asked for."""
    global TRACED
    if TRACED is None:
        TRACED = context.tf.function(lambda model, inputs: model(inputs, training=False))
    return TRACED
'''

USED = (
    SMALL
    + """
def use(context):
    model = small(context)
    traced(context)(model, context.data.x)
    train(context, model)

def scenario(context):
    exec(context.params.get("fault", ""), globals(), {"context": context})
    use(context)
    context.release()
"""
)
"""A model goes through the function that all share, which it is the first to trace, and is trained."""


@pytest.mark.parametrize("target", KERASES)
def test_a_model_that_was_traced_and_trained_leaves_nothing(workers: Workers, tmp_path: Path, target: str) -> None:
    outcome, _ = measured(workers, tmp_path, USED, target, recipe="complete")
    assert [left(cycle) for cycle in outcome.cycles] == [(0, 0)] * 3


@pytest.mark.parametrize("target", KERASES)
@pytest.mark.parametrize(
    ("recipe", "fault"),
    [
        pytest.param("del-clear-collect", "", id="another recipe"),
        pytest.param("complete", "kept.drop_gradients = lambda since: gc.collect()", id="without the gradients"),
        pytest.param("complete", "kept.drop_traces = lambda resources: 0", id="without the traces"),
        pytest.param("complete", "kept.FIRST = 'no_such'", id="without the first trace of a function"),
    ],
)
def test_and_would_leave_something_without_each_part_of_it(
    workers: Workers, tmp_path: Path, target: str, recipe: str, fault: str
) -> None:
    outcome, _ = measured(workers, tmp_path, USED, target, recipe=recipe, params={"fault": fault})
    tensors, size = left(outcome.cycles[0])
    assert tensors >= 4 and size >= 4 * (784 * 3 + 3 + 3 * 10 + 10)


BYSTANDER = (
    SMALL
    + """
def prepare(context):
    global OLD, OWN
    OLD = small(context, "old")
    train(context, OLD)
    OWN = context.tf.function(lambda inputs: OLD(inputs, training=False))
    OWN(context.data.x)
    traced(context)(OLD, context.data.x)

def differentiated(context, function, model):
    with context.tf.GradientTape() as tape:
        loss = context.tf.reduce_sum(function())
    return tape.gradient(loss, model.trainable_weights)

def traces(function):
    return function.experimental_get_tracing_count()
"""
)


@pytest.mark.parametrize("target", KERASES)
def test_what_was_traced_before_the_baseline_works_as_before(workers: Workers, tmp_path: Path, target: str) -> None:
    walk = """
        def use(context):
            model = small(context)
            traced(context)(model, context.data.x)
            train(context, model)
            return traces(TRACED)

        def scenario(context):
            x = context.data.x
            expected = OWN(x).numpy()
            assert use(context) == 2
            context.release()
            assert traces(TRACED) == 1, "the model's trace is gone, the bystander's is there"
            for function in (lambda: OWN(x), lambda: TRACED(OLD, x)):
                assert abs(function().numpy() - expected).max() < 1e-6
                assert all(gradient is not None for gradient in differentiated(context, function, OLD))
            assert traces(TRACED) == traces(OWN) == 1, "neither was traced again"
        """
    source = BYSTANDER + "\n".join(line[8:] for line in walk.splitlines())
    outcome, _ = measured(workers, tmp_path, source, target, recipe="complete")
    assert [cycle.thrown for cycle in outcome.cycles] == [None] * 3
    # The first gradient through a function makes what it keeps for the next.
    assert left(outcome.cycles[-1]) == (0, 0)


ALL = "kept.drop_gradients = lambda since: [kept.gradients.registry().pop(name) for name in kept.gradients.traced()]"


@pytest.mark.parametrize("target", KERASES)
@pytest.mark.parametrize(("fault", "throws"), [("", False), (ALL, True)], ids=["as it is", "that drops all gradients"])
def test_what_the_bystander_traces_within_the_cycle_stays_too(
    workers: Workers, tmp_path: Path, target: str, fault: str, throws: bool
) -> None:
    walk = """
        def scenario(context):
            exec(context.params["fault"])
            x = context.data.x
            later = context.tf.function(lambda inputs: OLD(inputs, training=False))
            later(x)
            train(context, small(context))
            context.release()
            assert all(gradient is not None for gradient in differentiated(context, lambda: later(x), OLD))
            train(context, OLD)
        """
    source = BYSTANDER + "\n".join(line[8:] for line in walk.splitlines())
    outcome, _ = measured(workers, tmp_path, source, target, recipe="complete", cycles=1, params={"fault": fault})
    thrown = outcome.cycles[0].thrown
    assert (thrown is not None) == throws, thrown
    assert thrown is None or "No gradient defined" in thrown.message


@pytest.mark.parametrize(
    ("absent", "part"),
    [
        ("from tensorflow.python.framework import ops; del ops.gradient_registry", "gradient_registry._registry"),
        ("from tensorflow.core.function.polymorphism import function_cache as c; del c.FunctionCache", "FunctionCache"),
        (
            "import tensorflow.core.function.polymorphism.function_cache as c; "
            "c.FunctionCache = type('FunctionCache', (), {}); context.params['one'] = c.FunctionCache()",
            "FunctionCache._primary",
        ),
    ],
    ids=["registry", "cache", "within the cache"],
)
def test_a_private_part_that_is_absent_is_named_and_the_rest_is_done(
    workers: Workers, tmp_path: Path, absent: str, part: str
) -> None:
    source = (
        SMALL
        + f"""
def scenario(context):
    exec({absent!r}, globals(), {{"context": context}})
    small(context)(context.data.x)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        context.release()
    assert any(issubclass(one.category, RuntimeWarning) and {part!r} in str(one.message) for one in told), told
    assert not context.held
"""
    )
    outcome, _ = measured(workers, tmp_path, source, recipe="complete", cycles=1)
    assert left(outcome.cycles[0]) == (0, 0)

"""What a test's function may leave."""

from __future__ import annotations

import pytest
from written import Run, line_of

from tensorledger.plugin.limits import bytes_of

LEAK = """
def test_leaks():
    x = tf.ones([4, 4])
    CACHE.append(x @ x)
"""


def test_a_leak_fails_the_test_and_is_told_with_its_line_its_bytes_and_its_holder(run: Run) -> None:
    result = run(LEAK)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "the test left 1 tensor, 64 bytes; it is to leave none:",
            f"  made at test_leaks test_it.py:{line_of('CACHE.append(x @ x)', LEAK)}*",
            "  > CACHE.append(x @ x)",
            "    1 × float32 [[]4, 4[]], 64 bytes",
            "      held by test_it.CACHE[[]0[]]",
        ]
    )


def test_what_is_let_go_of_passes(run: Run) -> None:
    run("""
        def test_gone():
            x = tf.ones([4, 4])
            CACHE.append(x @ x)
            CACHE.clear()
    """).assert_outcomes(passed=1)


def test_cycles_of_references_are_collected_first(run: Run) -> None:
    run("""
        class Node:
            pass

        def test_cycle():
            node = Node()
            node.me, node.tensor = node, tf.ones([4])
    """).assert_outcomes(passed=1)


def test_a_model_that_is_made_and_predicts_leaves_nothing(run: Run) -> None:
    run("""
        def test_model():
            model = tf.keras.Sequential([tf.keras.layers.Dense(3), tf.keras.layers.Dropout(0.5)])
            model(tf.ones([1, 4]), training=True)
    """).assert_outcomes(passed=1)


def test_gradients_and_random_numbers_leave_nothing(run: Run) -> None:
    run("""
        def test_tape():
            variable = tf.Variable([[1.0, 2.0]] * 7)
            with tf.GradientTape() as tape:
                loss = tf.reduce_max(tf.random.normal([7, 2]) * variable)
            tape.gradient(loss, variable)

        def test_seed():
            if hasattr(tf.keras, "random"):
                tf.keras.random.normal([2])
    """).assert_outcomes(passed=2)


def test_a_variable_is_told_by_its_name_and_the_line_that_made_it(run: Run) -> None:
    source = """
class Holder:
    pass

def test_variable():
    Holder.kept = tf.Variable([1.0, 2.0], name="weight")
"""
    result = run(source)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            f"  made at test_variable test_it.py:{line_of('Holder.kept', source)}*",
            "    1 × float32 [[]2[]] weight, 8 bytes",
            "      held by test_it.Holder.kept -> ResourceVariable*",
        ]
    )


def test_as_many_may_stay_as_the_marker_says(run: Run) -> None:
    result = run(
        """
        @pytest.mark.limit_live_tensors(2)
        def test_two():
            CACHE.extend([tf.ones([1]), tf.ones([2])])

        @pytest.mark.limit_live_tensors(2)
        def test_three():
            CACHE.extend([tf.ones([1]), tf.ones([2]), tf.ones([3])])

        @pytest.mark.limit_live_tensors
        def test_none_without_a_number():
            CACHE.append(tf.ones([1]))

        def test_of_which_nobody_asks():
            CACHE.append(tf.ones([1]))
        """,
        every=False,
    )
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(["the test left 3 tensors, 24 bytes; it may leave 2:"])


@pytest.mark.parametrize(
    "where", ["pytestmark = pytest.mark.limit_live_tensors(0)", "@pytest.mark.limit_live_tensors(0)"]
)
def test_modules_and_classes_are_marked_too(run: Run, where: str) -> None:
    mark = where if where.startswith("@") else ""
    run(
        f"""
{where if not mark else ""}
{mark}
class TestAll:
    @pytest.mark.parametrize("size", [1, 2])
    def test_leaks(self, size):
        CACHE.append(tf.ones([size]))
        """,
        every=False,
    ).assert_outcomes(failed=2)


@pytest.mark.parametrize(
    ("marker", "said"),
    [
        ("limit_live_tensors(-1)", "count is a whole number of at least 0, and not -1"),
        ("limit_live_tensors('1')", "count is a whole number of at least 0, and not '1'"),
        ("limit_live_tensors(limit=1)", "*unexpected keyword argument 'limit'"),
        ("limit_tensor_growth('1 mile')", "a size is a number of bytes or text such as '1 KiB', and not '1 mile'"),
        ("limit_tensor_growth(0, cycles=0)", "cycles is a whole number of at least 1, and not 0"),
        ("limit_tensor_growth()", "*missing 1 required positional argument: 'size'"),
    ],
)
def test_a_marker_that_is_wrong_fails_its_test_and_says_why(run: Run, marker: str, said: str) -> None:
    result = run(f"@pytest.mark.{marker}\ndef test_marked():\n    pass\n", every=False)
    result.assert_outcomes(failed=1)
    start = marker.partition("(")[0]
    result.stdout.fnmatch_lines([f"@pytest.mark.{start}(*): {said}"])


@pytest.mark.parametrize(
    ("written", "size"),
    [("1 KiB", 1024), ("1kb", 1000), ("0.5 MiB", 524288), ("64", 64), ("64 B", 64), (12, 12), (0, 0), (".5KB", 500)],
)
def test_sizes(written: str | float, size: float) -> None:
    assert bytes_of(written) == size


@pytest.mark.parametrize("written", ["", "KiB", "-1", "1 KiB more", -1, True, None, "1e3", "1..2 B"])
def test_what_is_no_size(written: object) -> None:
    with pytest.raises(ValueError, match="a size is"):
        bytes_of(written)  # type: ignore[arg-type]

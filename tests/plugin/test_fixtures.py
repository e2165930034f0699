"""Whose a tensor is: the test's, or a fixture's that goes on."""

from __future__ import annotations

import pytest
from written import Run, line_of


@pytest.mark.parametrize("scope", ["class", "module", "package", "session"])
def test_a_model_that_lives_on_is_not_blamed_on_the_first_test_that_touches_it(run: Run, scope: str) -> None:
    run(f"""
        @pytest.fixture(scope="{scope}")
        def model():
            return tf.keras.Sequential([tf.keras.layers.Dense(3)])

        class TestModel:
            def test_builds_it(self, model):
                model(tf.ones([1, 4]))

            def test_compiles_it(self, model):
                model.compile("adam", "mse")
                model.optimizer.build(model.trainable_variables)

            def test_leaks(self, model):
                CACHE.append(model(tf.ones([1, 4])))
    """).assert_outcomes(passed=2, failed=1)


def test_a_function_scoped_model_that_is_built_in_the_test_is_not_left_by_it(run: Run) -> None:
    run("""
        @pytest.fixture
        def model():
            return tf.keras.Sequential([tf.keras.layers.Dense(3)])

        def test_builds_it(model):
            model(tf.ones([1, 4]))
    """).assert_outcomes(passed=1)


def test_a_models_own_weights_are_not_blamed_where_a_module_has_it(run: Run) -> None:
    run("""
        MODEL = tf.keras.Sequential([tf.keras.layers.Dense(3)])

        @tf.function
        def traced(x):
            return x * tf.constant([1.0, 2.0])

        def test_builds_it():
            MODEL(tf.ones([1, 4]))

        def test_traces():
            traced(tf.ones([2]))
    """).assert_outcomes(passed=2)


def test_a_head_on_an_old_model_is_the_tests(run: Run) -> None:
    """Keras layers refer to whatever is called on what they return: that is no reason for it to live."""
    result = run("""
        @pytest.fixture(scope="module")
        def backbone():
            inputs = tf.keras.Input([4])
            return tf.keras.Model(inputs, tf.keras.layers.Dense(3)(inputs))

        def test_head(backbone):
            tf.keras.Model(backbone.inputs, tf.keras.layers.Dense(2)(backbone.outputs[0]))
    """)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["the test left 2 tensors, 32 bytes; it is to leave none:"])


@pytest.mark.parametrize("scope", ["function", "class", "module", "session"])
def test_a_fixture_that_leaks_is_named_when_it_has_ended(run: Run, scope: str) -> None:
    source = f"""
@pytest.fixture(scope="{scope}")
def model():
    kept = tf.ones([9])
    CACHE.append(kept)
    yield kept

def test_one(model):
    pass

@pytest.mark.usefixtures("model")
def test_two():
    pass
"""
    result = run(source)
    errors = 2 if scope in ("function", "class") else 1
    result.assert_outcomes(passed=2, errors=errors)
    last = "test_one" if errors == 2 else "test_two"
    result.stdout.fnmatch_lines(
        [
            f"*ERROR at teardown of {last}*",
            f"fixture 'model' ({scope} scope, test_it.py:{line_of('@pytest.fixture', source)}), which has ended, "
            "left 1 tensor, 36 bytes:",
            f"  made at model test_it.py:{line_of('kept = tf.ones', source)}*",
            "      held by test_it.CACHE[[]0[]]",
        ]
    )


def test_fixtures_that_release_what_they_made_pass(run: Run) -> None:
    run("""
        @pytest.fixture(scope="module")
        def kept():
            CACHE.append(tf.ones([9]))
            yield
            CACHE.clear()

        def test_one(kept):
            pass

        def test_two(kept):
            pass
    """).assert_outcomes(passed=2)


def test_what_a_test_gave_to_a_fixture_is_to_go_with_it(run: Run) -> None:
    result = run("""
        class Store:
            pass

        @pytest.fixture(scope="module")
        def store():
            return Store()

        def test_gives(store):
            store.tensor = tf.ones([5])

        def test_keeps(store):
            CACHE.append(store.tensor)
    """)
    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(
        ["test_it.py::test_gives left 1 tensor, 20 bytes, after the fixtures that held them had ended:"]
    )


def test_the_ways_of_unittest_and_of_xunit_are_fixtures_too(run: Run) -> None:
    result = run("""
        import unittest

        class TestUnit(unittest.TestCase):
            @classmethod
            def setUpClass(cls):
                cls.kept = tf.Variable([1.0])

            @classmethod
            def tearDownClass(cls):
                del cls.kept

            def setUp(self):
                self.x = tf.ones([2])

            def test_clean(self):
                self.y = self.x + self.kept

            def test_leaks(self):
                CACHE.append(self.x + self.kept)

        class TestLeavesOne(unittest.TestCase):
            @classmethod
            def setUpClass(cls):
                CACHE.append(tf.Variable([1.0]))

            def test_it(self):
                pass

        class TestXunit:
            def setup_method(self):
                self.x = tf.ones([2])

            def test_clean(self):
                self.y = self.x + 1.0

            def test_next(self):
                pass
    """)
    result.assert_outcomes(passed=4, failed=1, errors=1)
    result.stdout.fnmatch_lines(["setUpClass of TestLeavesOne, which has ended, left 1 tensor, 4 bytes:"])


def test_parametrized_fixtures_are_judged_one_by_one(run: Run) -> None:
    result = run("""
        @pytest.fixture(scope="module", params=[1, 2, 3])
        def kept(request):
            tensor = tf.ones([request.param])
            if request.param == 2:
                CACHE.append(tensor)
            return tensor

        def test_it(kept):
            pass
    """)
    result.assert_outcomes(passed=3, errors=1)
    result.stdout.fnmatch_lines(["fixture 'kept' of 2 (module scope, *), which has ended, left 1 tensor, 8 bytes:"])


def test_a_fixture_that_is_asked_for_inside_the_test_is_a_fixture(run: Run) -> None:
    run("""
        @pytest.fixture(scope="module")
        def kept():
            return tf.ones([3])

        def test_asks(request):
            request.getfixturevalue("kept")

        def test_asks_again(request):
            request.getfixturevalue("kept")
    """).assert_outcomes(passed=2)


def test_what_caplog_keeps_for_the_test_is_not_left_by_it(run: Run) -> None:
    run(  # apart: the pytest around one in this process hears the log too
        """
        import logging

        def test_logs(caplog):
            logging.getLogger("mine").warning("a tensor: %s", tf.ones([2]))
            assert caplog.records
        """,
        apart=True,
    ).assert_outcomes(passed=1)


def test_what_a_class_has_is_built_by_its_tests_and_is_to_go_with_it(run: Run) -> None:
    result = run("""
        import unittest

        class TestBuilds(unittest.TestCase):
            @classmethod
            def setUpClass(cls):
                cls.model = tf.keras.Sequential([tf.keras.layers.Dense(3)])

            def test_builds(self):
                self.model(tf.ones([1, 4]))

            def test_compiles(self):
                self.model.compile("adam", "mse")
                self.model.optimizer.build(self.model.trainable_variables)

        class TestLeaves(unittest.TestCase):
            @classmethod
            def setUpClass(cls):
                CACHE.append(tf.keras.layers.Dense(3))
                CACHE[0](tf.ones([1, 4]))

            def test_one(self):
                CACHE[0](tf.ones([1, 4]))

            def test_two(self):
                CACHE[0](tf.ones([1, 4]))
    """)
    result.assert_outcomes(passed=4, errors=1)
    result.stdout.fnmatch_lines(["setUpClass of TestLeaves, which has ended, left 2 tensors, 60 bytes:"])


STORE = """
        class Store:
            pass

        @pytest.fixture(scope="session")
        def store():
            return Store()
"""


def test_one_leak_that_is_told_does_not_hide_what_is_lent(run: Run) -> None:
    run(
        STORE
        + """
        @pytest.fixture
        def leaky():
            CACHE.append(tf.ones(3))

        def test_gives(store):
            store.tensor = tf.ones(5)

        def test_bad(leaky):
            pass

        def test_keeps(store):
            CACHE.append(store.tensor)
        """
    ).assert_outcomes(passed=3, errors=2)


def test_what_a_test_may_leave_is_not_told_when_a_fixture_ends(run: Run) -> None:
    run("""
        @pytest.fixture(scope="module")
        def one():
            return 1

        @pytest.mark.limit_live_tensors(1)
        def test_allowed(one):
            CACHE.append(tf.ones(2))

        def test_last(one):
            pass
    """).assert_outcomes(passed=2)


def test_a_fixture_that_a_held_test_had_is_judged_wherever_it_ends(run: Run) -> None:
    source = """
        @pytest.fixture(scope="module")
        def leaky():
            CACHE.append(tf.ones(4))

        @pytest.mark.limit_live_tensors({most})
        def test_held(leaky):
            pass

        {mark}
        def test_last(leaky):
            pass
    """
    run(source.format(most=0, mark=""), every=False).assert_outcomes(passed=2, errors=1)
    run(source.format(most=0, mark="@pytest.mark.limit_live_tensors(5)"), every=False).assert_outcomes(
        passed=2, errors=1
    )
    run(source.format(most=1, mark=""), every=False).assert_outcomes(passed=2)


@pytest.mark.parametrize(
    "setup",
    [
        """
            @classmethod
            def setup_class(cls):
                cls.predictor = Predictor()

            @classmethod
            def teardown_class(cls):
                del cls.predictor
        """,
        """
            @pytest.fixture(autouse=True, scope="class")
            def predictors(self, request):
                request.cls.predictor = Predictor()
                yield
                del request.cls.predictor
        """,
    ],
)
def test_what_builds_its_model_late_and_is_kept_by_the_class(run: Run, setup: str) -> None:
    run(f"""
        class Predictor:
            model = None

            def __call__(self, x):
                if self.model is None:
                    self.model = tf.keras.Sequential([tf.keras.layers.Dense(2)])
                return self.model(x)

        class TestIt:
            kept = []

            {setup}

            def test_first(self):
                self.predictor(tf.ones([1, 3]))

            def test_second(self):
                self.predictor(tf.ones([1, 3]))

            def test_leaks(self):
                self.kept.append(self.predictor(tf.ones([1, 3])))
    """).assert_outcomes(passed=2, failed=1)


def test_a_fixture_that_was_set_up_by_a_test_that_is_held_to_nothing(run: Run) -> None:
    run(
        """
        class Predictor:
            model = None

            def __call__(self, x):
                self.model = self.model or tf.keras.Sequential([tf.keras.layers.Dense(2)])
                return self.model(x)

        @pytest.fixture(scope="session")
        def predictor():
            return Predictor()

        def test_unheld(predictor):
            pass

        @pytest.mark.limit_live_tensors(0)
        def test_held(predictor):
            predictor(tf.ones([1, 3]))
        """,
        every=False,
    ).assert_outcomes(passed=2)


@pytest.mark.parametrize("scope", ["function", "module"])
def test_what_a_fixture_makes_as_it_ends_is_its_own(run: Run, scope: str) -> None:
    result = run(f"""
        @pytest.fixture(scope="{scope}")
        def ends():
            yield
            CACHE.append(tf.ones(3))

        def test_innocent(ends):
            pass
    """)
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines([f"fixture 'ends' ({scope} scope, *), which has ended, left 1 tensor, 12 bytes:"])


def test_a_parameter_that_cannot_be_shown(run: Run) -> None:
    result = run("""
        class Odd:
            def __repr__(self):
                raise ValueError("no repr")

        @pytest.fixture(params=[Odd()], ids=["odd"])
        def leaky(request):
            CACHE.append(tf.ones(3))

        def test_it(leaky):
            pass
    """)
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["fixture 'leaky' of <*no r* (function scope, *), which has ended, left 1 tensor, *"])

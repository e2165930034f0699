"""A test that fails by itself, is skipped, or expected to fail."""

from __future__ import annotations

import pytest
from written import Run

from tensorledger.plugin.account import Account


def test_a_test_that_fails_keeps_its_own_failure_first(run: Run) -> None:
    result = run("""
        def test_fails():
            mine = tf.ones([3])
            CACHE.append(tf.ones([7]))
            assert mine[0] == 2
    """)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            ">*assert mine[[]0[]] == 2",
            "*tensors left, beside the failure*",
            "the test left 1 tensor, 28 bytes; it is to leave none:",
            "FAILED test_it.py::test_fails - *assert*",
        ]
    )


def test_what_the_traceback_holds_is_not_told_as_a_leak(run: Run) -> None:
    result = run("""
        def helper(x):
            y = x + 1.0
            raise KeyError(y.shape)

        def test_fails():
            try:
                helper(tf.ones([3]))
            except KeyError as error:
                raise ValueError("mine") from error
    """)
    result.assert_outcomes(failed=1)
    result.stdout.no_fnmatch_line("*tensors left*")


def test_a_failing_test_does_not_make_the_next_one_or_its_fixtures_fail(run: Run) -> None:
    run("""
        @pytest.fixture(scope="module")
        def model():
            return tf.keras.Sequential([tf.keras.layers.Dense(3)])

        def test_fails(model):
            y = model(tf.ones([1, 4]))
            assert y is None

        def test_next(model):
            model(tf.ones([1, 4]))

        def test_fails_last(model):
            y = model(tf.ones([1, 4]))
            assert y is None
    """).assert_outcomes(passed=1, failed=2)


def test_unittests_failures_are_their_own_too(run: Run) -> None:
    result = run("""
        import unittest

        class TestIt(unittest.TestCase):
            def test_fails(self):
                CACHE.append(tf.ones([7]))
                self.assertEqual(1, 2)

            def test_skips(self):
                CACHE.append(tf.ones([7]))
                self.skipTest("today")

            @unittest.expectedFailure
            def test_expected(self):
                CACHE.append(tf.ones([7]))
                self.fail()
    """)
    result.assert_outcomes(failed=1, skipped=1, xfailed=1)
    result.stdout.fnmatch_lines(["E*1 != 2", "*tensors left, beside the failure*"])


def test_skips_are_not_judged_and_an_expected_leak_is_an_expected_failure(run: Run) -> None:
    run("""
        def test_skips():
            CACHE.append(tf.ones([7]))
            pytest.skip("today")

        def test_xfails():
            CACHE.append(tf.ones([7]))
            pytest.xfail("today")

        @pytest.mark.xfail(strict=True, reason="a known leak")
        def test_leaks():
            CACHE.append(tf.ones([7]))

        @pytest.mark.xfail(strict=True, reason="no leak any more")
        def test_no_longer():
            pass
    """).assert_outcomes(skipped=1, xfailed=2, failed=1)


def test_a_fixture_that_breaks_keeps_its_own_error(run: Run) -> None:
    result = run("""
        @pytest.fixture
        def breaks():
            CACHE.append(tf.ones([7]))
            raise KeyError("mine")

        @pytest.fixture
        def breaks_at_the_end():
            CACHE.append(tf.ones([8]))
            yield
            raise KeyError("at the end")

        def test_one(breaks):
            pass

        def test_two(breaks_at_the_end):
            pass

        def test_three():
            pass
    """)
    result.assert_outcomes(passed=2, errors=2)
    result.stdout.fnmatch_lines(
        [
            "E*KeyError: 'mine'",
            "E*KeyError: 'at the end'",
            "*tensors left, beside the failure*",
            "fixture 'breaks_at_the_end' *left 1 tensor, 32 bytes:",
        ]
    )


def test_an_interrupted_run_ends_as_one(run: Run) -> None:
    result = run(
        """
        def test_interrupted():
            CACHE.append(tf.ones([7]))
            raise KeyboardInterrupt
    """,
        apart=True,
    )
    assert result.ret == 2


def test_odd_exceptions_keep_being_the_tests_failure(run: Run) -> None:
    result = run("""
        class NoArguments(Exception):
            args = property(lambda self: None)

        class Carries(Exception):
            def __init__(self, tensor):
                super().__init__("mine")
                self.tensor = tensor

        def test_no_arguments():
            raise NoArguments

        def test_carries():
            raise Carries(tf.ones([3]))
    """)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["FAILED *::test_no_arguments - *NoArguments*", "FAILED *::test_carries - *Carries*"])
    result.stdout.no_fnmatch_line("*tensors left*")


def test_where_the_plugin_itself_breaks_the_failure_stays(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*_: object) -> None:
        raise RuntimeError("ours")

    monkeypatch.setattr(Account, "left", breaks)
    result = run("""
        @pytest.fixture
        def breaks_at_the_end():
            yield
            raise KeyError("at the end")

        def test_fails(breaks_at_the_end):
            raise ValueError("mine")
    """)
    result.assert_outcomes(failed=1, errors=1)
    result.stdout.fnmatch_lines(["E*KeyError: 'at the end'", "E*ValueError: mine"])
    result.stdout.fnmatch_lines(["tensorledger could not look at what is left: RuntimeError('ours')"])
    result.stdout.fnmatch_lines(
        ["FAILED *::test_fails - ValueError: mine", "ERROR *::test_fails - KeyError: 'at the end'"]
    )

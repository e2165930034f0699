"""limit_tensor_growth: what each further run of a test adds."""

from __future__ import annotations

import pytest
from written import Run, line_of


def test_growth_is_told_by_run_with_the_line_that_makes_it(run: Run) -> None:
    source = """
RUNS = []

@pytest.mark.limit_tensor_growth("1 KiB", cycles=5)
def test_grows():
    RUNS.append(1)
    CACHE.append(tf.ones([1000]))

def test_ran_once_to_warm_up_and_five_times_more():
    assert len(RUNS) == 6
"""
    result = run(source, every=False)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "each run of the test adds 4,000 bytes and 1 tensor, over 5 runs; it may add 1,024 bytes:",
            f"  made at test_grows test_it.py:{line_of('CACHE.append', source)}*",
            "    5 × float32 [[]1000[]], 4,000 bytes each",
            "      held by test_it.CACHE[[]1[]]",
        ]
    )


def test_what_is_made_once_is_no_growth(run: Run) -> None:
    run(
        """
        @pytest.mark.limit_tensor_growth(0, cycles=3)
        def test_caches():
            if not CACHE:
                CACHE.append(tf.ones([1000]))

        @pytest.mark.limit_tensor_growth("40 B", cycles=3)
        def test_within():
            CACHE.append(tf.ones([10]))

        @pytest.mark.limit_tensor_growth("39 B", cycles=3)
        def test_beyond():
            CACHE.append(tf.ones([10]))

        @pytest.mark.limit_tensor_growth(0, cycles=3)
        def test_of_no_bytes():
            CACHE.append(tf.ones([0]))
        """,
        every=False,
    ).assert_outcomes(passed=2, failed=2)


def test_what_a_fixture_holds_grows_all_the_same(run: Run) -> None:
    run(
        """
        @pytest.fixture(scope="module")
        def history():
            return []

        @pytest.mark.limit_tensor_growth(0, cycles=3)
        def test_grows(history):
            history.append(tf.ones([10]))
        """,
        every=False,
    ).assert_outcomes(failed=1)


def test_a_run_that_fails_keeps_its_own_failure(run: Run) -> None:
    result = run(
        """
        RUNS = []

        @pytest.mark.limit_tensor_growth(0, cycles=5)
        def test_breaks():
            RUNS.append(1)
            CACHE.append(tf.ones([10]))
            assert len(RUNS) < 3
        """,
        every=False,
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E*assert 3 < 3"])


def test_unittest_and_parametrized_tests_are_repeated(run: Run) -> None:
    run(
        """
        import unittest

        class TestIt(unittest.TestCase):
            RUNS = []

            def setUp(self):
                self.x = tf.ones([10])

            @pytest.mark.limit_tensor_growth(0, cycles=3)
            def test_grows(self):
                self.RUNS.append(1)
                CACHE.append(self.x)

            @pytest.mark.limit_tensor_growth(0, cycles=3)
            def test_is_flat(self):
                assert len(self.RUNS) == 4

        @pytest.mark.limit_tensor_growth(0, cycles=2)
        @pytest.mark.parametrize("size", [0, 1, 2])
        def test_sizes(size):
            if size:
                CACHE.append(tf.ones([size]))
        """,
        every=False,
    ).assert_outcomes(passed=2, failed=3)


def test_growth_that_is_known_is_left_out(run: Run) -> None:
    run(
        """
        def known():
            CACHE.append(tf.ones([10]))

        @pytest.mark.limit_tensor_growth(0, cycles=3, ignore="test_it.py::known")
        def test_known():
            known()

        @pytest.mark.limit_tensor_growth(0, cycles=3, ignore=["test_it.py::known"])
        def test_and_more():
            known()
            CACHE.append(tf.ones([1]))
        """,
        every=False,
    ).assert_outcomes(passed=1, failed=1)


def test_coroutines_are_repeated(run: Run) -> None:
    pytest.importorskip("pytest_asyncio", reason="pytest-asyncio is not installed")
    run(
        """
        RUNS = []

        @pytest.mark.asyncio
        @pytest.mark.limit_tensor_growth(0, cycles=3)
        async def test_grows():
            RUNS.append(1)
            CACHE.append(tf.ones([10]))

        def test_ran():
            assert len(RUNS) == 4
        """,
        every=False,
    ).assert_outcomes(passed=1, failed=1)


def test_caches_that_fill_and_what_comes_and_goes_are_no_growth(run: Run) -> None:
    run(
        """
        RUNS = []

        @pytest.mark.limit_tensor_growth(0, cycles=10)
        def test_fills():
            RUNS.append(1)
            CACHE.append(tf.ones([1000]))
            del CACHE[4:]

        @pytest.mark.limit_tensor_growth(0, cycles=9)
        def test_comes_and_goes():
            CACHE.clear() if len(CACHE) > 1 else CACHE.append(tf.ones([10]))

        @pytest.mark.limit_tensor_growth(0, cycles=1)
        def test_is_seen_after_one_run():
            CACHE.append(tf.ones([10]))
        """,
        every=False,
    ).assert_outcomes(passed=2, failed=1)

"""With what else people use: other ledgers, threads, coroutines, pytest-xdist, an import in the middle of a test."""

from __future__ import annotations

import pytest
from written import Run, line_of


def test_the_fixture_has_the_tensors_of_the_test(run: Run) -> None:
    run(
        """
        def test_counts(tensor_ledger):
            assert tensor_ledger.count == 0
            x = tf.ones([4])
            assert (tensor_ledger.count, tensor_ledger.bytes) == (1, 16)
            [group] = tensor_ledger.live()
            assert group.stack[0].function == "test_counts"
            del x
            assert tensor_ledger.count == 0

        def test_judges_nothing_by_itself(tensor_ledger):
            CACHE.append(tf.ones([4]))
        """,
        every=False,
    ).assert_outcomes(passed=2)


def test_ledgers_nest(run: Run) -> None:
    result = run("""
        import tensorledger

        def test_nests(tensor_ledger):
            with tensorledger.track() as outer:
                kept = tf.ones([1])
                with tensorledger.track() as inner:
                    CACHE.append(tf.ones([2]))
                assert (outer.count, inner.count, tensor_ledger.count) == (2, 1, 2)

        def test_stops_in_any_order():
            first, second = tensorledger.track(), tensorledger.track()
            first.__enter__()
            second.__enter__()
            first.__exit__(None, None, None)
            CACHE.append(tf.ones([3]))
            second.__exit__(None, None, None)
    """)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["the test left 1 tensor, 8 bytes;*", "the test left 1 tensor, 12 bytes;*"])


def test_a_leak_of_another_thread_is_the_tests(run: Run) -> None:
    source = """
import threading

def work():
    CACHE.append(tf.ones([4]))

def test_thread():
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
"""
    result = run(source)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f"  made at work test_it.py:{line_of('CACHE.append', source)}*"])


def test_objects_of_a_suite_that_freezes_its_own_stay_frozen(run: Run) -> None:
    run("""
        import gc

        @pytest.fixture(scope="module")
        def frozen():
            gc.freeze()
            yield gc.get_freeze_count()
            gc.unfreeze()

        def test_makes_it(frozen):
            pass

        def test_is_so_still(frozen):
            assert gc.get_freeze_count() > 0.9 * frozen  # some have died since
    """).assert_outcomes(passed=2)


def test_afterwards_nothing_is_frozen(run: Run) -> None:
    import gc

    before = gc.get_freeze_count()
    run("def test_it():\n    tf.ones([2])\n").assert_outcomes(passed=1)
    assert gc.get_freeze_count() == before


def test_pytest_xdist(run: Run) -> None:
    pytest.importorskip("xdist", reason="pytest-xdist is not installed")
    result = run(
        """
        @pytest.fixture(scope="session")
        def model():
            return tf.keras.Sequential([tf.keras.layers.Dense(3)])

        @pytest.mark.parametrize("number", range(4))
        def test_it(model, number):
            y = model(tf.ones([1, 4]))
            if number == 2:
                CACHE.append(y)
        """,
        "-n2",
        apart=True,
    )
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(["FAILED test_it.py::test_it[[]2[]] - Failed: the test left 1 tensor, 12 bytes;*"])


def test_pytest_asyncio(run: Run) -> None:
    pytest.importorskip("pytest_asyncio", reason="pytest-asyncio is not installed")
    result = run("""
        import asyncio
        import pytest_asyncio

        @pytest_asyncio.fixture
        async def kept():
            yield tf.ones([3])

        @pytest.mark.asyncio
        async def test_clean(kept):
            await asyncio.gather(*(asyncio.to_thread(tf.ones, [2]) for _ in range(3)))

        @pytest.mark.asyncio
        async def test_leaks(kept):
            await asyncio.sleep(0)
            CACHE.append(kept + 1.0)
    """)
    result.assert_outcomes(passed=1, failed=1)


def test_unittests_coroutines(run: Run) -> None:
    run("""
        import unittest

        class TestIt(unittest.IsolatedAsyncioTestCase):
            async def asyncSetUp(self):
                self.x = tf.ones([2])

            async def test_clean(self):
                self.y = self.x + 1.0

            async def test_leaks(self):
                CACHE.append(self.x + 1.0)
    """).assert_outcomes(passed=1, failed=1)


@pytest.mark.parametrize("imported", ["import tensorflow as tf", "import keras; import tensorflow as tf"])
def test_tensorflow_that_is_imported_in_the_middle_of_a_test(run: Run, imported: str) -> None:
    source = f"""
CACHE = []

def test_leaks():
    {imported}
    x = tf.ones([4])
    CACHE.append(x + x)

def test_clean():
    import tensorflow as tf
    tf.ones([4])
"""
    result = run(source, head="", apart=True)
    result.assert_outcomes(passed=1, failed=1)
    line = source.strip().splitlines().index("    CACHE.append(x + x)") + 1
    result.stdout.fnmatch_lines(["the test left 1 tensor, 16 bytes;*", f"  made at test_leaks test_it.py:{line}*"])


def test_doctests_and_tests_of_other_kinds_are_left_in_peace(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(documented='"""\n>>> 1 + 1\n2\n"""\n')
    run("def test_it():\n    pass\n", "--doctest-modules").assert_outcomes(passed=2)


def test_under_a_profiler(run: Run) -> None:
    run("""
        import cProfile

        @pytest.fixture(autouse=True, scope="module")
        def profiled():
            profile = cProfile.Profile()
            profile.enable()
            yield
            profile.disable()
            assert profile.getstats()

        def test_leaks(tensor_ledger):
            CACHE.append(tf.ones([4]))
            assert tensor_ledger.count == 1
    """).assert_outcomes(failed=1)

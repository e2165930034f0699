"""--tensor-leaks, the settings in an ini file, and a plugin that nobody uses."""

from __future__ import annotations

import pytest
from written import Run

LEAK = """
        def leaks():
            CACHE.append(tf.ones([4]))

        def test_leaks():
            leaks()

        @pytest.mark.limit_live_tensors(0)
        def test_marked():
            leaks()
"""


def test_markers_alone_hold_only_what_they_mark(run: Run) -> None:
    run(LEAK, every=False).assert_outcomes(passed=1, failed=1)


def test_warn_warns(run: Run) -> None:
    result = run(LEAK, "--tensor-leaks=warn", every=False)
    result.assert_outcomes(passed=2, warnings=2)
    result.stdout.fnmatch_lines(["*TensorLeakWarning: the test left 1 tensor, 16 bytes; it is to leave none:"])


def test_a_warning_can_be_made_an_error(run: Run) -> None:
    run(LEAK, "--tensor-leaks=warn", "-Werror::tensorledger.TensorLeakWarning", every=False).assert_outcomes(failed=2)


def test_off_judges_nothing(run: Run) -> None:
    run(LEAK, "--tensor-leaks=off", every=False).assert_outcomes(passed=2)


def test_the_ini_file_says_it_for_good_and_the_command_line_goes_before(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\ntensor_leaks = error\n")
    run(LEAK, every=False).assert_outcomes(failed=2)
    run(LEAK, "--tensor-leaks=off", every=False).assert_outcomes(passed=2)


def test_a_setting_that_there_is_not(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\ntensor_leaks = yes\n")
    result = run(LEAK, every=False)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*tensor_leaks is one of error, warn, off, and not 'yes'*"])


@pytest.mark.parametrize(
    "known",
    ["test_it.py", "*/test_*.py", "test_it.py:7", "test_it.py::leaks", "test_it.py::le*", "held by test_it.CACHE"],
)
def test_known_leaks_are_let_pass(run: Run, pytester: pytest.Pytester, known: str) -> None:
    pytester.makeini(f"[pytest]\ntensor_leaks_ignore =\n    elsewhere.py\n    {known}\n")
    run(LEAK).assert_outcomes(passed=2)


@pytest.mark.parametrize(
    "known", ["it.py", "test_it.py:8", "test_it.py::leak", "test_it.py::test_leaks", "held by test_it.OTHER"]
)
def test_what_is_not_known_is_not(run: Run, pytester: pytest.Pytester, known: str) -> None:
    pytester.makeini(f"[pytest]\ntensor_leaks_ignore = {known}\n")
    run(LEAK).assert_outcomes(failed=2)


def test_known_leaks_do_not_hide_others(run: Run) -> None:
    result = run("""
        def known():
            CACHE.append(tf.ones([4]))

        @pytest.mark.limit_live_tensors(ignore=["test_it.py::known"])
        def test_leaks():
            known()
            CACHE.append(tf.ones([5]))
    """)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["the test left 1 tensor, 20 bytes; it is to leave none:"])


def test_training_can_be_let_pass_by_what_holds_it(run: Run, pytester: pytest.Pytester) -> None:
    fit = """
        def test_fit():
            model = tf.keras.Sequential([tf.keras.Input([4]), tf.keras.layers.Dense(3)])
            model.compile("sgd", "mse")
            model.fit(tf.ones([2, 4]), tf.ones([2, 3]), verbose=0)
            del model
            tf.keras.backend.clear_session()
    """
    result = run(fit)
    if result.parseoutcomes() == {"passed": 1}:
        pytest.skip("this TensorFlow keeps nothing of what fit has traced")
    result.stdout.fnmatch_lines(["*held by TensorFlow's gradient registry, *", "TensorFlow keeps for good what fit*"])
    pytester.makeini("[pytest]\ntensor_leaks_ignore = held by TensorFlow's gradient registry\n")
    run(fit).assert_outcomes(passed=1)


def test_a_suite_that_does_not_use_it_imports_nothing(run: Run) -> None:
    run(
        """
        import sys

        def test_imports():
            assert "tensorflow" not in sys.modules
            ours = {name for name in sys.modules if name.split(".")[0] == "tensorledger"}
            assert ours == {"tensorledger", "tensorledger.version", "tensorledger.plugin", "tensorledger.plugin.entry"}
        """,
        head="",
        apart=True,
        every=False,
    ).assert_outcomes(passed=1)


def test_a_suite_without_tensorflow_is_held_to_nothing_and_imports_none(run: Run) -> None:
    run(
        """
        import sys

        def test_one(tensor_ledger):
            assert "tensorflow" not in sys.modules
            assert tensor_ledger.count == 0
            assert tensor_ledger.live() == []

        def test_two():
            assert "tensorflow" not in sys.modules
        """,
        head="",
        apart=True,
    ).assert_outcomes(passed=2)


def test_the_plugin_can_be_left_out(run: Run) -> None:
    result = run("def test_it():\n    pass\n", "-p", "no:tensorledger", "--tensor-leaks=error", every=False, apart=True)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*unrecognized arguments: --tensor-leaks=error*"])


def test_the_markers_are_known_to_pytest(run: Run) -> None:
    run(LEAK, "--strict-markers", every=False).assert_outcomes(passed=1, failed=1)
    result = run(LEAK, "--markers", every=False)
    result.stdout.fnmatch_lines(["@pytest.mark.limit_live_tensors(*", "@pytest.mark.limit_tensor_growth(*"])


def test_known_by_its_holder_is_each_tensor_by_itself(run: Run) -> None:
    result = run("""
        KNOWN = []

        @pytest.mark.limit_live_tensors(0, ignore=["held by test_it.KNOWN"])
        def test_mixed():
            for number in range(5):
                (CACHE if number else KNOWN).append(tf.ones(3) * number)
    """)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["the test left 4 tensors, 48 bytes; it is to leave none:"])


def test_what_a_module_makes_as_a_test_imports_it_is_its_own(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(lazily="import tensorflow as tf\nMEAN = tf.constant([1.0, 2.0])\n")
    run("""
        def test_imports():
            import lazily
            assert lazily.MEAN.shape == (2,)

        def test_global_generator():
            tf.random.get_global_generator().normal([3])
    """).assert_outcomes(passed=2)


def test_a_test_that_hides_tensorflow_or_puts_another_in_its_place(run: Run) -> None:
    run("""
        import sys
        import types

        def test_hides(monkeypatch):
            monkeypatch.setitem(sys.modules, "tensorflow", None)

        def test_removes(monkeypatch):
            monkeypatch.delitem(sys.modules, "tensorflow")

        def test_fakes(monkeypatch):
            monkeypatch.setitem(sys.modules, "tensorflow", types.ModuleType("tensorflow"))

        def test_leaks_all_the_same(monkeypatch):
            monkeypatch.setitem(sys.modules, "tensorflow", None)
            CACHE.append(tf.ones([3]))
    """).assert_outcomes(passed=4, errors=1)


def test_older_objects_can_be_left_to_the_collector(run: Run, pytester: pytest.Pytester) -> None:
    collects = """
        import gc
        import weakref

        class Node:
            pass

        OLD = [Node()]
        OLD[0].me = OLD[0]

        def test_collects():
            node = weakref.ref(OLD.pop())
            gc.collect()
            assert node() is None

        def test_leaks():
            CACHE.append(tf.ones([3]))
    """
    run(collects).assert_outcomes(failed=2)
    pytester.makeini("[pytest]\ntensor_leaks_freeze = false\n")
    run(collects).assert_outcomes(passed=1, failed=1)

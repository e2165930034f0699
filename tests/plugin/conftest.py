"""Tests of the pytest plugin. They need tensorledger, tensorflow and pytest, and nothing else of this project."""

from __future__ import annotations

from textwrap import dedent

import pytest
import tensorflow as tf  # here, and not in each of the runs: those inside this process find it imported
from written import HEAD, Run

pytest_plugins = ["pytester"]


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run pytest on a test file, here or in a process apart, with --tensor-leaks=error unless told otherwise."""
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "3")

    def run(source: str, *options: str, head: str = HEAD, apart: bool = False, every: bool = True) -> pytest.RunResult:
        pytester.makepyfile(test_it=head + dedent(source))
        options = (*(["--tensor-leaks=error"] if every else []), "-p", "no:cacheprovider", *options)
        if apart:
            return pytester.runpytest_subprocess(*options, timeout=300)
        return pytester.runpytest_inprocess(*options)

    return run


@pytest.fixture(scope="session", autouse=True)
def begun() -> None:
    """TensorFlow makes some things once in a process; the tests are not about those."""
    with tf.GradientTape() as tape:
        variable = tf.Variable([1.0])
        tape.gradient(variable * variable, variable)

"""The fixture ``tfjs``: JavaScript that is run from a Python test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tensorledger.plugin.javascript import JavaScriptRun, RunJavaScript
from tensorledger.scenarios.catalogue import NoScenario
from tensorledger.targets.target import BadTarget

pytest_plugins = ["pytester"]


@pytest.fixture(scope="module")
def javascript(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunJavaScript]:
    with RunJavaScript.started(tmp_path_factory) as run:
        yield run


def test_a_piece_that_leaves_nothing(javascript: RunJavaScript) -> None:
    run = javascript(
        "const a = tf.ones([4, 4]); a.dispose(); return {version: target.version, backend: target.backend};"
    )
    assert run.ok, str(run)
    assert run.returned == {"version": "4.22.0", "backend": "cpu"}
    assert [checkpoint.tensors for checkpoint in run.result.checkpoints] == [0]


def test_a_piece_that_leaks_is_told_by_its_own_line(javascript: RunJavaScript) -> None:
    run = javascript("""
        const a = tf.ones([4, 4]);
        const b = a.matMul(a);
        a.dispose();
        tell('sum', (await b.data()).reduce((x, y) => x + y));
    """)
    assert not run.ok
    assert run.result.verdict == "fail"
    [leak] = run.result.leaks
    assert (leak.count, leak.shape, leak.stack[0].line) == (1, [4, 4], 3)
    assert run.told == {"sum": 64}
    assert "1 × float32 [4, 4], 64 bytes" in str(run)
    assert "> const b = a.matMul(a);" in str(run)


def test_where_a_piece_yields_there_are_checkpoints(javascript: RunJavaScript) -> None:
    run = javascript("const a = tf.ones([4]); yield 'made'; a.dispose(); yield 'released';", cycles=2)
    assert [(one.name, one.tensors) for one in run.result.checkpoints] == [("made", 1), ("released", 0), ("end", 0)]
    assert run.result.cycles == 2


def test_a_module_a_file_and_a_name_are_scenarios(javascript: RunJavaScript, tmp_path: Path) -> None:
    module = "export default async ({tf, params}) => { tf.ones([params.size]).dispose(); };"
    assert javascript(module, params={"size": 3}).ok
    file = tmp_path / "mine.mjs"
    file.write_text(module, encoding="utf-8")
    assert javascript(file, params={"size": 3}).ok
    assert javascript(str(file), params={"size": 3}).ok
    assert javascript("predict-dispose", cycles=1).result.scenario == "predict-dispose"


def test_another_release_and_another_way_to_release(javascript: RunJavaScript) -> None:
    assert javascript("predict-dispose", target="tfjs@1.7.4", cycles=1).ok
    assert not javascript("predict-dispose", recipe="drop-reference", cycles=1).ok


def test_what_throws_is_told_and_is_not_ok(javascript: RunJavaScript) -> None:
    run = javascript("\n\nthrow new RangeError('mine');")
    assert (run.ok, run.result.verdict) == (False, "error")
    assert run.result.error is not None
    assert (run.result.error.type, run.result.error.stack[0].line) == ("RangeError", 3)
    assert "return await tensor.array()" in str(javascript("return tf.ones([2]);"))


def test_what_cannot_be_run_is_said(javascript: RunJavaScript) -> None:
    with pytest.raises(NoScenario):
        javascript("predict-dispos")
    with pytest.raises(BadTarget):
        javascript("return 1", target="tfjs@99.0.0")
    for target in ("keras", "tfjs@>=3,<5"):
        with pytest.raises(ValueError, match="one release of TensorFlow"):
            javascript("return 1", target=target)


def test_the_fixture_in_somebody_elses_test(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        def test_runs(tfjs):
            run = tfjs("const a = tf.ones([2]); a.dispose(); return a.size;")
            assert run.ok, str(run)
            assert run.returned == 2

        def test_leaks(tfjs):
            run = tfjs("tf.ones([2]);", cycles=1)
            assert run.ok, str(run)
    """)
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        ["E*AssertionError: fail: the default expectation: end tensors: expected 0, measured 1*"]
    )


def test_without_nodejs_the_test_is_skipped_and_says_how_to_get_it(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TENSORLEDGER_NODE", "/nowhere/node")
    pytester.makepyfile("def test_runs(tfjs):\n    tfjs('tf.ones([2])')\n")
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-rs", timeout=120)
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*tfjs@4.22.0/cpu: *Node.js*pip install nodejs-bin*"])


def test_a_run_as_text_says_its_verdict(javascript: RunJavaScript) -> None:
    run = javascript("tf.ones([2]).dispose();", cycles=1)
    assert isinstance(run, JavaScriptRun)
    assert str(run).startswith("pass: as expected")

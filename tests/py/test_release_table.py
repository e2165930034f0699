"""The README's table of how to release a model is what a run says, and its advice follows from its numbers."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from outcomes import CHECKOUT

from tensorledger.environment import packages
from tensorledger.environment.tree import is_checkout
from tensorledger.targets.catalogue import default, lacking
from tensorledger.targets.target import Target

SCRIPT = CHECKOUT / "docs" / "release_table.py"

pytestmark = pytest.mark.skipif(not is_checkout(), reason="the README and the script are in a checkout")


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("release_table", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["release_table"] = module  # its dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module


script: Any = _load() if SCRIPT.is_file() else None


@pytest.fixture(scope="module")
def table() -> Any:
    """What a run says, once for all tests."""
    if not packages.installed():
        pytest.skip("the npm packages of the lock file are not installed: make setup")
    lacks = [f"{target}: {reason}" for target in default() if (reason := lacking(target))]
    if lacks:
        pytest.skip("; ".join(lacks))
    return script.measured(default())


@pytest.fixture
def readme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the README, which is the script's."""
    path = tmp_path / "README.md"
    path.write_text((CHECKOUT / "README.md").read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr(script, "README", path)
    return path


# --- the run


def test_the_committed_table_is_what_the_run_says(
    table: Any, readme: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(script, "measured", lambda targets: table)
    before = readme.read_text(encoding="utf-8")
    assert before == script.replaced(before, script.MARK, script.rendered(table))
    assert script.main(["--check"]) == 0
    assert "the README says what the run says" in capsys.readouterr().out


def test_a_number_that_is_changed_in_the_readme_fails_the_check_and_is_written_anew(
    table: Any, readme: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(script, "measured", lambda targets: table)
    right = readme.read_text(encoding="utf-8")
    wrong = right.replace("| 4.22.0 wasm | 4 · 814,120 |", "| 4.22.0 wasm | 4 · 814,121 |")
    assert wrong != right
    readme.write_text(wrong, encoding="utf-8")
    assert script.main(["--check"]) == 1
    assert readme.read_text(encoding="utf-8") == wrong
    assert script.main([]) == 0
    assert readme.read_text(encoding="utf-8") == right


def test_a_number_that_a_run_measures_otherwise_fails_the_check(
    table: Any, readme: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for target, row in table.items():
        for measure, left in row.items():
            changed = {**table, target: {**row, measure: replace(left, tensors=left.tensors + 1)}}
            if left.missing:
                continue  # where there is no such method, what is left is not shown
            monkeypatch.setattr(script, "measured", lambda targets, changed=changed: changed)
            assert script.main(["--check"]) == 1, (target, measure)


def test_every_default_target_has_a_row(table: Any) -> None:
    assert list(table) == list(default())


# --- the rule


def row(**left: Any) -> Any:
    """A row by short names of its columns; what is not named leaves everything."""
    names = ("dropped", "dispose", "walk", "values", "tidied", "trained", "trained_values")
    return {measure: left.get(name, script.Left(4, 814120)) for name, measure in zip(names, script.TFJS, strict=True)}


def gone() -> Any:
    return script.Left(0, 0)


def test_one_way_that_leaves_nothing_of_either_is_the_advice() -> None:
    assert script.advice(row(dispose=gone(), walk=gone(), trained=gone())) == "`model.dispose()`"


def test_a_way_that_throws_is_not_advised_even_where_it_leaves_nothing() -> None:
    throws = script.Left(0, 0, "Cannot read properties of undefined")
    said = script.advice(row(dispose=throws, walk=gone(), trained=gone()))
    assert said == "untrained: `.dispose()` on each weight; trained: `model.dispose()`"


def test_where_nothing_frees_it_the_way_that_leaves_least_is_told_with_what_it_leaves() -> None:
    said = script.advice(row(dispose=gone(), trained=script.Left(17, 1628276), trained_values=script.Left(21, 2442396)))
    assert said == "untrained: `model.dispose()`; trained: `model.dispose()`, which leaves 17 tensors, 1,628,276 bytes"


def test_a_method_that_is_not_there_is_never_advised() -> None:
    missing = script.Left(0, 0, "model.dispose is not a function")
    said = script.advice(row(dispose=missing, values=gone(), trained=missing, trained_values=gone()))
    assert said == "`.val.dispose()` on each weight"


def test_a_model_that_frees_itself_needs_dropping_only() -> None:
    assert script.advice(row(dropped=gone(), dispose=gone(), trained=gone())).startswith("untrained: dropping it; ")


# --- the script


@pytest.mark.parametrize(
    ("left", "shown"),
    [
        ((0, 0), "0"),
        ((4, 814120), "4 · 814,120"),
        ((0, 8), "0 · 8"),
        ((0, 0, "no"), "throws; 0"),
        ((2, 8, "no"), "throws; 2 · 8"),
        ((8, 814120, "weight.dispose is not a function"), "no such method"),
    ],
)
def test_what_is_left_is_shown_with_thousands_apart(left: tuple[Any, ...], shown: str) -> None:
    assert str(script.Left(*left)) == shown


def test_a_readme_without_the_markers_is_refused() -> None:
    with pytest.raises(ValueError, match="release-table"):
        script.replaced("# nothing here", script.MARK, "")


def test_a_cell_that_does_not_run_writes_nothing(
    readme: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(targets: list[Target]) -> Any:
        raise script.NotMeasured("create-dispose[keras]: error: no memory")

    monkeypatch.setattr(script, "measured", broken)
    before = readme.read_text(encoding="utf-8")
    assert script.main([]) == 2
    assert "create-dispose[keras]: error: no memory" in capsys.readouterr().err
    assert readme.read_text(encoding="utf-8") == before

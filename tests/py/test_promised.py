"""What is promised to stay stable is what the code has, and what would break it is told before it is written."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import click
import pytest

import tensorledger
from tensorledger.cli import main as command
from tensorledger.environment.tree import is_checkout, tree

pytestmark = pytest.mark.skipif(not is_checkout(), reason="docs/ is in a checkout")


@pytest.fixture(scope="module")
def list_of() -> ModuleType:
    spec = importlib.util.spec_from_file_location("promised", tree() / "docs" / "promised.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_is_promised_is_what_the_code_has(list_of: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert list_of.main(["--check"]) == 0, capsys.readouterr().out


def test_an_option_that_goes_is_noticed(list_of: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    before = list(list_of._commands())
    run = command.get_command(click.Context(command), "run")
    assert run is not None
    monkeypatch.setattr(run, "params", [one for one in run.params if one.name != "cycles"])
    assert list_of.lost(list(list_of._commands()), before) == ["command run option: --cycles"]


def test_a_name_of_python_that_goes_is_noticed(list_of: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    before = list(list_of._python())
    monkeypatch.setattr(tensorledger, "__all__", [name for name in tensorledger.__all__ if name != "track"])
    gone = list_of.lost(list(list_of._python()), before)
    assert gone == ["python tensorledger.track", "python tensorledger.track keyword-only: frames = 'user'"]


@pytest.mark.parametrize(
    ("arguments", "status", "written"),
    [([], 1, ["a", "b"]), (["--break"], 0, ["a", "c"]), (["--check"], 1, ["a", "b"])],
)
def test_what_would_go_is_not_written_unless_one_says_so(
    list_of: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: Sequence[str],
    status: int,
    written: Sequence[str],
) -> None:
    monkeypatch.setattr(list_of, "LIST", tmp_path / "promised.txt")
    monkeypatch.setattr(list_of, "promised", lambda: ["a", "c"])
    list_of.LIST.write_text("a\nb\n", encoding="utf-8")
    assert list_of.main(arguments) == status
    assert capsys.readouterr().out.splitlines() == ["- b", "+ c"]
    assert list_of.LIST.read_text(encoding="utf-8").splitlines() == written

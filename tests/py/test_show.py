"""`tensorledger show`: a file of results, or one cell of it, in the terminal."""

from __future__ import annotations

import json
import re
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result
from reported import ATLASED, CPU, OLD, RESULTS, ROWS, checkpoint, result

from tensorledger.cli import main
from tensorledger.results.result import document


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    Path("r.json").write_text(json.dumps(document(RESULTS, {})), encoding="utf-8")
    return tmp_path


def show(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["show", *arguments])


def test_the_grid_and_what_is_not_as_expected() -> None:
    ran = show("r.json")
    assert ran.exit_code == 0
    assert "! error breaks[tfjs@4.22.0/cpu]  TypeError: it broke" in ran.stdout
    assert "✗ fail grows[tfjs@4.22.0/cpu]" in ran.stdout and "leak-one[" not in ran.stdout
    assert re.search(r"│ clean +│ +✓ +│ +≠ +│ +– +│", ran.stdout)


def test_a_cell_is_drawn_as_curves_with_every_number() -> None:
    ran = show("r.json", f"grows[{CPU}]")
    assert ran.exit_code == 0
    lines = ran.stdout.splitlines()
    tensors = lines[lines.index(next(line for line in lines if line.strip() == "tensors")) :]
    bars = [(line.count("█"), line.split()[-1]) for line in tensors if "expected" in line or "measured" in line][:6]
    assert [number for _, number in bars] == ["4", "4", "1", "read", "0", "✗"]
    assert [count for count, _ in bars] == [32, 32, 8, 0, 0, 24], "in proportion"
    assert all(len(line) <= 80 for line in tensors)
    assert re.search(r"│ tensors +│ +\+30 +│ +\+3 ± 0 +│", ran.stdout)
    assert re.search(r"│ heap +│ +\+10,000 bytes +│ +\+99\d ± \d+\.\d+ +│", ran.stdout)
    assert "dense/kernel" in ran.stdout and "it printed last:" in ran.stdout


def test_a_part_of_a_name_that_fits_one_cell_is_enough() -> None:
    assert "as documented: seed-stays" in show("r.json", OLD).stdout


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("clean", f"'clean' is in 3 cells: clean[{CPU}], clean[{OLD}], clean[keras]"),
        ("graws[tfjs]", f"there is no cell 'graws[tfjs]'; did you mean grows[{CPU}]"),
        ("", "'' is in 6 cells"),
    ],
)
def test_a_cell_that_is_not_there_or_not_one_is_said(cell: str, said: str) -> None:
    ran = show("r.json", cell)
    assert ran.exit_code == 2 and said in " ".join(ran.stderr.split())


def test_in_a_narrow_terminal_no_mark_and_no_digit_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "56")
    assert [show("r.json").stdout.count(mark) for mark in "✓≠◎"] == [2, 2, 2], "in the grid, and in its legend"
    many = result("many", checkpoints=[checkpoint("end", 3_950_617_248, 0)], verdict="fail", reason="x")
    Path("m.json").write_text(json.dumps(document([many], {})), encoding="utf-8")
    assert show("m.json", "many").stdout.count("3,950,617,248 ✗") >= 1
    assert "expected" in show("m.json", "many").stdout


def test_what_is_less_than_nothing_has_no_bar() -> None:
    found = result("less", checkpoints=[checkpoint("end", -4, 0)], verdict="fail", reason="x")
    Path("r.json").write_text(json.dumps(document([found], {})), encoding="utf-8")
    ran = show("r.json", "less")
    assert ran.exit_code == 0 and "-4 ✗" in ran.stdout


def test_markup_is_shown_as_it_is() -> None:
    found = result("[red]x[/]", verdict="fail", reason="[bold]no[/bold] [/]", checkpoints=[checkpoint("[i]", 1, 0)])
    Path("r.json").write_text(json.dumps(document([found], {})), encoding="utf-8")
    for ran in (show("r.json"), show("r.json", "x")):
        assert ran.exit_code == 0 and "[red]x[/]" in ran.stdout and "[bold]no[/bold] [/]" in ran.stdout


def test_other_files_are_shown_as_their_commands_do() -> None:
    rows = {"schema": "tensorledger/recipes/1", "rows": msgspec.to_builtins(ROWS)}
    Path("p.json").write_text(json.dumps(rows), encoding="utf-8")
    Path("a.json").write_text(json.dumps(msgspec.to_builtins(ATLASED)), encoding="utf-8")
    assert "walk-" in show("p.json").stdout
    assert "2 scenarios on 3 releases, 3 ranges" in show("a.json").stdout


@pytest.mark.parametrize(("content", "said"), [("", "is empty"), ('{"schema": "x/1"}', "its schema is 'x/1'")])
def test_a_file_that_cannot_be_read_is_said(content: str, said: str) -> None:
    Path("r.json").write_text(content, encoding="utf-8")
    for arguments in (["r.json"], ["r.json", "x"]):
        ran = show(*arguments)
        assert ran.exit_code == 2 and said in ran.stderr


def test_a_file_without_results_is_said() -> None:
    Path("r.json").write_text(json.dumps(document([], {})), encoding="utf-8")
    ran = show("r.json")
    assert ran.exit_code == 2 and "r.json holds no results" in ran.stderr

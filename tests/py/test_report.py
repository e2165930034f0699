"""`tensorledger report` and the files it takes: merged, compared, written; what is wrong with a file is said."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result
from reported import ATLASED, CHECKED, CPU, OLD, RESULTS, ROWS, merged, result

from tensorledger.cli import main
from tensorledger.protocol.messages import Frame
from tensorledger.recipes.row import Left
from tensorledger.report.compared import changes
from tensorledger.report.files import BadFile, read
from tensorledger.report.fit import fits, levels
from tensorledger.report.merged import merge
from tensorledger.results import result as results
from tensorledger.results.result import CycleEnd
from tensorledger.terminal.leaks import source


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def command(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["report", *arguments])


def written(name: str, found: Sequence[results.Result] = (), **other: Any) -> str:
    content = results.document(found, {CPU: {"tfjs": "4.22.0"}}) | other
    Path(name).write_text(json.dumps(content), encoding="utf-8")
    return name


# --- the files


def test_each_kind_of_file_is_told_by_its_schema(here: Path) -> None:
    written("r.json", RESULTS)
    builtins = msgspec.to_builtins
    (here / "a.json").write_text(json.dumps(builtins(ATLASED)), encoding="utf-8")
    (here / "c.json").write_text(json.dumps(CHECKED.document()), encoding="utf-8")
    (here / "p.json").write_text(
        json.dumps({"schema": "tensorledger/recipes/1", "rows": builtins(ROWS)}), encoding="utf-8"
    )
    found = merge([here / name for name in ("r.json", "a.json", "c.json", "p.json")])
    assert found.problems == []
    assert (len(found.cells), found.rows, found.atlases) == (len(RESULTS), ROWS, [ATLASED])
    assert [check.model for check in found.checks] == ["model.keras"]
    assert found.runs[0].environment.targets == {CPU: {"tfjs": "4.22.0"}} and found.runs[0].environment.date


WHOLE = json.dumps({"schema": "tensorledger/results/1", "environment": {}, "results": []})


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "bad.json is empty: was what wrote it interrupted?"),
        (b" \n", "bad.json is empty"),
        (WHOLE[:-3].encode(), "bad.json is cut off at line 1, column"),
        (WHOLE[:12].encode(), "bad.json is cut off at line 1, column"),
        (b"results: none", "bad.json is not JSON: line 1, column 1: Expecting value"),
        (b"\xff\xfe\x00", "bad.json is no file of results: it is not text"),
        (b"[" * 100_000, "bad.json is no file of results: it is nested too deeply"),
        (b"[]", "bad.json: no file of tensorledger's: it has no schema"),
        (b"{}", "it has no schema"),
        (b'{"schema": 1}', "it has no schema"),
        (b'{"schema": "tensorledger/results/2"}', "a newer tensorledger wrote it; report with that one"),
        (b'{"schema": "tensorledger/results/0"}', "an older tensorledger wrote it; run it again"),
        (b'{"schema": "tensorledger/watch/1"}', "a report is made of tensorledger/results/1"),
        (
            b'{"schema": "tensorledger/results/1"}',
            "not as tensorledger/results/1 has it: Object missing",
        ),
        (b'{"schema": "tensorledger/results/1", "results": [NaN]}', "bad.json is not JSON: NaN is no number there"),
        (
            b'{"schema": "tensorledger/results/1", "results": [1e999]}',
            "Out of range float values are not JSON compliant",
        ),
        (b'{"schema": "tensorledger/results/1", "results": [' + b"9" * 5000 + b"]}", "bad.json is not JSON: Exceeds"),
        (b'{"schema": "tensorledger/results/' + b"9" * 5000 + b'"}', "a report is made of tensorledger/results/1"),
        (b'{"schema": "tensorledger/results/1", "results": [3]}', "Expected `object`, got `int` - at `$.results[0]`"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_and_the_others_are_kept(here: Path, content: bytes, said: str) -> None:
    (here / "bad.json").write_bytes(content)
    with pytest.raises(BadFile) as refused:
        read(Path("bad.json"))
    assert said in str(refused.value)
    ran = command(written("good.json", [result("one")]), "bad.json", "--format", "markdown")
    assert ran.exit_code == 2 and said in ran.stderr and "| `one` | ✓ |" in ran.stdout


@pytest.mark.parametrize(("name", "said"), [("none.json", "No such file"), (".", "Is a directory")])
def test_what_is_no_file_is_said(name: str, said: str) -> None:
    ran = command(name)
    assert ran.exit_code == 2 and said in ran.stderr and not Path("report.html").exists()


def test_a_number_of_the_wrong_kind_deep_in_a_file_is_said_with_its_place(here: Path) -> None:
    written("r.json", RESULTS)
    content = json.loads((here / "r.json").read_text(encoding="utf-8"))
    content["results"][3]["checkpoints"][1]["expected"]["tensors"] = "one"
    (here / "r.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(BadFile, match=r"at `\$\.results\[3\]\.checkpoints\[1\]\.expected\[\.\.\.\]`"):
        read(here / "r.json")


def test_without_a_result_nothing_is_written() -> None:
    ran = command(written("none.json"))
    assert (ran.exit_code, Path("report.html").exists()) == (2, False)
    assert "no results in none.json: nothing is written" in ran.stderr


# --- merged and compared


def test_of_the_same_cell_the_worst_is_shown_and_the_last_of_these(here: Path) -> None:
    written("1.json", [result("one"), result("one", verdict="fail", reason="first")])
    written("2.json", [result("one", verdict="fail", reason="second"), result("one", verdict="skip", reason="no")])
    found = merge([here / "1.json", here / "2.json"])
    assert [seen.verdict for seen in found.cells["one", CPU]] == ["pass", "fail", "fail", "skip"]
    assert found.shown(("one", CPU)).result.reason == "second"


def test_a_skip_is_shown_only_where_nothing_was_measured() -> None:
    found = merged([result("one", verdict="skip", reason="not here")], more=[result("one")])
    assert found.shown(("one", CPU)).verdict == "pass"


def test_what_changed() -> None:
    before = merged([
        result("same"), result("broke"), result("mended", verdict="error", reason="x"), result("gone"),
        result("skipped"), result("hidden", verdict="fail", reason="x"), RESULTS[3],
    ])  # fmt: skip
    worse = msgspec.structs.replace(
        RESULTS[3], checkpoints=[msgspec.structs.replace(RESULTS[3].checkpoints[-1], tensors=9)]
    )
    after = merged([
        result("same"), result("broke", verdict="fail", reason="x"), result("mended"), result("new", OLD),
        result("skipped", verdict="skip", reason="x"), result("hidden", verdict="skip", reason="x"), worse,
    ])  # fmt: skip
    found = [(change.key[0], change.kind, change.said) for change in changes(before, after)]
    assert found == [
        ("broke", "worse", "pass → fail"),
        ("grows", "worse", "fail: 3 → 9 tensors left"),
        ("mended", "better", "error → pass"),
        ("skipped", "otherwise", "pass → skip"),
        ("hidden", "otherwise", "fail → skip"),
        ("new", "new", "pass"),
        ("gone", "gone", "it was: pass"),
    ]


def test_of_a_crossing_in_several_files_the_worst_is_shown_once(here: Path) -> None:
    leaving = msgspec.structs.replace(ROWS[0], left=Left(tensors=500, bytes=0, buffers=0))
    for name, rows in (("1.json", [leaving, *ROWS[1:]]), ("2.json", ROWS)):
        table = {"schema": "tensorledger/recipes/1", "rows": msgspec.to_builtins(rows)}
        (here / name).write_text(json.dumps(table), encoding="utf-8")
    for names in (("1.json", "2.json"), ("2.json", "1.json")):
        assert merge([here / name for name in names]).rows == [leaving, *ROWS[1:]]


def test_a_model_that_is_not_ready_is_told_in_every_format(here: Path) -> None:
    (here / "c.json").write_text(json.dumps(CHECKED.document()), encoding="utf-8")
    assert "1 of 1 checked model not ready" in command("c.json").stdout
    for form in ("junit", "markdown", "github"):
        said = command("c.json", "--format", form).stdout
        assert "model.keras" in said and "not ready" in said and "it has a Lambda layer" in said, form
    shown = CliRunner().invoke(main, ["show", "c.json"])
    assert shown.exit_code == 0 and "model.keras" in shown.stdout


def test_a_line_is_shown_of_a_source_file_alone(here: Path) -> None:
    (here / "secret").write_text("it is secret", encoding="utf-8")
    (here / "link.py").symlink_to("secret")
    (here / "real.py").write_text("x = 1\n", encoding="utf-8")
    os.mkfifo(here / "pipe.py")

    def shown(name: str) -> str:
        return source(Frame(function="f", file=str(here / name), line=1, column=1, of="user"))

    assert [shown(name) for name in ("secret", "link.py", "pipe.py", "none.py", ".", "real.py")] == [*[""] * 5, "x = 1"]


def test_what_no_float_can_hold_has_no_line() -> None:
    end = CycleEnd(cycle=1, tensors=0, bytes=0, buffers=0, heap=0, native=0, above={"heap": 1e308})
    other = msgspec.structs.replace(end, above={"heap": -1e308})
    assert "heap" not in fits([end, other] * 10)


def test_levels_are_those_above_the_warm_up_and_in_older_files_the_sums_of_exact_counts() -> None:
    end = CycleEnd(cycle=1, tensors=2, bytes=8, buffers=None, heap=100.0, native=None)
    told = msgspec.structs.replace(end, above={"tensors": 5.0, "heap": 70.0, "native": None})
    assert levels([end, end, end]) == {"tensors": [2, 4, 6], "bytes": [8, 16, 24]}
    assert levels([told, told]) == {"tensors": [5.0, 5.0], "heap": [70.0, 70.0]}
    assert levels([]) == {}
    assert (fits([end, end])["tensors"].rate, fits([end, end])["tensors"].error, fits([end])) == (2.0, None, {})
    fitted = fits([end] * 10)["tensors"]
    assert (fitted.rate, fitted.error) == (2.0, 0.0)


# --- what is written


@pytest.mark.parametrize(
    ("form", "begins"),
    [("junit", "<?xml"), ("markdown", "## tensorledger: 2 of 6 cells"), ("github", "::error file=js/scenarios")],
)
def test_a_format_goes_to_stdout_or_into_a_file(form: str, begins: str) -> None:
    written("r.json", RESULTS)
    ran = command("r.json", "--format", form)
    assert (ran.exit_code, ran.stderr) == (0, "") and ran.stdout.startswith(begins)
    assert command("r.json", "--format", form, "-o", "-").stdout == ran.stdout
    filed = command("r.json", "--format", form, "-o", "out")
    assert filed.stdout == "wrote out: 2 of 6 cells not as expected\n"
    assert Path("out").read_text(encoding="utf-8") == ran.stdout


def test_the_page_is_written_where_nothing_else_is_said() -> None:
    ran = command(written("r.json", [result("one")]))
    assert (ran.exit_code, ran.stdout) == (0, "wrote report.html: 1 cell as expected\n")
    assert Path("report.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_two_runs_are_compared() -> None:
    written("old.json", [result("one")])
    ran = command(
        written("new.json", [result("one", verdict="fail", reason="x")]), "--before", "old.json", "--format", "markdown"
    )
    assert ran.exit_code == 0 and "| worse | `one[tfjs@4.22.0/cpu]` | `pass → fail` |" in ran.stdout
    ran = command("new.json", "--before", "none.json", "--format", "markdown")
    assert ran.exit_code == 2 and "none.json could not be read" in ran.stderr


def test_the_summary_of_a_step_is_added_to(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written("r.json", RESULTS)
    (here / "summary.md").write_text("before\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(here / "summary.md"))
    assert command("r.json", "--format", "github").exit_code == 0
    said = (here / "summary.md").read_text(encoding="utf-8")
    assert said.startswith("before\n## tensorledger: 2 of 6") and "::error" not in said
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(here / "none" / "summary.md"))
    ran = command("r.json", "--format", "github")
    assert ran.exit_code == 2 and "the summary of the step could not be written" in ran.stderr


def test_an_output_that_cannot_be_written_is_said_and_what_was_there_is_whole(here: Path) -> None:
    written("r.json", RESULTS)
    assert command("r.json", "-o", "none/report.html").exit_code == 2
    assert "is a folder" in command("r.json", "-o", ".").stderr
    ran = command("r.json", "-o", "/dev/full", "--format", "junit")
    assert ran.exit_code == 2 and "/dev/full could not be written: No space left on device" in ran.stderr
    if os.path.exists("/proc/version"):
        assert "could not be written" in command("r.json", "--format", "junit", "-o", "/proc/version").stderr


def test_a_file_that_is_read_is_not_written_over(here: Path) -> None:
    written("r.json", RESULTS)
    (here / "link.json").symlink_to("r.json")
    (here / "report.html").symlink_to("r.json")
    assert command("report.html").exit_code == 2, "where it goes by default"
    for output in ("r.json", "link.json"):
        for arguments in (["r.json"], [written("new.json", RESULTS), "--before", "r.json"]):
            ran = command(*arguments, "-o", output)
            assert ran.exit_code == 2 and "is one of the files to read, and would be lost" in ran.stderr
    assert merge([here / "r.json"]).problems == []


@pytest.mark.parametrize(("form", "module"), [("html", "jinja2"), ("junit", "junitparser")])
def test_what_a_format_needs_and_is_not_there_is_said(form: str, module: str, monkeypatch: pytest.MonkeyPatch) -> None:

    for name in [
        name for name in sys.modules if name.startswith(("tensorledger.report.page", "tensorledger.report.junit"))
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    ran = command(written("r.json", RESULTS), "--format", form)
    assert ran.exit_code == 2 and f"--format {form} needs {module}: pip install 'tensorledger[report]'" in ran.stderr

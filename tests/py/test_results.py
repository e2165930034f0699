"""Results as machines and people read them: the keys of DESIGN.md, relative numbers, null for what was not read."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import msgspec
import pytest
from outcomes import absolute, as_expected, cycle, outcome, thrown
from rich.console import Console, RenderableType

from tensorledger.expectations.amount import Counts
from tensorledger.expectations.deviation import Deviation, Deviations
from tensorledger.expectations.expectation import Expectation
from tensorledger.protocol.messages import Agreement, CheckpointReading, Cycle, Frame, LiveTensor, Outcome
from tensorledger.results.build import judged, unjudged
from tensorledger.results.result import Failure, Result, document, write
from tensorledger.targets.target import Target
from tensorledger.terminal.cell import SHOWN, details
from tensorledger.terminal.grid import grid
from tensorledger.terminal.leaks import PLACES, TENSORS, WIDTH, leaks
from tensorledger.terminal.marks import MARKS
from tensorledger.verdicts.judge import judge

TFJS = Target("tfjs", "4.22.0", "cpu")

# Written out from DESIGN.md, "Results JSON".
TOP = {"schema", "environment", "results"}
ENVIRONMENT = {"tensorledger", "node", "python", "platform"}
RESULT = {
    "scenario",
    "language",
    "target",
    "recipe",
    "verdict",
    "reason",
    "deviation",
    "seconds",
    "cycles",
    "checkpoints",
    "first",
    "series",
    "growth",
    "confidence",
    "error",
    "leaks",
}
CHECKPOINT = {"name", "tensors", "bytes", "buffers", "buffer_bytes", "backend", "heap", "process", "expected"}
SERIES = {"cycle", "tensors", "bytes", "heap", "native"}
GROWTH = {"tensors", "bytes", "buffers", "heap", "native"}
ERROR = {"type", "message", "checkpoint", "stack"}
LEAK = {"count", "shape", "dtype", "bytes", "name", "reachable", "stack", "held"}
FRAME = {"function", "file", "line", "column", "of"}

FOUND = LiveTensor(
    count=2,
    shape=[4, 4],
    dtype="float32",
    bytes=64,
    name="dense/kernel",
    reachable=True,
    stack=[Frame(function="default", file="js/scenarios/x.mjs", line=12, column=9, of="user")],
)


def result_of(found: Outcome, by: Expectation | None = None, deviations: Deviations | None = None) -> Result:
    expectation = by or Expectation()
    judgement = judge(found, expectation, deviations or Deviations(), TFJS)
    return judged("walk", TFJS, 0.41234, found, judgement, None, "")


def plain(result: Result) -> dict[str, Any]:
    """Return a result as it is written to a file and read back."""
    found: dict[str, Any] = json.loads(json.dumps(document([result], {})))["results"][0]
    return found


def leaking() -> Outcome:
    left = msgspec.structs.replace(cycle(created={"tensors": 4}, end={"tensors": 2}), leaks=[FOUND])
    return outcome(cycle(), left, left)


# --- the object


def test_the_object_has_the_keys_of_the_design() -> None:
    found = json.loads(json.dumps(document([result_of(leaking())], {"keras": {"tensorflow": "2.19.0"}})))
    assert set(found) >= TOP and found["schema"] == "tensorledger/results/1"
    assert set(found["environment"]) >= ENVIRONMENT
    result = found["results"][0]
    assert set(result) >= RESULT
    assert all(set(checkpoint) >= CHECKPOINT for checkpoint in result["checkpoints"] + result["first"])
    assert all(set(each) >= SERIES for each in result["series"])
    assert set(result["growth"]) >= GROWTH
    assert set(result["leaks"][0]) >= LEAK and set(result["leaks"][0]["stack"][0]) == FRAME
    assert result["error"] is None and result["confidence"] == {}


def test_what_was_run_and_how_it_ended_is_told() -> None:
    found = plain(result_of(leaking()))
    told = {key: found[key] for key in ("scenario", "language", "target", "recipe", "verdict", "seconds", "cycles")}
    assert told == {
        "scenario": "walk",
        "language": "js",
        "target": "tfjs@4.22.0/cpu",
        "recipe": "dispose",
        "verdict": "fail",
        "seconds": 0.412,
        "cycles": 2,
    }
    assert found["reason"] == found["problems"][0] == "the default expectation: end tensors: expected 0, measured 2"


def test_the_versions_that_workers_tell_are_in_the_environment() -> None:
    said = {"tfjs@4.22.0/cpu": {"tfjs": "4.22.0", "node": "18.4.0"}, "keras": {"keras": "3.15.1"}}
    environment = document([], said)["environment"]
    assert environment["node"] == "18.4.0"
    assert environment["targets"] == said
    assert document([], {"keras": {"keras": "3.15.1"}})["environment"]["node"] is None


def test_an_error_is_told_with_its_checkpoint_and_stack() -> None:
    broke = thrown("boom", "created", "RangeError")
    found = plain(result_of(outcome(cycle(broke, created={}))))
    assert found["verdict"] == "error"
    assert set(found["error"]) == ERROR
    assert found["error"] == {"type": "RangeError", "message": "boom", "checkpoint": "created", "stack": []}
    assert [checkpoint["name"] for checkpoint in found["checkpoints"]] == ["created", "end"]


def test_a_cell_that_was_not_run_has_the_same_keys() -> None:
    failure = Failure(type="WorkerDied", message="signal 9", checkpoint="created", stack=[])
    found = plain(unjudged("walk", TFJS, 1.5, "error", "signal 9", failure))
    assert set(found) == set(plain(result_of(leaking())))
    assert found["growth"] is None and found["checkpoints"] == found["series"] == []
    assert found["error"]["checkpoint"] == "created"


def test_a_deviation_is_told_by_its_id_and_its_numbers_are_those_expected() -> None:
    deviation = Deviation(id="keeps-two", targets=["tfjs"], why="So.", checkpoints={"end": Counts(tensors=2)})
    deviations = Deviations((deviation,), Path("deviations.toml"))
    left = cycle(end={"tensors": 2})
    found = plain(result_of(outcome(left, left), deviations=deviations))
    assert (found["verdict"], found["deviation"], found["reason"]) == ("deviates", "keeps-two", "So.")
    assert found["checkpoints"][-1]["expected"] == {"tensors": 2, "bytes": 0, "buffers": 0}


# --- its numbers


def test_numbers_are_those_of_the_last_cycle_relative_to_its_baseline() -> None:
    first, middle, last = (cycle(created={"tensors": n, "bytes": 10 * n}) for n in (7, 8, 9))
    found = plain(result_of(outcome(first, middle, last)))
    assert [(each["name"], each["tensors"], each["bytes"]) for each in found["checkpoints"]] == [
        ("created", 9, 90),
        ("end", 0, 0),
    ]
    assert [(each["name"], each["tensors"]) for each in found["first"]] == [("created", 7), ("end", 0)]
    assert [each["expected"] for each in found["first"]] == [{}, {}]


def test_what_is_not_read_is_null() -> None:
    blind = cycle(created={"tensors": None, "bytes": 3}, end={"tensors": None, "buffers": None})
    found = plain(result_of(outcome(blind, blind)))
    assert found["checkpoints"][0]["tensors"] is None and found["checkpoints"][0]["bytes"] == 3
    assert found["series"][0]["tensors"] is None and found["series"][0]["buffers"] is None
    assert found["growth"]["tensors"] is None and found["growth"]["bytes"] == 0
    assert found["series"][0]["heap"] is None and found["growth"]["native"] is None


def test_the_other_levels_are_relative_too_and_null_where_the_baseline_has_none() -> None:
    before = absolute(
        {"tensors": 0}, heap={"used": 1000, "external": 50}, process={"in_use": 50, "rss": None}, backend={"gpu": 5}
    )
    after = absolute(
        {"tensors": 0},
        heap={"used": 1500, "external": 40, "new": 3},
        process={"in_use": 40, "rss": 9},
        backend={"gpu": 5},
    )
    taken = Cycle(baseline=before, checkpoints=[CheckpointReading(name="end", reading=after)], thrown=None, leaks=[])
    found = plain(result_of(outcome(taken, taken)))
    assert found["checkpoints"][0]["heap"] == {"used": 500, "external": -10, "new": None}
    assert found["checkpoints"][0]["process"] == {"in_use": -10, "rss": None}
    assert found["checkpoints"][0]["backend"] == {"gpu": 0}
    assert (found["series"][0]["heap"], found["series"][0]["native"]) == (500, -10)


def test_growth_is_per_cycle_from_the_end_of_the_warm_up() -> None:
    def at(total: int) -> Cycle:
        reading = absolute({"tensors": total, "bytes": 10 * total, "buffers": 5}, heap={"used": 100 * total})
        taken = [CheckpointReading(name="end", reading=reading)]
        return Cycle(baseline=absolute({"tensors": 0}), checkpoints=taken, thrown=None, leaks=[])

    growth = plain(result_of(outcome(at(50), at(53), at(54), at(56))))["growth"]
    assert growth == {"tensors": 2, "bytes": 20, "buffers": 0, "heap": 200, "native": None}
    assert isinstance(growth["tensors"], int)
    assert plain(result_of(outcome(at(50), at(51), at(51))))["growth"]["tensors"] == 0.5
    assert plain(result_of(outcome(at(50))))["growth"] is None


def test_a_series_has_each_cycle_after_the_warm_up() -> None:
    found = plain(result_of(outcome(*(cycle(end={"tensors": n}) for n in range(4)))))
    assert [(each["cycle"], each["tensors"]) for each in found["series"]] == [(1, 1), (2, 2), (3, 3)]


# --- files


def test_a_file_is_written_whole_and_readable_by_others(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    write(path, document([result_of(leaking())], {}))
    assert json.loads(path.read_text(encoding="utf-8"))["results"][0]["verdict"] == "fail"
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask
    assert list(tmp_path.iterdir()) == [path]


def test_writing_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    write(path, {"results": []})
    with pytest.raises(TypeError):
        write(path, {"results": [1, 2, 3], "broken": object()})
    assert json.loads(path.read_text(encoding="utf-8")) == {"results": []}
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_not_there_is_an_oserror(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="none"):
        write(tmp_path / "none" / "results.json", {})


# --- for people


def shown(*parts: RenderableType, colour: bool = False) -> str:
    console = Console(file=StringIO(), width=120, highlight=False, force_terminal=colour)
    for part in parts:
        console.print(part)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def test_a_table_shows_expected_beside_measured_and_marks_what_differs() -> None:
    lines = shown(*details(result_of(leaking()))).splitlines()
    assert "walk on tfjs@4.22.0/cpu, last cycle" in "\n".join(lines)
    row = next(line for line in lines if "│ end" in line)
    assert [part.strip() for part in row.strip("│ ").split("│")] == ["end", "0", "2 ✗", "0", "0", "0", "0"]
    created = next(line for line in lines if "│ created" in line)
    assert [part.strip() for part in created.split("│")[2:4]] == ["", "4"]
    assert any("growth per cycle" in line for line in lines)


def test_a_table_says_what_was_not_read() -> None:
    blind = cycle(end={"tensors": None})
    assert "not read" in shown(*details(result_of(outcome(blind, blind))))


def test_buffer_bytes_are_shown_where_they_are_expected() -> None:
    stating = Expectation(checkpoints={"end": Counts(buffer_bytes=1)})
    assert "buffer_bytes" in shown(*details(result_of(outcome(cycle(), cycle()), stating)))
    assert "buffer_bytes" not in shown(*details(result_of(leaking())))


def test_what_is_left_is_told_with_the_users_line() -> None:
    text = shown(*details(result_of(leaking())))
    said = "  made at default js/scenarios/x.mjs:12:9\n    2 × float32 [4, 4] dense/kernel, 64 bytes each\n"
    assert f"left at the end of the last cycle:\n{said}" in text


def made_at(line: int, *callers: Frame, **fields: Any) -> LiveTensor:
    """Return a tensor that was made at a line of a scenario, itself called from these."""
    innermost = msgspec.structs.replace(FOUND.stack[0], line=line)
    return msgspec.structs.replace(FOUND, stack=[innermost, *callers], **fields)


def test_what_is_left_is_grouped_by_the_line_that_made_it_most_bytes_first() -> None:
    small, large = made_at(12, count=1, bytes=4, name="small"), made_at(7, count=1, bytes=400, name="large")
    also = made_at(12, count=3, bytes=8, name="also")
    text = shown(*leaks([small, large, also]))
    places = [line.strip() for line in text.splitlines()]
    assert [line for line in places if line.startswith("made at")] == [
        "made at default js/scenarios/x.mjs:7:9",
        "made at default js/scenarios/x.mjs:12:9",
    ]
    assert places.index("1 × float32 [4, 4] small, 4 bytes") > places.index("made at default js/scenarios/x.mjs:12:9")
    assert "3 × float32 [4, 4] also, 8 bytes each" in places


def test_frames_of_the_library_and_the_harness_are_no_place() -> None:
    library = Frame(function="ones", file="lib.js", line=1, column=1, of="library")
    harness = Frame(function="walk", file="cycles.mjs", line=1, column=1, of="harness")
    user = FOUND.stack[0]
    left = msgspec.structs.replace(FOUND, stack=[library, user, harness])
    text = shown(*leaks([left]))
    assert "made at default js/scenarios/x.mjs:12:9" in text
    assert "lib.js" not in text and "cycles.mjs" not in text


def test_a_stack_of_the_library_alone_is_told_as_one() -> None:
    library = Frame(function="incRef", file="engine.js", line=7, column=1, of="library")
    text = shown(*leaks([msgspec.structs.replace(FOUND, stack=[library])]))
    assert (
        "made with no line of yours on the stack, as after an await within the library, at incRef engine.js:7:1" in text
    )


def test_a_tensor_without_a_stack_is_shown_all_the_same() -> None:
    text = shown(*leaks([msgspec.structs.replace(FOUND, stack=[])]))
    assert (
        "made in a scope that has not ended, or where no stack was taken" in text
        and "2 × float32 [4, 4] dense/kernel" in text
    )


def test_places_and_tensors_beyond_what_is_shown_are_counted() -> None:
    many = [made_at(line, count=2, name=f"tensor {line}") for line in range(1, PLACES + 4)]
    assert "  … and 6 more" in shown(*leaks(many))
    here = [made_at(1, count=1, name=f"tensor {number}") for number in range(TENSORS + 2)]
    assert "      … and 2 more" in shown(*leaks(here))


def test_what_holds_a_tensor_is_told_below_it() -> None:
    text = shown(*leaks([made_at(1, held=["shop.CART[0]", "traced function step"])]))
    assert "64 bytes each\n      held by shop.CART[0]\n      held by traced function step\n" in text


def test_a_line_that_is_a_whole_bundle_is_cut(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle.js"
    bundle.write_text("x" * 100_000, encoding="utf-8")
    stack = [msgspec.structs.replace(FOUND.stack[0], file=str(bundle), line=1)]
    text = shown(*leaks([msgspec.structs.replace(FOUND, stack=stack)]))
    assert "x" * WIDTH + " …" in text.replace("\n", "") and len(text) < 1000


def test_kept_and_lost_tensors_are_told_so() -> None:
    text = shown(*leaks([made_at(1, kept=True, reachable=False)]))
    assert ", kept, to which nothing refers any more" in text
    assert "nothing refers" not in shown(*leaks([made_at(1, reachable=None)]))


@pytest.mark.parametrize("name", ["[x]", "[bold]", "a[/b]c", "[link=x]y"])
def test_brackets_in_names_are_shown_as_they_are(name: str) -> None:
    left = cycle(**{name: {"tensors": 1}}, end={"tensors": 1})
    broke = thrown(f"message {name}", f"after {name}", f"Type{name}")
    leak = msgspec.structs.replace(FOUND, name=f"tensor {name}")
    found = msgspec.structs.replace(
        result_of(outcome(left, left)),
        scenario=f"scenario {name}",
        error=Failure(type=broke.type, message=broke.message, checkpoint=broke.checkpoint, stack=FOUND.stack),
        problems=[f"problem {name}"],
        leaks=[leak],
    )
    text = shown(*details(found))
    for expected in ("scenario ", "after ", "tensor ", "│ "):
        assert f"{expected}{name}" in text
    failed = msgspec.structs.replace(found, error=None, problems=["in the headline", f"problem {name}"])
    assert f"problem {name}" in shown(*details(failed))
    table = shown(grid([(f"scenario {name}", "keras", "pass")]))
    assert f"scenario {name}" in table


def test_predictions_are_told_with_how_far_they_are_off() -> None:
    close = Agreement(model="classifier", source="keras", max_abs=5e-7, max_rel=2e-6, bound=1e-6)
    broken = Agreement(model="classifier", source="tf-keras", max_abs=None, max_rel=None, bound=1e-6)
    text = shown(*details(result_of(outcome(cycle(), cycle(), agreements=(close, broken)))))
    assert "the classifier from keras: off by 5e-07 absolute, 2e-06 relative, within the 1e-06" in text
    assert "the classifier from tf-keras: not all finite numbers" in text


def test_more_than_a_screen_of_problems_is_counted() -> None:
    many = msgspec.structs.replace(result_of(leaking()), problems=[f"problem {n}" for n in range(SHOWN + 5)])
    text = shown(*details(many))
    assert f"problem {SHOWN - 1}" in text and f"problem {SHOWN}\n" not in text
    assert "… and 5 more" in text


def test_the_grid_has_a_row_a_scenario_and_a_column_a_target() -> None:
    text = shown(grid([("a", "keras", "pass"), ("a", str(TFJS), "fail"), ("b", str(TFJS), "deviates")]))
    rows = {line.split("│")[1].strip(): line.split("│")[2:4] for line in text.splitlines() if "│" in line}
    assert [mark.strip() for mark in rows["a"]] == [MARKS["pass"][0], MARKS["fail"][0]]
    assert [mark.strip() for mark in rows["b"]] == ["", MARKS["deviates"][0]]
    text = " ".join(text.split())
    assert "✓ 1 pass" in text and "≠ 1 deviates" in text and "✗ 1 fail" in text and "skip" not in text


def test_colour_only_goes_to_terminals() -> None:
    parts = [*details(result_of(leaking())), grid([("a", "keras", "fail")])]
    assert "\x1b[" in shown(*parts, colour=True)
    assert "\x1b[" not in shown(*parts)


def test_a_result_of_what_is_expected_shows_no_mark() -> None:
    expectation = replace(Expectation(), checkpoints={"created": Counts(tensors=4), "end": Counts(tensors=0)})
    text = shown(*details(result_of(as_expected(expectation, TFJS), expectation)))
    assert "✗" not in text and "│ created" in text

"""What leaks on purpose is told with the line that leaks it, in releases of each kind and in both Kerases."""

from __future__ import annotations

from pathlib import Path

import pytest

from tensorledger.cells.cell import Cell, Ran, Settings, run_cell
from tensorledger.environment.tree import tree
from tensorledger.protocol.messages import LiveTensor
from tensorledger.scenarios.catalogue import Scenario, all_scenarios
from tensorledger.targets.catalogue import resolve
from tensorledger.targets.target import Target
from tensorledger.workers.pool import Workers

RELEASES = ["0.6.1", "0.12.7", "1.0.4", "1.7.4", "2.8.6", "3.21.0", "4.22.0"]
TARGETS = [*(f"tfjs@{release}/cpu" for release in RELEASES), "keras", "tf-keras"]

LEAKING = {
    "leak-prediction": {"js": "model.predict(", "py": "PREDICTIONS.append("},
    "leak-variable": {"js": "tf.variable(", "py": "KEPT.append("},
    "leak-bytes": {"js": "tf.ones(", "py": "tf.ones("},
}
"""Of each scenario that leaks tensors or their bytes, what is on the line that does it."""


def run(workers: Workers, scenario: Scenario, target: Target, *, full_stacks: bool = False) -> Ran:
    ran = run_cell(Cell(scenario, target), workers, Settings(cycles=2, full_stacks=full_stacks))
    assert ran.result.verdict == "fail", ran.result.reason
    return ran


def left(ran: Ran) -> list[LiveTensor]:
    """Return what the leak itself left: old releases leave more, of the models that they make."""
    made = [tensors for tensors in ran.result.leaks if not tensors.stack or tensors.stack[0].function != "classifier"]
    assert made
    return made


def line(file: str, number: int | None) -> str:
    assert number is not None
    return (tree() / file).read_text(encoding="utf-8").splitlines()[number - 1]


@pytest.mark.parametrize("written", TARGETS)
@pytest.mark.parametrize("name", LEAKING)
def test_the_first_frame_of_the_users_is_the_line_that_leaks(workers: Workers, name: str, written: str) -> None:
    (target,) = resolve([written])
    ran = run(workers, all_scenarios()[name], target)
    lines = {line(found.stack[0].file, found.stack[0].line) for found in left(ran) if found.stack}
    assert all(found.stack and found.stack[0].of == "user" for found in ran.result.leaks)
    assert any(LEAKING[name][target.language] in said for said in lines), lines
    file = all_scenarios()[name].files[target.language].relative_to(tree()).as_posix()
    assert {found.stack[0].file for found in ran.result.leaks} == {file}


def test_the_terminal_shows_the_line_itself(workers: Workers, tmp_path: Path) -> None:
    from rich.console import Console

    from tensorledger.terminal.cell import details

    file = tmp_path / "mine.mjs"
    file.write_text(
        "const make = tf => tf.ones([4, 4]);\nexport default async ({tf}) => {\n  make(tf);\n};\n", encoding="utf-8"
    )
    (target,) = resolve(["tfjs@4.22.0/cpu"])
    ran = run(workers, Scenario(str(file), {"js": file}), target)
    console = Console(width=200, force_terminal=False)
    with console.capture() as captured:
        for part in details(ran.result):
            console.print(part)
    said = captured.get()
    assert (
        f"made at make {file}:1:23\n  > const make = tf => tf.ones([4, 4]);\n    called from default {file}:3:3\n"
        in said
    )
    assert "1 × float32 [4, 4], 64 bytes, to which nothing refers any more" in said


def test_full_stacks_have_the_librarys_frames_first(workers: Workers) -> None:
    (target,) = resolve(["tfjs@4.22.0/cpu"])
    ran = run(workers, all_scenarios()["leak-prediction"], target, full_stacks=True)
    (left,) = ran.result.leaks
    assert [frame.of for frame in left.stack][:3] == ["library"] * 3
    user = next(frame for frame in left.stack if frame.of == "user")
    assert "model.predict(" in line(user.file, user.line)

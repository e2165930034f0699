"""Cells that run ahead of who asks for them: several targets at once, each target's in order, and an end to it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from outcomes import copy_of_the_checkout

from tensorledger.cells import ahead
from tensorledger.cells.ahead import Ahead
from tensorledger.cells.cell import Cell, Ran, Settings, run_cell
from tensorledger.scenarios.catalogue import Scenario
from tensorledger.targets.catalogue import default
from tensorledger.targets.target import Target
from tensorledger.workers.pool import Workers

ONE, TWO, THREE = (Target("tfjs", version, "cpu") for version in ("1.0.0", "2.0.0", "3.0.0"))
SOON = 20.0


def cells(*targets: Target) -> list[Cell]:
    scenarios = [Scenario(name, {"js": Path(f"{name}.mjs")}) for name in ("a", "b")]
    return [Cell(scenario, target) for target in targets for scenario in scenarios]


class Runs:
    """Stands in for run_cell, and keeps what it was asked for."""

    def __init__(self, before: Callable[[Cell], object] = lambda cell: None) -> None:
        self.before = before
        self.began: list[tuple[str, str]] = []
        """Each cell with the thread that ran it."""

    def __call__(self, cell: Cell, workers: Workers, settings: Settings) -> Ran:
        self.began.append((str(cell), threading.current_thread().name))
        self.before(cell)
        return Ran(cell, result=None)  # type: ignore[arg-type]


def begin(patch: pytest.MonkeyPatch, runs: Runs, listed: list[Cell], jobs: int) -> Ahead:
    patch.setattr(ahead, "run_cell", runs)
    return Ahead(listed, Workers(), Settings(), jobs)


def test_two_targets_run_at_once_and_the_cells_of_one_after_another_in_one_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    both = threading.Barrier(2)
    runs = Runs(lambda cell: both.wait(SOON))
    listed = cells(ONE, TWO)
    running = begin(monkeypatch, runs, listed, jobs=2)
    assert [running.run(cell).cell for cell in reversed(listed)] == listed[::-1]
    for target in (ONE, TWO):
        mine = [(name, thread) for name, thread in runs.began if str(target) in name]
        assert [name for name, _ in mine] == [f"a[{target}]", f"b[{target}]"]
        assert len({thread for _, thread in mine}) == 1
    running.stop()


def test_no_more_targets_run_at_once_than_there_are_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = Runs()
    listed = cells(ONE, TWO, THREE)
    running = begin(monkeypatch, runs, listed, jobs=1)
    assert [running.run(cell).cell for cell in listed] == listed
    assert [name for name, _ in runs.began] == [str(cell) for cell in listed]
    assert len({thread for _, thread in runs.began}) == 1


def test_a_cell_that_is_asked_for_again_runs_again(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = Runs()
    cell, _ = listed = cells(ONE)
    running = begin(monkeypatch, runs, listed, jobs=2)
    assert running.run(cell).cell == running.run(cell).cell == cell
    assert [name for name, _ in runs.began].count(str(cell)) == 2


def test_a_cell_that_is_asked_for_before_its_thread_has_begun_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    class Late(threading.Thread):
        def run(self) -> None:
            time.sleep(0.3)
            super().run()

    (cell, _), came = cells(ONE), threading.Event()
    with monkeypatch.context() as patch:
        patch.setattr("tensorledger.cells.ahead.threading.Thread", Late)
        running = begin(monkeypatch, Runs(), [cell], jobs=1)

    def ask() -> None:
        running.run(cell)
        came.set()

    threading.Thread(target=ask, daemon=True).start()
    assert came.wait(SOON)
    running.stop()


def test_what_ends_a_whole_run_is_raised_where_the_cell_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(cell: Cell) -> None:
        if cell.scenario.name == "a":
            raise MemoryError("full")

    broke, fine = listed = cells(ONE)
    running = begin(monkeypatch, Runs(broken), listed, jobs=1)
    assert running.run(fine).cell == fine
    with pytest.raises(MemoryError, match="full"):
        running.run(broke)


def test_after_stop_no_further_cell_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    began, go = threading.Event(), threading.Event()

    def wait(cell: Cell) -> None:
        began.set()
        go.wait(SOON)

    runs = Runs(wait)
    running = begin(monkeypatch, runs, cells(ONE, TWO), jobs=1)
    assert began.wait(SOON)
    running.stop()
    go.set()
    thread = next(thread for thread in threading.enumerate() if thread.name == runs.began[0][1])
    thread.join(SOON)
    assert not thread.is_alive() and len(runs.began) == 1


def test_stopping_the_workers_ends_one_that_is_in_the_middle_of_a_scenario(tmp_path: Path) -> None:
    file = tmp_path / "endless.mjs"
    file.write_text("export default async function* () { yield 'here'; for (;;) ; }\n", encoding="utf-8")
    target = next(target for target in reversed(default()) if target.language == "js")
    here = threading.Event()
    settings = Settings(reached=lambda cycle, name: here.set())
    ran: list[Ran] = []
    workers = Workers()
    cell = Cell(Scenario(str(file), {"js": file}), target)
    thread = threading.Thread(target=lambda: ran.append(run_cell(cell, workers, settings)), daemon=True)
    thread.start()
    assert here.wait(60)
    workers.stop()
    thread.join(SOON)
    assert not thread.is_alive()
    assert ran[0].result.verdict == "error" and "SIGKILL" in ran[0].result.reason


def test_ctrl_c_ends_pytest_harness_soon_and_leaves_no_process(tmp_path: Path) -> None:
    checkout = copy_of_the_checkout(tmp_path)
    (checkout / "js" / "scenarios" / "aaa-endless.mjs").write_text(
        "import {writeFileSync} from 'node:fs';\n"
        f"export default async function* () {{ writeFileSync({str(tmp_path / 'here')!r}, ''); for (;;) ; }}\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "pytest", "harness", "-p", "no:cacheprovider", "--target", "tfjs", "-k", "endless"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    running = subprocess.Popen(
        command,
        cwd=checkout,
        env={**environment, "PYTHONPATH": str(checkout / "py")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        # Who is started in the background is to ignore it, and hands that on.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 120
    while not (tmp_path / "here").exists():
        assert time.monotonic() < deadline and running.poll() is None
        time.sleep(0.05)
    children = psutil.Process(running.pid).children(recursive=True)
    assert children
    running.send_signal(signal.SIGINT)
    said, _ = running.communicate(timeout=30)
    assert running.returncode == pytest.ExitCode.INTERRUPTED, said
    _, alive = psutil.wait_procs(children, timeout=10)
    assert alive == []

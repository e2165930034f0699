"""What breaks a page, or the browser, is the error of one scenario: the next one passes, and nothing is left behind."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from browsers import CPU, WEBGL, WEBGPU, Page, all_gone, chromium_as, needs_chromium, none_left, processes, renderer

from tensorledger.browser.chromium import VARIABLE
from tensorledger.cells.ahead import Ahead
from tensorledger.cells.cell import Cell, Ran, Settings
from tensorledger.environment.tree import tree
from tensorledger.scenarios.catalogue import all_scenarios
from tensorledger.targets.target import Target
from tensorledger.workers.log import Log
from tensorledger.workers.pool import Workers

pytestmark = needs_chromium

GOOD = "export default ({tf}) => { tf.ones([2]).dispose(); };\n"
WAITS = "export default async function* () { yield 'waits'; await new Promise(() => {}); }\n"


@pytest.fixture
def page(workers: Workers, tmp_path: Path) -> Page:
    return Page(workers, tmp_path)


@pytest.fixture
def next_passes(page: Page) -> Iterator[None]:
    """Whatever the test does, the next scenario passes."""
    yield
    after = page(GOOD, name="after.mjs")
    assert after.result.verdict == "pass", after.result.reason


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Make a folder of temporary files, with a short name: Chromium has a socket in it."""
    with tempfile.TemporaryDirectory(prefix="tl") as folder:
        monkeypatch.setenv("TMPDIR", folder)
        yield Path(folder)


def broken(ran: Ran) -> tuple[str, str]:
    """Return the type and the message of a cell's error."""
    assert ran.result.verdict == "error" and ran.result.error is not None, ran.result.reason
    return ran.result.error.type, ran.result.error.message


# --- what a scenario does wrong


def test_a_throw_tells_its_type_message_file_and_line(page: Page, tmp_path: Path) -> None:
    ran = page("""\
        const inner = () => {
          throw new RangeError('out of range');
        };
        export default async function* () {
          yield 'made';
          inner();
        }
        """)
    assert broken(ran) == ("RangeError", "out of range")
    assert ran.result.error is not None
    first = ran.result.error.stack[0]
    assert (first.function, first.file, first.line) == ("inner", str(tmp_path / "scenario.mjs"), 2)
    assert ran.result.error.checkpoint == "made"


def test_a_syntax_error_is_told(page: Page) -> None:
    kind, message = broken(page("export default () => {\n  const x = = 3;\n};\n"))
    assert kind == "SyntaxError" and "Unexpected token '='" in message


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("Promise.reject(new RangeError('left alone'));", "RangeError"),
        (
            "setTimeout(() => { throw new TypeError('left alone'); }); await new Promise(r => setTimeout(r, 50));",
            "TypeError",
        ),
    ],
)
def test_what_nobody_catches_is_told(page: Page, source: str, said: str) -> None:
    assert broken(page(f"export default async () => {{ {source} }};\n")) == (said, "left alone")


@pytest.mark.usefixtures("next_passes")
def test_a_page_that_never_stops_computing_is_ended_within_the_limit(page: Page) -> None:
    started = time.monotonic()
    ran = page("export default function* () { yield 'here'; for (;;); }\n", limit=2.0)
    kind, message = broken(ran)
    assert kind == "WorkerHung" and "no answer within 2 s after checkpoint 'here'" in message
    assert time.monotonic() - started < 30
    assert ran.result.error is not None and ran.result.error.checkpoint == "here"


@pytest.mark.usefixtures("next_passes")
@pytest.mark.parametrize(
    ("does", "said"),
    [
        ("location.href = 'about:blank';", "the page went to another address, or was loaded again"),
        ("location.reload();", "the page went to another address, or was loaded again"),
        ("tensorledgerTell('{');", "the page told '{'"),
        ("tensorledgerTell('[1]');", "nothing that a worker says"),
        ("tensorledgerTell(JSON.stringify({line: '\\ud800'}));", "surrogates not allowed"),
        ("tensorledgerTell(JSON.stringify({line: 'what?'}));", "not a message"),
    ],
)
def test_a_page_that_leaves_or_says_what_is_not_agreed_is_told_at_once(page: Page, does: str, said: str) -> None:
    started = time.monotonic()
    ran = page(f"export default async function* () {{ yield 'here'; {does} await new Promise(() => {{}}); }}\n")
    kind, message = broken(ran)
    assert kind in ("WorkerDied", "WorkerBroken") and said in message and "after checkpoint 'here'" in message
    assert time.monotonic() - started < 50, "before the time limit"


@pytest.mark.parametrize(
    "does",
    [
        "alert('hello'); confirm('sure?'); prompt('name?');",
        "location.hash = '#elsewhere'; history.pushState({}, '', '?there'); await new Promise(r => setTimeout(r, 50));",
        "document.write('<p>another document'); document.close();",
        "window.open('about:blank');",
        "window.close();",
        "document.body.innerHTML = '<iframe src=\"about:blank\">'; await new Promise(r => setTimeout(r, 50));",
    ],
)
def test_a_page_may_do_what_pages_do(page: Page, does: str) -> None:
    ran = page(f"export default async function* () {{ yield 'here'; {does} yield 'there'; }}\n")
    assert ran.result.verdict == "pass", ran.result.reason


@pytest.mark.usefixtures("next_passes")
def test_a_page_that_prints_without_end_is_stopped(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tensorledger.workers.process.Log", lambda kill: Log(kill, flood=2**20))
    ran = page(
        "export default async function* () { yield 'here'; for (;;) console.log('x'.repeat(10000)); }\n", limit=50.0
    )
    kind, message = broken(ran)
    assert kind == "WorkerFlooded" and "printed without end and was stopped after checkpoint 'here'" in message


# --- what ends from outside


def while_it_waits(page: Page, act: Callable[[], object], source: str = WAITS, target: Target = CPU) -> Ran:
    """Run a scenario that waits, and do something as soon as it does."""

    def reached(cycle: int, name: str) -> None:
        if not acted:
            acted.append(name)
            act()

    acted: list[str] = []
    return page(source, target=target, reached=reached)


@pytest.mark.usefixtures("next_passes")
def test_a_page_that_crashes_is_the_error_of_its_scenario_alone(page: Page) -> None:
    page(GOOD)  # so that there is no page but the one
    (browser,) = processes("browser")
    kind, message = broken(while_it_waits(page, lambda: renderer().kill()))
    assert kind == "WorkerDied"
    assert "the page crashed after checkpoint 'waits'" in message
    assert processes("browser") == [browser], "the browser goes on"


def test_a_browser_that_is_killed_is_started_anew_once(page: Page) -> None:
    page(GOOD)
    (browser,) = processes("browser")
    kind, message = broken(while_it_waits(page, browser.kill))
    assert kind == "WorkerDied"
    assert "the browser crashed" in message or "its browser is gone" in message
    assert "after checkpoint 'waits'" in message
    assert page(GOOD).result.verdict == "pass"
    (another,) = processes("browser")
    assert another.pid != browser.pid
    assert page(GOOD).result.verdict == "pass"
    assert processes("browser") == [another], "one for a run, again"


def test_a_gpu_process_that_is_killed_costs_one_scenario(page: Page) -> None:
    def kill() -> None:
        for process in processes("gpu-process"):
            process.kill()

    ran = while_it_waits(page, kill, target=WEBGL)
    assert broken(ran)[0] == "WorkerDied" and "the WebGL context was lost" in ran.result.reason
    after = page(GOOD, target=WEBGL)
    assert after.result.verdict == "pass", after.result.reason


def test_a_browser_that_hangs_is_replaced_and_leaves_nothing(
    tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = set(processes("browser"))
    with Workers() as workers:
        page = Page(workers, tmp_path)
        page(GOOD)
        (browser,) = set(processes("browser")) - others
        patience = iter([1.0])
        monkeypatch.setattr(
            "tensorledger.workers.process._soon", lambda wait=0.0: time.monotonic() + wait + next(patience, 60.0)
        )
        browser.suspend()
        try:
            ran = page(GOOD)
        finally:
            browser.resume()
        assert ran.result.verdict == "pass", ran.result.reason
        assert all_gone([browser]) == []
    assert none_left(temporary) == []


# --- what is left behind


def test_a_pool_that_is_closed_leaves_no_process_no_port_and_no_profile(tmp_path: Path, temporary: Path) -> None:
    others = set(processes())
    with Workers() as workers:
        page = Page(workers, tmp_path)
        page("export default () => { console.log(location.href); };\n")
        mine = [process for process in processes() if process not in others]
        assert len(mine) > 3
        lasting = [process for kind in ("stem", "driver", "browser") for process in processes(kind) if process in mine]
        listening = [found for process in lasting for found in process.net_connections() if found.status == "LISTEN"]
        ports = {found.laddr.port for found in listening}
        assert len(ports) == 1, "the one that files come from"
        assert none_left(temporary, 0.0)
    assert all_gone(mine) == []
    assert none_left(temporary) == []
    for port in ports:
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port), timeout=5)


KILLED = """
import sys
from pathlib import Path
from browsers import Page
from tensorledger.workers.pool import Workers

Page(Workers(), Path(sys.argv[1]))(sys.argv[2], reached=lambda cycle, name: print(name, flush=True))
"""


@pytest.mark.parametrize("killed", ["harness", "stem"])
def test_nothing_is_left_when_the_harness_or_the_stem_is_killed(tmp_path: Path, temporary: Path, killed: str) -> None:
    paths = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
    busy = "export default function* () { yield 'here'; for (;;); }\n"
    harness = subprocess.Popen(
        [sys.executable, "-c", KILLED, tmp_path, busy],
        env={**os.environ, "PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert harness.stdout is not None and harness.stdout.readline() == "here\n"
    those = processes(of=harness.pid)
    assert len(those) > 3
    if killed == "harness":
        harness.kill()
    else:
        next(process for process in those if "tensorledger.browser.stem" in process.cmdline()).kill()
    assert all_gone(those) == []
    assert none_left(temporary) == []
    harness.kill()
    harness.wait()


def test_ctrl_c_ends_a_run_soon_and_leaves_nothing(
    tmp_path: Path,
    temporary: Path,
    command_line: Callable[..., subprocess.Popen[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(tree() / "py"))
    for number in range(20):
        (tmp_path / f"good{number}.mjs").write_text(GOOD, encoding="utf-8")
    running = command_line(tmp_path, "run", *(f"good{number}.mjs" for number in range(20)), "--target", str(CPU))
    assert running.stdout is not None
    assert "pass" in running.stdout.readline()
    those = processes(of=running.pid)
    assert len(those) > 3
    running.send_signal(signal.SIGINT)
    said, _ = running.communicate(timeout=60)
    assert running.returncode == 130, said
    assert "interrupted after" in said and "Traceback" not in said
    assert all_gone(those) == []
    assert none_left(temporary) == []


def test_a_pool_that_was_stopped_opens_no_browser_again(tmp_path: Path) -> None:
    others = set(processes())
    workers = Workers()
    workers.stop()
    ran = Page(workers, tmp_path)(GOOD)
    assert broken(ran) == ("WorkerNotStarted", "the run is over")
    assert set(processes()) == others


# --- several at once


def test_cells_of_all_targets_in_a_browser_run_one_after_another(monkeypatch: pytest.MonkeyPatch) -> None:
    at_once, most = [0], [0]
    began: list[Cell] = []

    def runs(cell: Cell, workers: Workers, settings: Settings) -> Ran:
        at_once[0] += 1
        most[0] = max(most[0], at_once[0])
        began.append(cell)
        time.sleep(0.05)
        at_once[0] -= 1
        return Ran(cell, result=None)  # type: ignore[arg-type]

    monkeypatch.setattr("tensorledger.cells.ahead.run_cell", runs)
    scenarios = [all_scenarios()[name] for name in ("create-dispose", "predict-dispose")]
    listed = [Cell(scenario, target) for target in (CPU, WEBGL) for scenario in scenarios]
    ahead = Ahead(listed, Workers(), Settings(), jobs=4)
    for cell in listed:
        ahead.run(cell)
    ahead.stop()
    assert began == listed and most == [1]


def test_threads_share_one_browser(tmp_path: Path) -> None:
    others = set(processes("browser"))
    with Workers() as workers:
        page = Page(workers, tmp_path)
        # Not threads that end with their cell: a process ends with the thread that started it.
        with ThreadPoolExecutor(2) as threads:
            ran = list(threads.map(lambda target: page("create-dispose", target=target), (CPU, WEBGL)))
            assert [found.result.verdict for found in ran] == ["pass", "pass"], [found.result.reason for found in ran]
            assert len(set(processes("browser")) - others) == 1


# --- browsers that do not do


def test_a_chromium_that_exits_at_once_is_an_error_with_what_it_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = chromium_as(tmp_path, "echo cannot open the display >&2; exit 3\n")
    monkeypatch.setenv(VARIABLE, str(program))
    with Workers() as workers:
        kind, message = broken(Page(workers, tmp_path)(GOOD))
    assert kind == "WorkerNotStarted" and f"opening a page in {program} failed" in message
    assert "cannot open the display" in message


def test_a_browser_without_a_webgpu_adapter_is_a_skip_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = chromium_as(
        tmp_path,
        """
        for flag in "$@"; do
          case $flag in
            --enable-unsafe-webgpu | --use-webgpu-adapter=* | --use-vulkan=* | --enable-features=*) ;;
            *) flags+=("$flag") ;;
          esac
        done
        exec "$CHROMIUM" "${flags[@]}"
        """,
    )
    monkeypatch.setenv(VARIABLE, str(program))
    with Workers() as workers:
        page = Page(workers, tmp_path)
        ran = page(GOOD, target=WEBGPU)
        assert ran.result.verdict == "skip", ran.result.reason
        assert "this browser has no WebGPU adapter" in ran.result.reason
        assert page(GOOD).result.verdict == "pass", "the others run"

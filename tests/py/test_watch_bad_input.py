"""What ``tensorledger watch`` says of pages and actions that cannot be judged, and of what it needs and has not."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from watched import GO, PAGES, Site, command, run, served

from tensorledger.browser.chromium import ChromiumMissing, chromium
from tensorledger.environment.packages import modules
from tensorledger.environment.tree import is_checkout

try:
    chromium()
except ChromiumMissing as missing:
    pytest.skip(str(missing), allow_module_level=True)
pytestmark = pytest.mark.skipif(not is_checkout(), reason="the pages are in a checkout")

AWAY = {
    "elsewhere": ("page.goto(page.url.replace('script', 'bad') + 'nothing.html')", "it went to"),
    "reloaded": ("page.reload()", "it was loaded anew"),
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Serve the pages that need no bundler."""
    folder = tmp_path_factory.mktemp("site")
    for name in ("bad", "script"):
        (folder / name).symlink_to(PAGES / name)
    (folder / "tf-4.22.0.js").symlink_to(modules() / "tfjs-4.22.0" / "dist" / "tf.min.js")
    with served(folder) as found:
        yield found


@pytest.fixture
def go(tmp_path: Path) -> Path:
    file = tmp_path / "go.py"
    file.write_text(GO, encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("page", "kind", "said"),
    [
        (
            "bad/nothing.html",
            "NoTensorFlow",
            "there is no TensorFlow.js on the page: looked for an engine on the global",
        ),
        ("bad/never.html", "NeverLoads", "the page did not load within 3 s: something that it loads did not come"),
        ("hangs", "NeverLoads", "the page did not load within 3 s: the server did not answer"),
        ("bad/away.html", "NavigatedAway", "the page went away by itself, to http://localhost:"),
        ("missing.html", "NotLoaded", "the server answered 404"),
    ],
)
def test_a_page_that_cannot_be_judged(site: Site, go: Path, page: str, kind: str, said: str) -> None:
    found = run(f"{site.url}/{page}", go, "--timeout", "3", rounds=1)
    assert found.status == 2, found.text
    assert (found.json["verdict"], found.json["error"]["type"]) == ("error", kind)
    assert said in found.text


def test_a_page_that_nobody_serves(site: Site, go: Path) -> None:
    found = run("http://127.0.0.1:9/", go)
    assert found.status == 2
    assert "http://127.0.0.1:9/ cannot be loaded: net::ERR_" in found.text


def test_a_page_that_throws_while_it_is_loaded_is_judged_and_its_error_is_told(site: Site, go: Path) -> None:
    found = run(f"{site.url}/bad/throws.html", go, rounds=1)
    assert found.status == 0, found.text
    (error,) = found.json["page_errors"]
    assert error["message"].startswith("TypeError: Cannot read properties of null")
    assert (error["url"], error["line"]) == (f"{site.url}/bad/throws.html", 5)
    assert "the page threw: TypeError" in found.text


def test_a_page_that_fails_for_want_of_a_webgpu_adapter_is_told_with_its_own_error(site: Site, go: Path) -> None:
    found = run(f"{site.url}/bad/adapter.html", go, "--timeout", "3", rounds=1)
    assert (found.status, found.json["error"]["step"]) == (2, "action"), found.text
    assert "the page threw: TypeError: Cannot read properties of null (reading 'requestDevice')" in found.text


def test_a_script_that_comes_to_no_end_is_told(site: Site, tmp_path: Path) -> None:
    file = tmp_path / "hang.py"
    file.write_text("def action(page):\n    page.click('#go', no_wait_after=True)\n", encoding="utf-8")
    found = run(f"{site.url}/bad/busy.html", file, "--timeout", "3", rounds=1)
    assert found.status == 2, found.text
    assert "does not answer within 3 s: its script is busy" in found.text or "Timeout 3000ms" in found.text


@pytest.mark.parametrize("how", AWAY)
def test_an_action_that_leaves_the_page_is_told_where_it_went(site: Site, tmp_path: Path, how: str) -> None:
    does, said = AWAY[how]
    file = tmp_path / "away.py"
    file.write_text(f"def action(page):\n    {does}\n\ndef back(page):\n    pass\n", encoding="utf-8")
    found = run(f"{site.url}/script/", file, rounds=1)
    assert (found.status, found.json["error"]["type"]) == (2, "NavigatedAway"), found.text
    assert found.json["error"]["step"] == "action"
    assert said in found.text
    assert "a document that is gone has given back its memory" in found.text


def test_an_action_may_change_the_pages_url_and_nothing_else_is_asked_for(site: Site, tmp_path: Path) -> None:
    file = tmp_path / "route.py"
    file.write_text(
        "def action(page):\n    page.evaluate(\"history.pushState(null, '', '/other?' + Math.random())\")\n"
        "    page.click('#go')\n",
        encoding="utf-8",
    )
    site.asked.clear()
    found = run(f"{site.url}/script/?leaks=yes", file, rounds=2)
    assert (found.status, found.growth) == (1, [1]), found.text
    assert set(site.asked) - {"/favicon.ico"} == {"/script/?leaks=yes", "/tf-4.22.0.js"}


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.py", "def back(page):\n    pass\n", "has no function named action; it has back"),
        ("a.py", "def action(page:\n", "(line 1): SyntaxError"),
        ("a.py", "import nothing_of_this_name\n\ndef action(page): ...\n", "(line 1): ModuleNotFoundError"),
        ("a.py", "import os\nos._exit(3)\n", "ended or stopped the process that loads it"),
        ("a.mjs", "export const setup = () => {};\n", "has no function named action; it has setup"),
        ("a.mjs", "export const action = ;\n", "SyntaxError"),
        ("a.txt", "", "an action file ends in one of .py, .mjs"),
    ],
)
def test_an_action_file_that_cannot_be_used(site: Site, tmp_path: Path, name: str, text: str, said: str) -> None:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    found = run(f"{site.url}/script/", file)
    assert found.status == 2
    assert said in found.text
    assert "Traceback" not in found.text


def test_usage(go: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without = subprocess.run([*command("http://127.0.0.1:9/", go)[:5]], capture_output=True, text=True)
    assert without.returncode == 2
    assert "--action FILE says what is repeated on the page; a file that would do" in without.stderr
    assert "is no whole URL" in run("localhost:3000", go).text
    monkeypatch.setenv("TENSORLEDGER_CHROMIUM", "no-such-browser")
    found = run("http://127.0.0.1:9/", go)
    assert found.status == 2
    assert "TENSORLEDGER_CHROMIUM names no-such-browser, which is no program" in found.text
    monkeypatch.setenv("TENSORLEDGER_CHROMIUM", "/bin/false")
    found = run("http://127.0.0.1:9/", go)
    assert found.status == 2
    assert "Chromium at /bin/false did not start" in found.text


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_no_process_and_no_profile(site: Site, tmp_path: Path, how: signal.Signals) -> None:
    file = tmp_path / "slow.py"
    file.write_text(f"import time\n{GO}    time.sleep(60)\n", encoding="utf-8")
    with tempfile.TemporaryDirectory(prefix="tl-") as folder:  # tmp_path is too long for Chromium's sockets
        _interrupted(site, file, Path(folder), how)


def _interrupted(site: Site, file: Path, folder: Path, how: signal.Signals) -> None:
    process = subprocess.Popen(
        command(f"{site.url}/script/", file),
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(folder)},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # who started the tests may ignore it
    )
    deadline = time.monotonic() + 60
    while not any("type=renderer" in " ".join(child.cmdline()) for child in _children(process.pid)):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    children = _children(process.pid)
    process.send_signal(how)
    assert process.wait(30) == 130
    assert process.stdout is not None
    assert "interrupted; the browser is closed" in process.stdout.read()
    gone, alive = psutil.wait_procs(children, timeout=10)
    assert not alive
    assert len(gone) == len(children) > 2
    assert [path.name for path in folder.iterdir() if not path.name.startswith("playwright-")] == []


def _children(pid: int) -> list[psutil.Process]:
    found = []
    for child in psutil.Process(pid).children(recursive=True):
        try:
            child.cmdline()
        except psutil.Error:
            continue
        found.append(child)
    return found

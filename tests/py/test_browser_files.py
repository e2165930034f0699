"""What targets in a browser need that takes none: files over HTTP, where Chromium is, and which cells there are."""

from __future__ import annotations

import importlib.util
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from outcomes import CHECKOUT, pytest_harness

from tensorledger.browser import chromium as chromiums
from tensorledger.browser.chromium import VARIABLE, ChromiumMissing, chromium
from tensorledger.browser.files import Files
from tensorledger.cells.cell import Cell, Settings, cells, run_cell
from tensorledger.environment.checks import checks
from tensorledger.scenarios.catalogue import all_scenarios, find
from tensorledger.targets.catalogue import resolve
from tensorledger.workers.pool import Workers

# --- files


@pytest.fixture(scope="module")
def files() -> Files:
    return Files()


def get(address: str) -> tuple[int, str | None, bytes]:
    """Return the status, the type and the content of what is at an address."""
    try:
        with urllib.request.urlopen(address, timeout=10) as answer:
            return answer.status, answer.headers["Content-Type"], answer.read()
    except urllib.error.HTTPError as error:
        return error.code, None, error.read()


@pytest.mark.parametrize("name", ["plain.mjs", "a b.mjs", "50%20 off.mjs", "what? #1 & more.mjs", "ünïcödé 日本.mjs"])
def test_a_file_is_served_by_its_whole_path_whatever_its_name(files: Files, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("export default 'ü';\n", encoding="utf-8")
    assert get(f"{files.base}{quote(str(tmp_path / name))}") == (
        200,
        "text/javascript; charset=utf-8",
        "export default 'ü';\n".encode(),
    )


@pytest.mark.parametrize(
    ("name", "said"),
    [("model.json", "application/json"), ("b.wasm", "application/wasm"), ("weights.bin", "application/octet-stream")],
)
def test_a_file_says_what_it_is(files: Files, tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / name).write_bytes(b"\0")
    assert get(f"{files.base}{tmp_path / name}")[1] == said


@pytest.mark.parametrize("address", ["{host}{path}", "{host}/guess{path}", "{host}/", "{host}", "{base}x{path}"])
def test_who_does_not_know_the_token_gets_nothing(files: Files, tmp_path: Path, address: str) -> None:
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    host = files.base.rpartition("/")[0]
    asked = address.format(host=host, base=files.base, path=tmp_path / "secret.txt")
    status, _, content = get(asked)
    assert status == 403 and b"secret" not in content.replace(str(tmp_path).encode(), b"")


@pytest.mark.parametrize("path", ["/nowhere/at-all.mjs", "", "/", "/%00", "/tmp/%FF"])
def test_what_is_no_file_is_not_found(files: Files, path: str) -> None:
    assert get(files.base + path)[0] == 404


def test_files_are_served_to_this_machine_alone(files: Files) -> None:
    assert files.base.startswith("http://127.0.0.1:")


# --- where Chromium is


def told(target: str, tmp_path: Path) -> tuple[str, str]:
    """Return the verdict and the reason of a cell on a target."""
    (tmp_path / "good.mjs").write_text("export default () => {};\n", encoding="utf-8")
    (chosen,) = resolve([target])
    with Workers() as workers:
        result = run_cell(Cell(find(str(tmp_path / "good.mjs")), chosen), workers, Settings(cycles=1)).result
    return result.verdict, result.reason


def as_if_playwright_were(there: bool, patch: pytest.MonkeyPatch) -> None:
    """Make as if it were installed, or were not."""
    really = importlib.util.find_spec

    def find_spec(name: str, *rest: Any) -> Any:
        if name != "playwright":
            return really(name, *rest)
        return object() if there else None

    patch.setattr(importlib.util, "find_spec", find_spec)


def test_without_playwright_the_target_is_a_skip_with_the_command_that_mends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_if_playwright_were(False, monkeypatch)
    verdict, reason = told("tfjs/webgl", tmp_path)
    assert verdict == "skip" and "pip install 'tensorledger[browser]'" in reason


def test_a_chromium_that_is_named_and_not_there_is_a_skip_that_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_if_playwright_were(True, monkeypatch)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "nothing"))
    verdict, reason = told("tfjs/cpu+browser", tmp_path)
    assert verdict == "skip"
    assert f"{VARIABLE} names {tmp_path / 'nothing'}, which is no program; apt-get install chromium" in reason


def test_where_there_is_no_chromium_that_is_a_skip_with_the_command_that_mends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_if_playwright_were(True, monkeypatch)
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(chromiums, "NAMES", ("no-such-chromium",))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    verdict, reason = told("tfjs/webgpu", tmp_path)
    assert verdict == "skip" and "Chromium was not found; apt-get install chromium" in reason
    own = tmp_path / "chromium-1234" / "chrome-linux" / "chrome"
    own.parent.mkdir(parents=True)
    own.touch()
    assert chromium() == own, "what Playwright has downloaded itself"


def test_doctor_tells_of_chromium_and_finds_nothing_wrong_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check() -> tuple[bool, str, str]:
        (found,) = (check for check in checks() if check.name == "chromium")
        assert found.optional
        return found.well, found.found, found.mend

    as_if_playwright_were(True, monkeypatch)
    program = tmp_path / "my-chromium"
    program.touch(mode=0o755)
    monkeypatch.setenv(VARIABLE, str(program))
    assert check() == (True, f"{program}", "")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "nothing"))
    with pytest.raises(ChromiumMissing) as missing:
        chromium()
    assert check() == (False, *str(missing.value).split("; ", 1))


# --- which cells there are


def names(target: str) -> set[str]:
    return {cell.scenario.name for cell in cells(list(all_scenarios().values()), resolve([target]))}


def test_scenarios_of_a_folder_give_cells_on_its_targets_alone() -> None:
    found = {target: names(target) for target in ("tfjs/cpu", "tfjs/cpu+browser", "tfjs/webgl", "tfjs/webgpu", "keras")}
    for target, those in found.items():
        assert ("browser/views" in those) == (target not in ("tfjs/cpu", "keras")), target
        assert ("webgl/textures-recycled" in those) == (target == "tfjs/webgl"), target
    assert "create-dispose" in found["tfjs/cpu"] & found["tfjs/webgl"]


@pytest.mark.parametrize(
    ("arguments", "collected"),
    [
        (("harness/expectations/browser/views.toml",), {"browser/views"}),
        (("harness/expectations/webgl",), {"webgl/textures-deleted", "webgl/textures-recycled"}),
        (("harness", "-k", "textures-deleted or indexeddb"), {"webgl/textures-deleted", "browser/indexeddb"}),
    ],
)
def test_pytest_harness_collects_what_it_is_asked_for_in_folders_too(
    arguments: tuple[str, ...], collected: set[str]
) -> None:
    run = pytest_harness(
        CHECKOUT, *arguments[1:], "--collect-only", "-q", "--target", "tfjs/webgl", folder=arguments[0]
    )
    assert run.returncode == 0, run.stdout + run.stderr
    found = [line.rpartition("::")[2] for line in run.stdout.splitlines() if "::" in line]
    (webgl,) = resolve(["tfjs/webgl"])
    assert sorted(found) == sorted(f"{name}[{webgl}]" for name in collected)

"""``tensorledger watch`` names the line that leaks on pages as people ship them, and is silent where none does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from watched import GO, PAGES, TOGGLE, Run, Site, bundle, line_of, run, served

from tensorledger.browser.chromium import ChromiumMissing, chromium
from tensorledger.environment.tree import is_checkout

try:
    chromium()
except ChromiumMissing as missing:
    pytest.skip(str(missing), allow_module_level=True)
pytestmark = pytest.mark.skipif(not is_checkout(), reason="the pages are in a checkout")

Watch = Callable[..., Run]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Serve all pages, bundled."""
    folder = tmp_path_factory.mktemp("site")
    bundle(folder)
    with served(folder) as found:
        yield found


@pytest.fixture
def watch(site: Site, tmp_path: Path) -> Watch:
    """Watch a page of the site; the action is Python unless it is named otherwise."""

    def watching(page: str, action: str, *options: str, name: str = "action.py", rounds: int = 2) -> Run:
        file = tmp_path / name
        file.write_text(action, encoding="utf-8")
        return run(f"{site.url}/{page}", file, *options, rounds=rounds)

    return watching


# --- pages that leak, and their twins


def test_a_react_view_that_leaks_is_told_with_its_lines_under_a_content_security_policy(watch: Watch) -> None:
    found = watch("react-leaks/", TOGGLE)
    assert found.status == 1, found.text
    source = PAGES / "react" / "Classifier.jsx"
    model, scores = line_of(source, "const model ="), line_of(source, "const scores =")
    assert [line.rpartition("tests/pages/")[2] for line in found.lines] == [
        f"react/Classifier.jsx:{model}",
        f"react/Classifier.jsx:{scores}",
    ]
    assert f"each round leaves 3 tensors, {4 * (12 + 3 + 3)} bytes in the page" in found.text
    assert "> const scores = model.predict(x);" in found.text
    (engine,) = found.json["engines"]
    assert (engine["release"], engine["backend"]) == ("4.22.0", "cpu")
    assert [level["tensors"] for level in engine["rounds"]] == [3, 6, 9]
    kernel = engine["leaks"][0]
    assert (kernel["count"], kernel["shape"], kernel["rounds"]) == (2, [4, 3], {"1": 1, "2": 1})
    assert "Content-Security-Policy" in (PAGES / "react" / "index.html").read_text(encoding="utf-8")


def test_its_twin_that_disposes_is_silent(watch: Watch) -> None:
    found = watch("react-clean/", TOGGLE)
    assert (found.status, found.json["verdict"], found.growth) == (0, "pass", [0]), found.text
    assert "made at" not in found.text


def test_a_minified_script_is_traced_by_its_map_and_the_gpu_is_read(watch: Watch) -> None:
    found = watch("bundled-leaks/", GO)
    assert found.status == 1, found.text
    (line,) = found.lines
    source = PAGES / "bundled" / "normalized.mjs"
    assert line.endswith(f"tests/pages/bundled/normalized.mjs:{line_of(source, 'tf.tidy(')}")
    (engine,) = found.json["engines"]
    assert engine["backend"] == "webgl"
    assert (engine["growth"]["tensors"], engine["growth"]["bytes"], engine["growth"]["gpu"]) == (1, 16384, 16384)
    assert engine["leaks"][0]["reachable"] is False
    assert "main.mjs" in engine["leaks"][0]["stack"][1]["file"]


def test_without_a_map_places_are_those_of_the_bundle(watch: Watch) -> None:
    found = watch("bundled-leaks/unmapped.html", GO)
    assert found.status == 1, found.text
    (line,) = found.lines
    assert line.startswith("bundled-leaks/unmapped.js:")
    assert "made in a bundle without a source map, which has the library in it too" in found.text
    assert "no line of yours on the stack" not in found.text
    (place,) = (leak["stack"] for leak in found.json["engines"][0]["leaks"])
    assert len(place) > 1


def test_a_leak_in_a_classic_worker_alone(watch: Watch) -> None:
    found = watch("worker-leaks/?type=classic&leaks=yes", GO)
    assert found.status == 1, found.text
    assert found.lines == [f"worker-leaks/classic.js?leaks=yes:{line_of(PAGES / 'worker' / 'classic.js', 'square')}"]
    assert [engine["realm"]["kind"] for engine in found.json["engines"]] == ["worker"]
    assert watch("worker-leaks/?type=classic", GO).status == 0


@pytest.mark.parametrize("query", ["type=module", "type=module&script=minified.js", "type=classic&script=minified.js"])
def test_a_leak_in_a_bundled_worker_alone(watch: Watch, query: str) -> None:
    found = watch(f"worker-leaks/?{query}", GO)
    assert found.status == 1, found.text
    (line,) = found.lines
    assert line.endswith(f"tests/pages/worker/module.mjs:{line_of(PAGES / 'worker' / 'module.mjs', 'square')}")


def test_workers_that_are_never_ended_are_told_though_none_has_a_tensor_and_each_a_query(watch: Watch) -> None:
    found = watch("worker-leaks/?type=classic&anew&versions", GO)
    assert found.status == 1, found.text
    (engine,) = found.json["engines"]
    assert engine["grows"] == ["realms"]
    assert "each round leaves a worker that is not ended" in found.text


def test_frames_that_are_never_removed_are_told_together_though_each_has_another_path(watch: Watch) -> None:
    found = watch("frame/anew.html", GO)
    assert (found.status, found.growth) == (1, [1]), found.text
    (engine,) = found.json["engines"]
    assert engine["grows"] == ["tensors", "realms"]
    assert engine["realm"]["url"].endswith("/item/…")
    assert "each round leaves a frame that is not removed, 1 tensor, 20 bytes" in found.text
    assert found.lines == ["frame/item.html?number=2:7"]
    assert found.json["engines"][0]["leaks"][0]["rounds"] == {"1": 1, "2": 1}


def test_a_worker_that_ends_gives_back_what_it_leaks(watch: Watch) -> None:
    found = watch("worker-leaks/?type=classic&leaks=yes&ends", GO)
    assert found.status == 0, found.text
    assert (
        "2 rounds left nothing: each worker with TensorFlow.js had ended, and gave back all that it had" in found.text
    )


def test_a_leak_in_a_frame(watch: Watch) -> None:
    action = GO.replace("def action(page):\n", "def action(page):\n    page = page.frames[1]\n")
    found = watch("frame/", action)
    assert found.status == 1, found.text
    assert found.lines == [f"script/?leaks=yes:{line_of(PAGES / 'script' / 'index.html', 'x.matMul(x)')}"]
    assert found.json["engines"][0]["realm"]["kind"] == "frame"


def test_pages_that_the_action_opens_are_counted_from_their_first_tensor_on(watch: Watch) -> None:
    found = watch("frame/anew.html?opens=window", GO, rounds=3)
    assert found.status == 1, found.text
    assert [level["tensors"] for level in found.json["engines"][0]["rounds"]] == [1, 2, 3, 4]
    assert "each round leaves a page that is not closed, 1 tensor, 20 bytes" in found.text


def test_two_releases_at_once_are_told_engine_by_engine(watch: Watch) -> None:
    found = watch("releases/?leaks=both", GO)
    assert found.status == 1, found.text
    assert [engine["release"] for engine in found.json["engines"]] == ["0.15.3", "4.22.0"]
    assert found.growth == [1, 2]
    page = PAGES / "releases" / "page.js"
    old, new = line_of(page, "const a ="), line_of(page, "const b =")
    assert found.lines == [f"releases/page.js:{old}", f"releases/page.js:{new}"]
    other = watch("releases/?leaks=old", GO)
    assert [engine["grows"] for engine in other.json["engines"]] == [["tensors"], []]
    assert watch("releases/?leaks=none", GO).status == 0


@pytest.mark.parametrize(("kind", "status"), [("replaced", 0), ("cached", 0), ("second", 1)])
def test_what_is_replaced_or_cached_once_is_no_leak_and_every_second_round_is(
    watch: Watch, kind: str, status: int
) -> None:
    found = watch(f"script/?leaks={kind}", GO, rounds=5)
    assert found.status == status, found.text
    assert found.json["rounds"] == (5 if kind == "replaced" else 10)
    kept = "did not keep growing over 10 rounds: 1 tensor was left in all"
    assert (kept in found.text, "rounds left nothing" in found.text) == (kind == "cached", kind == "replaced")


def test_a_cache_that_is_still_filling_is_told_with_what_else_it_may_be(watch: Watch) -> None:
    found = watch("script/?leaks=latest", GO)
    assert (found.status, found.growth) == (1, [1]), found.text
    assert "still referred to: a cache that is still filling looks the same; --rounds 40 tells" in found.text


# --- actions


def test_an_action_in_javascript(watch: Watch) -> None:
    action = """\
        let count = 0;
        export const setup = page => page.waitForSelector('#go');
        export async function action(page) {
          await page.click('#go');
          count += 1;
          await page.waitForFunction(name => document.title === name, `round ${count}`);
        }
        """
    found = watch("script/?leaks=yes", action, name="action.mjs")
    assert found.status == 1, found.text
    assert found.lines == [f"script/?leaks=yes:{line_of(PAGES / 'script' / 'index.html', 'x.matMul(x)')}"]


def test_an_action_that_is_async(watch: Watch) -> None:
    action = GO.replace("def action", "async def action").replace("page.", "await page.")
    assert watch("script/?leaks=yes", action).status == 1
    mixed = watch("script/?leaks=yes", f"{action}\ndef back(page):\n    pass\n")
    assert mixed.status == 2
    assert "action is async and the rest is not" in mixed.text


def test_an_action_that_throws_in_a_round_is_told_with_its_line_and_the_rounds_before(watch: Watch) -> None:
    action = (
        f"{GO}    rounds.append(1)\n    if len(rounds) == 4:\n        raise RuntimeError('no more')\n\nrounds = []\n"
    )
    found = watch("script/?leaks=yes", action, rounds=5)
    assert (found.status, found.json["verdict"]) == (2, "error"), found.text
    error = found.json["error"]
    assert (error["type"], error["message"], error["round"], error["step"]) == ("RuntimeError", "no more", 3, "action")
    assert error["source"] == "raise RuntimeError('no more')"
    assert [level["tensors"] for level in found.json["engines"][0]["rounds"]] == [1, 2, 3]
    assert "action, round 3: no more" in found.text


def test_an_action_in_javascript_that_throws_is_told_with_its_line(watch: Watch) -> None:
    found = watch("script/", "export const action = () => {\n  throw new TypeError('broken');\n};\n", name="action.mjs")
    assert found.status == 2
    error = found.json["error"]
    assert (error["type"], error["message"], error["stack"][0]["line"]) == ("TypeError", "broken", 2)

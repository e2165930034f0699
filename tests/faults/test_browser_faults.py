"""Pages and the browser that break: each costs one scenario, and nothing is left."""

from __future__ import annotations

import random
import threading
import time

import psutil
import pytest
from place import Place

from tensorledger.browser.chromium import ChromiumMissing, chromium

try:
    chromium()
except ChromiumMissing as error:
    pytest.skip(str(error), allow_module_level=True)

SLOW = """\
export default async function* ({tf}) {
  const x = tf.ones([4]);
  yield 'made';
  await new Promise(done => setTimeout(done, 700));
  x.dispose();
}
"""


def kill(place: Place, kind: str, over: threading.Event) -> None:
    """Kill one process of the browser, of a kind as Chromium names it; the browser itself is of none."""
    while not over.wait(0.05):
        for process in place.processes():
            try:
                words = process.cmdline()
            except psutil.Error:
                continue
            if not any("remote-debugging" in word or word.startswith("--type=") for word in words):
                continue
            named = next((word.removeprefix("--type=") for word in words if word.startswith("--type=")), "browser")
            if named == kind:
                process.kill()
                return


@pytest.mark.parametrize("kind", ["renderer", "browser", "gpu-process"])
def test_a_process_of_the_browser_is_killed(place: Place, chance: random.Random, kind: str) -> None:
    names = [place.write(f"{number}.mjs", SLOW) for number in range(4)]
    over = threading.Event()

    def later() -> None:
        time.sleep(chance.uniform(2, 8))
        kill(place, kind, over)

    thread = threading.Thread(target=later)
    thread.start()
    target = "tfjs/webgl" if kind == "gpu-process" else "tfjs/cpu+browser"
    ended = place.run(*names, "-t", target, "--cycles", "3", "--timeout", "20")
    over.set()
    thread.join()
    verdicts = list(ended.verdicts().values())
    assert len(verdicts) == len(names) and set(verdicts) <= {"pass", "error"}, ended.output
    assert verdicts.count("error") <= 1, ended.output
    assert ended.status == (1 if "error" in verdicts else 0)


def test_a_page_crashes_itself(place: Place, chance: random.Random) -> None:
    """By memory, or for ever at work."""
    body = chance.choice(["for (;;);", "const all = []; for (;;) all.push(new Float64Array(2 ** 24).fill(1));"])
    bad = SLOW.replace("x.dispose();", f"{body}")
    names = [place.write("a.mjs", SLOW), place.write("bad.mjs", bad), place.write("b.mjs", SLOW)]
    ended = place.run(*names, "-t", "tfjs/cpu+browser", "--cycles", "3", "--timeout", "15")
    assert ended.verdicts() == {"a.mjs": "pass", "bad.mjs": "error", "b.mjs": "pass"}, ended.output

"""Makes the README's picture of a report: python docs/picture.py

The scenarios are run and reported, and what a browser shows of the report, with the leak opened, is the picture.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from tensorledger.browser.chromium import chromium

HERE = Path(__file__).resolve().parent
SCENARIO = """\
// A classifier that answers a request, and forgets the scores.
export default async function* ({tf, models, data, release}) {
  const model = models.classifier();
  yield 'created';
  const scores = model.predict(data.x);
  yield 'predicted';
  const best = tf.tidy(() => scores.argMax(1));
  await best.data();
  best.dispose();
  await release();
  yield 'released';
}
"""
NAMES = ["answer.mjs", "create-dispose", "load-predict-dispose", "predict-dispose", "save-load", "train-dispose"]
TARGETS = ["tfjs@0.15.3", "tfjs@1.7.4", "tfjs@2.8.6", "tfjs@3.21.0", "tfjs@4.22.0", "tfjs@4.22.0/wasm"]
SIZE = {"width": 1440, "height": 860}


def main() -> None:
    """Write pictures/report-light.png and report-dark.png."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "answer.mjs").write_text(SCENARIO, encoding="utf-8")
        targets = [word for target in TARGETS for word in ("--target", target)]
        _tensorledger(folder, "run", *NAMES, *targets, "--cycles", "10", "--json", "results.json")
        _tensorledger(folder, "report", "results.json", "-o", "report.html")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=str(chromium()))
            for scheme in ("light", "dark"):
                page = browser.new_page(viewport=SIZE, color_scheme=scheme)
                page.goto(f"file://{folder}/report.html#cell=answer.mjs%5Btfjs%404.22.0%2Fcpu%5D")
                page.wait_for_selector("svg")
                page.screenshot(path=str(HERE / "pictures" / f"report-{scheme}.png"))
            browser.close()


def _tensorledger(folder: str, *arguments: str) -> None:
    done = subprocess.run([sys.executable, "-m", "tensorledger", *arguments], cwd=folder, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(done.returncode)


if __name__ == "__main__":
    main()

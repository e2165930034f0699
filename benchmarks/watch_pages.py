"""How often `tensorledger watch` is right: each test page that leaks, and each clean one, so many times.

.venv/bin/python benchmarks/watch_pages.py [--times N]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import click

from tensorledger.environment.tree import tree

sys.path.insert(0, str(tree() / "tests" / "py"))
from watched import GO, PAGES, TOGGLE, bundle, line_of, run, served

IN_FRAME = GO.replace("def action(page):\n", "def action(page):\n    page = page.frames[1]\n")
LINES = {
    "react-leaks/": (TOGGLE, [("react/Classifier.jsx", "const model ="), ("react/Classifier.jsx", "const scores =")]),
    "react-clean/": (TOGGLE, []),
    "bundled-leaks/": (GO, [("bundled/normalized.mjs", "tf.tidy(")]),
    "worker-leaks/?type=classic&leaks=yes": (GO, [("worker/classic.js", "square")]),
    "worker-leaks/?type=classic": (GO, []),
    "worker-leaks/?type=module": (GO, [("worker/module.mjs", "square")]),
    "frame/": (IN_FRAME, [("script/index.html", "x.matMul(x)")]),
    "script/": (GO, []),
    "releases/?leaks=both": (GO, [("releases/page.js", "const a ="), ("releases/page.js", "const b =")]),
    "releases/?leaks=none": (GO, []),
}
"""Each page's action, and the files and lines that leak there; none of a clean one."""


def right(url: str, action: Path, lines: list[tuple[str, str]]) -> str:
    """Watch a page; return what is wrong with the answer, or nothing."""
    found = run(url, action)
    if found.status != (1 if lines else 0):
        return f"status {found.status}: {found.text}"
    wanted = sorted(f":{line_of(PAGES / file, line)}" for file, line in lines)
    said = sorted(f":{line.rpartition(':')[2]}" for line in found.lines)
    return "" if said == wanted else f"it names {found.lines}: {found.text}"


@click.command()
@click.option("--times", default=10, show_default=True, type=click.IntRange(min=1))
@click.option("--only", default="", help="Pages whose address has this in it.")
def main(times: int, only: str) -> None:
    """Say of each page how often the answer was right, and what it was where it was not."""
    with tempfile.TemporaryDirectory(prefix="tl-") as folder:
        bundle(Path(folder) / "site")
        action = Path(folder) / "action.py"
        with served(Path(folder) / "site") as site:
            for page, (text, lines) in LINES.items():
                if only not in page:
                    continue
                action.write_text(text, encoding="utf-8")
                wrong = [said for _ in range(times) if (said := right(f"{site.url}/{page}", action, lines))]
                kind = "leaks" if lines else "clean"
                click.echo(f"{page} ({kind}): right {times - len(wrong)} times of {times}")
                for said in wrong:
                    click.echo(f"  {said}")


if __name__ == "__main__":
    main()

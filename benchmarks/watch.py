"""Time to the verdict, and what it says: `tensorledger watch` beside memlab and fuite, on the same page and action.

.venv/bin/python benchmarks/watch.py [--repeats N] [--only NAME] [--json FILE]
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import click
import peer_answers
from findings import Aim, Findings, Table, hand_over, json_option
from machine import newer_node
from peer_answers import Answer, NoAnswer
from spread import spread

from tensorledger.browser.chromium import FLAGS, chromium
from tensorledger.environment.cache import cache_folder
from tensorledger.environment.tree import tree
from tensorledger.version import __version__

# The pages, and their server, are the tests'.
sys.path.insert(0, str(tree() / "tests" / "py"))
from watched import bundle, line_of, served

PEERS = {"memlab": "2.0.5", "fuite": "5.0.9"}
LINES = ("const model =", "const scores =")
"""Of tests/pages/react/Classifier.jsx: what leaks."""
SLOW = "memlab"
"""It takes most of a minute a page."""
PAGES = ("react-leaks", "react-clean")
AIM = 10
"""How many times faster than the others."""
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
class Watched:
    """One run of a tool on a page."""

    tool: str
    page: str
    seconds: float
    answer: Answer | None
    """None: it came to none, and ``problem`` says why."""
    lines: int = 0
    """How many of the lines that leak it names."""
    problem: str = ""


def peers(folder: Path) -> Path:
    """Return the folder with the other tools, installed without their scripts. Raises CalledProcessError."""
    wanted = [f"{name}@{version}" for name, version in PEERS.items()]
    mark = folder / "installed.json"
    if not mark.is_file() or json.loads(mark.read_text(encoding="utf-8")) != wanted:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text('{"private": true}\n', encoding="utf-8")
        npm = node().parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        command: list[str | Path] = [node(), npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", *wanted]
        path = os.pathsep.join([str(node().parent), os.environ["PATH"]])
        environment = {**os.environ, "PUPPETEER_SKIP_DOWNLOAD": "1", "PATH": path}
        subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, timeout=SECONDS)
        mark.write_text(json.dumps(wanted), encoding="utf-8")
    return folder


def node() -> Path:
    found = newer_node()
    if found is None:
        raise click.ClickException("memlab and fuite need a newer Node.js: pip install -e '.[dev]'")
    return found


def run(tool: str, page: str, url: str, folder: Path, others: Path, numbers: list[int]) -> Watched:
    """Run a tool on a page, from the start of its process to its end."""
    out = folder / "out.json"
    out.unlink(missing_ok=True)
    wrapper = folder / "chromium.sh"
    wrapper.write_text(f'#!/bin/sh\nexec {chromium()} {" ".join(FLAGS)} "$@"\n', encoding="utf-8")
    wrapper.chmod(0o755)
    modules = others / "node_modules"
    commands: dict[str, list[str | Path]] = {
        "watch": [sys.executable, "-m", "tensorledger", "watch", url, "--action", folder / "watch.mjs", "--json", out],
        "memlab": [node(), modules / "@memlab" / "cli" / "bin" / "memlab.js", "run", "--scenario",
                   folder / "memlab.cjs", "--chromium-binary", wrapper, "--work-dir", folder / "memlab"],
        "fuite": [node(), modules / "fuite" / "src" / "cli.js", url, "--scenario", folder / "fuite.mjs",
                  "--output", out],
    }  # fmt: skip
    environment = {**os.environ, "PAGE": url, "PUPPETEER_EXECUTABLE_PATH": str(wrapper)}
    began = time.monotonic()
    try:
        done = subprocess.run(commands[tool], env=environment, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired as error:
        return Watched(tool, page, SECONDS, None, problem=f"{tool} came to no answer on {page}: {error}")
    watched = Watched(tool, page, time.monotonic() - began, None)
    text = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", done.stdout + done.stderr)
    written = out.read_text(encoding="utf-8") if out.is_file() else ""
    try:
        answer = answered(tool, text, written, others)
    except NoAnswer as error:
        return replace(watched, problem=f"{tool} came to no answer on {page}, exit status {done.returncode}: {error}")
    named = sum(bool(re.search(rf"Classifier\.jsx:{number}\b", text)) for number in numbers)
    return replace(watched, answer=answer, lines=named)


def answered(tool: str, printed: str, written: str, others: Path) -> Answer:
    """Read a tool's answer. Raises NoAnswer."""
    if tool == "watch":
        return _watch(written)
    manifest = json.loads((others / "node_modules" / tool / "package.json").read_text(encoding="utf-8"))
    said = printed if tool == "memlab" else written
    answer: Answer = getattr(peer_answers, tool)(said, manifest["version"])
    return answer


def _watch(written: str) -> Answer:
    found = json.loads(written) if written else {"verdict": "error", "reason": "nothing was written"}
    if found["verdict"] == "error":
        raise NoAnswer(found["reason"])
    return Answer(__version__, found["verdict"] == "fail", found["reason"])


def turns(repeats: int, slow: int, only: str, folder: Path, others: Path) -> Iterator[Watched]:
    """Run all tools on both pages, in turn."""
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    bundle(folder / "site")
    source = tree() / "tests" / "pages" / "react" / "Classifier.jsx"
    numbers = [line_of(source, line) for line in LINES]
    with served(folder / "site") as site:
        for turn in range(repeats):
            tools = [tool for tool in ("watch", *PEERS) if only in tool and (tool != SLOW or turn < slow)]
            for page in PAGES:
                first = turn % len(tools)
                for tool in tools[first:] + tools[:first]:
                    yield run(tool, page, f"{site.url}/{page}/", folder, others, numbers)


def table(found: list[Watched]) -> Table:
    rows = []
    for tool, page in dict.fromkeys((one.tool, one.page) for one in found):
        own = [one for one in found if (one.tool, one.page) == (tool, page)]
        answers = [one.answer for one in own if one.answer is not None]
        seconds = spread(one.seconds for one in own)
        rows.append([
            f"{tool} {answers[0].version if answers else '?'}",
            page,
            f"{seconds.median:.1f}",
            f"{seconds.low:.1f} – {seconds.high:.1f}",
            f"{sum(answer.leaks for answer in answers)} of {len(answers)}",
            str(min(one.lines for one in own if one.answer is not None)) if answers else "",
            answers[-1].said if answers else "no answer",
            f"{len(own) - len(answers)} of {len(own)}" if len(answers) < len(own) else "",
        ])  # fmt: skip
    columns = ["tool", "page", "seconds", "quartiles", "says that it leaks", "of 2 lines it names", "says", "no answer"]
    return Table("seconds to the verdict, from the start of the process to its end", columns, rows)


def aims(found: list[Watched]) -> list[Aim]:
    """Of each peer: its seconds on a page, of those of watch in the same turn, where both came to an answer."""
    judged = []
    for tool in PEERS:
        pairs = []
        for page in PAGES:
            ours, theirs = ([one for one in found if (one.tool, one.page) == (name, page)] for name in ("watch", tool))
            pairs += [(own, other) for own, other in zip(ours, theirs, strict=False) if own.answer and other.answer]
        if pairs:
            times = spread(other.seconds / own.seconds for own, other in pairs)
            judged.append(Aim(f"times faster than {tool}", AIM, times, at_least=True))
    return judged


@click.command()
@click.option("--repeats", default=3, show_default=True, type=click.IntRange(min=1))
@click.option("--slow", default=3, show_default=True, type=click.IntRange(min=0), help=f"Of these, with {SLOW}.")
@click.option("--only", default="", help="Tools whose name has this in it.")
@json_option
def main(repeats: int, slow: int, only: str, json_file: Path | None) -> None:
    """Measure, and say what the aim is beside it."""
    others = peers(cache_folder() / "peers")
    found: list[Watched] = []
    with tempfile.TemporaryDirectory(prefix="tl-") as folder:
        for one in turns(repeats, slow, only, Path(folder), others):
            found.append(one)
            click.echo(f"{one.tool} {one.page} {one.seconds:.1f} s  {one.answer.said if one.answer else one.problem}")
    wrong = [one.problem for one in found if one.answer is None]
    hand_over(Findings([table(found)], aims(found), wrong, {"runs": [asdict(one) for one in found]}), json_file)


if __name__ == "__main__":
    main()

"""What the pytest plugin costs: a suite that does not use it, and tests of TensorFlow that do, beside pytest-memray.

.venv/bin/python benchmarks/pytest_plugin.py [--repeats N] [--json FILE]
"""

from __future__ import annotations

import importlib.util
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from pathlib import Path

import click
from findings import Aim, Findings, Table, hand_over, json_option
from peer_answers import NoAnswer, memray_measured
from spread import ratios, spread
from turns import in_turn

SUITES = Path(__file__).parent / "suites"
KNOWN = "held by TensorFlow's gradient registry"
BASE = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:randomly")
WITHOUT = ("-p", "no:tensorledger")
PEER = "pytest-memray"
MEMRAY = importlib.util.find_spec("pytest_memray") is not None


@dataclass(frozen=True)
class Way:
    """How a suite is run."""

    name: str
    options: tuple[str, ...]
    whole: bool = False
    """Whether start-up and imports count too, of the whole process; else what the tests take alone."""
    settings: str = ""
    """Of its ini file."""
    answers: bool = False
    """Whether it is a peer, which has to say that it looked."""


OFF = (*WITHOUT, *(("-p", "no:memray") if MEMRAY else ()))
ONLY_OURS = ("-p", "no:memray") if MEMRAY else ()
UNUSED = [Way("without", OFF, True), Way("installed, unused", ONLY_OURS, True), Way("without, again", OFF, True)]
USED = [
    Way("without", OFF),
    Way("every test held", ("--tensor-leaks=error", *ONLY_OURS), settings=f"tensor_leaks_ignore = {KNOWN}"),
    Way("without, again", OFF),
    *([Way(PEER, ("--memray", *WITHOUT), answers=True)] if MEMRAY else []),
]
TABLES = {
    "a suite without tensors: 2,000 quick tests, the whole process": ("plain/test_plain.py", UNUSED, 1.01),
    "a suite of TensorFlow's, unused: the whole process": ("tensorflow/test_models.py", UNUSED, 1.01),
    "tests of TensorFlow that use it": ("tensorflow/test_models.py", USED, 1.1),
    "training in graph mode, of which TensorFlow keeps something": ("tensorflow/test_training.py", USED, 1.1),
}


@dataclass(frozen=True)
class Spent:
    """The processor seconds of one run, and how many tests passed in it."""

    seconds: float
    passed: int
    told: int = 0
    """Of how many tests a peer told what it had found: its largest five, at most."""


def run(way: Way, suite: str) -> Spent:
    """Run a suite. Raises ClickException where a test fails, and NoAnswer where a peer did not look."""
    with tempfile.TemporaryDirectory(prefix="tensorledger-") as folder:
        spent, settings = Path(folder) / "spent", Path(folder) / "pytest.ini"
        settings.write_text(f"[pytest]\n{way.settings}\n", encoding="utf-8")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-m", "pytest", *BASE, "-c", str(settings), *way.options, str(SUITES / suite)]
        environment = os.environ | {"TENSORLEDGER_SPENT": str(spent), "TF_CPP_MIN_LOG_LEVEL": "3"}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            raise click.ClickException(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout[-3000:]}")
        whole = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        seconds = whole if way.whole else float(spent.read_text(encoding="utf-8"))
        passed = re.search(r"(\d+) passed", done.stdout)
        told = memray_measured(done.stdout) if way.answers else 0
        return Spent(seconds, int(passed[1]) if passed else 0, told)


def instructions(way: Way, suite: str) -> int:
    """Return how many instructions a run takes, as valgrind counts them: the same ones on a busy machine too."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", sys.executable, "-m", "pytest", *BASE]
    done = subprocess.run(
        [*command, *way.options, str(SUITES / suite)],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONHASHSEED": "0"},
        check=True,
    )
    counted = re.search(r"Collected : (\d+)", done.stderr)
    if counted is None:
        raise click.ClickException(f"valgrind counted nothing:\n{done.stderr[-2000:]}")
    return int(counted[1])


def measure(title: str, repeats: int, peer_repeats: int) -> tuple[Table, list[Aim], dict[str, list[float]]]:
    """Return a suite's table, aims and seconds, by turns. Raises NoAnswer."""
    suite, ways, limit = TABLES[title]
    runs = {way.name: partial(run, way, suite) for way in ways}
    next(iter(runs.values()))()  # one that is not counted
    found = in_turn(runs, min(repeats, peer_repeats), warm_up=0)
    runs.pop(PEER, None)
    for name, more in in_turn(runs, repeats - peer_repeats, warm_up=0).items():
        found[name] += more
    counts = {name: {one.passed for one in spent} for name, spent in found.items()}
    if len(set().union(*counts.values())) != 1:
        raise NoAnswer(f"{title}: not every way ran as many tests: {counts}")
    seconds = {name: [one.seconds for one in spent] for name, spent in found.items()}
    shares = {name: spread(ratios(spent, seconds["without"][: len(spent)])) for name, spent in seconds.items() if spent}
    rows = [
        [
            name,
            f"{spread(seconds[name]).median:.2f}",
            f"{share.median:.3f}",
            f"{share.low:.3f} – {share.high:.3f}",
            f"{min(seconds[name]) / min(seconds['without']):.3f}",
            str(share.runs),
        ]
        for name, share in shares.items()
    ]
    peer = found.get(PEER)
    note = f"What ran: {_version()}, which told the allocations of {peer[-1].told} tests, its largest." if peer else ""
    judged = ways[1].name
    aims = [Aim(f"{title}: {judged}", limit, shares[judged], twin=shares["without, again"])]
    columns = ["", "processor seconds", "ratio", "quartiles", "of the quickest", "runs"]
    return Table(f"{title}, {counts[judged].pop()} tests", columns, rows, note), aims, seconds


def _version() -> str:
    return f"{PEER} {metadata.version(PEER)}"


def count_instructions() -> None:
    if shutil.which("valgrind") is None:
        raise click.ClickException("valgrind is not here; it counts the instructions")
    without, installed = (instructions(way, "plain/test_plain.py") for way in UNUSED[:2])
    click.echo(f"{without:,} instructions without, {installed:,} installed and unused: {installed / without:.4f}")


@click.command()
@click.option("--repeats", default=10, show_default=True, type=click.IntRange(min=1))
@click.option(
    "--peer-repeats", default=10, show_default=True, type=click.IntRange(min=0), help=f"Of these, with {PEER}."
)
@click.option("--only", default="", help="Suites whose title has this in it.")
@click.option("--count", is_flag=True, help="Count the instructions of the suite without tensors instead: minutes.")
@json_option
def main(repeats: int, peer_repeats: int, only: str, count: bool, json_file: Path | None) -> None:
    """Measure what the plugin costs."""
    if count:
        count_instructions()
        return
    tables, aims, figures = [], [], {}
    wrong = [] if MEMRAY else ["pytest-memray is not installed: pip install -e '.[bench]'"]
    for title in [title for title in TABLES if only in title]:
        click.echo(title)
        try:
            table, own, figures[title] = measure(title, repeats, peer_repeats)
        except NoAnswer as error:
            wrong.append(str(error))
            continue
        tables.append(table)
        aims += own
    hand_over(Findings(tables, aims, wrong, figures), json_file)


if __name__ == "__main__":
    main()

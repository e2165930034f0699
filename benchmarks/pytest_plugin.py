"""What the pytest plugin costs: a suite that does not use it, and tests of TensorFlow that do, beside pytest-memray.

.venv/bin/python benchmarks/pytest_plugin.py [--repeats N] [--json FILE]
"""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

SUITES = Path(__file__).parent / "suites"
KNOWN = "held by TensorFlow's gradient registry"
BASE = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:randomly")
WITHOUT = ("-p", "no:tensorledger")
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


OFF = (*WITHOUT, *(("-p", "no:memray") if MEMRAY else ()))
ONLY_OURS = ("-p", "no:memray") if MEMRAY else ()
UNUSED = [Way("without", OFF, True), Way("installed, unused", ONLY_OURS, True), Way("without, again", OFF, True)]
USED = [
    Way("without", OFF),
    Way("every test held", ("--tensor-leaks=error", *ONLY_OURS), settings=f"tensor_leaks_ignore = {KNOWN}"),
    Way("without, again", OFF),
    *([Way("pytest-memray", ("--memray", *WITHOUT))] if MEMRAY else []),
]
TABLES = {
    "a suite without tensors: 2,000 quick tests, the whole process": ("plain/test_plain.py", UNUSED, 1.01),
    "a suite of TensorFlow's, unused: the whole process": ("tensorflow/test_models.py", UNUSED, 1.01),
    "tests of TensorFlow that use it": ("tensorflow/test_models.py", USED, 1.1),
    "training in graph mode, of which TensorFlow keeps something": ("tensorflow/test_training.py", USED, 1.1),
}


def run(way: Way, suite: str) -> float:
    """Return the processor seconds of one run."""
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
        if way.whole:
            return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return float(spent.read_text(encoding="utf-8"))


def measure(suite: str, ways: list[Way], repeats: int) -> dict[str, list[float]]:
    """Return the seconds of each way, turn by turn, in an order that turns too; the first turn is not counted."""
    seconds: dict[str, list[float]] = {way.name: [] for way in ways}
    for turn in range(-1, repeats):
        for way in ways[turn % len(ways) :] + ways[: turn % len(ways)]:
            found = run(way, suite)
            if turn >= 0:
                seconds[way.name].append(found)
    return seconds


@click.command()
@click.option("--repeats", default=10, show_default=True, type=click.IntRange(min=1))
@click.option("--only", default="", help="Suites whose title has this in it.")
@click.option("--json", "json_file", type=click.Path(path_type=Path, dir_okay=False))
def main(repeats: int, only: str, json_file: Path | None) -> None:
    """Measure, and say what the aims are beside it."""
    console = Console()
    console.print(f"Python {platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    if not MEMRAY:
        console.print("pytest-memray is not installed: pip install -e '.[bench]'")
    found = {}
    for title, (suite, ways, aim) in TABLES.items():
        if only not in title:
            continue
        seconds = found[title] = measure(suite, ways, repeats)
        table = Table(title=f"{title}; the aim: at most {aim}", title_justify="left")
        for column in ("", "seconds", "ratio", "quartiles", "of the quickest"):
            table.add_column(column, justify="left" if not column else "right")
        base = seconds["without"]
        for way, spent in seconds.items():
            ratios = sorted(one / other for one, other in zip(spent, base, strict=True))
            low, _, high = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
            table.add_row(
                way,
                f"{statistics.median(spent):.2f}",
                f"{statistics.median(ratios):.3f}",
                f"{low:.3f} – {high:.3f}",
                f"{min(spent) / min(base):.3f}",
            )
        console.print(table)
    if json_file is not None:
        json_file.write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()

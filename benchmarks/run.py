"""Runs the benchmarks one after another, within half an hour, and writes docs/benchmarks.json and docs/benchmarks.md.

python benchmarks/run.py                        all of them
python benchmarks/run.py --only growth …        some; of the others stays what was found last, on the same machine
python benchmarks/run.py --minutes 60           with twice the time for each, on a busy machine
python benchmarks/run.py --check                runs nothing; exit status 1 where the page is not what the data make
"""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import click
import documents
import findings
import msgspec
from documents import DATA, PAGE, SCHEMA, Document, Entry
from findings import Findings
from machine import machine

HERE = Path(__file__).resolve().parent
MINUTES = 30.0
GRACE = 20.0
"""Seconds that one which is interrupted has for ending its workers."""


@dataclass(frozen=True)
class Benchmark:
    """A file that is run, with what makes it fit, and the seconds that it may take when there are MINUTES for all."""

    file: str
    seconds: float
    options: Sequence[str] = ()

    @property
    def name(self) -> str:
        return Path(self.file).stem

    @property
    def says(self) -> str:
        """Return the first line of its file."""
        said = ast.get_docstring(ast.parse((HERE / self.file).read_text(encoding="utf-8"))) or ""
        return said.partition("\n")[0].removesuffix(" See README.md.")


BENCHMARKS = (
    Benchmark("cell_cost.py", 115, ["--repeats", "10"]),
    Benchmark("js_ledger.py", 95, ["--repeats", "20"]),
    Benchmark("python_ledger.py", 120, ["--repeats", "8"]),
    Benchmark("pytest_plugin.py", 250, ["--repeats", "3", "--peer-repeats", "1"]),
    Benchmark("conversion.py", 50, ["--repeats", "5"]),
    Benchmark("page_seconds.py", 210, [f"--target=tfjs/{name}" for name in ("cpu+browser", "wasm+browser", "webgl")]),
    Benchmark("watch.py", 200, ["--repeats", "3", "--slow", "1"]),
    Benchmark("growth.py", 390, ["--repeats", "2"]),
    Benchmark("detection.py", 345, ["--brief", "--minutes", "5"]),
)
"""Together they may take MINUTES."""


def measure(benchmark: Benchmark, seconds: float) -> Entry:
    """Run one to its end, or for so long; whatever becomes of it is an entry."""
    began, started, load = datetime.now(UTC), time.monotonic(), os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="tensorledger-bench-") as temporary:
        file = Path(temporary) / "found.json"
        command = [sys.executable, str(HERE / benchmark.file), *benchmark.options, "--json", str(file)]
        process = subprocess.Popen(command, start_new_session=True)
        broke = ended(process, seconds)
        try:
            found: Findings | None = findings.read(file)
        except (OSError, msgspec.MsgspecError) as error:
            found, broke = None, f"{broke or 'it ended'} without findings: {error}"
    if found is not None and found.wrong and process.returncode == 1:
        broke = ""  # its findings say what went wrong
    took = round(time.monotonic() - started, 1)
    loads = load, os.getloadavg()[0]
    return Entry(benchmark.name, benchmark.says, began.strftime("%Y-%m-%d %H:%M UTC"), took, loads, broke, found)


def ended(process: subprocess.Popen[bytes], seconds: float) -> str:
    """Wait for a process, and end it with all that it started where it takes longer; return what went wrong."""
    try:
        status = process.wait(seconds)
    except subprocess.TimeoutExpired:
        interrupt(process)
        return f"it was not at its end after {seconds:.0f} s"
    except KeyboardInterrupt:
        interrupt(process)
        raise
    return f"it ended with status {status}" if status else ""


def interrupt(process: subprocess.Popen[bytes]) -> None:
    os.killpg(process.pid, signal.SIGINT)
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def earlier(here: Mapping[str, str]) -> Document:
    """Return what was found before on this machine. Raises ClickException where that is another one."""
    if not DATA.is_file():
        return Document(SCHEMA, dict(here), [])
    before = documents.read()
    if before.machine != dict(here):
        differing = [name for name in here if before.machine.get(name) != here[name]]
        raise click.ClickException(
            f"{DATA.name} is of another machine ({', '.join(differing)} differ): run all of them"
        )
    return before


def check() -> int:
    """Say whether the page is what the data make; return the exit status."""
    if PAGE.read_text(encoding="utf-8") == documents.page(documents.read()):
        click.echo("the page says what was measured")
        return 0
    click.echo("the page is not what was measured; benchmarks/run.py writes it", err=True)
    return 1


@click.command()
@click.option("--only", multiple=True, type=click.Choice([benchmark.name for benchmark in BENCHMARKS]))
@click.option("--minutes", default=MINUTES, show_default=True, help="For all of them together.")
@click.option("--check", "checks", is_flag=True, help="Run nothing; say whether the page is what the data make.")
def main(only: tuple[str, ...], minutes: float, checks: bool) -> None:
    """Run the benchmarks; exit status 1 where one broke, or something in it was not measured."""
    if checks:
        sys.exit(check())
    signal.signal(signal.SIGINT, signal.default_int_handler)  # who started this may ignore it; what it starts does not
    here = machine()
    document = earlier(here) if only else Document(SCHEMA, here, [])
    chosen = [benchmark for benchmark in BENCHMARKS if not only or benchmark.name in only]
    broken = []
    for place, benchmark in enumerate(chosen):
        seconds = benchmark.seconds * minutes / MINUTES
        click.echo(f"[{place + 1} of {len(chosen)}] {benchmark.name}: {benchmark.says} At most {seconds:.0f} s.")
        entry = measure(benchmark, seconds)
        document = document.having(entry, [each.name for each in BENCHMARKS])
        documents.write(document)  # each at once: what broke later loses none
        click.echo(f"{benchmark.name}: {entry.seconds:.0f} s {entry.broke}")
        broken += [] if entry.whole else [benchmark.name]
    click.echo(f"written: {DATA}, {PAGE}")
    if broken:
        click.echo(f"broke, or did not measure all: {', '.join(broken)}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()

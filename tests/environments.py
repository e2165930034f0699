"""The plugin in environments that other people have: a TensorFlow and pytest, and tensorledger's wheel beside them.

::

    python tests/environments.py                                        every combination that there is
    python tests/environments.py --tensorflow 2.15 --python 3.10 3.11   these alone

For each TensorFlow and each Python on this machine it makes a virtual environment with TensorFlow, pytest, pytest-xdist
and pytest-asyncio, which is kept for the next time. It has pip install the wheel of this checkout there, which may
bring what tensorledger needs, and may neither change nor take away what was there, nor bring a TensorFlow, a Keras or
tensorflowjs. It then runs a copy of tests/plugin, away from the checkout. It ends with a table, and with status 1 where
anything failed, or nothing passed. A TensorFlow that was never published for a Python, or a Python that this machine
has not, is no failure.

It is run by a Python that has the extra ``dev``, which the wheel is built with.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from tensorledger.environment.cache import cache_folder

CHECKOUT = Path(__file__).resolve().parents[1]
TENSORFLOWS = ("2.15", "2.17", "2.19", "2.21")
PYTHONS = ("3.10", "3.11", "3.12", "3.13")
BESIDE = ("pytest>=8", "pytest-xdist", "pytest-asyncio")
NOT_OURS = re.compile(r"tensorflow|tf-|keras")
"""What the names of packages begin with that a wheel of tensorledger has not to bring."""
LIMIT = 1800
"""Seconds that the tests may take in one environment."""
SAID = 60
"""Lines that are shown of what failed."""


class Failed(Exception):
    """An environment that could not be made, or in which pip did what it is not to do."""


class Absent(Exception):
    """There is no such TensorFlow for such a Python, or no such Python here."""


@dataclass
class Row:
    """What came of one combination."""

    tensorflow: str
    python: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0
    why: str = ""
    """Why there is nothing to count, or why it failed all the same."""
    verdict: str = "FAILED"
    """Or "ok", or "absent"."""

    def __str__(self) -> str:
        counts = f"{self.passed:>7}{self.failed:>7}{self.skipped:>8}{self.seconds:>9.0f}"
        return f"{self.tensorflow:<11}{self.python:<8}{counts}  {self.verdict:<8}{self.why}".rstrip()


TITLES = f"{'TensorFlow':<11}{'Python':<8}{'passed':>7}{'failed':>7}{'skipped':>8}{'seconds':>9}"


def main() -> int:
    """Run what was asked for; return the exit status."""
    asked = _arguments()
    pythons = {wanted: _interpreter(wanted) for wanted in asked.python}
    rows = []
    with tempfile.TemporaryDirectory(prefix="tensorledger-environments-") as folder:
        wheel = _wheel(Path(folder))
        for tensorflow in asked.tensorflow:
            for wanted, python in pythons.items():
                row = Row(tensorflow, wanted)
                rows.append(row)
                try:
                    if python is None:
                        raise Absent("no such Python on this machine")
                    environment = asked.cache / f"{asked.package}-{tensorflow}-python-{wanted}"
                    _made(environment, python, f"{asked.package}=={tensorflow}.*")
                    print(f"\nTensorFlow {tensorflow}, Python {wanted}: {_installed(environment, wheel)}", flush=True)
                    _tested(row, environment, asked.tests, Path(folder))
                except Absent as why:
                    row.verdict, row.why = "absent", str(why)
                except Failed as why:
                    row.why = str(why)
                print(row, flush=True)
    print("", TITLES, *rows, sep="\n")
    verdicts = {row.verdict for row in rows}
    return 0 if "ok" in verdicts and "FAILED" not in verdicts else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tensorflow", nargs="+", default=TENSORFLOWS, metavar="X.Y", help="default: %(default)s")
    parser.add_argument("--python", nargs="+", default=PYTHONS, metavar="X.Y", help="default: %(default)s")
    parser.add_argument("--package", default="tensorflow-cpu", help="what has the TensorFlow (default: %(default)s)")
    parser.add_argument(
        "--cache",
        type=lambda given: Path(given).absolute(),
        default=cache_folder() / "environments",
        metavar="FOLDER",
        help="where the environments are kept, 1.5 GB each (default: %(default)s)",
    )
    parser.add_argument(
        "--tests",
        type=lambda given: Path(given).resolve(strict=True),
        default=CHECKOUT / "tests" / "plugin",
        metavar="FOLDER",
        help="the tests (default: %(default)s)",
    )
    return parser.parse_args()


def _interpreter(wanted: str) -> str | None:
    """Return a Python of that version: of the PATH, or of those that pyenv has."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    for found in (shutil.which(f"python{wanted}"), *sorted(map(str, pyenv.glob(f"versions/{wanted}.*/bin/python")))):
        asked = "import sys; print('%d.%d' % sys.version_info[:2])"
        if found and subprocess.run([found, "-c", asked], capture_output=True, text=True).stdout.strip() == wanted:
            return found
    return None


def _wheel(folder: Path) -> Path:
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(CHECKOUT)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return next(folder.glob("*.whl"))


def _made(environment: Path, python: str, tensorflow: str) -> None:
    """Make the environment, unless it is there. Its list of what was in it is written last."""
    if _before(environment).is_file():
        return
    shutil.rmtree(environment, ignore_errors=True)
    _said([python, "-m", "venv", str(environment)])
    try:
        _pip(environment, "install", tensorflow, *BESIDE)
    except Failed as error:
        shutil.rmtree(environment)
        versions = re.search(r"\(from versions: (.+?)\)\n", str(error))
        if versions and versions[1] != "none" and "No matching distribution found for tensorflow" in str(error):
            raise Absent("not published for this Python") from None
        raise
    _before(environment).write_text(_pip(environment, "freeze", "--all"), encoding="utf-8")


def _before(environment: Path) -> Path:
    return environment / "before.txt"


def _installed(environment: Path, wheel: Path) -> str:
    """Have pip install the wheel into the environment as it was made; say what came. Raises Failed."""
    before = packages(_before(environment).read_text(encoding="utf-8"))
    if later := sorted(packages(_pip(environment, "freeze", "--all")).keys() - before.keys()):
        _pip(environment, "uninstall", "--yes", *later)
    _pip(environment, "install", str(wheel))
    after = packages(_pip(environment, "freeze", "--all"))
    if wrong := list(unwanted(before, after)):
        raise Failed(f"pip install of the wheel: {', '.join(wrong)}")
    return "came " + ", ".join(f"{name} {after[name]}" for name in sorted(after.keys() - before.keys()))


def packages(frozen: str) -> dict[str, str]:
    """Return each package's version, or where it is from, of what ``pip freeze`` says."""
    found = re.findall(r"^([\w.-]+)(?:==| @ )(\S+)", frozen, re.MULTILINE)
    return {
        re.sub(r"[-_.]+", "-", name).lower(): version.rpartition("/")[2].partition("#")[0] for name, version in found
    }


def unwanted(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    """Yield what installing the wheel is not to have done."""
    for name, version in before.items():
        if after.get(name) != version:
            yield f"{name} {version} became {after.get(name, 'nothing')}"
    for name in after.keys() - before.keys():
        if NOT_OURS.match(name):
            yield f"it brought {name} {after[name]}"


def _tested(row: Row, environment: Path, tests: Path, folder: Path) -> None:
    """Run a copy of the tests, and count. Raises Failed."""
    elsewhere = Path(tempfile.mkdtemp(dir=folder))
    shutil.copytree(tests, elsewhere / tests.name, ignore=shutil.ignore_patterns("__pycache__"))
    report = elsewhere / "report.xml"
    options = ["-q", "-p", "no:cacheprovider", f"--junitxml={report}", "-o", "junit_family=xunit2"]
    asked = "import tensorledger; print(tensorledger.__file__)"
    imported = _said([str(_python(environment)), "-c", asked], elsewhere).strip()
    if not Path(imported).is_relative_to(environment):
        raise Failed(f"the tensorledger that is imported is {imported}")
    began = time.monotonic()
    code, output = _run([str(_python(environment)), "-m", "pytest", tests.name, *options], elsewhere)
    row.seconds = time.monotonic() - began
    with suppress(FileNotFoundError, ElementTree.ParseError):
        for suite in ElementTree.parse(report).getroot().iter("testsuite"):
            counts = {name: int(suite.attrib[name]) for name in ("tests", "failures", "errors", "skipped")}
            row.failed += counts["failures"] + counts["errors"]
            row.skipped += counts["skipped"]
            row.passed += counts["tests"] - counts["failures"] - counts["errors"] - counts["skipped"]
    if code == 0 and row.passed > 0:
        row.verdict = "ok"
    else:
        print(*output.splitlines()[-SAID:], sep="\n")
        row.why = f"pytest ended with {code}" if code != 1 else ""


def _python(environment: Path) -> Path:
    return environment / "bin" / "python"


def _pip(environment: Path, *arguments: str) -> str:
    return _said([str(_python(environment)), "-m", "pip", "--disable-pip-version-check", *arguments])


def _said(command: list[str], folder: Path | None = None) -> str:
    """Return what a command prints. Raises Failed, with the end of it, where it fails."""
    code, output = _run(command, folder)
    if code:
        raise Failed(f"{' '.join(command)} ended with {code}:\n" + "\n".join(output.splitlines()[-SAID:]) + "\n")
    return output


def _run(command: list[str], folder: Path | None = None) -> tuple[int, str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST"))}
    environment["TF_CPP_MIN_LOG_LEVEL"] = "3"
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=LIMIT,
        )
    except subprocess.TimeoutExpired as error:
        return -1, f"{(error.output or b'').decode(errors='replace')}\n{error}"
    return done.returncode, done.stdout.decode(errors="replace")


if __name__ == "__main__":
    sys.exit(main())

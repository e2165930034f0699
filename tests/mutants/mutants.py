"""Changes one comparison, ``and``, ``or`` or ``not`` at a time in the rules that decide; tells what no test notices.

::

    python tests/mutants/mutants.py                      every module that mutants.toml names
    python tests/mutants/mutants.py slope refused        these alone
    python tests/mutants/mutants.py --json out.json      and all that was found, to a file

It works in copies of the tree, never in the tree itself, and runs the quick tests that mutants.toml names for a module
against each of its mutants. It ends with a table, and with status 1 where a mutant survived, or one that is listed as
equivalent was killed or is no more; with 2 where it cannot tell: where tests fail, skip or find nothing without any
change, where they pass though a module cannot even be imported, and where a comparison would get no mutant.

Takes cosmic-ray, which changes the source: the extra ``mutation``.
"""

from __future__ import annotations

import argparse
import ast
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import parso
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator
from rich.console import Console
from rich.table import Table

T = TypeVar("T")
CHECKOUT = Path(__file__).resolve().parents[2]
CONFIG = Path(__file__).with_name("mutants.toml")
BECOMES = {
    "==": ("!=",),
    "!=": ("==",),
    "<": ("<=", "!=", ">="),
    "<=": ("<", "==", ">"),
    ">": (">=", "!=", "<="),
    ">=": (">", "==", "<"),
    "is": ("is not",),
    "is not": ("is",),
    "in": ("not in",),
    "not in": ("in",),
    "and": ("or",),
    "or": ("and",),
    "not": ("",),
}
"""What each is changed into. A comparison: its negation; one of order also its neighbour, and the other half of it."""
_CALLED = {"==": "Eq", "!=": "NotEq", "<": "Lt", "<=": "LtE", ">": "Gt", ">=": "GtE", "is": "Is", "is not": "IsNot"}
_CONNECTED = {"and": "ReplaceAndWithOr", "or": "ReplaceOrWithAnd", "not": "ReplaceUnaryOperator_Delete_Not"}
"""What cosmic-ray calls them."""
PACKAGE = "py/tensorledger/"
LEFT_OUT = (".*", "__pycache__", "node_modules", "dist", "build", "*.egg-info")
"""What is not copied."""
OPTIONS = ("-x", "-q", "--tb=no", "-p", "no:cacheprovider", "--assert=plain")
LEAST = 20
"""Seconds that tests may take at least."""
PATIENCE = 10
"""How many times as long as without a change tests may take, before a mutant is taken for one that never ends."""
NO_PROOF = {3: "pytest broke", 4: "pytest was called wrongly", 5: "pytest found no test"}
"""Statuses with which pytest ends that say nothing of a mutant."""


class CannotTell(Exception):
    """What was run would say nothing of the tests."""


class Group(msgspec.Struct, forbid_unknown_fields=True):
    """Modules, and the tests that have to notice what is changed in them."""

    modules: list[str]
    tests: list[str]
    """Files of tests."""
    only: str = ""
    """Which of them, as pytest's ``-k`` takes it; all, if empty."""


class Equivalent(msgspec.Struct, forbid_unknown_fields=True):
    """A mutant that no input can tell from what it was."""

    module: str
    line: str
    """The line, as it is written."""
    becomes: str
    """As it is changed."""
    why: str


class Config(msgspec.Struct, forbid_unknown_fields=True):
    """What is changed, and by what it has to be noticed."""

    group: list[Group]
    equivalent: list[Equivalent] = []


class Change(msgspec.Struct):
    """What is changed, and where."""

    module: str
    line: int
    column: int
    was: str
    becomes: str
    before: str
    """The line."""
    after: str


class Mutant(Change):
    """A module with one change."""

    code: str


class Found(Change):
    """What came of a mutant."""

    outcome: str
    """killed, survived, or equivalent: it survived, as is listed."""
    by: str
    """The test that noticed."""
    seconds: float


class Row(msgspec.Struct):
    """What came of a module."""

    module: str
    comparisons: int
    connectives: int
    """``and``, ``or`` and ``not``."""
    mutants: int
    killed: int
    survived: int
    equivalent: int


class Report(msgspec.Struct):
    """All that was found."""

    seconds: float
    modules: list[Row]
    wrong: list[str]
    """Of what is listed as equivalent."""
    mutants: list[Found]


class Membership:
    """Changes ``in`` and ``not in``, for which cosmic-ray has no operator; it is used as one."""

    def __init__(self, was: str, becomes: str) -> None:
        self.was, self.becomes = was, becomes

    def mutation_positions(self, node: Any) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
        for place in self._places(node):
            yield node.children[place].start_pos, node.children[place].end_pos

    def mutate(self, node: Any, index: int) -> Any:
        place = list(self._places(node))[index]
        node.children[place] = parso.parse(f" {self.becomes}")
        return node

    def _places(self, node: Any) -> Iterator[int]:
        if node.type == "comparison":
            for place in range(1, len(node.children), 2):
                if " ".join(node.children[place].get_code().split()) == self.was:
                    yield place


def _operator(was: str, becomes: str) -> Any:
    if was in _CONNECTED:
        return get_operator(f"core/{_CONNECTED[was]}")()
    if was in _CALLED:
        return get_operator(f"core/ReplaceComparisonOperator_{_CALLED[was]}_{_CALLED[becomes]}")()
    return Membership(was, becomes)


def counted(source: str) -> tuple[int, int]:
    """Return how many comparisons a module has, and how many ``and``, ``or`` and ``not``, as Python itself reads it."""
    nodes = list(ast.walk(ast.parse(source)))
    connectives = sum(len(node.values) - 1 for node in nodes if isinstance(node, ast.BoolOp))
    connectives += sum(isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not) for node in nodes)
    return sum(len(node.ops) for node in nodes if isinstance(node, ast.Compare)), connectives


def mutants(module: str, source: str) -> list[Mutant]:
    """Return a module's mutants, in their order. Raises CannotTell where something would get none."""
    tree, lines = get_ast(source), source.splitlines()
    found: list[Mutant] = []
    for was, others in BECOMES.items():
        for becomes in others:
            operator = _operator(was, becomes)
            places = [start for node in ast_nodes(tree) for start, _ in operator.mutation_positions(node)]
            for occurrence, (line, column) in enumerate(places):
                code = str(mutate_code(source, operator, occurrence))
                before, after = lines[line - 1], code.splitlines()[line - 1]
                wanted = before[:column] + before[column:].replace(was, becomes, 1)
                if code.splitlines() != [*lines[: line - 1], after, *lines[line:]] or not _alike(after, wanted):
                    raise CannotTell(f"{module}:{line}: {was} for {becomes} makes of it {after.strip()}")
                found.append(Mutant(module, line, column, was, becomes, before.strip(), after.strip(), code))
    has = sum(counted(source))
    if without := has - len({(mutant.line, mutant.column) for mutant in found}):
        raise CannotTell(f"{module}: {without} of {has} comparisons and connectives have no mutant")
    return sorted(found, key=lambda mutant: (mutant.line, mutant.column))


def _alike(one: str, other: str) -> bool:
    return one.split() == other.split()


class Copy:
    """A copy of the tree, in which modules are changed and tests are run."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.root = folder
        shutil.copytree(root, folder, ignore=shutil.ignore_patterns(*LEFT_OUT), symlinks=True)
        # Compiled once, and held against the source's hash, not its time: a change within a second is one too.
        command = [sys.executable, "-m", "compileall", "-q", "--invalidation-mode", "checked-hash", str(folder / "py")]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    @contextmanager
    def changed(self, module: str, code: str) -> Iterator[None]:
        """Have other code in a module."""
        file = self.root / module
        before = file.read_bytes()
        file.write_text(code, encoding="utf-8")
        try:
            yield
        finally:
            file.write_bytes(before)

    def tests(self, group: Group, limit: float = 600) -> tuple[int, str]:
        """Run a group's tests, up to the first that fails; return the status, and what was printed."""
        command = [sys.executable, "-m", "pytest", *OPTIONS, *group.tests, *(["-k", group.only] if group.only else [])]
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST"))}
        environment |= {
            "PYTHONPATH": str(self.root / "py"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        }
        process = subprocess.Popen(
            command,
            cwd=self.root,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            output = process.communicate(timeout=limit)[0]
        except subprocess.TimeoutExpired:
            return 1, f"FAILED to end in {limit:.0f} s"
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        return process.returncode, output

    def proved(self, group: Group) -> float:
        """Return how long tests take where nothing is changed. Raises CannotTell where they prove nothing."""
        began = time.monotonic()
        status, output = self.tests(group)
        if status:
            raise CannotTell(f"without any change {' '.join(group.tests)} ended with {status}:\n{output}")
        if re.search(r"\d+ skipped", output):
            raise CannotTell(f"without any change some of {' '.join(group.tests)} are skipped:\n{output}")
        seconds = time.monotonic() - began
        for module in group.modules:
            with self.changed(module, "raise ImportError('not to be imported')\n"):
                status, output = self.tests(group)
            if status not in (1, 2):
                raise CannotTell(f"{' '.join(group.tests)} do without {module}: pytest ended with {status}\n{output}")
        return seconds

    def judged(self, mutant: Mutant, group: Group, limit: float) -> Found:
        """Run the tests against a mutant. Raises CannotTell where that says nothing."""
        began = time.monotonic()
        with self.changed(mutant.module, mutant.code):
            status, output = self.tests(group, limit)
        if status not in (0, 1, 2):
            why = NO_PROOF.get(status, f"pytest ended with {status}")
            raise CannotTell(f"{mutant.module}:{mutant.line}: {mutant.after}: {why}\n{output}")
        noticed = re.search(r"^(?:FAILED|ERROR) (\S.*?)(?: - .*)?$", output, re.MULTILINE)
        return Found(
            **{name: getattr(mutant, name) for name in Change.__struct_fields__},
            outcome="killed" if status else "survived",
            by=noticed[1] if status and noticed else "",
            seconds=round(time.monotonic() - began, 2),
        )


def judge(root: Path, config: Config, jobs: int, said: Console) -> Report:
    """Make every mutant of every group, and run its tests against it. Raises CannotTell."""
    began = time.monotonic()
    made = [
        (mutant, group)
        for group in config.group
        for module in group.modules
        for mutant in mutants(module, (root / module).read_text(encoding="utf-8"))
    ]
    with tempfile.TemporaryDirectory(prefix="tensorledger-mutants-") as folder, ThreadPoolExecutor(jobs) as pool:
        copies: queue.SimpleQueue[Copy] = queue.SimpleQueue()
        for number in range(jobs):
            copies.put(Copy(root, Path(folder) / f"{number}"))

        def in_a_copy(work: Callable[[Copy], T]) -> T:
            copy = copies.get()
            try:
                return work(copy)
            finally:
                copies.put(copy)

        def one(asked: tuple[Mutant, Group]) -> Found:
            mutant, group = asked
            limit = LEAST + PATIENCE * seconds[id(group)]
            return in_a_copy(lambda copy: copy.judged(mutant, group, limit))

        try:
            proved = pool.map(lambda group: in_a_copy(lambda copy: copy.proved(group)), config.group)
            seconds = {id(group): each for group, each in zip(config.group, proved, strict=True)}
            found: list[Found] = []
            for module, results in groupby(pool.map(one, made), lambda each: each.module):
                for each in results:
                    found.append(each)
                    if each.outcome != "killed":
                        said.print(f"{module}:{each.line}: no test notices", style="bold", highlight=False)
                        said.print(f"  - {each.before}\n  + {each.after}", markup=False, highlight=False)
                said.print(f"{module}: {time.monotonic() - began:.0f} s", style="dim", highlight=False)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    wrong = list(_wrong(config, found))
    rows = [
        _row(module, counted((root / module).read_text(encoding="utf-8")), found)
        for group in config.group
        for module in group.modules
    ]
    return Report(round(time.monotonic() - began, 1), rows, wrong, found)


def _wrong(config: Config, found: Sequence[Found]) -> Iterator[str]:
    """Mark the mutants that are listed as equivalent; yield what is wrong with the list."""
    chosen = {module for group in config.group for module in group.modules}
    for listed in config.equivalent:
        if listed.module not in chosen:
            continue
        wanted = (listed.module, listed.line, listed.becomes)
        named = [one for one in found if (one.module, one.before, one.after) == wanted]
        if len(named) != 1:
            yield f"{listed.module}: {listed.becomes}: is listed as equivalent, and {len(named)} mutants are so"
        for one in named:
            if one.outcome == "killed":
                yield f"{listed.module}: {listed.becomes}: is listed as equivalent, and {one.by} notices it"
            else:
                one.outcome = "equivalent"


def _row(module: str, count: tuple[int, int], found: Sequence[Found]) -> Row:
    outcomes = [one.outcome for one in found if one.module == module]
    return Row(module, *count, len(outcomes), *(outcomes.count(name) for name in ("killed", "survived", "equivalent")))


def _table(report: Report) -> Table:
    table = Table(title="one change at a time", show_footer=True)
    table.add_column("module", footer="all", no_wrap=True)
    names = ("comparisons", "connectives", "mutants", "killed", "survived", "equivalent")
    for name in names:
        total = sum(getattr(row, name) for row in report.modules)
        table.add_column(name, justify="right", footer=str(total))
    for row in report.modules:
        table.add_row(
            row.module.removeprefix(PACKAGE),
            *(str(getattr(row, name)) for name in names),
        )
    return table


def chosen(config: Config, names: Sequence[str]) -> Config:
    """Return a config with the modules of these names alone. Raises CannotTell for one that is not there."""
    known = {Path(module).stem for group in config.group for module in group.modules}
    if unknown := set(names) - known:
        raise CannotTell(f"no module is called {', '.join(sorted(unknown))}; there are {', '.join(sorted(known))}")
    groups = []
    for group in config.group:
        modules = [module for module in group.modules if not names or Path(module).stem in names]
        groups += [msgspec.structs.replace(group, modules=modules)] if modules else []
    return Config(groups, config.equivalent)


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what was asked for; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="MODULE", help="as slope; default: all")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all that was found")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="default: as many as cores")
    parser.add_argument("--config", type=Path, default=CONFIG, help="default: %(default)s")
    parser.add_argument("--root", type=Path, default=CHECKOUT, help="the tree (default: %(default)s)")
    asked = parser.parse_args(arguments)
    said = Console(soft_wrap=True)
    said.width = max(said.width, 100)  # as wide as the table, also where there is no terminal
    try:
        config = chosen(msgspec.toml.decode(asked.config.read_bytes(), type=Config), asked.names)
        report = judge(asked.root.resolve(), config, asked.jobs, said)
    except CannotTell as why:
        print(why, file=sys.stderr)
        return 2
    if asked.json:
        asked.json.write_bytes(msgspec.json.format(msgspec.json.encode(report)))
    said.print(_table(report))
    for wrong in report.wrong:
        said.print(wrong, markup=False, highlight=False)
    survived = sum(row.survived for row in report.modules)
    total = sum(row.mutants for row in report.modules)
    said.print(f"{survived} of {total} mutants survived; {report.seconds:.0f} s", highlight=False)
    return 1 if survived or report.wrong else 0


if __name__ == "__main__":
    sys.exit(main())

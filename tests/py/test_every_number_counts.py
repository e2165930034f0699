"""Changing any one number in any expectation, deviation or model description is noticed, in a message that names it.

All cells of the default targets run once; what they measured is judged again by copies of the definitions, each with
one number changed, in the way of ``pytest harness``. test_pytest_harness.py shows that the real way says the same.
A deviation that concerns no default target is judged by what the atlas says of a release that it concerns. What
concerns only other backends, and what public reports are about, is judged by an outcome that is made up of the
definitions as they are: that they are as it is, ``pytest harness`` measures (with ``--target all-backends`` for a
browser and tfjs-node).
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec.structs
import pytest
from outcomes import CHECKOUT, as_expected, copy_of_the_checkout, definitions_at, growing, pytest_harness

from tensorledger.atlas.data import committed
from tensorledger.atlas.data import read as read_atlas
from tensorledger.atlas.shows import outcome_of, shown
from tensorledger.cells.ahead import Ahead, cores
from tensorledger.cells.cell import Cell, Settings, cells, prepare, run_cell
from tensorledger.expectations.amount import ON_GPU
from tensorledger.expectations.description import QUANTITIES
from tensorledger.expectations.deviation import Deviation, deviations_for
from tensorledger.expectations.expectation import DEFAULT_MODEL, Expectation, expectation_for
from tensorledger.protocol.messages import Outcome, RunScenario
from tensorledger.scenarios.catalogue import Scenario, all_scenarios
from tensorledger.targets.catalogue import all_backends, resolve
from tensorledger.targets.target import LANGUAGES, Target
from tensorledger.verdicts.growth import longest
from tensorledger.verdicts.levels import UNKNOWN
from tensorledger.workers.pool import Workers
from tensorledger.workers.worker import Watch

HARNESS = CHECKOUT / "harness"
FOLDERS = ("expectations", "deviations", "models")
COUNTED = (*QUANTITIES, *ON_GPU)
NUMBER = re.compile(r"(?<![\w.#-])\d+(?![\w.])")
CYCLES = 3


# --- the numbers there are


@dataclass(frozen=True)
class Change:
    """One number of one file, and what is written in its place."""

    file: str
    """Relative to harness/."""
    keys: tuple[str, ...]
    """Where it is in the file."""
    old: str
    new: str
    text: str
    """The whole file, changed."""

    def __str__(self) -> str:
        return f"{self.file}:{'.'.join(self.keys)}: {self.old} to {self.new}"

    @property
    def named(self) -> list[str]:
        """What a line of the failure has to hold, so that a person finds the number."""
        if self.file.startswith("models/"):
            part = ".".join(
                key for key in self.keys if key.partition("@")[0] not in LANGUAGES and key not in QUANTITIES
            )
            if self.new in NEW_PARTS:
                return [f"harness/{self.file}", f"{part} 1"]
            return [f"harness/{self.file}", f"{part} {self.new}" if self.keys[-1] in QUANTITIES else f"{part} = "]
        *_, place, quantity = self.keys
        return [f"harness/{self.file}", place, quantity]


NEW_PARTS = ("{ tensors = 1, bytes = 0 }", "{ tensors = 0, bytes = 1 }")
"""What is written in the place of a part that there is none of."""


def changes(path: Path) -> Iterator[Change]:
    """Yield each change of one number: to the next, to 0, and of a part that there is none of, to one that there is."""
    text = path.read_text(encoding="utf-8")
    file = path.relative_to(HARNESS).as_posix()
    before = dict(leaves(tomllib.loads(text)))
    for match in NUMBER.finditer(text):
        old = match[0]
        for new in (str(int(old) + 1), *(("0",) if int(old) else NEW_PARTS)):
            changed = f"{text[: match.start()]}{new}{text[match.end() :]}"
            try:
                after = dict(leaves(tomllib.loads(changed)))
            except tomllib.TOMLDecodeError:
                continue
            replaced = [keys for keys, value in before.items() if after.get(keys) != value]
            if len(replaced) == 1 and is_amount(file, replaced[0]):
                keys = replaced[0]
                if new not in NEW_PARTS or keys[-1] not in COUNTED:
                    yield Change(file, keys, old, new, changed)


def is_amount(file: str, keys: tuple[str, ...]) -> bool:
    """Say whether a place holds an amount, rather than a reason, a version or a pattern."""
    return keys[-1] in COUNTED or file.startswith("models/")


def leaves(value: Any, keys: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(inner, (*keys, str(key)))
    else:
        yield keys, value


def name_of(file: str) -> str:
    """Return the scenario, or the model, that a file is about."""
    return file.partition("/")[2].removesuffix(".toml")


def files(folder: str) -> dict[str, Path]:
    """Return the definitions in a folder by what they are about."""
    found = sorted((HARNESS / folder).rglob("*.toml"))
    return {name_of(path.relative_to(HARNESS).as_posix()): path for path in found}


FILES = [path for folder in FOLDERS for path in files(folder).values()]
CHANGES = [change for path in FILES for change in changes(path)]
MODELS = {
    name: tomllib.loads(path.read_text(encoding="utf-8")).get("model", DEFAULT_MODEL)
    for name, path in files("expectations").items()
}
"""Each scenario's model."""
DEVIATIONS = [
    (name, number, found["id"])
    for name, path in files("deviations").items()
    for number, found in enumerate(tomllib.loads(path.read_text(encoding="utf-8"))["deviation"])
]


def test_no_number_is_overlooked() -> None:
    changed = {(change.file, change.keys) for change in CHANGES}
    for path in FILES:
        file = path.relative_to(HARNESS).as_posix()
        for keys, value in leaves(tomllib.loads(path.read_text(encoding="utf-8"))):
            if is_amount(file, keys) and re.search(r"(?<![\w.])\d", str(value)):
                assert (file, keys) in changed
    assert len(CHANGES) > 200


# --- judging again


Outcomes = dict[tuple[str, Target, bool], Outcome]
"""By scenario, target, and whether it was run again in a fresh worker, to settle growth."""


class Replay(Workers):
    """Hands out what workers measured before."""

    def __init__(self, outcomes: Outcomes) -> None:
        super().__init__()
        self.outcomes = outcomes

    def run(
        self, target: Target, scenario: RunScenario, watch: Watch, limit: float, *, fresh: bool = False, **how: Any
    ) -> tuple[Outcome, str]:
        found = self.outcomes[scenario.scenario, target, fresh]
        # Who settles growth looks at each cycle as it ends.
        any(watch.enough(found.cycles[:count]) for count in range(1, len(found.cycles) + 1))
        return found, ""


class Recorder(Workers):
    """Keeps what workers measure."""

    def __init__(self) -> None:
        super().__init__()
        self.outcomes: Outcomes = {}

    def run(
        self, target: Target, scenario: RunScenario, watch: Watch, limit: float, *, fresh: bool = False, **how: Any
    ) -> tuple[Outcome, str]:
        found, log = super().run(target, scenario, watch, limit, fresh=fresh, **how)
        self.outcomes[scenario.scenario, target, fresh] = found
        return found, log


@dataclass
class Suite:
    """All cells of the default targets, and what they measured; those that the atlas knows; and those made up."""

    cells: list[Cell]
    outcomes: Outcomes
    conftest: ModuleType
    measured: list[Cell] = field(default_factory=list)
    """Those of the cells that were run here."""

    def judge(self, cell: Cell) -> tuple[str, list[str]]:
        """Return the verdict of ``pytest harness``, and the lines it prints of one that is not as expected."""
        ran = run_cell(cell, Replay(self.outcomes), Settings(cycles=CYCLES))
        verdict, problems = self.conftest._verdict(ran)
        return verdict, [f"{verdict}: {(problems or (ran.result.reason,))[0]}", *problems[1:], *ran.result.problems]

    def failures(self, file: str | None = None) -> Iterator[tuple[Cell, list[str]]]:
        """Yield the cells that are not as expected, of those that a file is about, or of all."""
        for cell in self.cells:
            if file is None or name_of(file) in (cell.scenario.name, MODELS[cell.scenario.name]):
                verdict, lines = self.judge(cell)
                if verdict in ("fail", "error"):
                    yield cell, lines

    def add(self, cell: Cell, outcome: Outcome) -> None:
        self.cells.append(cell)
        self.outcomes[str(cell.scenario.file(cell.target)), cell.target, False] = outcome

    def with_outcome(self, cell: Cell, outcome: Outcome) -> Suite:
        return Suite([cell], {(str(cell.scenario.file(cell.target)), cell.target, False): outcome}, self.conftest)

    def cell(self, scenario: str, target: Target) -> Cell:
        return next(cell for cell in self.cells if (cell.scenario.name, cell.target) == (scenario, target))


@pytest.fixture(scope="module")
def suite() -> Suite:
    """Run every cell once, and check that all are as expected before anything is changed."""
    # As `pytest harness`, only scenarios with a file of their own.
    named = [found for name, found in all_scenarios().items() if name in MODELS and not found.of_a_report]
    targets = resolve([])
    suite = Suite(cells(named, targets), {}, _harness_conftest())

    with Recorder() as workers:
        prepare(targets, workers)
        ahead = Ahead(suite.cells, workers, Settings(cycles=CYCLES), cores())
        for cell in suite.cells:
            ran = ahead.run(cell)
            assert ran.outcome is not None, f"{cell}: {ran.result.reason}"
        ahead.stop()
        suite.outcomes.update(workers.outcomes)
    suite.measured = list(suite.cells)
    _add_of_the_atlas(suite)
    _add_made_up(suite)
    assert list(suite.failures()) == []
    return suite


def _unseen(scenario: Scenario, suite: Suite) -> Iterator[Deviation]:
    """Yield the deviations that concern none of the cells there are."""
    targets = [cell.target for cell in suite.cells if cell.scenario.name == scenario.name]
    file = next(iter(scenario.files.values()))
    for deviation in deviations_for(scenario.name, expectation_for(scenario.name, file)).all:
        if not any(map(deviation.concerns, targets)):
            yield deviation


def _add_of_the_atlas(suite: Suite) -> None:
    """Add a cell for each deviation of other releases, its outcome as the atlas says."""
    atlas = read_atlas(committed())
    for name, scenario in all_scenarios().items():
        for deviation in list(_unseen(scenario, suite)) if name in atlas.scenarios else ():
            release = next((found for found in atlas.releases if deviation.concerns(atlas.target(found))), None)
            if release is not None:
                shows = atlas.shows(name, release)
                assert shows is not None
                suite.add(Cell(scenario, atlas.target(release)), outcome_of(shows, CYCLES))


def _add_made_up(suite: Suite) -> None:
    """Add a cell for each scenario and deviation that was not run, its outcome as the definitions are."""
    for name, scenario in all_scenarios().items():
        targets = [target for target in all_backends() if scenario.file(target)]
        deviations = list(_unseen(scenario, suite))
        if not any(cell.scenario.name == name for cell in suite.cells) and name in MODELS:
            plain = next((t for t in targets if not any(found.concerns(t) for found in deviations)), None)
            if plain is not None:
                cell = Cell(scenario, plain)
                expectation = _expectation(cell)
                _add_as_said(suite, cell, expectation, expectation.caught.grows if expectation.caught else [])
        for deviation in deviations:
            cell = Cell(scenario, next(filter(deviation.concerns, targets)))
            _add_as_said(suite, cell, deviation.instead_of(_expectation(cell)), deviation.grows)


def _add_as_said(suite: Suite, cell: Cell, expectation: Expectation, grows: Sequence[str]) -> None:
    suite.add(cell, growing(as_expected(expectation, cell.target, CYCLES), grows, language=cell.target.language))
    settled = as_expected(expectation, cell.target, longest(UNKNOWN))
    settled = growing(settled, grows, language=cell.target.language)
    suite.outcomes[str(cell.scenario.file(cell.target)), cell.target, True] = settled


def _harness_conftest() -> ModuleType:
    spec = importlib.util.spec_from_file_location("harness_conftest", HARNESS / "conftest.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@dataclass
class Copy:
    """A copy of the definitions; what is written there is put back after each test."""

    root: Path
    written: set[str] = field(default_factory=set)

    def write(self, file: str, text: str) -> None:
        self.written.add(file)
        (self.root / file).write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("definitions")
    for folder in FOLDERS:
        shutil.copytree(HARNESS / folder, root / "harness" / folder)
    return root


@pytest.fixture
def copy(copied: Path) -> Iterator[Copy]:
    """A copy of the definitions, which is what is judged by."""
    copy = Copy(copied / "harness")
    with definitions_at(copied):
        yield copy
    for file in copy.written:
        shutil.copyfile(HARNESS / file, copy.root / file)


def test_a_copy_of_the_definitions_judges_as_they_do(suite: Suite, copy: Copy) -> None:
    assert list(suite.failures()) == []
    assert {suite.judge(cell)[0] for cell in suite.cells} == {"pass", "deviates", "caught"}


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_a_number_that_is_changed_is_noticed_and_named(suite: Suite, copy: Copy, change: Change) -> None:
    copy.write(change.file, change.text)
    told = []
    for _, lines in suite.failures(change.file):
        told += lines
        if any(all(part in line for part in change.named) for line in lines):
            return
    if told:
        pytest.fail(f"{change} is noticed, but no line names {change.named}:\n" + "\n".join(told[:10]))
    pytest.fail(f"nothing notices {change}")


@pytest.mark.parametrize(
    ("file", "place", "chosen", "target"),
    [
        ("expectations/scope-interleaved.toml", "growth.bytes", "scope-interleaved", "tfjs"),
        ("models/classifier.toml", "weights.tensors", "create-dispose", "tfjs"),
        ("models/classifier.toml", "tfjs.optimizer.slots.bytes", "train-dispose", "tfjs"),
        ("deviations/train-dispose.toml", "deviation.0.checkpoints.released.buffers", "train-dispose", "keras"),
    ],
)
def test_pytest_harness_says_the_same(
    suite: Suite, copy: Copy, tmp_path_factory: pytest.TempPathFactory, file: str, place: str, chosen: str, target: str
) -> None:
    change = next(found for found in CHANGES if found.file == file and ".".join(found.keys) == place)
    copy.write(file, change.text)
    verdict, lines = suite.judge(suite.cell(chosen, resolve([target])[0]))
    assert verdict == "fail"
    checkout = copy_of_the_checkout(tmp_path_factory.mktemp("checkout"))
    (checkout / "harness" / file).write_text(change.text, encoding="utf-8")
    run = pytest_harness(checkout, "--target", target, "-k", chosen, "--cycles", str(CYCLES))
    assert run.returncode == 1, run.stdout + run.stderr
    assert [line for line in lines if line not in run.stdout] == []


@pytest.mark.parametrize("name", read_atlas(committed()).scenarios)
def test_the_atlas_says_what_the_suite_measures(suite: Suite, name: str) -> None:
    atlas = read_atlas(committed())
    compared = 0
    for cell in suite.cells:
        if cell.scenario.name == name and cell.target.backend == atlas.backend and cell in suite.measured:
            measured = shown(suite.outcomes[str(cell.scenario.file(cell.target)), cell.target, False])
            known = atlas.shows(name, str(cell.target.version))
            assert msgspec.structs.replace(measured, recipe="") == known, str(cell)
            compared += 1
    assert compared


# --- deviations


@pytest.mark.parametrize(("scenario", "number", "name"), DEVIATIONS)
def test_a_deviation_that_is_removed_is_missed(suite: Suite, copy: Copy, scenario: str, number: int, name: str) -> None:
    file = f"deviations/{scenario}.toml"
    concerned = {cell.target for cell in _deviating(suite, scenario, number)}
    head, *blocks = (HARNESS / file).read_text(encoding="utf-8").split("[[deviation]]\n")
    del blocks[number]
    copy.write(file, "[[deviation]]\n".join([head, *blocks]) if blocks else "deviation = []\n")
    assert concerned and {cell.target for cell, _ in suite.failures(file)} == concerned


@pytest.mark.parametrize(("scenario", "number", "name"), DEVIATIONS)
def test_a_deviation_of_a_target_that_does_what_is_expected_fails(
    suite: Suite, copy: Copy, scenario: str, number: int, name: str
) -> None:
    concerned = _deviating(suite, scenario, number)
    assert concerned
    for cell in concerned:
        healed = suite.with_outcome(cell, as_expected(_expectation(cell), cell.target, CYCLES))
        verdict, lines = healed.judge(cell)
        assert verdict == "fail"
        assert lines[0].startswith(f"fail: harness/deviations/{scenario}.toml: ")
        assert f"no longer deviates as {name} says: " in lines[0]


def _expectation(cell: Cell) -> Expectation:
    file = cell.scenario.file(cell.target)
    assert file is not None
    return expectation_for(cell.scenario.name, file)


def _deviating(suite: Suite, scenario: str, number: int) -> list[Cell]:
    """Return a scenario's cells that a deviation concerns, which is the one of this number in its file."""
    found = []
    for cell in suite.cells:
        if cell.scenario.name == scenario:
            deviations = deviations_for(scenario, _expectation(cell))
            if deviations.of(cell.target) is deviations.all[number]:
                found.append(cell)
    return found

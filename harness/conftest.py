"""``pytest harness``: one test for each scenario and target, judged by the scenario's expectation.

Each file in ``expectations/`` is a test module; its tests are the targets. See ``--help``, "lifecycle harness".
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from rich.console import Console, RenderableType
from rich.text import Text

from tensorledger.cells.ahead import Ahead, cores
from tensorledger.cells.cell import LIMIT, Cell, Ran, Settings, prepare
from tensorledger.fieldreports.report import reported
from tensorledger.protocol.messages import RECIPES
from tensorledger.results.result import Result, document, write
from tensorledger.scenarios.catalogue import Scenario, all_scenarios
from tensorledger.targets.catalogue import resolve
from tensorledger.targets.target import BadTarget, Target
from tensorledger.terminal.cell import details
from tensorledger.terminal.grid import grid, seconds
from tensorledger.terminal.marks import CAUGHT
from tensorledger.workers.pool import Workers

CYCLES = 3
PROPERTY = "tensorledger"
"""Under this name a test's report carries its cell, from pytest-xdist's workers too."""

workers_key = pytest.StashKey[Workers]()
ahead_key = pytest.StashKey[Ahead]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("lifecycle harness")
    group.addoption("--target", action="append", default=[], help="where to run, as tfjs@4.22.0/cpu; again for more")
    group.addoption("--cycles", type=int, default=CYCLES, help="cycles after the warm-up (default: %(default)s)")
    group.addoption("--recipe", default="", help="the way to release (default: the target's own)")
    group.addoption("--cell-timeout", type=float, default=LIMIT, help="seconds for one cell (default: %(default)s)")
    group.addoption("--jobs", type=int, default=cores(), help="targets to run at once (default here: %(default)s)")
    group.addoption("--full-stacks", action="store_true", help="as of `tensorledger run`")
    group.addoption("--results", type=Path, help="write the results there, as `tensorledger run --json` does")


def pytest_configure(config: pytest.Config) -> None:
    if config.option.cycles < 1:
        raise pytest.UsageError("--cycles takes a number of at least 1")
    if config.option.jobs < 1:
        raise pytest.UsageError("--jobs takes a number of at least 1")
    names = [name for recipes in RECIPES.values() for name in recipes]
    if config.option.recipe not in ("", *names):
        raise pytest.UsageError(f"no recipe {config.option.recipe!r}; there are: {', '.join(names)}")
    results = config.option.results
    if results is not None and not results.absolute().parent.is_dir():
        raise pytest.UsageError(f"--results {results}: the folder does not exist")
    if results is not None and results.is_dir():
        raise pytest.UsageError(f"--results {results}: this is a folder")
    try:
        _targets(config)
    except BadTarget as error:
        raise pytest.UsageError(str(error)) from error


HERE = Path(__file__).parent
EXPECTATIONS, DEVIATIONS = HERE / "expectations", HERE / "deviations"


def pytest_collect_directory(path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    return ExpectationFolder.from_parent(parent, path=path) if path.is_relative_to(EXPECTATIONS) else None


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.suffix != ".toml":
        return None
    kinds: dict[Path, Any] = {EXPECTATIONS: ExpectationFile, DEVIATIONS: DeviationFile}
    kind = next((kind for folder, kind in kinds.items() if file_path.is_relative_to(folder)), None)
    collector: pytest.Collector | None = kind.from_parent(parent, path=file_path) if kind else None
    return collector


def _name(path: Path, folder: Path) -> str:
    """Return the name of the scenario that a definition in a folder is for."""
    return path.relative_to(folder).with_suffix("").as_posix()


class ExpectationFolder(pytest.Directory):
    """The scenarios of one folder: those with a file here, and then those that have none, held to the default."""

    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        for path in sorted(self.path.iterdir(), key=lambda path: (path.is_dir(), path)):
            if path.is_dir():
                yield ExpectationFolder.from_parent(self, path=path)
            else:
                yield from self.ihook.pytest_collect_file(file_path=path, parent=self)
        for scenario in all_scenarios().values():
            file = EXPECTATIONS / f"{scenario.name}.toml"
            folder = file.parent if file.parent.is_dir() else EXPECTATIONS
            if folder == self.path and not file.is_file():
                yield from _cells_of(self, scenario)


class ExpectationFile(pytest.File):
    """One scenario, as a module of tests."""

    def collect(self) -> Iterator[pytest.Item]:
        name = _name(self.path, EXPECTATIONS)
        scenario = all_scenarios().get(name)
        yield from _cells_of(self, scenario) if scenario else [Orphan.from_parent(self, name=name)]


class DeviationFile(pytest.File):
    """Nothing to run, if it is a scenario's."""

    def collect(self) -> Iterator[pytest.Item]:
        name = _name(self.path, DEVIATIONS)
        if name not in all_scenarios():
            yield Orphan.from_parent(self, name=name)


def _cells_of(parent: pytest.Collector, scenario: Scenario) -> Iterator[pytest.Item]:
    for target in _targets(parent.config):
        if scenario.file(target):
            item = Lifecycle.from_parent(parent, name=f"{scenario.name}[{target}]", cell=Cell(scenario, target))
            if scenario.name in reported():
                item.extra_keyword_matches.add("reports")
            yield item


class Orphan(pytest.Item):
    """A definition of a scenario that is not there."""

    def runtest(self) -> None:
        pytest.fail(f"{self.name}.toml: no scenario of this name in js/scenarios or py/scenarios", pytrace=False)

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, self.name


class Unexpected(Exception):
    """A cell that is not as expected."""

    def __init__(self, result: Result, verdict: str, problems: tuple[str, ...] = ()) -> None:
        super().__init__(result.reason)
        self.result = result
        self.verdict = verdict
        self.problems = problems


class Lifecycle(pytest.Item):
    """One scenario on one target."""

    def __init__(self, *, cell: Cell, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.cell = cell

    def runtest(self) -> None:
        ran = self.session.stash[ahead_key].run(self.cell)
        verdict, problems = _verdict(ran)
        result = ran.result
        said = self.session.stash[workers_key].versions.get(self.cell.target)
        told = {"verdict": verdict, "result": msgspec.to_builtins(result), "versions": said}
        self.user_properties.append((PROPERTY, told))
        if verdict == "skip":
            pytest.skip(result.reason)
        if verdict in ("fail", "error"):
            raise Unexpected(result, verdict, problems)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        error = excinfo.value
        if not isinstance(error, Unexpected):
            return super().repr_failure(excinfo)
        said = error.problems or (error.result.reason,)
        parts: list[RenderableType] = [
            Text(f"{error.verdict}: {said[0]}"),
            *map(Text, said[1:]),
            *details(error.result),
        ]
        return _text(parts)

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, self.name


def _verdict(ran: Ran) -> tuple[str, tuple[str, ...]]:
    """Return the suite's verdict: a scenario that leaks on purpose must fail, and with exactly what it is to leave."""
    if ran.uncaught:
        return "fail", ran.uncaught
    return (CAUGHT if ran.result.caught else ran.result.verdict), ()


def _text(parts: list[RenderableType]) -> str:
    console = Console(file=io.StringIO(), width=120, highlight=False, force_terminal=False)
    for part in parts:
        console.print(part, soft_wrap=not hasattr(part, "columns"))
    output = console.file
    assert isinstance(output, io.StringIO)
    return output.getvalue()


def pytest_sessionstart(session: pytest.Session) -> None:
    session.stash[workers_key] = Workers()


def pytest_sessionfinish(session: pytest.Session) -> None:
    if ahead_key in session.stash:
        session.stash[ahead_key].stop()
    session.stash[workers_key].stop()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Go target by target, so that a worker's start is paid once."""
    places = {target: place for place, target in enumerate(_targets(config))}
    items.sort(key=lambda item: places[item.cell.target] if isinstance(item, Lifecycle) else -1)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> None:
    """Begin with the cells; pytest then asks for each in its order."""
    options = session.config.option
    settings = Settings(
        cycles=options.cycles, recipe=options.recipe, limit=options.cell_timeout, full_stacks=options.full_stacks
    )
    workers = session.stash[workers_key]
    # Under pytest-xdist it is its workers that run several targets at once, and each runs what it is given.
    alone = (
        session.config.getoption("dist", "no") == "no"
        and not hasattr(session.config, "workerinput")
        and not options.collectonly
    )
    wanted = [item.cell for item in session.items if isinstance(item, Lifecycle)] if alone else []
    prepare(dict.fromkeys(cell.target for cell in wanted), workers)
    session.stash[ahead_key] = Ahead(wanted, workers, settings, options.jobs)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give each of pytest-xdist's workers whole targets, for the same reason."""
    from xdist.scheduler import LoadScopeScheduling

    class ByTarget(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return nodeid.rpartition("[")[2]

    return ByTarget(config, log) if config.option.dist == "load" else None


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    found = [
        value
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "when", None) == "call"
        for name, value in report.user_properties
        if name == PROPERTY
    ]
    if not found:
        return
    places = {str(target): place for place, target in enumerate(_targets(config))}
    found.sort(key=lambda value: (value["result"]["scenario"], places[value["result"]["target"]]))
    terminalreporter.section("scenarios by targets")
    terminalreporter.write(_grid(terminalreporter, found))
    if config.option.results is not None:
        versions = {value["result"]["target"]: value["versions"] for value in found if value["versions"]}
        try:
            write(config.option.results, document([value["result"] for value in found], versions))
        except OSError as error:
            said = f"--results {config.option.results}: the results could not be written: {error}"
            terminalreporter.write_line(said, red=True)
            terminalreporter._session.exitstatus = pytest.ExitCode.USAGE_ERROR


def _grid(terminalreporter: Any, found: list[dict[str, Any]]) -> str:
    writer = terminalreporter._tw
    console = Console(width=writer.fullwidth, highlight=False, force_terminal=writer.hasmarkup)
    with console.capture() as capture:
        console.print(grid((v["result"]["scenario"], v["result"]["target"], v["verdict"]) for v in found))
        console.print(seconds((v["result"]["target"], v["result"]["seconds"]) for v in found))
    return capture.get()


def _targets(config: pytest.Config) -> list[Target]:
    return resolve(config.getoption("--target"))

"""``tensorledger atlas``: what every scenario shows on every release of TensorFlow.js."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.markup import escape

from tensorledger.atlas import data
from tensorledger.atlas.data import Atlas, BadAtlas
from tensorledger.atlas.executors import NoCluster, cluster, local
from tensorledger.atlas.measure import How
from tensorledger.atlas.page import page
from tensorledger.atlas.shelf import Shelf, bytes_of
from tensorledger.atlas.store import StoreUnusable, store_at
from tensorledger.atlas.sweep import Swept, sweep
from tensorledger.cells.ahead import cores
from tensorledger.cli.options import NewFile, ScenarioType, TargetType, flat
from tensorledger.environment.cache import CacheUnusable, cache_folder
from tensorledger.environment.folders import write_whole
from tensorledger.environment.node import NodeMissing
from tensorledger.environment.packages import PackagesMissing
from tensorledger.expectations.toml import BadDefinition
from tensorledger.scenarios.catalogue import Scenario, all_scenarios
from tensorledger.targets.catalogue import resolve
from tensorledger.targets.target import Target
from tensorledger.terminal.console import console
from tensorledger.terminal.progress import progress

EVERY = "tfjs@*"


class SizeType(click.ParamType[int]):
    """A size on disk, as 8G."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            return bytes_of(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


@click.command()
@click.argument("scenarios", nargs=-1, type=ScenarioType(), metavar="[SCENARIO]...")
@click.option(
    "-t", "--target", "chosen", type=TargetType(), multiple=True, help=f"On which releases. Default: {EVERY}."
)
@click.option("--jobs", type=click.IntRange(min=1), help="Processes of this machine. Default: cores and one.")
@click.option("--scheduler", metavar="ADDRESS", help="Run on the dask.distributed cluster whose scheduler is there.")
@click.option(
    "--disk",
    default="8G",
    show_default=True,
    type=SizeType(),
    help="Space for the releases that this fetches; what was in the cache before stays, and does not count.",
)
@click.option("--json", "json_file", type=NewFile(), help="Write the data there.")
@click.option("--page", "page_file", type=NewFile(), help="Write the page for people there.")
@click.option("--from", "given", type=click.Path(path_type=Path), help="Measure nothing: take the data from there.")
def atlas(
    scenarios: Sequence[Scenario],
    chosen: Sequence[list[Target]],
    jobs: int | None,
    scheduler: str | None,
    disk: int,
    json_file: Path | None,
    page_file: Path | None,
    given: Path | None,
) -> None:
    """Measure scenarios on every stable release of TensorFlow.js, by exact counts; without a SCENARIO, all.

    Every cell is kept at once in the cache, and not measured again while the scenario, the JavaScript in js/ and
    Node.js are the same: an interrupted run goes on where it was. Exit status: 1 where a release could not be fetched,
    2 usage or environment, 130 after Ctrl-C.
    """
    shown = console()
    try:
        if given is not None:
            made, swept = data.read(given), None
        else:
            targets = flat(chosen) if chosen else resolve([EVERY])
            swept = _measure(_javascript(scenarios, targets), targets, jobs, scheduler, disk, shown)
            made = data.atlas_of(swept)
        _write(made, json_file, page_file)
    except KeyboardInterrupt:
        shown.print("[yellow]interrupted; what was measured is kept, and the same command goes on[/]")
        raise click.exceptions.Exit(128 + signal.SIGINT) from None
    except BrokenProcessPool as error:
        raise _Problem(f"{error} What was measured is kept, and the same command goes on.") from error
    except (
        BadAtlas, StoreUnusable, NoCluster, CacheUnusable, NodeMissing, PackagesMissing, BadDefinition, OSError
    ) as error:  # fmt: skip
        raise _Problem(str(error)) from error
    for found in made.unusable:
        shown.print(f"[yellow]–[/] tfjs@{found.release} {found.state}: [dim]{escape(found.why)}[/]", soft_wrap=True)
    ranges = sum(len(found) for found in made.scenarios.values())
    ran = "" if swept is None else f"; {swept.ran} cells were run"
    shown.print(f"{len(made.scenarios)} scenarios on {len(made.releases)} releases: {ranges} ranges{ran}")
    raise click.exceptions.Exit(1 if any(found.state == "does not install" for found in made.unusable) else 0)


class _Problem(click.ClickException):
    """What keeps the atlas from being made."""

    exit_code = 2


def _javascript(scenarios: Sequence[Scenario], targets: Sequence[Target]) -> list[Scenario]:
    """Return the scenarios to run. Raises UsageError where one, or a target, is not for TensorFlow.js."""
    others = [str(target) for target in targets if target.language != "js"]
    if others:
        raise click.UsageError(f"the atlas is of releases of TensorFlow.js, and not of {', '.join(others)}")
    if len({target.backend for target in targets}) > 1:
        raise click.UsageError("an atlas is of one backend; run it for each")
    for scenario in scenarios:
        if "js" not in scenario.files:
            raise click.UsageError(f"{scenario.name} is written in Python, and the atlas is of TensorFlow.js")
        if scenario.name not in all_scenarios():
            raise click.UsageError(f"{scenario.name}: the atlas is of the project's scenarios; `bisect` takes any file")
    everything = [found for found in all_scenarios().values() if "js" in found.files and not found.of_a_report]
    return list(scenarios) or everything


def _measure(
    scenarios: list[Scenario], targets: list[Target], jobs: int | None, scheduler: str | None, disk: int, shown: Console
) -> Swept:
    bar = progress(shown)
    with store_at(cache_folder() / "atlas") as store, _executor(jobs, scheduler) as (executor, at_once), bar:
        task = bar.add_task("", total=len(scenarios) * len(targets))

        def told(target: Target, cells: int) -> None:
            bar.update(task, description=escape(str(target)), advance=cells)

        return sweep(scenarios, targets, How(), executor, at_once, store, Shelf(disk), told)


@contextmanager
def _executor(jobs: int | None, scheduler: str | None) -> Iterator[tuple[Executor, int]]:
    if scheduler is not None:
        with cluster(scheduler) as found:
            yield found
        return
    count = jobs or cores() + 1  # one waits while a worker starts or ends
    with local(count) as executor:
        yield executor, count


def _write(made: Atlas, json_file: Path | None, page_file: Path | None) -> None:
    if json_file is not None:
        data.write(json_file, made)
    if page_file is not None:
        write_whole(page_file.resolve(), page(made))

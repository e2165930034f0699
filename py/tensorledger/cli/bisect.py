"""``tensorledger bisect``: the first release in which a scenario's verdict, or what it leaves, is another."""

from __future__ import annotations

import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import click
import msgspec
from packaging.version import Version
from rich.console import Console
from rich.markup import escape

from tensorledger.atlas.measure import How, Measured, counting, measure_with
from tensorledger.atlas.shows import Shows, verdict
from tensorledger.bisection.search import MOST, Change, Search
from tensorledger.cells.cell import LIMIT
from tensorledger.cli.options import ParameterType, RecipeType, ScenarioType, json_option, write_json
from tensorledger.environment.cache import CacheUnusable
from tensorledger.environment.node import NodeMissing
from tensorledger.environment.packages import PackagesMissing
from tensorledger.environment.releases import nearest
from tensorledger.expectations.expectation import expectation_for
from tensorledger.expectations.toml import BadDefinition
from tensorledger.scenarios.catalogue import Scenario
from tensorledger.targets.catalogue import resolve
from tensorledger.targets.target import PLACES, Pattern, Target
from tensorledger.terminal.console import console
from tensorledger.terminal.marks import marked
from tensorledger.terminal.progress import progress
from tensorledger.workers.pool import Workers

SCHEMA = "tensorledger/bisect/1"
What = Literal["verdict", "tensors", "bytes", "buffers", "thrown"]
WHATS: tuple[What, ...] = ("verdict", "tensors", "bytes", "buffers", "thrown")


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One release that was looked at. The verdict of one that cannot be used is "skip"."""

    version: str
    verdict: str
    tensors: int | None
    """Left at the end of the last cycle, as are the next two."""
    bytes: int | None
    buffers: int | None
    thrown: str | None
    reason: str


@dataclass
class Probes:
    """Measures a scenario on releases, and keeps what came of it."""

    scenario: Scenario
    backend: str
    what: What
    how: How
    workers: Workers
    shown: Console
    runs: list[Run] = field(default_factory=list)

    def look(self, version: str) -> str | int | None:
        """Return what a release shows of what is asked for, or None where it cannot be used."""
        place = Pattern.parse(f"tfjs/{self.backend}")
        target = Target("tfjs", version, place.backend, place.browser)
        started = time.monotonic()
        bar = progress(self.shown)
        with bar:
            bar.add_task(escape(f"{self.scenario.name} on {target}"), total=None)
            run = self._run(target, measure_with(self.workers, self.scenario, target, self.how))
        self.runs.append(run)
        left = "" if run.tensors is None else f"{run.tensors:,} tensors left  "
        reason = escape(run.reason.splitlines()[0] if run.reason else "")
        seconds = time.monotonic() - started
        self.shown.print(
            f"{marked(run.verdict)} {escape(str(target))} [dim]{seconds:.1f} s[/]  {left}[dim]{reason}[/]",
            soft_wrap=True,
        )
        if run.verdict == "skip":
            return None
        value: str | int | None = getattr(run, self.what)
        return "nothing" if value is None else value

    def _run(self, target: Target, measured: Measured) -> Run:
        version = str(target.version)
        if measured.shows is None:
            reason = measured.not_installed or measured.not_loaded
            return _run(version, "skip", Shows(), reason)
        file = self.scenario.file(target)
        assert file is not None, "the command has looked"
        said, reason = verdict(measured.shows, expectation_for(self.scenario.name, file), target)
        # Nothing is read everywhere: where something is not, that is what the release shows.
        return _run(version, "fail" if said == "skip" else said, measured.shows, reason)


def _run(version: str, said: str, shows: Shows, reason: str) -> Run:
    end = shows.end
    return Run(
        version=version,
        verdict=said,
        tensors=end.tensors if end else None,
        bytes=end.bytes if end else None,
        buffers=end.buffers if end else None,
        thrown=f"{shows.threw.type}: {shows.threw.message}" if shows.threw else None,
        reason=reason,
    )


@click.command()
@click.argument("scenario", type=ScenarioType())
@click.option("--good", metavar="VERSION", help="One end of the range. Default: the oldest release.")
@click.option("--bad", metavar="VERSION", help="The other end, newer or older. Default: the newest release.")
@click.option("--backend", default="cpu", show_default=True, type=click.Choice(PLACES), help="Where it runs.")
@click.option("--what", default="verdict", show_default=True, type=click.Choice(WHATS), help="What is to be another.")
@click.option("--recipe", default="", type=RecipeType(), help="The way to release. Default: each release's own.")
@click.option(
    "--timeout", "limit", default=LIMIT, show_default=True, type=click.FloatRange(min=0.1), help="Seconds for one run."
)
@click.option("--param", "params", type=ParameterType(), multiple=True, help="As of `run`.")
@json_option
def bisect(
    scenario: Scenario,
    good: str | None,
    bad: str | None,
    backend: str,
    what: What,
    recipe: str,
    limit: float,
    params: Sequence[tuple[str, Any]],
    json_file: Path | None,
) -> None:
    """Find the first release of TensorFlow.js in which a scenario, by name or as a file, does otherwise.

    The verdict is by the scenario's plain expectation and by exact counts alone: tensors, bytes, buffers and what is
    thrown. After the change is found, both of its sides are looked at in some places, so that it is said where there is
    more than one. Exit status: 0 a change was found, 1 none was, 2 usage or environment.
    """
    if "js" not in scenario.files:
        raise click.UsageError(f"{scenario.name} is written in Python; bisect looks at releases of TensorFlow.js")
    releases = _range([str(target.version) for target in resolve([f"tfjs@*/{backend}"])], good, bad)
    shown = console()
    shown.print(f"{escape(scenario.name)}: {len(releases)} releases, {releases[0]} to {releases[-1]}, on {backend}")
    changes: list[Change] = []
    how = How(recipe=recipe, limit=limit, params=dict(params))
    with counting() as workers:
        probes = Probes(scenario, backend, what, how, workers, shown)
        search = Search(releases, probes.look)
        try:
            changes = search.changes()
        except KeyboardInterrupt:
            shown.print(f"[yellow]interrupted after {len(probes.runs)} releases[/]")
            raise click.exceptions.Exit(128 + signal.SIGINT) from None
        except (BadDefinition, NodeMissing, PackagesMissing, CacheUnusable) as error:
            click.echo(f"Error: {error}", err=True)
            raise click.exceptions.Exit(2) from error
        finally:
            if json_file is not None:
                write_json(json_file, _document(scenario, what, changes, probes.runs))
    for line in _said(what, changes, search, probes.runs):
        shown.print(line, soft_wrap=True)
    raise click.exceptions.Exit(0 if changes else 1 if search.ends else 2)


def _range(releases: list[str], good: str | None, bad: str | None) -> list[str]:
    """Return the releases from one end to the other, oldest first. Raises UsageError."""
    for option, version in (("--good", good), ("--bad", bad)):
        if version is not None and version not in releases:
            try:
                close = f"the nearest are {' and '.join(nearest(version, releases))}"
            except ValueError:
                close = f"a version is written as {releases[-1]}"
            raise click.UsageError(f"{option} {version}: no such release of TensorFlow.js was published; {close}")
    low, high = sorted((good or releases[0], bad or releases[-1]), key=Version)
    if low == high:
        raise click.UsageError(f"--good and --bad are both {low}: there is nothing between them")
    return releases[releases.index(low) : releases.index(high) + 1]


def _said(what: What, changes: list[Change], search: Search, runs: list[Run]) -> list[str]:
    """Return what a person is told in the end."""
    lines = []
    if search.ends is None:
        lines.append("[bold red]no release of the range can be used[/]")
    elif not changes:
        low, high = search.ends
        lines.append(
            f"[yellow]no change found[/]: {low} and {high} show the same {what}, as do all that were looked at "
            "between; give a --good and a --bad that differ"
        )
    for number, change in enumerate(changes):
        lead = "the first release that differs" if number == 0 else "it changes again in"
        lines.append(
            f"{lead}: [bold]{change.first}[/]  {what} {escape(str(change.before))} in {change.previous}, "
            f"{escape(str(change.after))} in {change.first}"
        )
    if len(changes) > 1:
        more = ", and perhaps more often" if len(changes) >= MOST else ""
        lines.append(f"[yellow]it changes {len(changes)} times in this range{more}[/]")
    skipped = sorted((run.version for run in runs if run.verdict == "skip"), key=Version)
    if skipped:
        lines.append(f"[yellow]cannot be used, and were passed over: {', '.join(skipped)}[/]")
    lines.append(f"[dim]{len(runs)} runs[/]")
    return lines


def _document(scenario: Scenario, what: What, changes: list[Change], runs: list[Run]) -> dict[str, Any]:
    found = changes[0] if changes else None
    return {
        "schema": SCHEMA,
        "scenario": scenario.name,
        "what": what,
        "first": found.first if found else None,
        "previous": found.previous if found else None,
        "from": found.before if found else None,
        "to": found.after if found else None,
        "changes": [
            {"first": change.first, "previous": change.previous, "from": change.before, "to": change.after}
            for change in changes
        ],
        "runs": [msgspec.to_builtins(run) for run in sorted(runs, key=lambda run: Version(run.version))],
    }

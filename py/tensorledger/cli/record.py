"""``tensorledger record``: the deviations that the atlas's data ask for, for a person to say why."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape
from rich.text import Text

from tensorledger.atlas import data
from tensorledger.atlas.data import Atlas, BadAtlas
from tensorledger.atlas.propose import block, disagreements, proposals, unmeant
from tensorledger.cli.options import ScenarioType
from tensorledger.cli.streams import complain
from tensorledger.expectations.deviation import deviations_for
from tensorledger.expectations.expectation import expectation_for
from tensorledger.expectations.toml import BadDefinition
from tensorledger.scenarios.catalogue import Scenario, all_scenarios
from tensorledger.terminal.console import console


@click.command()
@click.argument("scenarios", nargs=-1, type=ScenarioType(), metavar="[SCENARIO]...")
@click.option("--from", "given", type=click.Path(path_type=Path), help="The data. Default: docs/atlas.json.")
@click.option("--missing", is_flag=True, help="Propose only where the deviations that there are do not agree.")
def record(scenarios: Sequence[Scenario], given: Path | None, missing: bool) -> None:
    """Propose deviations from the atlas's data, with exact numbers, and ranges that mean exactly the releases alike.

    What is printed goes into harness/deviations/SCENARIO.toml once a person has said why: an empty `why` is refused. It
    also says where the deviations that there are do not agree with the data. Exit status: 1 where one does not.
    """
    shown = console()
    try:
        atlas = data.read(given or data.committed())
        named = list(scenarios) or [found for name, found in all_scenarios().items() if name in atlas.scenarios]
        for scenario in named:
            if scenario.name not in atlas.scenarios:
                raise click.UsageError(f"{scenario.name} is not in the data; tensorledger atlas {scenario.name}")
        wrong = sum(_record(shown, atlas, scenario, missing) for scenario in named)
    except (BadAtlas, BadDefinition) as error:
        complain(error)
        raise click.exceptions.Exit(2) from error
    agree = "agree with the data" if not wrong else f"do not agree with the data in {wrong} places"
    shown.print(f"# {len(named)} scenarios on {len(atlas.releases)} releases: the deviations {agree}")
    raise click.exceptions.Exit(1 if wrong else 0)


def _record(shown: Console, atlas: Atlas, scenario: Scenario, missing: bool) -> int:
    """Print what there is to say of one scenario; return in how many places its definitions do not agree."""
    expectation = expectation_for(scenario.name, scenario.files["js"])
    deviations = deviations_for(scenario.name, expectation)
    wrong = list(disagreements(atlas, scenario.name, expectation, deviations))
    idle = list(unmeant(atlas, deviations))
    if missing and not wrong and not idle:
        return 0
    file = f"harness/deviations/{scenario.name}.toml"
    shown.print(f"[bold]# {escape(file)}[/]")
    for found in wrong:
        shown.print(
            Text(f"# does not agree: {', '.join(found.targets)}: {_line(found.said)}", style="yellow"), soft_wrap=True
        )
    for name in idle:
        shown.print(
            Text(f"# does not agree: {name} means no release that was measured", style="yellow"), soft_wrap=True
        )
    off = {release for found in wrong for release in found.releases}
    for proposal in proposals(atlas, scenario.name, expectation, deviations):
        if not missing or off.intersection(proposal.releases):
            shown.print(Text(block(proposal) + "\n"), soft_wrap=True)
    return len(wrong) + len(idle)


def _line(text: str) -> str:
    return " ".join(text.split())

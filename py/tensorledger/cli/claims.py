"""``tensorledger claims``: every claim with its verdict, where it holds, and the evidence."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import msgspec
from rich.console import Console
from rich.markup import escape

from tensorledger.cells.ahead import cores
from tensorledger.claims import page as pages
from tensorledger.claims.catalogue import CLAIMS, settle
from tensorledger.claims.claim import SCHEMA, Claim, Settled
from tensorledger.claims.lab import Measuring
from tensorledger.cli.options import NewFile, flat, json_option, target_option, write_json
from tensorledger.environment.folders import write_whole
from tensorledger.results.marked import NoMarks, replaced
from tensorledger.targets.catalogue import lacking
from tensorledger.targets.target import Target
from tensorledger.terminal.claims import evidence, table
from tensorledger.terminal.console import console
from tensorledger.terminal.progress import progress


class ClaimType(click.ParamType[Claim]):
    """A claim's id."""

    name = "claim"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Claim:
        if isinstance(value, Claim):
            return value
        found = {claim.id: claim for claim in CLAIMS}.get(str(value).upper())
        if found is None:
            self.fail(f"no claim {value!r}; there are: {', '.join(claim.id for claim in CLAIMS)}", param, ctx)
        return found


@click.command()
@click.argument("claims", nargs=-1, type=ClaimType(), metavar="[CLAIM]...")
@target_option
@click.option("--jobs", default=cores, type=click.IntRange(min=1), help="Targets at once. Default: one a core.")
@click.option(
    "--from",
    "kept",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Measure nothing: take what a --json of an earlier run says.",
)
@click.option("--page", type=NewFile(), help="Write the verdicts with all evidence there, as Markdown.")
@click.option("--readme", type=NewFile(), help="Write the table of verdicts between the marks <!-- claims --> there.")
@json_option
def claims(
    claims: Sequence[Claim],
    chosen: Sequence[list[Target]],
    jobs: int,
    kept: Path | None,
    page: Path | None,
    readme: Path | None,
    json_file: Path | None,
) -> None:
    """Settle the claims that people repeat about how models give memory back, by measuring each.

    CLAIM is an id, such as A5; by default all are settled. A claim holds, fails, or holds only for what is said: some
    targets, or some of its parts. With one or more ids the evidence is shown too.

    Exit status: 0, whatever the verdicts are; 1 where a claim could not be measured; 2 where none could.
    """
    shown = console()
    wanted = list(claims) or list(CLAIMS)
    if page is not None or readme is not None:
        _look(wanted, readme)
    if kept is not None:
        ids = {claim.id for claim in wanted}
        settled = [each for each in read(kept) if each.id in ids]
    else:
        settled = _measured(wanted, _usable(flat(chosen), shown), jobs, shown)
    if json_file is not None:
        write_json(json_file, {"schema": SCHEMA, "claims": msgspec.to_builtins(settled)})
    _write_pages(settled, page, readme)
    shown.print(table(settled))
    if claims:
        for each in settled:
            shown.print(evidence(each))
    measured = [any(found.holds is not None for found in each.evidence) for each in settled]
    raise click.exceptions.Exit(0 if all(measured) else 1 if any(measured) else 2)


def _usable(targets: Sequence[Target], shown: Console) -> list[Target]:
    lacks = {target: lacking(target) for target in targets}
    for target, why in lacks.items():
        if why is not None:
            shown.print(f"[yellow]– {escape(str(target))}: {escape(why)}[/]")
    return [target for target, why in lacks.items() if why is None]


def _measured(wanted: Sequence[Claim], targets: Sequence[Target], jobs: int, shown: Console) -> list[Settled]:
    bar = progress(shown)
    total = sum(claim.concerns(target) and not claim.newest for claim in wanted for target in targets)
    total += sum(claim.newest for claim in wanted)
    try:
        with Measuring() as lab, bar:
            task = bar.add_task("", total=total)

            def told(claim: Claim, target: Target) -> None:
                bar.update(task, advance=1, description=escape(f"{claim.id} {target}"))

            return settle(wanted, lab, targets, jobs, told)
    except KeyboardInterrupt:
        shown.print("[yellow]interrupted: nothing is settled[/]")
        raise click.exceptions.Exit(128 + signal.SIGINT) from None


def _look(wanted: Sequence[Claim], readme: Path | None) -> None:
    """Refuse what could not be written in the end: a page of some claims, a README with no place for them."""
    if len(wanted) < len(CLAIMS):
        raise click.UsageError("a page is written of all claims: name none of them")
    try:
        if readme is not None:
            replaced(readme.read_text(encoding="utf-8"), pages.MARK, "")
    except (OSError, NoMarks) as error:
        raise click.UsageError(f"{readme}: {error}") from error


def _write_pages(settled: Sequence[Settled], page: Path | None, readme: Path | None) -> None:
    missing = [claim.id for claim in CLAIMS if claim.id not in {each.id for each in settled}]
    if missing and (page is not None or readme is not None):
        raise click.UsageError(f"a page is written of all claims; there is nothing of {', '.join(missing)}")
    try:
        if page is not None:
            write_whole(page, pages.page(settled))
        if readme is not None:
            text = readme.read_text(encoding="utf-8")
            write_whole(readme, replaced(text, pages.MARK, pages.readme_part(settled)))
    except (OSError, NoMarks) as error:
        raise click.UsageError(f"{readme or page}: {error}") from error


def read(file: Path) -> list[Settled]:
    """Return what a file of an earlier run says. Ends the command with status 2 where it is none."""
    try:
        said = msgspec.json.decode(file.read_bytes(), type=_File)
    except (OSError, msgspec.DecodeError) as error:
        raise click.UsageError(f"{file}: no claims can be read from it: {error}") from error
    if said.schema != SCHEMA:
        raise click.UsageError(f"{file}: its schema is {said.schema}, not {SCHEMA}")
    return said.claims


class _File(msgspec.Struct):
    schema: str
    claims: list[Settled]

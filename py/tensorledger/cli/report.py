"""``tensorledger report``: what results look like together."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from tensorledger.cli.options import NewFile
from tensorledger.cli.streams import complain, told_of_stdout
from tensorledger.environment.folders import write_whole
from tensorledger.expectations.toml import BadDefinition
from tensorledger.report.compared import Change, changes
from tensorledger.report.data import data
from tensorledger.report.github import SUMMARY, commands
from tensorledger.report.markdown import markdown
from tensorledger.report.merged import Merged, merge
from tensorledger.report.plain import outcome
from tensorledger.terminal.visible import visible

FORMATS = ("html", "junit", "markdown", "github")
STDOUT = "-"
MEND = "pip install 'tensorledger[report]'"


class Output(NewFile):
    """A file to write, or ``-`` for stdout."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        return Path(value) if str(value) == STDOUT else super().convert(value, param, ctx)


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
@click.option(
    "--before",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Results to compare with: what got worse, what got better. Again for more.",
)
@click.option("--format", "form", default="html", show_default=True, type=click.Choice(FORMATS), help="What to write.")
@click.option(
    "-o",
    "--output",
    type=Output(),
    help="Where to. Default: report.html for html, stdout (-) for the others.",
)
def report(files: Sequence[Path], before: Sequence[Path], form: str, output: Path | None) -> None:
    """Show files of results together: as a page for people, as JUnit's XML, as Markdown, as annotations.

    A FILE is what `run --json`, `pytest harness --results`, `check --json`, `recipes --json` or `atlas --json` wrote.
    Where several have the same cell, the worst is shown, with what each says. `github` prints annotations, and adds the
    Markdown to the step's summary.

    It judges nothing: what the run's own exit status says stands. Exit status: 2 where a file cannot be read (what can
    be read is reported), where there are no results, or where nothing can be written.
    """
    target = output or Path("report.html" if form == "html" else STDOUT)
    _spare([*files, *before], target)
    merged = merge(files)
    earlier = merge(before) if before else None
    problems = [*merged.problems, *(earlier.problems if earlier else ())]
    for problem in problems:
        complain(problem)
    if merged.empty:
        if not problems:
            complain(f"no results in {', '.join(map(str, files))}: nothing is written")
        raise click.exceptions.Exit(2)
    changed = list(changes(earlier, merged)) if earlier else None
    text = _written(form, merged, changed)
    if form == "github":
        _add_to_summary(markdown(merged, changed))
    if str(target) == STDOUT:
        _print(text if form == "html" else visible(text))
    else:
        _write(target, text)
        click.echo(visible(f"wrote {target}: {outcome(merged)}"))
    raise click.exceptions.Exit(2 if problems else 0)


def _written(form: str, merged: Merged, changed: Sequence[Change] | None) -> str:
    """Return the report in a format. What a format needs is imported when it is asked for."""
    try:
        if form == "html":
            from tensorledger.report.page import page

            return page(data(merged, changed))
        if form == "junit":
            from tensorledger.report.junit import junit

            return junit(merged)
    except BadDefinition as error:  # the atlas is judged by the expectations there are
        raise click.UsageError(str(error)) from error
    except ModuleNotFoundError as error:
        raise click.UsageError(f"--format {form} needs {error.name}: {MEND}") from error
    if form == "markdown":
        return markdown(merged, changed)
    return "".join(f"{line}\n" for line in commands(merged))


def _spare(files: Sequence[Path], target: Path) -> None:
    """Raise click.UsageError where a file that is read would be written over, or added to."""
    for written in (target, Path(os.environ.get(SUMMARY) or STDOUT)):
        for file in files:
            if written.is_file() and file.is_file() and written.samefile(file):
                raise click.UsageError(f"{written} is one of the files to read, and would be lost: name another by -o")


def _print(text: str) -> None:
    with told_of_stdout():
        sys.stdout.buffer.write(text.encode("utf-8", "replace"))
        sys.stdout.buffer.flush()


def _write(path: Path, text: str) -> None:
    try:
        write_whole(path, text)
    except (OSError, RuntimeError) as error:  # the latter of a link that leads to itself
        complain(f"{path} could not be written: {getattr(error, 'strerror', None) or error}")
        raise click.exceptions.Exit(2) from error


def _add_to_summary(text: str) -> None:
    """Append to the step's summary, where GitHub names one."""
    if not (file := os.environ.get(SUMMARY)):
        return
    try:
        with open(file, "a", encoding="utf-8", errors="replace") as summary:
            summary.write(f"{text}\n")
    except OSError as error:
        complain(f"the summary of the step could not be written: {error}")
        raise click.exceptions.Exit(2) from error

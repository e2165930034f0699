"""A check on one page: what was converted, how far predictions are off, what is left, how to release it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from tensorledger.checking.checked import Advice, Checked, Parity
from tensorledger.results.result import Result
from tensorledger.terminal.leaks import leaks
from tensorledger.terminal.marks import MARKS
from tensorledger.verdicts.verdict import AS_EXPECTED

COMPLETE = (
    "[dim]complete: releaseModel(model, {optimizer: true}) of the npm package; in Python, the recipe of this name, in "
    "docs/prediction-in-python-keeps-memory.md[/]"
)
USAGES = ("loaded", "predicted", "trained")


def page(found: Checked) -> Iterator[RenderableType]:
    """Yield the page."""
    of = {"keras": " of Keras 3", "tf-keras": " of Keras 2", "": ""}.get(found.keras, f" of {found.keras}")
    yield f"[bold]{escape(found.model)}[/]: {found.kind}{of}"
    yield from _conversion(found)
    if found.parity:
        yield _parity(found.parity)
        quantized = f" and {found.quantize} weights" if found.quantize else ""
        yield (
            f"[dim]explained: the largest difference that rounding{quantized} can make of this model's predictions; "
            "relative: of what Python predicts[/]"
        )
        yield from _why(found.parity)
    if found.results:
        yield _lives(found.results, found.recipes)
        if any(advice.recipe == "complete" for advice in found.recipes):
            yield COMPLETE
        yield from _left(found.results, found.recipes)
    if found.error:
        yield f"[bold red]✗[/] {escape(found.error)}"
    yield _end(found)


def _conversion(found: Checked) -> Iterator[str]:
    for form in found.formats:
        rules = f"; repaired: {', '.join(found.rules)}" if form == "layers" and found.rules else ""
        yield f"[green]✓[/] converted to a {form} model{rules}"
        for name, off in found.quantized.get(form, {}).items():
            yield f"  {found.quantize} changes predictions ({name}) by up to {max(off, default=0.0):.2g}"
    for one in found.refused:
        yield f"[red]✗ refused[/] as a {one.format} model: {escape(one.reason)}"
    for what in found.left_out:
        yield f"[yellow]–[/] left out: {escape(what)}"
    for note in found.notes:
        yield f"[yellow]–[/] as a graph model, {escape(note)}"


def _parity(parity: Sequence[Parity]) -> Table:
    table = Table(title="predictions beside Python's", title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    for heading in ("target", "format", "inputs", "output"):
        table.add_column(heading, overflow="fold")
    for heading in ("off by", "explained", "relative"):
        table.add_column(heading, justify="right")
    table.add_column("weights loaded", justify="right")
    for one in parity:
        weights = f"{one.weights['count']} · {one.weights['bytes']:,} B" if one.weights else ""
        names = [one.target, one.format]
        if not one.outputs:
            table.add_row(*names, "", "", Text("!", style="bold red"), "", "", weights)
        for off in one.outputs:
            table.add_row(
                *names,
                off.inputs,
                escape(off.output),
                Text(_number(off.max_abs) + ("" if off.ok else " ✗"), style="" if off.ok else "bold red"),
                _number(off.bound),
                _number(off.max_rel),
                weights,
            )
            names, weights = ["", ""], ""
    return table


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2g}"


def _why(parity: Sequence[Parity]) -> Iterator[str]:
    for one in parity:
        if not one.ok:
            yield f"[red]✗[/] {one.format} model on {one.target}: {escape(one.error or one.reason)}"


def _lives(results: Sequence[Result], recipes: Sequence[Advice]) -> Table:
    """Return a table of targets by usages: the verdict, and the recipe that leaves nothing."""
    table = Table(title="released, after it was …", title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("target")
    table.add_column("format")
    usages = [usage for usage in USAGES if any(advice.usage == usage for advice in recipes)]
    for usage in usages:
        table.add_column(usage)
    found = {
        (advice.target, advice.format, advice.usage): (result, advice)
        for result, advice in zip(results, recipes, strict=True)
    }
    for target, form in dict.fromkeys((advice.target, advice.format) for advice in recipes):
        table.add_row(target, form, *(_life(found.get((target, form, usage))) for usage in usages))
    return table


def _left(results: Sequence[Result], recipes: Sequence[Advice]) -> Iterator[RenderableType]:
    """Yield what is left, or broke: in whole of each target's first such life, in a line of the others."""
    shown: set[tuple[str, str]] = set()
    for result, advice in zip(results, recipes, strict=True):
        if result.verdict in AS_EXPECTED:
            continue
        said = result.reason.removeprefix("the default expectation: ")
        yield f"[red]✗[/] {advice.format} model on {result.target}, {advice.usage}, {result.recipe}: {escape(said)}"
        if (result.target, advice.format) not in shown and result.leaks:
            yield Text("left at the end of the last cycle:")
            yield from leaks(result.leaks)
        shown.add((result.target, advice.format))


def _life(found: tuple[Result, Advice] | None) -> str:
    if found is None:
        return ""
    result, advice = found
    mark, style = MARKS[result.verdict]
    return f"[{style}]{mark}[/] {advice.recipe or 'each leaves something'}"


def _end(found: Checked) -> str:
    if found.ok:
        return "[green]✓ ready[/]: right on every target, and nothing is left when it is released as said"
    whole = bool(found.parity) and all(one.ok for one in found.parity) and not found.error
    lives = all(result.verdict in AS_EXPECTED for result in found.results)
    if whole and lives and found.refused:
        refused, checked = found.refused[0].format, " and ".join(found.formats)
        return (
            f"[bold red]✗ not ready[/]: refused as a {refused} model; as a {checked} model it is right: say "
            f"--format {checked} if that will do"
        )
    reasons = []
    if found.refused:
        reasons.append("refused")
    if any(not one.ok for one in found.parity):
        reasons.append("predictions or weights are off")
    if any(result.verdict not in AS_EXPECTED for result in found.results):
        reasons.append("something is left, or broke")
    if found.error or not found.parity:
        reasons.append("not all could be checked")
    return f"[bold red]✗ not ready[/]: {', '.join(reasons)}"

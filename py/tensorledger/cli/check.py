"""``tensorledger check``: is a model ready for the web."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from pathlib import Path

import click
from rich.markup import escape

from tensorledger.checking.check import FORMATS, INTERRUPTED, Asked
from tensorledger.checking.check import check as checked
from tensorledger.checking.lives import CYCLES
from tensorledger.cli.conversion import conversion_options
from tensorledger.cli.options import TargetType, json_option, write_json
from tensorledger.conversion.convert import Wanted
from tensorledger.conversion.refusal import CannotConvert
from tensorledger.conversion.sources import given
from tensorledger.targets.catalogue import lacking
from tensorledger.targets.target import Target
from tensorledger.terminal.check import page
from tensorledger.terminal.console import console
from tensorledger.terminal.progress import progress


@click.command()
@click.argument("model")
@click.option(
    "-t",
    "--target",
    "chosen",
    type=TargetType(),
    multiple=True,
    help="Where to run: name[@version][/backend], a range, or a named set. Again for more. Default: see above.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="auto",
    show_default=True,
    help="auto: layers, and a graph model where that is refused.",
)
@click.option(
    "--inputs",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Compare predictions on your own inputs too: .npy, or .npz for a model that takes several.",
)
@click.option("--cycles", default=CYCLES, show_default=True, type=click.IntRange(min=1), help="Of each life.")
@conversion_options
@json_option
def check(
    model: str,
    chosen: Sequence[list[Target]],
    form: str,
    inputs: Path | None,
    cycles: int,
    quantize: str | None,
    imports: Sequence[str],
    run_code: bool,
    with_keras: str,
    json_file: Path | None,
) -> None:
    """Convert MODEL, compare its predictions with Python's, live and release it, on each target.

    MODEL is a .keras or whole .h5 file of Keras 3 or 2, a SavedModel folder, a TensorFlow.js folder, or a .py file with
    a function `model(keras)` (FILE.py:NAME for another). Default targets: tfjs, tfjs/wasm, and the Keras that it is of.

    Predictions are compared on random numbers, one row, zeros, large numbers and your own, and held to what rounding
    explains for this model; then it is loaded, predicts and, where it is compiled, is trained, and is released by the
    plainest recipe that leaves nothing. Exit status: 0 all well; 1 refused, off, broken, or something is left; 2 usage,
    or there is nothing to run it on; 130 after Ctrl-C, with what was found so far.
    """
    shown = console()
    try:
        source = given(model)
    except CannotConvert as error:
        raise click.UsageError(str(error)) from error
    targets = list(dict.fromkeys(target for group in chosen for target in group))
    if targets and all(target.language == "py" for target in targets):
        raise click.UsageError("name a target of TensorFlow.js too, as --target tfjs: that is what it is converted for")
    lacks = next(filter(None, map(lacking, (Target("keras"), Target("tfjs")))), None)
    if lacks is not None:
        raise click.UsageError(lacks)
    bar = progress(shown)
    try:
        with bar:
            task = bar.add_task("", total=None)
            found = checked(
                Asked(
                    source=source,
                    wanted=Wanted(
                        format=form, quantize=quantize or "", imports=imports, run_code=run_code, keras=with_keras
                    ),
                    targets=targets,
                    inputs=inputs,
                    cycles=cycles,
                    told=lambda what: bar.update(task, description=escape(what)),
                )
            )
    except KeyboardInterrupt:
        shown.print("[yellow]interrupted[/]")
        raise click.exceptions.Exit(128 + signal.SIGINT) from None
    if json_file is not None:
        write_json(json_file, found.document())
    for part in page(found):
        shown.print(part, soft_wrap=isinstance(part, str))
    if found.error == INTERRUPTED:
        raise click.exceptions.Exit(128 + signal.SIGINT)
    raise click.exceptions.Exit(0 if found.ok else 1)

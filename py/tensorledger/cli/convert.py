"""``tensorledger convert``: a model as one that TensorFlow.js loads and is right with."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.markup import escape

from tensorledger.cli.conversion import conversion_options, shard_size
from tensorledger.cli.options import TargetType, json_option, write_json
from tensorledger.conversion.convert import FORMATS, Conversion, Wanted
from tensorledger.conversion.convert import convert as converted
from tensorledger.conversion.layers import NEWEST
from tensorledger.conversion.refusal import CannotConvert
from tensorledger.predictions.ask import TensorFlowBroke
from tensorledger.targets.target import Target
from tensorledger.terminal.console import console

SCHEMA = "tensorledger/conversion/1"


def _release(ctx: click.Context, param: click.Parameter, targets: list[Target] | None) -> str:
    if targets is None:
        return NEWEST
    if len(targets) != 1 or targets[0].version is None:
        raise click.BadParameter("name one release of TensorFlow.js, as tfjs@1.0.4", ctx, param)
    return targets[0].version


@click.command()
@click.argument("source")
@click.argument("destination", type=click.Path(path_type=Path))
@click.option("--format", "form", type=click.Choice(FORMATS), default="auto", show_default=True)
@click.option("--for", "release", type=TargetType(), callback=_release, help=f"For a release. Default: tfjs@{NEWEST}.")
@click.option("--shard", callback=shard_size, metavar="SIZE", help="Of a file of weights at most, as 4M. Default: 4M.")
@conversion_options
@json_option
def convert(
    source: str,
    destination: Path,
    form: str,
    release: str,
    shard: int,
    quantize: str | None,
    imports: Sequence[str],
    run_code: bool,
    with_keras: str,
    json_file: Path | None,
) -> None:
    """Convert SOURCE into the folder DESTINATION, complete or absent.

    SOURCE is a .keras or whole .h5 file of Keras 3 or 2, a SavedModel folder, a TensorFlow.js folder, or a .py file
    with a function `model(keras)` (FILE.py:NAME for another). Where DESTINATION ends in .keras, a TensorFlow.js layers
    model becomes a file that Keras 3 loads.

    `auto` writes a layers model where it can be right, else a graph model. What TensorFlow.js would load and be wrong
    with is refused: which layer, why, and what to do instead. A layers model of a Keras file is written without
    TensorFlow, and no code of the file is run. Exit status: 1 refused; 2 DESTINATION cannot be written.
    """
    shown, said = console(), {"schema": SCHEMA, "source": source, "destination": str(destination), "for": release}
    wanted = Wanted(form, release, quantize or "", shard, imports, run_code, with_keras)

    def write(**more: Any) -> None:
        if json_file is not None:
            write_json(json_file, {**said, **more})

    try:
        done = converted(source, destination, wanted)
    except KeyboardInterrupt:
        shown.print("[yellow]interrupted[/]: nothing is written")
        raise click.exceptions.Exit(128 + signal.SIGINT) from None
    except CannotConvert as error:
        write(refused=str(error))
        shown.print(f"[red]✗ refused[/] {escape(str(error))}", soft_wrap=True)
        raise click.exceptions.Exit(1) from error
    except FileExistsError as error:
        write(error=str(error))
        raise click.UsageError(f"{error}: remove it first, or name another folder") from error
    except (OSError, TensorFlowBroke) as error:
        write(error=str(error))
        raise click.UsageError(str(error)) from error
    except ModuleNotFoundError as error:
        write(error=str(error))
        raise click.UsageError(f"{error}: pip install 'tensorledger[convert]'") from error
    write(**asdict(done))
    for line in _lines(done, destination, release, quantize):
        shown.print(line, soft_wrap=True)


def _lines(done: Conversion, destination: Path, release: str, quantize: str | None) -> list[str]:
    what = "a file for Keras 3" if done.format == "keras" else f"a {done.format} model for tfjs@{release}"
    rules = f"; repaired: {', '.join(done.rules)}" if done.rules else ""
    lines = [f"[green]✓[/] {escape(str(destination))}: {what}{rules}"]
    lines += [f"[yellow]–[/] not as a {one.format} model: {escape(one.reason)}" for one in done.refused]
    lines += [f"[yellow]–[/] left out: {escape(one)}" for one in done.left_out]
    lines += [f"[yellow]–[/] {escape(one)}" for one in done.notes]
    if quantize and done.quantized is None:
        lines.append(f"[yellow]–[/] what {quantize} changes of the predictions was not measured: that takes TensorFlow")
    if done.quantized is not None:
        worst = ", ".join(f"{name} {max(off, default=0.0):.2g}" for name, off in done.quantized.items())
        lines.append(f"  by {quantize} the predictions are off by up to: {worst}")
    return lines

"""``tensorledger convert``: a Keras file as a model that TensorFlow.js loads and is right with."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.markup import escape

from tensorledger.atlas.shelf import bytes_of
from tensorledger.cli.options import TargetType, json_option, write_json
from tensorledger.conversion.layers import NEWEST, convert_layers, rules_for
from tensorledger.conversion.refusal import CannotConvert
from tensorledger.conversion.writing import QUANTIZED, SHARD
from tensorledger.targets.target import Target
from tensorledger.terminal.console import console

SCHEMA = "tensorledger/conversion/1"


def _release(ctx: click.Context, param: click.Parameter, targets: list[Target] | None) -> str:
    if targets is None:
        return NEWEST
    if len(targets) != 1 or targets[0].version is None:
        raise click.BadParameter("name one release of TensorFlow.js, as tfjs@1.0.4", ctx, param)
    return targets[0].version


def _shard(ctx: click.Context, param: click.Parameter, written: str | None) -> int:
    if written is None:
        return SHARD
    try:
        size = int(written) if written.isdecimal() else bytes_of(written)
    except ValueError as error:
        raise click.BadParameter(str(error), ctx, param) from error
    if size < 1:
        raise click.BadParameter("a file of weights has at least 1 byte", ctx, param)
    return size


@click.command()
@click.argument("source", type=click.Path(path_type=Path))
@click.argument("destination", type=click.Path(path_type=Path))
@click.option("--for", "release", type=TargetType(), callback=_release, help=f"For a release. Default: tfjs@{NEWEST}.")
@click.option("--quantize", type=click.Choice(tuple(QUANTIZED)), default=None, help="Keep the weights in fewer bytes.")
@click.option("--shard", callback=_shard, metavar="SIZE", help="Of a file of weights at most, as 4M. Default: 4M.")
@json_option
def convert(
    source: Path, destination: Path, release: str, quantize: str | None, shard: int, json_file: Path | None
) -> None:
    """Convert SOURCE, a .keras or a whole .h5 file, into the folder DESTINATION: a layers model, complete or absent.

    What TensorFlow.js would load and be wrong with is refused: which layer, why, and what to do instead. TensorFlow
    is not imported, and no code of the file is run. Exit status: 1 refused; 2 DESTINATION cannot be written.
    """
    shown, said = console(), {"schema": SCHEMA, "source": str(source), "destination": str(destination), "for": release}

    def write(**more: Any) -> None:
        if json_file is not None:
            write_json(json_file, {**said, **more})

    try:
        done = convert_layers(source, destination, rules_for(release), shard=shard, quantize=quantize or "")
    except CannotConvert as error:
        write(refused=str(error))
        shown.print(f"[red]✗ refused[/] {escape(str(error))}", soft_wrap=True)
        raise click.exceptions.Exit(1) from error
    except OSError as error:
        write(error=str(error))
        raise click.UsageError(str(error)) from error
    write(**asdict(done))
    rules = f"; repaired: {', '.join(done.rules)}" if done.rules else ""
    shown.print(f"[green]✓[/] {escape(str(destination))}: a layers model for tfjs@{release}{rules}", soft_wrap=True)
    for one in done.left_out:
        shown.print(f"[yellow]–[/] left out: {escape(one)}", soft_wrap=True)

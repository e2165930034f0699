"""Options of the commands that convert a model: convert and check."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from tensorledger.atlas.shelf import bytes_of
from tensorledger.conversion.writing import QUANTIZED, SHARD
from tensorledger.models.zoo import KERASES

Command = TypeVar("Command", bound=Callable[..., Any])


def shard_size(ctx: click.Context, param: click.Parameter, written: str | None) -> int:
    """Return a size as people write it, in bytes."""
    if written is None:
        return SHARD
    try:
        size = int(written) if written.isdecimal() else bytes_of(written)
    except ValueError as error:
        raise click.BadParameter(str(error), ctx, param) from error
    if size < 1:
        raise click.BadParameter("a file of weights has at least 1 byte", ctx, param)
    return size


def conversion_options(command: Command) -> Command:
    """Give a command the options that both have."""
    for option in reversed(
        [
            click.option(
                "--quantize", type=click.Choice(tuple(QUANTIZED)), default=None, help="Keep the weights in fewer bytes."
            ),
            click.option(
                "--import",
                "imports",
                multiple=True,
                metavar="MODULE",
                help="A module, or .py file, that defines your own layers. Again for more.",
            ),
            click.option(
                "--run-code",
                is_flag=True,
                help="Run the code that a file holds: Lambda layers, and graphs that reach files. Not by default.",
            ),
            click.option(
                "--keras",
                "with_keras",
                type=click.Choice(tuple(KERASES)),
                default="keras",
                show_default=True,
                help="Which Keras the function of a .py file is handed.",
            ),
        ]
    ):
        command = option(command)
    return command

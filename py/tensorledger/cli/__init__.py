"""The command line: ``tensorledger``, one subcommand a module, imported when it is called."""

from __future__ import annotations

import importlib
from typing import Any

import click

from tensorledger.cli.streams import streams
from tensorledger.version import __version__

COMMANDS = (
    "run", "report", "show", "recipes", "claims", "check", "convert", "watch", "targets", "install", "bisect",
    "atlas", "record", "new", "doctor",
)  # fmt: skip
"""Each is a module of this package with a command of its own name."""


class _Commands(click.Group):
    """Subcommands that cost nothing until one is called: converting a model takes less time than importing them all."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(importlib.import_module(f"tensorledger.cli.{cmd_name}"), cmd_name)
        return command

    def main(self, *arguments: Any, **options: Any) -> Any:
        with streams():
            return super().main(*arguments, **options)

    def invoke(self, ctx: click.Context) -> Any:
        with streams():
            return super().invoke(ctx)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="tensorledger")
def main() -> None:
    """Measure how neural-network models give memory back, in Python TensorFlow and in TensorFlow.js.

    Exit status: 0 as expected, 1 something is not, 2 usage or environment.
    """

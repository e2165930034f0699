"""What the command line writes to: stdout and stderr, whatever they are, and what it says when it can write no more."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from tensorledger.terminal.visible import forgiving, visible


@contextmanager
def streams() -> Iterator[None]:
    """Do something with stdout and stderr as they can be had: closed ones take all and keep nothing.

    What an error quotes is made visible.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed, as by >&-
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 – for the process's life
        forgiving(getattr(sys, name))
    try:
        yield
    except click.ClickException as error:
        vars(error)["message"] = visible(error.message)
        raise


def is_closed() -> bool:
    """Say whether there is no stdout, so that a command that only shows something has nobody to show it to."""
    return sys.stdout is None or getattr(sys.stdout, "name", None) == os.devnull


@contextmanager
def told_of_stdout() -> Iterator[None]:
    """End the command with status 2 where stdout cannot be written: on a full disk, say."""
    if is_closed():
        raise click.UsageError("stdout is closed: there is nowhere to show it")
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is still to be written is tried again at the end
        click.echo(f"Error: stdout could not be written: {error.strerror or error}", err=True)
        raise click.exceptions.Exit(2) from error


def complain(message: object) -> None:
    """Say on stderr what is wrong, in words that may be anyone's."""
    click.echo(f"Error: {visible(str(message))}", err=True)

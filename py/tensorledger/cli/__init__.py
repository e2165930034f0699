"""The command line: ``tensorledger``, one subcommand a module."""

from __future__ import annotations

import click

from tensorledger.cli.atlas import atlas
from tensorledger.cli.bisect import bisect
from tensorledger.cli.claims import claims
from tensorledger.cli.convert import convert
from tensorledger.cli.doctor import doctor
from tensorledger.cli.install import install
from tensorledger.cli.new import new
from tensorledger.cli.recipes import recipes
from tensorledger.cli.record import record
from tensorledger.cli.run import run
from tensorledger.cli.targets import targets
from tensorledger.version import __version__


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="tensorledger")
def main() -> None:
    """Measure how neural-network models give memory back, in Python TensorFlow and in TensorFlow.js.

    Exit status: 0 as expected, 1 something is not, 2 usage or environment.
    """


main.add_command(run)
main.add_command(recipes)
main.add_command(claims)
main.add_command(convert)
main.add_command(targets)
main.add_command(install)
main.add_command(bisect)
main.add_command(atlas)
main.add_command(record)
main.add_command(new)
main.add_command(doctor)

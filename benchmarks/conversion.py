"""What converting a Keras file costs: `tensorledger convert` beside the official command, on the same .h5 file.

.venv/bin/python benchmarks/conversion.py [--repeats N] [--json FILE]
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import click
import msgspec
from clocks import Ran, timed
from findings import Aim, Findings, Table, hand_over, json_option
from peer_answers import NoAnswer, converter
from spread import ratios, spread
from turns import in_turn

from tensorledger.models.saved import saved_models

AIM = 10.0
"""How many times faster than the official command."""
SECONDS, BYTES = 0.5, 100 * 2**20
"""The aims for the extractor's .keras file; of memory, two more of the largest tensor."""
LARGEST = 1024 * 512 * 4
SAVE = """
import os, sys
os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1")
import tf_keras
from tensorledger.models.zoo import extractor
extractor(tf_keras).save(sys.argv[1])
"""


OFFICIAL, H5, KERAS = "tensorflowjs_converter, .h5", "tensorledger convert, .h5", "tensorledger convert, .keras"


def ways(folder: Path) -> dict[str, list[str | Path]]:
    """Return the commands, without the folder that each writes."""
    tools = Path(sys.executable).parent
    h5 = folder / "extractor.h5"
    subprocess.run([sys.executable, "-c", SAVE, h5], check=True, capture_output=True)
    keras = saved_models() / "keras" / "extractor" / "model.keras"
    return {
        OFFICIAL: [tools / "tensorflowjs_converter", "--input_format", "keras", h5],
        H5: [tools / "tensorledger", "convert", h5],
        KERAS: [tools / "tensorledger", "convert", keras],
    }


def ratios_to_official(found: dict[str, list[Ran]], way: str, clock: str) -> list[float]:
    """Return how many times faster a way was than the official command in the same turn."""
    official, own = ([getattr(one, clock) for one in found[name]] for name in (OFFICIAL, way))
    return ratios(official, own)


def wrote(official: Path, own: Path) -> tuple[str, str]:
    """Return who wrote the official command's model, and what is wrong with it: a peer that does less is no peer."""
    try:
        signed, weights = converter(official)
        _, ours = converter(own)
    except NoAnswer as error:
        return "no answer", f"tensorflowjs_converter came to no answer: {error}"
    return signed, "" if list(weights.values()) == list(ours.values()) else "the two wrote different weights"


@click.command()
@click.option("--repeats", default=7, show_default=True, type=click.IntRange(min=1))
@json_option
def main(repeats: int, json_file: Path | None) -> None:
    """Convert in turn, so that what else the machine does meets all."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        commands = ways(folder)
        places: dict[str, Path] = {}
        """Where each way wrote last."""

        def convert(name: str) -> Ran:
            places[name] = Path(tempfile.mkdtemp(dir=folder)) / "web"
            return timed([*commands[name], places[name]])

        found = in_turn({name: partial(convert, name) for name in commands}, repeats)
        signed, wrong = wrote(places[OFFICIAL], places[H5])
    rows = [
        [
            name,
            *(f"{spread(getattr(one, clock) for one in turns).median:.2f}" for clock in ("wall", "cpu")),
            *(f"{spread(ratios_to_official(found, name, clock)).median:.1f}" for clock in ("wall", "cpu")),
            f"{max(one.resident for one in turns) / 2**20:.0f}",
        ]
        for name, turns in found.items()
    ]
    columns = ["way", "seconds", "of processor time", "times faster", "by processor time", "resident, MB"]
    same = f"the official command's model says that it is of {signed}; its weights and ours"
    note = wrong or f"What ran: {same} are the same, byte for byte."
    resident = spread(one.resident / 2**20 for one in found[KERAS])
    aims = [
        Aim(
            "times faster than the official command", AIM, spread(ratios_to_official(found, H5, "wall")), at_least=True
        ),
        Aim("times faster, by processor time", AIM, spread(ratios_to_official(found, H5, "cpu")), at_least=True),
        Aim("the .keras file", SECONDS, spread(one.wall for one in found[KERAS]), " s"),
        Aim("memory of converting it", (BYTES + 2 * LARGEST) / 2**20, resident, " MB"),
    ]
    title = f"the extractor, 3.1 MB of weights; medians of {repeats}"
    figures = {name: [msgspec.to_builtins(one) for one in turns] for name, turns in found.items()}
    hand_over(Findings([Table(title, columns, rows, note)], aims, [wrong] if wrong else [], figures), json_file)


if __name__ == "__main__":
    main()

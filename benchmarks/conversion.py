"""What converting a Keras file costs: `tensorledger convert` beside the official command, on the same .h5 file.

.venv/bin/python benchmarks/conversion.py [--repeats N] [--json FILE]
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from tensorledger.models.saved import saved_models
from tensorledger.terminal.console import console

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


@dataclass(frozen=True)
class Turn:
    """One conversion."""

    wall: float
    cpu: float
    resident: int
    """Bytes of the process at most."""


def turn(command: list[str | Path]) -> Turn:
    """Run a command to its end. Raises CalledProcessError."""
    started = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    status, used = _waited(process)
    wall = time.monotonic() - started
    if status:
        raise subprocess.CalledProcessError(status, command)
    return Turn(wall, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)


def _waited(process: subprocess.Popen[bytes]) -> tuple[int, Any]:
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, used


def ways(folder: Path) -> dict[str, list[str | Path]]:
    """Return the commands, without the folder that each writes."""
    tools = Path(sys.executable).parent
    h5 = folder / "extractor.h5"
    subprocess.run([sys.executable, "-c", SAVE, h5], check=True, capture_output=True)
    keras = saved_models() / "keras" / "extractor" / "model.keras"
    return {
        "tensorflowjs_converter, .h5": [tools / "tensorflowjs_converter", "--input_format", "keras", h5],
        "tensorledger convert, .h5": [tools / "tensorledger", "convert", h5],
        "tensorledger convert, .keras": [tools / "tensorledger", "convert", keras],
    }


@click.command()
@click.option("--repeats", default=7, show_default=True, type=click.IntRange(min=1))
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write every turn's figures there.")
def main(repeats: int, json_file: Path | None) -> None:
    """Convert in turn, A B C A B C, so that what else the machine does meets all."""
    found: dict[str, list[Turn]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        commands = ways(folder)
        for number in range(-1, repeats):
            for name, command in commands.items():
                measured = turn([*command, folder / f"{number} {name}".replace(".", "").replace(" ", "-")])
                if number >= 0:
                    found.setdefault(name, []).append(measured)
        same = _same(folder)
    table = Table(title=f"the extractor, 3.1 MB of weights; medians of {repeats}", title_justify="left")
    table.add_column("way")
    for heading in ("seconds", "processor", "times faster", "by processor", "resident, MB"):
        table.add_column(heading, justify="right")
    official = found["tensorflowjs_converter, .h5"]
    for name, turns in found.items():
        ratios = [[getattr(one, kind) / getattr(own, kind) for one, own in zip(official, turns, strict=True)]
                  for kind in ("wall", "cpu")]  # fmt: skip
        table.add_row(
            name,
            f"{statistics.median(one.wall for one in turns):.2f}",
            f"{statistics.median(one.cpu for one in turns):.2f}",
            *(f"{statistics.median(ratio):.1f}" for ratio in ratios),
            f"{max(one.resident for one in turns) / 2**20:.0f}",
        )
    shown = console()
    shown.print(table)
    shown.print(f"The same weight files from both, byte for byte: {'yes' if same else 'NO'}.")
    shown.print(
        f"The aims: {AIM:.0f} times faster on the same file; of the .keras file {SECONDS} s, and "
        f"{(BYTES + 2 * LARGEST) / 2**20:.0f} MB."
    )
    if json_file is not None:
        json_file.write_text(json.dumps({name: [vars(one) for one in turns] for name, turns in found.items()}))


def _same(folder: Path) -> bool:
    """Say whether the official command and ours wrote the same numbers: a peer that does less is no peer."""
    official, own = folder / "-1-tensorflowjs_converter,-h5", folder / "-1-tensorledger-convert,-h5"
    return [file.read_bytes() for file in sorted(official.glob("*.bin"))] == [
        file.read_bytes() for file in sorted(own.glob("*.bin"))
    ]


if __name__ == "__main__":
    main()

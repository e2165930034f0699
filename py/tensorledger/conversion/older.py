"""What an older release needs of a converted model, and the model as it can load it; imports nothing heavy."""

from __future__ import annotations

import json
from pathlib import Path

from tensorledger.conversion.rules import RULES, Rule, repair
from tensorledger.conversion.topology import Json
from tensorledger.environment.folders import whole_folder

NEWEST = "4.22.0"
"""The release that models are written for, unless told otherwise."""


def rules_for(release: str) -> tuple[Rule, ...]:
    """Return the rules that a release of TensorFlow.js needs."""
    return tuple(rule for rule in RULES if rule.concerns(release))


def rules_needed(converted: Path, release: str) -> list[str]:
    """Return the names of the rules that would change a folder which ``convert_layers`` wrote, for a release."""
    written: Json = json.loads((converted / "model.json").read_text(encoding="utf-8"))
    return repair(written, rules_for(release))[1]


def convert_for(source: Path, destination: Path, release: str) -> None:
    """Write ``destination`` out of a folder that ``convert_layers`` wrote, as an older release can load it.

    Only ``model.json`` differs; the weight files are linked.
    """
    with whole_folder(destination) as folder:
        for file in source.iterdir():
            if file.name != "model.json":
                (folder / file.name).hardlink_to(file)
        written: Json = json.loads((source / "model.json").read_text(encoding="utf-8"))
        from tensorledger.conversion.writing import write_model  # numpy, which who only asks has no need of

        write_model(folder, repair(written, rules_for(release))[0])

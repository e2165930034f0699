"""What the JavaScript ledger costs: loops with and without it, and what it takes for each live tensor. See README.md.

.venv/bin/python benchmarks/js_ledger.py [--repeats N] [--release VERSION] [--json FILE]
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import click
from findings import Aim, Findings, Table, hand_over, json_option, number
from spread import LINEAR, exponent, ratios, spread

from tensorledger.environment.node import node

SCRIPT = Path(__file__).with_name("js_ledger.mjs")
AIMS = {
    "predictions of the classifier, batch 1": {"counting": 1.05, "stacks at escape": 1.15},
    "tiny predictions": {"stacks at escape": 1.8},
}
"""Times the processor time without a ledger."""
BYTES = 1024
"""That the ledger may take for each live tensor."""
TWIN = "without, again"


def tables(found: dict[str, Any]) -> list[Table]:
    loops = [
        [work, way, number(share.median), f"{share.low:.3f} – {share.high:.3f}", f"{number(spread(spent).median)} µs"]
        for work, ways in found["loops"].items()
        for way, spent in ways.items()
        for share in [spread(ratios(spent, ways["without"]))]
    ]
    alive = [
        [f"{each['count']:,}", *(f"{each[key]:.1f}" for key in ("without", "withIt")), f"{each['bytes']:.0f}"]
        for each in found["alive"]
    ]
    return [
        Table("loops: processor time", ["work", "way", "ratio", "quartiles", "of one"], loops),
        Table("live tensors, for each", ["alive", "µs without", "µs with stacks", "bytes of the ledger"], alive),
    ]


def aims(found: dict[str, Any]) -> list[Aim]:
    loops, alive = found["loops"], found["alive"]
    judged = []
    for work, limits in AIMS.items():
        shares = {way: spread(ratios(spent, loops[work]["without"])) for way, spent in loops[work].items()}
        judged += [Aim(f"{work}, {way}", limit, shares[way], twin=shares[TWIN]) for way, limit in limits.items()]
    power = exponent({each["count"]: each["count"] * each["withIt"] for each in alive})
    return [
        *judged,
        *(Aim(f"bytes each of {each['count']:,} live tensors", BYTES, spread([each["bytes"]])) for each in alive),
        *([Aim("all are made: power of their number", LINEAR, spread([power]))] if power is not None else []),
    ]


@click.command()
@click.option("--repeats", default=30, show_default=True, type=click.IntRange(min=2), help="Turns.")
@click.option("--release", default="4.22.0", show_default=True, help="Of TensorFlow.js: an installed one.")
@json_option
def main(repeats: int, release: str, json_file: Path | None) -> None:
    """Measure what a ledger costs."""
    command = [str(node()), "--no-warnings", "--expose-gc", str(SCRIPT), str(repeats), release]
    found = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
    hand_over(Findings(tables(found), aims(found), [], found), json_file)


if __name__ == "__main__":
    main()

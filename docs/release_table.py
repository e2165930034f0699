"""Writes the README's answer to "how do I release a model on my version?", from a run.

python docs/release_table.py            writes the table into README.md
python docs/release_table.py --check    writes nothing; exit status 1 where the README says otherwise than the run

Each number is what is left at the end of a cycle: of one scenario, released in one way, on one target. The advice is
worked out of the numbers by ``advice``, by the rule that the table's caption says.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tensorledger.cells.cell import Cell, Ran, Settings, run_cell
from tensorledger.results.marked import markdown, replaced
from tensorledger.scenarios.catalogue import all_scenarios
from tensorledger.targets.catalogue import default, installed
from tensorledger.targets.target import Target
from tensorledger.workers.pool import Workers

README = Path(__file__).resolve().parents[1] / "README.md"
MARK = "release-table"
CYCLES = 2
AT_ONCE = 2
"""Targets that are measured at the same time."""


class NotMeasured(Exception):
    """A cell could not be run, so that there is nothing to write."""


@dataclass(frozen=True)
class Left:
    """What is left of a model, and what the way of releasing it threw (the empty string: nothing)."""

    tensors: int
    bytes: int
    threw: str = ""

    @property
    def missing(self) -> bool:
        """Say whether the release has no such method."""
        return "is not a function" in self.threw

    @property
    def nothing(self) -> bool:
        """Say whether the way works: it throws nothing, and nothing is left."""
        return (self.tensors, self.bytes, self.threw) == (0, 0, "")

    def __str__(self) -> str:
        if self.missing:
            return "no such method"
        amount = f"{self.tensors:,} · {self.bytes:,}" if self.tensors or self.bytes else "0"
        return f"throws; {amount}" if self.threw else amount


@dataclass(frozen=True)
class Measure:
    """A column: a scenario, released in one way, which ``advice`` names in a sentence."""

    column: str
    scenario: str
    recipe: str = ""
    advice: str = ""
    trained: bool = False


WALK, VALUES = "`.dispose()` on each weight", "`.val.dispose()` on each weight"
TFJS = (
    Measure("dropped", "create-dispose", "drop-reference", "dropping it"),
    Measure("`model.dispose()`", "dispose-uncompiled", advice="`model.dispose()`"),
    Measure(WALK, "manual-walk", advice=WALK),
    Measure(VALUES, "manual-values", advice=VALUES),
    Measure(
        f"made inside `tf.tidy`, {VALUES}", "model-in-tidy", "walk-values", f"{VALUES} of a model made inside `tf.tidy`"
    ),
    Measure("trained, `model.dispose()`", "train-dispose", "dispose", "`model.dispose()`", trained=True),
    Measure(f"trained, {VALUES}", "train-dispose", "walk-values", VALUES, trained=True),
)
"""In the order in which they are advised: what says least to write comes first."""

KERAS = (
    Measure("made", "create-dispose", "del-clear-collect"),
    Measure("predicted", "predict-dispose", "del-clear-collect"),
    Measure("`fit`", "train-dispose", "del-clear-collect"),
)

Row = dict[Measure, Left]
Table = dict[Target, Row]


def advice(row: Row) -> str:
    """Return what to do on a target, by the rule that the caption says."""
    untrained = _best({measure: left for measure, left in row.items() if not measure.trained})
    trained = _best({measure: left for measure, left in row.items() if measure.trained})
    return untrained if untrained == trained else f"untrained: {untrained}; trained: {trained}"


def _best(row: Row) -> str:
    """Return the first way that leaves nothing; else the first that leaves least, with what it leaves."""
    there = {measure: left for measure, left in row.items() if not left.missing}
    for measure, left in there.items():
        if left.nothing:
            return measure.advice
    measure, left = min(there.items(), key=lambda each: (each[1].bytes, each[1].tensors))
    return f"{measure.advice}, which leaves {left.tensors:,} tensors, {left.bytes:,} bytes"


def measured(targets: Iterable[Target]) -> Table:
    """Run the cells, and return what each leaves. Raises NotMeasured."""
    wanted = list(targets)
    with ThreadPoolExecutor(AT_ONCE) as executor:
        return dict(zip(wanted, executor.map(_row, wanted), strict=True))


def _row(target: Target) -> Row:
    scenarios = all_scenarios()
    with Workers() as workers:
        return {
            measure: _left(
                run_cell(
                    Cell(scenarios[measure.scenario], target),
                    workers,
                    Settings(cycles=CYCLES, recipe=measure.recipe),
                )
            )
            for measure in (TFJS if target.language == "js" else KERAS)
        }


def _left(ran: Ran) -> Left:
    """Return what is left at the end of the last cycle; the warm-up's is not meant, which keeps what it caches."""
    result, outcome = ran.result, ran.outcome
    if outcome is None or not outcome.cycles or not result.checkpoints:
        raise NotMeasured(f"{ran.cell}: {result.verdict}: {result.reason}")
    thrown = outcome.cycles[-1].thrown
    left = Left(
        result.checkpoints[-1].tensors or 0, result.checkpoints[-1].bytes or 0, thrown.message if thrown else ""
    )
    if len(outcome.cycles) <= CYCLES and not left.missing:
        raise NotMeasured(f"{ran.cell} ended in its warm-up, as no deviation says that it throws: {left.threw}")
    return left


def rendered(table: Table) -> str:
    """Return the README's part between the markers."""
    return "\n\n".join(["", *_tfjs(table), *_keras(table), ""]).replace("\n\n\n", "\n\n")


def _tfjs(table: Table) -> Iterator[str]:
    rows = {target: row for target, row in table.items() if target.language == "js"}
    dropped = [row[TFJS[0]] for row in rows.values()]
    freed = sum(left.nothing for left in dropped)
    least = f"{min(left.tensors for left in dropped)} tensors, {min(left.bytes for left in dropped):,} bytes"
    yield (
        f"A model that is only dropped frees itself in {freed} of these {len(rows)}."
        if freed
        else f"No: a model that is only dropped leaves at least {least}, in each of these {len(rows)}."
    )
    columns = ["TensorFlow.js", *(measure.column for measure in TFJS), "so, release it by"]
    yield markdown(columns, ([_name(target), *map(str, row.values()), advice(row)] for target, row in rows.items()))
    threw = {
        f"{_name(target)}: `{left.threw}`, {'trained' if measure.trained else 'untrained'}": None
        for target, row in rows.items()
        for measure, left in row.items()
        if left.threw and not left.missing
    }
    if threw:
        yield f"What is thrown: {'; '.join(threw)}."


def _keras(table: Table) -> Iterator[str]:
    rows = {target: row for target, row in table.items() if target.language == "py"}
    if not rows:
        return
    yield (
        "In Python, after every name is deleted, `clear_session()` and a collection: of a model that was only made, "
        "of one that has predicted, and of one that `fit` has trained:"
    )
    columns = ["Keras", *(measure.column for measure in KERAS)]
    yield markdown(columns, ([_name(target), *map(str, row.values())] for target, row in rows.items()))


def _name(target: Target) -> str:
    if target.language == "py":
        return f"{target} {installed(target)}"
    return f"{target.version} {target.backend}"


def main(arguments: Sequence[str]) -> int:
    """Write the table, or check it; return the exit status."""
    if list(arguments) not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    readme = README.read_text(encoding="utf-8")
    try:
        wanted = replaced(readme, MARK, rendered(measured(default())))
    except NotMeasured as error:
        print(f"not measured: {error}", file=sys.stderr)
        return 2
    if wanted == readme:
        print("the README says what the run says")
        return 0
    if arguments:
        print("the README's table is not what the run says; python docs/release_table.py writes it", file=sys.stderr)
        return 1
    README.write_text(wanted, encoding="utf-8")
    print("the README's table is written")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

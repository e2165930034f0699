"""An expectation: what every target must show at each checkpoint of a scenario, and over its cycles."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import msgspec

from tensorledger.environment.tree import shown, tree
from tensorledger.expectations.amount import NOTHING, Counts, amount
from tensorledger.expectations.description import Description, describe
from tensorledger.expectations.toml import BadDefinition, read
from tensorledger.targets.target import LANGUAGES

END = "end"
DEFAULT_MODEL = "classifier"
LevelName = Literal["heap", "native", "backend", "process"]
"""A level as results name it; verdicts/levels.py says what is read for it."""


class Throws(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A throw that is expected: after which checkpoint (none: before the first), and a pattern of its message."""

    matches: str
    after: str | None = None

    def __post_init__(self) -> None:
        try:
            re.compile(self.matches)
        except re.error as error:
            raise ValueError(f"matches = {self.matches!r} is not a regular expression: {error}") from error


class Caught(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a scenario that leaks on purpose must be caught with: what is left, and what each cycle adds.

    Its ``end`` and ``growth`` are then not stated, so that it fails by the default: that nothing is left.
    """

    end: Counts
    growth: Counts
    grows: list[LevelName] = []
    """The levels that must be found to grow."""


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    model: str = DEFAULT_MODEL
    checkpoints: dict[str, Counts] = {}
    first: dict[str, Counts] = {}
    growth: Counts | msgspec.UnsetType = msgspec.UNSET
    throws: Throws | None = None
    caught: Caught | None = None
    compares: list[str] = []


@dataclass(frozen=True)
class Expectation:
    """What is expected, with the file that says so; ``end`` and ``growth`` are always judged."""

    model: str = DEFAULT_MODEL
    checkpoints: dict[str, Counts] = field(default_factory=lambda: {END: NOTHING})
    first: dict[str, Counts] = field(default_factory=dict)
    growth: Counts = NOTHING
    throws: Throws | None = None
    caught: Caught | None = None
    compares: tuple[str, ...] = ()
    """The models of which a prediction must have been compared with Keras's."""
    path: Path | None = None
    """None for the default: back at the baseline, nothing throws, no cycle adds anything."""

    @property
    def source(self) -> str:
        """Return the file's name, as people read it."""
        return shown(self.path) if self.path else "the default expectation"

    @property
    def description(self) -> Description:
        """Return the description of the model that it is about. Raises BadDefinition."""
        try:
            return describe(self.model)
        except BadDefinition as error:
            raise BadDefinition(f"{self.source}: {error}") from error


def folder() -> Path:
    """Return where the expectations are."""
    return tree() / "harness" / "expectations"


def load(path: Path) -> Expectation:
    """Return a file's expectation. Raises BadDefinition for an unknown key, quantity, model or part."""
    file = read(path, _File)
    if file.caught is not None and (END in file.checkpoints or file.growth is not msgspec.UNSET):
        raise BadDefinition(f"{shown(path)}: with [caught], end and growth are not stated: they are to be the default")
    expectation = Expectation(
        model=file.model,
        checkpoints={**file.checkpoints, END: file.checkpoints.get(END, NOTHING)},
        first=file.first,
        growth=NOTHING if file.growth is msgspec.UNSET else file.growth,
        throws=file.throws,
        caught=file.caught,
        compares=tuple(file.compares),
        path=path,
    )
    check(expectation)
    return expectation


def check(expectation: Expectation, names: Collection[str] = LANGUAGES) -> None:
    """Work every number out once, so that a mistake is found before anything is run. Raises BadDefinition.

    ``names`` are those of the targets that it is for; the runtimes that the model is described for count.
    """
    runtimes = [runtime for runtime in expectation.description.parts if runtime.partition("@")[0] in names]
    caught = expectation.caught
    groups = {
        **{f"checkpoints.{name}": counts for name, counts in expectation.checkpoints.items()},
        **{f"first.{name}": counts for name, counts in expectation.first.items()},
        "growth": expectation.growth,
        **({"caught.end": caught.end, "caught.growth": caught.growth} if caught else {}),
    }
    for place, counts in groups.items():
        for quantity, written in counts.stated():
            for runtime in runtimes:
                try:
                    amount(written, quantity, expectation.description, runtime)
                except BadDefinition as error:
                    raise BadDefinition(f"{expectation.source}: {place}.{quantity}: {error}") from error


def expectation_for(scenario: str, path: Path) -> Expectation:
    """Return a scenario's expectation: the project's by name, one beside a user's own file, or the default.

    A user's own scenario is named by its path as given; the project's names have no suffix.
    """
    file = path.with_suffix(".toml") if Path(scenario).suffix else folder() / f"{scenario}.toml"
    return load(file) if file.is_file() else Expectation()

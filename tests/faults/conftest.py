"""The fault suite: each kind of fault, planted at points that a seed decides. ``--seeds 4,5,6`` chooses others."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from place import GOOD, GOOD_PY, Ended, Place


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--seeds", default="1,2,3", help="seeds of the faults' points (default: %(default)s)")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", [int(seed) for seed in metafunc.config.getoption("--seeds").split(",")])


@pytest.fixture
def chance(request: pytest.FixtureRequest, seed: int) -> random.Random:
    """Chance that is the same for a kind of fault and a seed."""
    return random.Random(f"{request.node.originalname}:{seed}")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A place in which nothing may be left, and no process of which lives on."""
    found = Place(tmp_path)
    yield found
    left = found.left()
    for process in found.processes():
        process.kill()
    shutil.rmtree(found.temporary, ignore_errors=True)
    assert left == []


@pytest.fixture
def between(place: Place) -> Callable[..., Ended]:
    """Run a faulty scenario between two good ones of its language, which have to pass; return how the command ended."""

    def run(suffix: str, text: str, *options: str) -> Ended:
        good = GOOD if suffix == "mjs" else GOOD_PY
        names = [place.write(f"{name}.{suffix}", source) for name, source in (("a", good), ("bad", text), ("b", good))]
        target = "tfjs" if suffix == "mjs" else "keras"
        # What is chosen here comes last, so that it counts.
        ended = place.run(*names, "--target", target, "--cycles", "3", "--timeout", "6", *options)
        verdicts = ended.verdicts()
        assert (verdicts.get(f"a.{suffix}"), verdicts.get(f"b.{suffix}")) == ("pass", "pass"), ended.output
        return ended

    return run

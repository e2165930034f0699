"""What is said of leaks, for people: pytest shows it as the failure."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from _pytest._io.saferepr import saferepr

from tensorledger.ledger.holders import REGISTRY
from tensorledger.plugin.known import HELD
from tensorledger.plugin.limits import TensorGrowth
from tensorledger.plugin.repeating import Grown
from tensorledger.protocol.messages import LiveTensor
from tensorledger.terminal.leaks import leaks

SHORT = 40
"""Characters of a fixture's parameter that are shown."""
_BUILT_IN = re.compile(r"_(?:xunit|unittest)_(?P<function>\w+?)_fixture_(?P<owner>.+)")
"""The names that pytest gives to fixtures which it makes of setup_module, setUpClass and the like."""


_REGISTRY = f"""\
TensorFlow keeps for good what fit() and train_on_batch() have traced. run_eagerly=True leaves nothing; to let it pass,
add to tensor_leaks_ignore: {HELD}{REGISTRY}"""


class TensorLeakWarning(UserWarning):
    """A test has left tensors, under ``--tensor-leaks=warn``."""


def test_left(found: Sequence[LiveTensor], most: int) -> str:
    """Say what a test's function has left."""
    return _told(f"the test left {amount(found)}; {_may(most)}", found)


def fixture_left(definition: pytest.FixtureDef[Any], param: Any, found: Sequence[LiveTensor], root: Path) -> str:
    """Say what a fixture has left that has ended."""
    return _told(f"{_fixture(definition, param, root)}, which has ended, left {amount(found)}", found)


def lent_left(nodeid: str, found: Sequence[LiveTensor]) -> str:
    """Say what a test has made that its fixtures held, and that is alive without them."""
    return _told(f"{nodeid} left {amount(found)}, after the fixtures that held them had ended", found)


def grew(grown: Grown, limit: TensorGrowth) -> str:
    """Say by how much a test's tensors grow."""
    each = f"{_number(grown.bytes)} bytes and {_number(grown.tensors)} tensor{'s' if grown.tensors != 1 else ''}"
    said = f"each run of the test adds {each}, over {limit.cycles} runs; it may add {_number(limit.size)} bytes"
    return _told(said, grown.leaks)


def amount(found: Sequence[LiveTensor]) -> str:
    """Say how many these are, and of how many bytes."""
    count = sum(leak.count for leak in found)
    size = sum(leak.count * (leak.bytes or 0) for leak in found)
    return f"{count} tensor{'s' if count != 1 else ''}, {size:,} bytes"


def _told(said: str, found: Sequence[LiveTensor]) -> str:
    lines = [f"{said}:", *(line.plain for line in leaks(found))]
    if any(held.startswith(REGISTRY) for leak in found for held in leak.held):
        lines.append(_REGISTRY)
    return "\n".join(lines)


def _may(most: int) -> str:
    return "it is to leave none" if most == 0 else f"it may leave {most}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"


def _fixture(definition: pytest.FixtureDef[Any], param: Any, root: Path) -> str:
    function = inspect.unwrap(definition.func)
    code = getattr(function, "__code__", None)
    built_in = _BUILT_IN.fullmatch(definition.argname)
    if built_in:
        return f"{built_in['function']} of {built_in['owner']}"
    where = ""
    if code is not None:
        path = Path(code.co_filename)
        where = f", {path.relative_to(root) if path.is_relative_to(root) else path}:{code.co_firstlineno}"
    of = "" if param is None else f" of {saferepr(param, SHORT)}"
    return f"fixture {definition.argname!r}{of} ({definition.scope} scope{where})"

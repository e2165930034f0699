"""What pytest loads at every start, in suites that never use it too: options, markers and fixtures, and nothing more.

PYTEST_DONT_REWRITE
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tensorledger.ledger.live import Ledger
    from tensorledger.plugin.javascript import RunJavaScript

MARKERS = ("limit_live_tensors", "limit_tensor_growth")
MODES = ("error", "warn", "off")

FROZEN_BY_PYTHON = gc.get_freeze_count()
"""Objects that Python 3.12 itself has frozen. It is asked here, before a conftest.py can freeze any."""


def pytest_addoption(parser: pytest.Parser) -> None:  # noqa: D103
    group = parser.getgroup("tensorledger", "TensorFlow tensors that tests leave")
    group.addoption(
        "--tensor-leaks",
        choices=MODES,
        help="hold every test to leaving no tensor: fail it (error) or warn (warn); off: not even those with a marker",
    )
    parser.addini("tensor_leaks", "as --tensor-leaks, which goes before it")
    parser.addini(
        "tensor_leaks_freeze",
        type="bool",
        default=True,
        help="keep older objects out of the garbage collector's sight (gc.freeze) while tests are held; much faster",
    )
    parser.addini(
        "tensor_leaks_ignore",
        type="linelist",
        help="known leaks, by where they were made: FILE, FILE:LINE, FILE::FUNCTION; or 'held by WORDS'; * is any text",
    )


def pytest_configure(config: pytest.Config) -> None:  # noqa: D103
    config.addinivalue_line(
        "markers",
        "limit_live_tensors(count=0, *, ignore=()): fail where the test leaves more tensors alive than that",
    )
    config.addinivalue_line(
        "markers",
        "limit_tensor_growth(size, *, cycles=10, ignore=()): run the test once, and then so many times more; "
        "fail where its tensors grow by more than that a time, as '1 KiB'",
    )
    mode = _mode(config)
    if mode not in (None, *MODES):
        raise pytest.UsageError(f"tensor_leaks is one of {', '.join(MODES)}, and not {mode!r}")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:  # noqa: D103
    mode = _mode(config)
    if mode == "off" or not (mode or _any_marked(items)):
        return
    from tensorledger.plugin.watching import Watching

    if not config.pluginmanager.has_plugin("tensorledger-watching"):
        config.pluginmanager.register(Watching(config, mode), "tensorledger-watching")


def _mode(config: pytest.Config) -> str | None:
    return config.getoption("--tensor-leaks") or config.getini("tensor_leaks") or None


def _any_marked(items: list[pytest.Item]) -> bool:
    """Say whether any test has one of our markers; each module and class is looked at once."""
    known: dict[pytest.Item | pytest.Collector, bool] = {}

    def marked(node: pytest.Item | pytest.Collector) -> bool:
        if node not in known:
            known[node] = any(mark.name in MARKERS for mark in node.own_markers) or (
                node.parent is not None and marked(node.parent)  # type: ignore[arg-type]
            )
        return known[node]

    return any(any(mark.name in MARKERS for mark in item.own_markers) or marked(item.parent) for item in items)  # type: ignore[arg-type]


@pytest.fixture
def tensor_ledger() -> Iterator[Ledger]:
    """The ledger of the tensors that are made from here to the end of the test: ``count``, ``bytes``, ``live()``.

    It judges nothing by itself; ``@pytest.mark.limit_live_tensors(0)`` does. It does not import TensorFlow: it begins
    when the test does.
    """
    from tensorledger.ledger.track import track

    with track() as ledger:
        yield ledger


@pytest.fixture(scope="session")
def tfjs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunJavaScript]:
    """Run a JavaScript scenario, by name or file, or a piece of JavaScript, on a release of TensorFlow.js.

    ``run = tfjs("const a = tf.ones([2]); a.dispose();", target="tfjs@4.22.0/cpu")``; ``assert run.ok, str(run)``. The
    test is skipped, with the reason, where there is no Node.js.
    """
    from tensorledger.plugin.javascript import RunJavaScript

    with RunJavaScript.started(tmp_path_factory) as run:
        yield run

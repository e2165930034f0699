"""The short version of the readers' fuzzer, and that it finds what is planted. ``make fuzz`` is the long one."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest
from fuzzing import DEEPER

from tensorledger.environment.tree import tree

READERS = tree() / "tests" / "fuzz" / "readers.py"

sys.path.insert(0, str(READERS.parent))
plants = importlib.import_module("plants")

FOUND = {
    "an exception": "raised KeyError",
    "an error without words": "says nothing",
    "a hang": "a hang",
    "a crash": "a crash: SIGSEGV",
    "memory": "raised MemoryError",
    "an escape sequence": "raw control characters",
    "a wrong number": "a weight that the source has not",
    "a path outside": "a local file in the model",
    "exceptions of a Keras file": "raised ",
}
"""What the fuzzer says of each fault that can be planted."""


def fuzz(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(READERS), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def test_nothing_but_results_and_clear_errors_comes_of_spoilt_files() -> None:
    how = ["--seconds", "300"] if DEEPER else ["--inputs", "100", "--seconds", "120", "--seed", "1"]
    ran = fuzz(*how)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "no finding" in ran.stdout and " read, " in ran.stdout and "refused with 1" in ran.stdout


def test_each_fault_that_can_be_planted_has_a_name_to_be_found_by() -> None:
    assert set(plants.PLANTS) == set(FOUND)


@pytest.mark.parametrize("fault", FOUND if DEEPER else ("an exception", "a hang", "a path outside"))
def test_a_fault_in_the_readers_is_found(fault: str, tmp_path: Path) -> None:
    kind = "keras" if fault == "exceptions of a Keras file" else "tfjs"
    how = ["--inputs", "60", "--seconds", "90", "--seed", "4", "--limit", "2"]
    ran = fuzz(*how, "--only", kind, "--plant", fault, "--keep", str(tmp_path))
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert f"× {kind}: {FOUND[fault]}" in ran.stdout, ran.stdout
    assert any(tmp_path.iterdir()), "the file is kept"

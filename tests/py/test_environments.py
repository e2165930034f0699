"""What `make environments` says of a pip that does what it is not to do. What it says of the plugin is in its table."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

FILE = Path(__file__).parents[1] / "environments.py"
BEFORE = """\
keras==3.15.1
numpy==2.1.3
tensorflow_cpu==2.19.1
typing.extensions==4.0
"""


@pytest.fixture(scope="module")
def environments() -> ModuleType:
    spec = importlib.util.spec_from_file_location("environments", FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module  # its dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module


def test_what_pip_freeze_says_is_read(environments: ModuleType) -> None:
    frozen = (
        f"WARNING: a place is ignored\n{BEFORE}tensorledger @ file:///tmp/a%20b/tensorledger-0.1.0-py3.whl#sha256=1f\n"
    )
    assert environments.packages(frozen) == {
        "keras": "3.15.1",
        "numpy": "2.1.3",
        "tensorflow-cpu": "2.19.1",
        "typing-extensions": "4.0",
        "tensorledger": "tensorledger-0.1.0-py3.whl",
    }


@pytest.mark.parametrize(
    ("after", "wrong"),
    [
        (BEFORE + "rich==15.0\ntensorledger @ file:///wheel\n", []),
        (BEFORE.replace("numpy==2.1.3", "numpy==1.26.4"), ["numpy 2.1.3 became 1.26.4"]),
        (BEFORE.replace("keras==3.15.1\n", ""), ["keras 3.15.1 became nothing"]),
        (BEFORE + "tensorflow==2.21.0\n", ["it brought tensorflow 2.21.0"]),
        (BEFORE + "tensorflowjs==4.22.0\n", ["it brought tensorflowjs 4.22.0"]),
        (BEFORE + "tf_keras==2.19.0\n", ["it brought tf-keras 2.19.0"]),
    ],
)
def test_what_the_wheel_is_not_to_do_to_an_environment_is_told(
    environments: ModuleType, after: str, wrong: list[str]
) -> None:
    assert list(environments.unwanted(environments.packages(BEFORE), environments.packages(after))) == wrong

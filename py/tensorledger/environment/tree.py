"""Where the files are that the package reads beside its own modules: js/, py/scenarios/, harness/, the npm lock file.

A checkout has them in place; the wheel carries them inside the package (pyproject.toml maps them).
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import tensorledger


@cache
def tree() -> Path:
    """Return the folder that holds ``js``, ``py/scenarios``, ``harness`` and ``package-lock.json``."""
    package = Path(tensorledger.__file__).resolve().parent
    inside = package / "tree"
    return inside if inside.is_dir() else package.parents[1]


def is_checkout() -> bool:
    """Say whether the package runs from a checkout (an editable install) rather than from a wheel."""
    return (tree() / "pyproject.toml").is_file()


def shown(path: Path | str) -> str:
    """Return ``path`` as people should read it: relative to the tree where it lies inside, else as it is."""
    absolute = Path(path)
    return str(absolute.relative_to(tree())) if absolute.is_relative_to(tree()) else str(path)

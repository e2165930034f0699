"""Users' Python files, run as modules."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType


def load_file(path: Path, kind: str) -> ModuleType:
    """Run a file and return its module, named after what ``kind`` of file it is. Raises whatever the file raises."""
    name = f"tensorledger_{kind}_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    # For good: what it imports while its functions run lies beside it too.
    sys.path.insert(0, str(path.parent))
    spec.loader.exec_module(module)
    return module

"""tensorflow/tfjs#8301: what a plain install of tensorflowjs brings today does not import: setuptools has changed.

setuptools 82 has no pkg_resources any more. It is hidden here, as that would have it, and what the official converter
imports first is imported.
"""

import importlib
import sys


def scenario(context):
    hidden, there = "pkg_resources", dict(sys.modules)
    sys.modules[hidden] = None
    try:
        importlib.import_module("tensorflow_hub")
    finally:
        for name in [name for name in sys.modules if name not in there or name == hidden]:
            del sys.modules[name]
        sys.modules.update({hidden: there[hidden]} if hidden in there else {})
    yield "imported"

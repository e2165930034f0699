"""Collecting garbage for good."""

from __future__ import annotations

import gc


def collect() -> None:
    """Collect garbage, twice.

    Some TensorFlows' tensors lay out their own attributes only when the collector first asks them what they refer to:
    it then takes the attributes' dictionary for referred to from elsewhere, and a cycle through it for alive.
    """
    gc.collect()
    gc.collect()

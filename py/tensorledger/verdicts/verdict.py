"""The words for how a cell came out."""

from __future__ import annotations

from typing import Literal

Verdict = Literal["pass", "fail", "deviates", "error", "skip"]

AS_EXPECTED = ("pass", "deviates", "skip")
"""The verdicts with which a run exits with status 0."""

"""A scenario's file may make things before the baseline, once."""

from __future__ import annotations

from pathlib import Path

import pytest
from measured import left, measured

from tensorledger.workers.pool import Workers


def test_it_is_called_once_before_the_first_baseline_and_what_it_made_is_not_held(
    workers: Workers, tmp_path: Path
) -> None:
    source = """
        CALLED = []

        def prepare(context):
            CALLED.append(context.models.classifier())
            context.models.classifier()

        def scenario(context):
            assert len(CALLED) == 1 and context.held == []
            context.release()
            assert len(CALLED[0].weights) == 4
        """
    outcome, _ = measured(workers, tmp_path, source)
    assert [left(cycle) for cycle in outcome.cycles] == [(0, 0)] * 3
    plain, _ = measured(workers, tmp_path, "def scenario(context): pass")
    more = [cycle.baseline.tensors - plain.cycles[0].baseline.tensors for cycle in outcome.cycles]  # type: ignore[operator]
    assert more == [4, 4, 4], "one model lives, and nobody holds the other"


@pytest.mark.parametrize(
    ("hook", "kind", "said"),
    [
        ("def prepare(context): raise LookupError('nothing there')", "LookupError", "nothing there"),
        ("def prepare(context): raise SystemExit('no more')", "SystemExit", "no more"),
        ("def prepare(context): yield 'made'", "TypeError", "prepare is to be a plain function"),
        ("async def prepare(context): pass", "TypeError", "prepare is to be a plain function"),
        ("prepare = 'soon'", "TypeError", "prepare is to be a plain function"),
    ],
)
def test_what_is_wrong_with_it_is_the_outcome_s_error(
    workers: Workers, tmp_path: Path, hook: str, kind: str, said: str
) -> None:
    outcome, _ = measured(workers, tmp_path, f"{hook}\ndef scenario(context): pass")
    assert outcome.cycles == [] and outcome.error is not None
    assert (outcome.error.type, said in outcome.error.message) == (kind, True)

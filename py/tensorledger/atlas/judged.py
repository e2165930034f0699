"""How what the atlas has of a scenario is judged: by the plain expectation, without deviations."""

from __future__ import annotations

from tensorledger.atlas.data import Atlas, Range
from tensorledger.atlas.shows import verdict
from tensorledger.expectations.expectation import expectation_for
from tensorledger.scenarios.catalogue import all_scenarios
from tensorledger.verdicts.verdict import Verdict


def judged(atlas: Atlas, name: str, found: Range) -> Verdict | None:
    """Return a range's verdict; None where the scenario is not known here.

    Raises BadDefinition where its expectation cannot be used.
    """
    scenario = all_scenarios().get(name)
    if scenario is None or "js" not in scenario.files:
        return None
    return verdict(found.shows, expectation_for(name, scenario.files["js"]), atlas.target(found.first))[0]

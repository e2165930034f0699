"""All claims, and how they are settled: those of several targets at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from packaging.version import Version

from tensorledger.claims import both, javascript, python
from tensorledger.claims.claim import Claim, Evidence, Settled, evidence_of, judged
from tensorledger.claims.lab import Lab
from tensorledger.targets.target import Target

CLAIMS: tuple[Claim, ...] = (
    *javascript.CLAIMS,
    *python.CLAIMS,
    *both.CLAIMS,
)


def settle(
    claims: Sequence[Claim], lab: Lab, targets: Sequence[Target], jobs: int, told: Callable[[Claim, Target], None]
) -> list[Settled]:
    """Measure claims, so many targets at once, and return each with its verdict; ``told`` hears what is begun."""
    releases = [target for target in targets if target.name == "tfjs" and target.version is not None]
    newest = max(releases, key=lambda target: (Version(str(target.version)), target.backend == "cpu"), default=None)

    def measure(target: Target) -> dict[str, list[Evidence]]:
        found = {}
        for claim in claims:
            if claim.concerns(target) and not (claim.newest and target != newest):
                told(claim, target)
                found[claim.id] = evidence_of(claim, lab, target)
        lab.let_go(target)
        return found

    executor = ThreadPoolExecutor(jobs)
    try:
        by_target = list(executor.map(measure, targets))
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
    settled = []
    for claim in claims:
        of_parts = {part.name: number for number, part in enumerate(claim.parts)}
        found = [each for measured in by_target for each in measured.get(claim.id, [])]
        found.sort(key=lambda each: of_parts[each.part])  # stable: targets stay in their order
        verdict, where = judged(found)
        settled.append(Settled(id=claim.id, verdict=verdict, where=where, evidence=found, text=claim.text))
    return settled

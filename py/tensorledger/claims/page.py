"""Claims as Markdown: the README's table, and the page with the evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from tensorledger.claims.claim import Evidence, Settled
from tensorledger.claims.ranges import figures_of, span
from tensorledger.results.marked import markdown

MARK = "claims"
GROUPS = {
    "A": "TensorFlow.js: does a tf.Model free itself, and how is it released?",
    "B": "TensorFlow in Python: prediction on CPU never gives memory back",
    "C": "The same expectation in both runtimes",
}
HEAD = """\
# The claims, and what they come to

`tensorledger claims --target 'tfjs@*' --target keras --target tf-keras --json docs/claims.json` measures them all, and
`tensorledger claims --from docs/claims.json --page docs/claims.md --readme README.md` writes this page from that file.
Each line is what one part of a claim came to on targets that are alike; tensors and bytes are those that are left
beyond the baseline.
"""


def readme_part(settled: Sequence[Settled]) -> str:
    """Return what stands between the marks in the README."""
    rows = ([each.id, each.text, f"**{each.verdict}**", each.where] for each in settled)
    return f"\n\n{markdown(['', 'claim', 'verdict', 'it holds'], rows)}\n\n"


def page(settled: Sequence[Settled]) -> str:
    """Return the page with the evidence."""
    return "\n".join([HEAD, *_sections(settled)])


def _sections(settled: Sequence[Settled]) -> Iterator[str]:
    for group, claims in groupby(settled, key=lambda each: each.id[0]):
        yield f"## {group}. {GROUPS[group]}\n"
        for each in claims:
            yield f"### {each.id}: {each.text}\n"
            yield f"**{each.verdict}**\n"
            rows = [
                [part, targets, {True: "yes", False: "no", None: "not measured"}[first.holds], first.scenario, figures]
                for part, targets, figures, first in lines(each.evidence)
            ]
            yield markdown(["part", "on", "holds", "measured by", "figures"], rows) + "\n"


def lines(evidence: Sequence[Evidence]) -> Iterator[tuple[str, str, str, Evidence]]:
    """Yield the evidence as part, targets, figures, the first; targets in a row that are alike share a line."""

    def alike(each: Evidence) -> tuple[object, ...]:
        return each.part, each.scenario, each.holds, figures_of(each.figures)

    for key, run in groupby(evidence, key=alike):
        found = list(run)
        part = f"{found[0].part} (asked beside)" if found[0].beside else found[0].part
        yield part, span([each.target for each in found]), str(key[-1]), found[0]

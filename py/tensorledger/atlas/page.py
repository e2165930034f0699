"""The atlas for people: a page of Markdown, made of the data alone."""

from __future__ import annotations

from collections.abc import Iterator

from tensorledger.atlas.data import Atlas, Range
from tensorledger.atlas.judged import judged
from tensorledger.atlas.shows import Threw, Walk
from tensorledger.terminal.marks import MARKS

HEAD = """\
# The atlas

What each scenario shows on each stable release of TensorFlow.js ({first} to {last}, {count} of them, on {backend}),
measured on Node.js {node}. Releases in one line behave alike. `make atlas` measures it all again, and writes this page;
`tensorledger atlas --from docs/atlas.json --page docs/atlas.md` writes it from the data.

At each checkpoint: tensors · bytes beyond the baseline, and buffers where they are not as many as the tensors. What
is left at `end` is also what every further cycle adds. Only these exact counts are looked at, not the growth of the
heap or of the process, and cycles are run until two in a row are alike. The mark is by the scenario's plain
expectation, without its deviations: ✓ as expected, ✗ otherwise, ! throws or cannot be run. A scenario named `leak-…`
leaks on purpose. `release()` releases by {recipes}.
"""


def page(atlas: Atlas) -> str:
    """Return the whole page. Raises BadDefinition where an expectation cannot be used."""
    parts = [
        HEAD.format(
            first=atlas.releases[0] if atlas.releases else "none",
            last=atlas.releases[-1] if atlas.releases else "none",
            count=len(atlas.releases),
            backend=atlas.backend,
            node=atlas.environment.get("node", "?"),
            recipes=", ".join(f"`{found.name}` from {found.first} to {found.last}" for found in atlas.recipes),
        )
    ]
    parts.append("\n".join(_unusable(atlas)))
    parts += ["\n".join(_scenario(atlas, name, ranges)) for name, ranges in atlas.scenarios.items()]
    return "\n".join(parts)


def _unusable(atlas: Atlas) -> Iterator[str]:
    yield "## Releases that do not install or do not load\n"
    if not atlas.unusable:
        yield "None.\n"
        return
    yield "| release | | why |"
    yield "|---|---|---|"
    for found in atlas.unusable:
        yield f"| {found.release} | {found.state} | {_cell(found.why)} |"
    yield ""


def _scenario(atlas: Atlas, name: str, ranges: list[Range]) -> Iterator[str]:
    yield f"## {name}\n"
    yield "| releases | | shows |"
    yield "|---|---|---|"
    for found in ranges:
        verdict = judged(atlas, name, found)
        mark = MARKS[verdict][0] if verdict else ""
        count = len(atlas.within(found))
        releases = found.first if count == 1 else f"{found.first} – {found.last} ({count})"
        yield f"| {releases} | {mark} | {'; '.join(_shows(found))} |"
    yield ""


def _shows(found: Range) -> Iterator[str]:
    shows = found.shows
    if shows.broke:
        yield _cell(shows.broke)
    if shows.cycle is not None:
        yield _walk(shows.cycle)
    if shows.first is not None:
        yield f"in the warm-up: {_walk(shows.first)}"
    if shows.unsteady:
        yield "no two cycles in a row are alike"
    off = [key for key, same in shows.parity.items() if not same]
    if off:
        yield f"predictions are not Keras's: {', '.join(off)}"


def _walk(walk: Walk) -> str:
    said = []
    for point in walk.points:
        amount = "?" if point.tensors is None else f"{point.tensors:,}"
        if point.bytes:
            amount += f" · {point.bytes:,}"
        if point.buffers is not None and point.buffers != point.tensors:
            amount += f" ({point.buffers:,} buffers)"
        said.append(f"{_cell(point.name)} {amount}")
    return ", ".join(said) + (f"; throws {_threw(walk.threw)}" if walk.threw else "")


def _threw(threw: Threw) -> str:
    after = f"after {_cell(threw.after)}" if threw.after else "at once"
    return f"{after}: `{_cell(threw.message.replace('`', chr(39)))}`"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")

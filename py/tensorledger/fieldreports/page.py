"""The page about public reports: made of what people reported and of what was measured, and of nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from packaging.version import Version

from tensorledger.claims.ranges import span
from tensorledger.environment.tree import tree
from tensorledger.fieldreports.found import Asked, Findings, Found, Span
from tensorledger.fieldreports.report import Report
from tensorledger.results.marked import markdown

HEAD = """\
# Reports from the field

Faults that people reported in public, each as a scenario that was written anew from the description, and what came of
running it: {count} entries about {threads} threads. `python docs/field_reports.py` makes this page of
[`harness/reports`](../harness/reports), which tells in our words what is reported, and of
[`reports.json`](reports.json), which only `python docs/field_reports.py --measure` and `--releases` write, by
running the scenarios.
`pytest harness -k reports` runs them all on the default targets.

An entry *reproduces* where the scenario shows what is reported: by exact counts, by what is thrown, or by growth that
was settled in a fresh worker. One that does not says on what it was tried. Whose it is: *upstream*, the library does
otherwise than it should; *user*, the code holds on to something that is its own to release, and the scenario leaks on
purpose. Releases are those of TensorFlow.js on cpu; where not each was looked at, it says how many were, by bisection.
Python is {python}, and no other release was tried.
"""


def page(reports: Sequence[Report], findings: Findings) -> str:
    """Return the whole page."""
    there = [(report, found) for report in reports if (found := findings.of(report.name)) is not None]
    threads = {thread.of for report, _ in there for thread in report.threads}
    python = ", ".join(f"{name} {version}" for name, version in findings.environment.items() if name != "python")
    rows = [
        [
            f"[{report.name}](#{report.name})",
            ", ".join(thread.of for thread in report.threads),
            verdict(found),
            where(found) or "–",
            amounts(found) or "–",
            report.whose if verdict(found) == REPRODUCES else "–",
        ]
        for report, found in there
    ]
    columns = ["entry", "threads", "verdict", "where", "left by each cycle: tensors · bytes", "whose"]
    parts = [HEAD.format(count=len(there), threads=len(threads), python=python), markdown(columns, rows), ""]
    for report, found in there:
        parts += _section(report, found)
    return "\n".join(parts)


REPRODUCES, NOT = "reproduces", "does not reproduce"


def verdict(found: Found) -> str:
    """Say whether it reproduces anywhere."""
    shows = any(each.shows for each in found.asked) or any(each.shows for each in found.spans)
    return REPRODUCES if shows else NOT


def in_newest(found: Found) -> bool:
    """Say whether a target of the newest release of either runtime shows it."""
    newest = max((_release(each.target) for each in found.asked), default=Version("0"))
    return any(each.shows and _release(each.target) == newest for each in found.asked)


def _release(target: str) -> Version:
    """Return the release of a target; that of Python's, of which there is one, is 0."""
    return Version(target.partition("@")[2].partition("/")[0] or "0")


def where(found: Found) -> str:
    """Return where it shows: the releases, or the targets where only those were asked."""
    ranges = [_range(each) for each in found.spans if each.shows]
    python = [each.target for each in found.asked if each.shows and not each.target.startswith("tfjs")]
    if any(each.shows for each in found.spans):
        return ", ".join(([f"tfjs {', '.join(ranges)}"] if ranges else []) + python)
    return ", ".join(
        span([each.target for each in run]) for shows, run in groupby(found.asked, key=lambda each: each.shows) if shows
    )


def _range(each: Span) -> str:
    return each.first if each.first == each.last else f"{each.first} – {each.last}"


def amounts(found: Found) -> str:
    """Return what the cycles leave where it shows."""
    said = dict.fromkeys(_left(each) for each in found.asked if each.shows)
    return "; ".join(said)


def _left(each: Asked) -> str:
    """Say what a target leaves, and what grows there."""
    counts = f"{each.tensors:,} · {each.bytes:,}" if each.tensors is not None and each.bytes is not None else "not read"
    left = "0" if not (each.tensors or each.bytes) else counts
    twin = f", of which the twin leaves {each.twin}" if each.twin else ""
    grows = f"; {' and '.join(each.grows)} grows" if each.grows else ""
    return f"{left}{twin}{grows}"


SHOWS = {True: "yes", False: "no", None: "cannot be asked"}


def _section(report: Report, found: Found) -> Iterator[str]:
    yield f"## {report.name}\n"
    for thread in report.threads:
        yield f"- [{thread.of}]({thread.address}), “{thread.title}”, {thread.opened.isoformat()}"
    yield f"\n{report.says}\n"
    newest = "; still in the newest release" if in_newest(found) else ""
    place = where(found)
    yield f"**{verdict(found)}**{f': {place}' if place else ''}{newest}. Scenario: {_scenario(report)}.\n"
    rows = []
    for (shows, left, threw), run in groupby(found.asked, key=lambda each: (each.shows, _left(each), each.threw)):
        rows.append([span([each.target for each in run]), SHOWS[shows], left, f"`{threw}`" if threw else ""])
    yield markdown(["on", "shows it", "left by each cycle", "throws"], rows) + "\n"
    yield from _releases(found)
    yield from _line(found)
    if report.way_round:
        yield f"The way round it: {report.way_round}\n"
    if report.smallest and in_newest(found):
        language = "js" if "js" in report.scenario.files else "python"
        yield f"The smallest reproduction:\n\n```{language}\n{report.smallest}\n```\n"
    if verdict(found) == NOT:
        tried = f" {report.tried}" if report.tried else ""
        yield f"Tried on {span([each.target for each in found.asked])}.{tried}\n"


def _scenario(report: Report) -> str:
    paths = [path.relative_to(tree()).as_posix() for path in report.scenario.files.values()]
    return ", ".join(f"[`{path}`](../{path})" for path in paths)


def _releases(found: Found) -> Iterator[str]:
    if not found.spans:
        return
    looked = sum(each.looked for each in found.spans)
    how = f"all {looked}" if looked == found.of else f"{looked} of {found.of} looked at"
    said = [
        f"{_range(each)} {SHOWS[each.shows]}" + (f" (`{each.threw}`)" if each.threw else "") for each in found.spans
    ]
    yield f"Releases, {how}: {'; '.join(said)}.\n"


def _line(found: Found) -> Iterator[str]:
    """Say which line made what is left, where it shows: on the newest target that has one."""
    for each in reversed(found.asked):
        if each.shows and each.line is not None:
            yield f"Made at `{each.line.place}` (on {each.target}): `{each.line.source}`\n"
            return

"""Measures the public reports, and writes the page about them.

python docs/field_reports.py                       writes docs/field-reports.md of docs/reports.json and harness/reports
python docs/field_reports.py --check               writes nothing; exit status 1 where the page is not what they make
python docs/field_reports.py --measure [NAME…]     measures all reports, or some, into docs/reports.json; writes both
python docs/field_reports.py --releases [NAME…]    looks along the releases of TensorFlow.js instead of the targets
… --releases --seen ATLAS.json [NAME…]             … and takes what `tensorledger atlas` has measured as seen
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

import msgspec.structs

from tensorledger.atlas.data import committed as atlas_file
from tensorledger.atlas.data import read as read_atlas
from tensorledger.atlas.measure import counting
from tensorledger.environment.folders import write_whole
from tensorledger.fieldreports import found
from tensorledger.fieldreports.found import Findings, Found
from tensorledger.fieldreports.measure import measured, spans
from tensorledger.fieldreports.page import page
from tensorledger.fieldreports.report import Report, all_reports
from tensorledger.targets.catalogue import default, installed, resolve
from tensorledger.targets.target import Target

PAGE = Path(__file__).resolve().parent / "field-reports.md"


def measure(chosen: Sequence[Report], before: Findings | None, along: bool, seen: Sequence[Path] = ()) -> Findings:
    """Measure some reports; what was found of the others stays, if there is such a report still."""
    targets = default()
    known = {each.report: each for each in before.reports} if before else {}
    atlases = [read_atlas(path) for path in (atlas_file(), *seen)]
    releases = [str(target.version) for target in resolve(["tfjs@*"])]
    for report in chosen:
        print(report.name, flush=True)
        old = known.get(report.name)
        new = old if along and old is not None else measured(report, targets)
        if along:
            with counting() as workers:
                ranges = spans(report, releases, atlases, workers)
            new = msgspec.structs.replace(new, spans=ranges, of=len(releases) if ranges else 0)
        elif old is not None:
            new = msgspec.structs.replace(new, spans=old.spans, of=old.of)
        known[report.name] = new
        findings = Findings(found.SCHEMA, _environment(targets), _in_order(known))
        found.write(found.committed(), findings)  # each at once: all of it takes long
    return Findings(found.SCHEMA, _environment(targets), _in_order(known))


def _environment(targets: Sequence[Target]) -> dict[str, str]:
    python = {str(target): str(installed(target)) for target in targets if target.language == "py"}
    return {"python": platform.python_version(), "tensorflow": metadata.version("tensorflow"), **python}


def _in_order(known: dict[str, Found]) -> list[Found]:
    return [known[report.name] for report in all_reports() if report.name in known]


def main(arguments: Sequence[str]) -> int:
    """Do what is asked for; return the exit status."""
    option, *names = arguments or [""]
    seen = []
    if option == "--releases" and names[:1] == ["--seen"]:
        seen, names = [Path(name) for name in names[1:2]], names[2:]
    reports = {report.name: report for report in all_reports()}
    measures = option in ("--measure", "--releases")
    if (option not in ("", "--check") and not measures) or (names and not measures) or not reports.keys() >= set(names):
        print(__doc__, file=sys.stderr)
        return 2
    file = found.committed()
    before = found.read(file) if file.is_file() else None
    if measures:
        chosen = [reports[name] for name in names] if names else list(reports.values())
        before = measure(chosen, before, option == "--releases", seen)
    if before is None:
        print("nothing was measured yet: python docs/field_reports.py --releases", file=sys.stderr)
        return 2
    wanted = page(list(reports.values()), before)
    if PAGE.is_file() and PAGE.read_text(encoding="utf-8") == wanted:
        print("the page says what was measured")
        return 0
    if option == "--check":
        print("the page is not what was measured; python docs/field_reports.py writes it", file=sys.stderr)
        return 1
    write_whole(PAGE, wanted)
    print("the page is written")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The page about public reports is what was measured, and what was measured is measured again."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from outcomes import CHECKOUT

from tensorledger.environment.tree import is_checkout
from tensorledger.expectations.toml import BadDefinition
from tensorledger.fieldreports import found
from tensorledger.fieldreports.found import Asked
from tensorledger.fieldreports.measure import CYCLES, Seen, asked, reproduces
from tensorledger.fieldreports.page import NOT, in_newest, page, verdict
from tensorledger.fieldreports.report import At, Report, Symptom, all_reports, load
from tensorledger.scenarios.catalogue import all_scenarios
from tensorledger.targets.catalogue import default, lacking
from tensorledger.targets.target import Target
from tensorledger.workers.pool import Workers

pytestmark = pytest.mark.skipif(not is_checkout(), reason="the reports and the script are in a checkout")

REPORTS = all_reports()
FINDINGS = found.read(found.committed())
SCRIPT = CHECKOUT / "docs" / "field_reports.py"


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("field_reports", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


script: Any = _load() if SCRIPT.is_file() else None


# --- the page


def test_the_committed_page_is_what_the_reports_and_the_data_make() -> None:
    assert script.PAGE.read_text(encoding="utf-8") == page(REPORTS, FINDINGS)
    assert script.main(["--check"]) == 0


def test_the_committed_data_are_as_they_are_written() -> None:
    assert found.committed().read_text(encoding="utf-8") == found.text_of(FINDINGS)


def test_every_report_was_measured_and_nothing_else() -> None:
    assert [each.report for each in FINDINGS.reports] == [report.name for report in REPORTS]
    for report in REPORTS:
        of = FINDINGS.of(report.name)
        assert of is not None and of.scenario == report.scenario.name
        assert [each.target for each in of.asked] == [str(t) for t in default() if report.scenario.file(t)]


def test_every_scenario_of_a_report_has_a_report() -> None:
    there = {name for name, scenario in all_scenarios().items() if scenario.of_a_report}
    assert there - {report.scenario.name for report in REPORTS} == set()


def test_no_thread_is_in_two_reports() -> None:
    threads = [thread.of for report in REPORTS for thread in report.threads]
    assert len(threads) == len(set(threads))


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.name)
def test_what_a_reader_needs_is_there(report: Report) -> None:
    of = FINDINGS.of(report.name)
    assert of is not None and report.says
    if verdict(of) == NOT:
        return
    assert report.way_round, "it reproduces, and there is no way round it"
    if report.whose == "upstream" and in_newest(of):
        assert report.smallest, "upstream's, and still in the newest release: the smallest reproduction is to be there"


# --- measured again


def _target(report: Report) -> Target:
    """Return one target to ask again: the newest that shows it, else the newest."""
    of = FINDINGS.of(report.name)
    assert of is not None
    targets = {str(target): target for target in default() if target.backend in (None, "cpu")}
    there = [each for each in of.asked if each.target in targets]
    return targets[([each for each in there if each.shows] or there)[-1].target]


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    with Workers() as made:
        yield made


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.name)
def test_a_run_says_the_same(report: Report, workers: Workers) -> None:
    target = _target(report)
    if lacks := lacking(target):
        pytest.skip(lacks)
    of = FINDINGS.of(report.name)
    assert of is not None
    known = next(each for each in of.asked if each.target == str(target))
    again = asked(report, target, workers, CYCLES)

    def exact(each: Asked) -> tuple[object, ...]:
        return each.tensors, each.bytes, each.twin, each.threw, each.line

    assert exact(again) == exact(known)
    if not report.symptom.grows:  # growth takes more cycles to show, and is a statistic
        assert (again.shows, again.verdict) == (known.shows, known.verdict)


# --- the rule


NOTHING, SOME = {"end": (0, 0)}, {"made": (3, 12), "end": (2, 8)}


@pytest.mark.parametrize(
    ("symptom", "seen", "twin", "wanted"),
    [
        (Symptom(left=True), Seen(SOME), None, True),
        (Symptom(left=True), Seen(NOTHING), None, False),
        (Symptom(left=True), Seen(SOME, threw="Error: other"), None, None),
        (Symptom(left=True), Seen({}, broke=True), None, None),
        (Symptom(left=True, beside="x"), Seen(SOME), Seen(SOME), False),
        (Symptom(left=True, beside="x"), Seen(SOME), Seen(NOTHING), True),
        (Symptom(left=True, beside="x"), Seen(SOME), Seen(NOTHING, threw="Error: other"), None),
        (Symptom(throws="is gone"), Seen(NOTHING, threw="Error: it is gone"), None, True),
        (Symptom(throws="is gone"), Seen(NOTHING), None, False),
        (Symptom(throws="is gone", after="made"), Seen(NOTHING, threw="Error: it is gone"), None, None),
        (Symptom(throws="is gone", after="made"), Seen(SOME, threw="Error: it is gone", after="made"), None, True),
        (Symptom(throws="is gone"), Seen(SOME, threw="E: is gone"), Seen(NOTHING, threw="E: is gone"), None),
        (Symptom(at=At("made", tensors=3)), Seen(SOME), None, True),
        (Symptom(at=At("made", tensors=3, bytes=8)), Seen(SOME), None, False),
        (Symptom(at=At("never", tensors=3)), Seen(SOME), None, False),
        (Symptom(grows=["heap"]), Seen(NOTHING, grows=("heap",)), None, True),
        (Symptom(grows=["heap"]), Seen(NOTHING, grows=("native",)), None, False),
    ],
)
def test_what_reproduces(symptom: Symptom, seen: Seen, twin: Seen | None, wanted: bool | None) -> None:
    assert reproduces(symptom, seen, twin) is wanted


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('scenario = "reports/epochs"', 'scenario = "reports/epoch"', "there is no scenario 'reports/epoch'"),
        ("left = true", "left = false", "nothing says how it would show"),
        ('of = "tensorflow/tfjs#200"', 'of = "200"', "is not owner/repository#number"),
        ("left = true", 'left = true\nbeside = "nothing"', "there is no scenario 'nothing'"),
        ("left = true", "leaves = true", "unknown field"),
    ],
)
def test_a_report_that_cannot_be_used_is_refused(old: str, new: str, said: str, tmp_path: Any) -> None:
    text = (CHECKOUT / "harness" / "reports" / "epochs.toml").read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "epochs.toml").write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(BadDefinition, match=said):
        load(tmp_path / "epochs.toml")

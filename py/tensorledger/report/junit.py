"""JUnit's XML, as CI systems show it: a suite for each target, a case for each scenario."""

from __future__ import annotations

import re

from junitparser import Error, Failure, JUnitXml, Property, Skipped, TestCase, TestSuite

from tensorledger.checking.checked import Checked
from tensorledger.report.merged import Key, Merged
from tensorledger.report.plain import culprit, details, headline, runs, why

UNWRITABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold, whatever it is written as."""

DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>'


def junit(merged: Merged) -> str:
    """Return the document. What XML cannot hold is written as U+FFFD."""
    document = JUnitXml("tensorledger")
    for target in merged.targets:
        suite = TestSuite(_clean(target))
        keys = [key for key in merged.cells if key[1] == target]
        for name, value in _properties(merged, keys[0]):
            suite.add_property(_clean(name), _clean(value))
        suite.add_testcases([_case(merged, key) for key in keys])
        date = merged.runs[merged.shown(keys[0]).run].environment.date
        if date is not None:
            suite.timestamp = _clean(date)
        document.add_testsuite(suite)
    if merged.checks:
        suite = TestSuite("checked models")
        suite.add_testcases([_checked(check) for check in merged.checks])
        document.add_testsuite(suite)
    document.update_statistics()
    written = document.tostring()
    text = written.decode("utf-8") if isinstance(written, bytes) else written
    return text if text.startswith("<?xml") else f"{DECLARATION}\n{text}"


def _properties(merged: Merged, key: Key) -> list[tuple[str, str]]:
    """Return what is known of where a target ran."""
    environment = merged.runs[merged.shown(key).run].environment
    named = {name: getattr(environment, name) for name in ("tensorledger", "python", "node", "platform")}
    versions = environment.targets.get(key[1], {})
    return [(name, value) for name, value in {**named, **versions}.items() if value is not None]


def _case(merged: Merged, key: Key) -> TestCase:
    seen = merged.shown(key)
    result = seen.result
    # CI systems fold class names at their dots: by runtime, then release, then backend.
    folded = key[1].replace(".", "_").replace("@", ".").replace("/", ".")
    case = TestCase(_clean(key[0]), classname=_clean(folded), time=result.seconds)
    line = culprit(result)
    if line is not None:
        case._elem.set("file", _clean(line.file))
        case._elem.set("line", str(line.line))
    text = _clean(details(result))
    said = _clean(headline(result))
    if seen.verdict == "fail":
        case.result = [_filled(Failure(said, "fail"), text)]
    elif seen.verdict == "error":
        case.result = [_filled(Error(said, _clean(result.error.type if result.error else "error")), text)]
    elif seen.verdict == "skip":
        case.result = [Skipped(said)]
    elif seen.verdict == "deviates":
        case.append(_property("deviation", result.deviation or ""))
    notes = [*([f"{seen.verdict}: {said}"] if seen.verdict in ("deviates", "caught") else []), *runs(merged, key)]
    if notes:
        case.system_out = _clean("\n".join(notes))
    return case


def _checked(check: Checked) -> TestCase:
    case = TestCase(_clean(check.model), classname="check")
    if not check.ok:
        case.result = [_filled(Failure("not ready", "fail"), _clean(why(check)))]
    return case


def _property(name: str, value: str) -> Property:
    return Property(name, _clean(value))


def _filled(found: Failure | Error, text: str) -> Failure | Error:
    found.text = text
    return found


def _clean(text: str) -> str:
    return UNWRITABLE.sub("\ufffd", text)

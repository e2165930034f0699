"""What another tool has answered, read from its own words. One that says nothing, or misses what is plain, gave none.

A tool that did not run and one that found nothing look alike to who only asks whether it complained. So each has to say
that it looked: psleak and pytest-memray find a leak that no tool of theirs misses, planted beside what they are asked
about; memlab tells the steps that it took, fuite the rounds; the converter signs the model that it has written.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class NoAnswer(Exception):
    """A tool did not come to an answer; the message says what it did instead."""


@dataclass(frozen=True)
class Answer:
    """What a tool says."""

    version: str
    leaks: bool
    said: str = ""


def psleak(printed: str) -> Answer:
    """Read what peers/psleak_probe.py printed. Raises NoAnswer."""
    told = _json(printed.strip().rpartition("\n")[2], "psleak")
    if not told["control"]:
        raise NoAnswer(f"psleak {told['version']} did not find the control, which keeps 64 KiB a call")
    if told["calls"] < told["asked"]:
        raise NoAnswer(f"psleak {told['version']} called the scenario {told['calls']} times of {told['asked']}")
    return Answer(told["version"], told["caught"], told["said"])


def pytest_memray(printed: str) -> Answer:
    """Read what pytest printed of peers/memray_probe.py, with its header and -rA. Raises NoAnswer."""
    plugins = re.search(r"^plugins: .*\bmemray-([\w.]+)", printed, re.MULTILINE)
    if plugins is None:
        raise NoAnswer("pytest does not name memray among its plugins")
    results = re.findall(r"^([A-Z ]+) \S*memray_probe\.py::test_(\w+)", printed, re.MULTILINE)
    said = {test: status for status, test in results}
    if said.get("control") != MEMORY or said.get("planted") not in (MEMORY, "PASSED"):
        raise NoAnswer(f"pytest-memray {plugins[1]}: {said or 'no test ran'}; the control keeps 1 MiB, and is to fail")
    return Answer(plugins[1], said["planted"] == MEMORY)


MEMORY = "MEMORY PROBLEMS"
"""pytest-memray's own status of a test."""


def memray_measured(printed: str) -> int:
    """Return how many tests pytest-memray reports allocations of. Raises NoAnswer where it reports none."""
    found = len(re.findall(r"^Allocation results for ", printed, re.MULTILINE))
    if not found:
        raise NoAnswer("pytest-memray reports the allocations of no test")
    return found


def memlab(printed: str, version: str) -> Answer:
    """Read what `memlab run` printed. Raises NoAnswer."""
    found = re.search(r"MemLab found (\d+) leak\(s\)|No leaks found", printed)
    steps = re.findall(r"\[(s\d)\]", printed)
    if found is None or {"s1", "s2", "s3"} - set(steps):
        raise NoAnswer(f"memlab {version}: of leaks {'nothing' if found is None else found[0]!r}, of steps {steps}")
    count = int(found[1] or 0)
    what = re.findall(r"\[(Detached [^\]]*)\]", printed)
    return Answer(version, count > 0, f"{count} leaks{': ' + what[0] if count and what else ''}")


def fuite(written: str, version: str) -> Answer:
    """Read the JSON that fuite wrote. Raises NoAnswer."""
    found = _json(written, "fuite")
    result: dict[str, Any] = found[0].get("result", {}) if found else {}
    if "leaks" not in result or not result.get("numIterations"):
        raise NoAnswer(f"fuite {version}: {json.dumps(result)[:300]}")
    objects = [f"{leak['name']} +{leak['retainedSizeDeltaPerIteration']:.0f} B" for leak in result["leaks"]["objects"]]
    said = f"{result['deltaPerIteration']:.0f} bytes a round; {', '.join(objects[:3])}"
    return Answer(version, bool(result["leaks"]["detected"]), said)


def converter(folder: Path) -> tuple[str, dict[str, bytes]]:
    """Return who wrote a converted model, as it says of itself, and the files of its weights. Raises NoAnswer."""
    model = folder / "model.json"
    written = _json(model.read_text(encoding="utf-8") if model.is_file() else "", "the converter")
    weights = {file.name: file.read_bytes() for file in sorted(folder.glob("*.bin"))}
    if not weights or not written.get("convertedBy"):
        raise NoAnswer(f"the converter wrote {len(weights)} files of weights, and no name of its own")
    return written["convertedBy"], weights


def _json(text: str, tool: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise NoAnswer(f"{tool} wrote no JSON, but {text[-200:]!r}") from error

"""The harness itself: interrupted and killed at any point, and what it writes to is full or must not be written."""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import subprocess
import time
from collections.abc import Callable

import pytest
from place import GOOD, GOOD_PY, Place

NAMES = [f"{number}.mjs" for number in range(8)]


def many(place: Place) -> list[str]:
    """Write scenarios that take a second together, in both languages."""
    for name in NAMES:
        place.write(name, GOOD)
    return [*NAMES, place.write("p.py", GOOD_PY)]


def started(place: Place) -> subprocess.Popen[str]:
    return place.start("run", *many(place), "-t", "tfjs", "-t", "keras", "--json", str(place.results))


def test_the_harness_is_interrupted(place: Place, chance: random.Random) -> None:
    process = started(place)
    time.sleep(chance.uniform(0.0, 6.0))
    process.send_signal(signal.SIGINT)
    ended = place.end(process)
    assert ended.status in (0, 1, 130, -signal.SIGINT), ended.output
    assert set(ended.verdicts().values()) <= {"pass"}, ended.output
    done = sum(line.startswith("✓") for line in ended.output.splitlines())
    if ended.status == 130:
        assert len(ended.results) == done, "what was complete is in the results"


def test_the_harness_is_killed(place: Place, chance: random.Random) -> None:
    place.results.write_text('{"results": []}', encoding="utf-8")
    process = started(place)
    time.sleep(chance.uniform(0.0, 6.0))
    process.send_signal(chance.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGHUP]))
    process.communicate(timeout=60)
    json.loads(place.results.read_text(encoding="utf-8"))  # whole, or as it was
    while place.processes():  # the place looks whether they go; what is temporary stays, for nobody was there
        time.sleep(0.1)
    for path in sorted(place.temporary.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()


def full(size: int) -> Callable[[], None]:
    """Return what lets a process write no file beyond a size, as a disk does that is full."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


def test_the_disk_is_full(place: Place, chance: random.Random) -> None:
    kept = place.results.write_text('{"schema": "tensorledger/results/1", "results": []}', encoding="utf-8")
    ended = place.end(
        place.start(
            "run", place.write("a.mjs", GOOD), "--json", str(place.results), before=full(chance.randrange(1, 2000))
        )
    )
    assert place.results.stat().st_size == kept, "what was there is whole"
    assert ended.status == 2 and "results.json" in ended.output, ended.output
    assert [path for path in place.folder.glob(".*") if path.is_file()] == []


def unwritable(place: Place, chance: random.Random) -> str:
    """Return a path at which no cache can be."""
    if os.getuid() and chance.random() < 0.5:
        folder = place.folder / "kept"
        folder.mkdir(mode=0o500)
        return str(folder / "cache")
    return chance.choice(["/proc/cache", "/dev/null/cache", str(place.folder / "a.mjs" / "cache")])


def test_the_cache_cannot_be_written(place: Place, chance: random.Random) -> None:
    names = [place.write("a.mjs", GOOD), place.write("b.mjs", GOOD)]
    place.environment["TENSORLEDGER_CACHE"] = cache = unwritable(place, chance)
    ended = place.run(*names, "-t", "tfjs", "-t", "tfjs@4.10.0")
    needs = [result for result in ended.results.values() if result["target"] == "tfjs@4.10.0/cpu"]
    assert ended.status == 1 and all(result["verdict"] == "error" for result in needs), ended.output
    assert all(cache in result["reason"] and "TENSORLEDGER_CACHE" in result["reason"] for result in needs)
    assert ended.output.count("✓ pass") == len(names), "what needs no cache goes on"


@pytest.mark.parametrize("count", [2])
def test_several_harnesses_share_a_cache(place: Place, chance: random.Random, count: int) -> None:
    place.environment["TENSORLEDGER_CACHE"] = str(place.folder / "cache")
    name = chance.choice(["load-predict-dispose", "load-from-tf-keras"])
    processes = []
    for number in range(count):
        processes.append(place.start("run", name, "-t", "tfjs", "--cycles", "3", "--json", f"{number}.json"))
        time.sleep(chance.uniform(0, 3))
    for number, process in enumerate(processes):
        ended = place.end(process)
        assert ended.status == 0, ended.output
        found = json.loads((place.folder / f"{number}.json").read_text(encoding="utf-8"))["results"]
        assert [result["verdict"] for result in found] == ["pass"]

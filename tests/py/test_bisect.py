"""bisect finds the first release that does otherwise, says so when there are several, and looks at few."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from importlib import import_module
from math import ceil, log2
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tensorledger.bisection.search import Change, Search
from tensorledger.cli import main
from tensorledger.environment.cache import VARIABLE
from tensorledger.targets.catalogue import default

RELEASES = [f"1.{number}.0" for number in range(125)]
PINNED = [str(target.version) for target in default() if target.backend == "cpu"]
WORST = 5 * ceil(log2(len(RELEASES))) + 2
"""The ends, a bisection, and twice as many looks at either side."""


# --- the search


def search(values: dict[str, str | int | None], default: str | int = 0) -> tuple[list[Change], list[str], Search]:
    looked: list[str] = []

    def look(release: str) -> str | int | None:
        looked.append(release)
        return values.get(release, default)

    found = Search(RELEASES, look)
    return found.changes(), looked, found


def steps(*starts: int) -> dict[str, str | int | None]:
    """Return values that go up by one at each of these places."""
    return {release: sum(place >= start for start in starts) for place, release in enumerate(RELEASES)}


@pytest.mark.parametrize("start", [1, 2, 40, 62, 63, 123, 124])
def test_the_first_release_that_differs_is_found_in_few_looks(start: int) -> None:
    changes, looked, _ = search(steps(start))
    assert changes == [Change(RELEASES[start - 1], RELEASES[start], 0, 1)]
    assert len(looked) <= WORST
    assert len(set(looked)) == len(looked)


def test_a_second_change_on_either_side_is_found_by_the_looks_at_both() -> None:
    back = {release: int(30 <= place < 70 or place >= 100) for place, release in enumerate(RELEASES)}
    changes, looked, _ = search(dict(back))
    assert [change.first for change in changes] == ["1.30.0", "1.70.0", "1.100.0"]
    assert [(change.before, change.after) for change in changes] == [(0, 1), (1, 0), (0, 1)]
    assert len(looked) <= WORST + 2 * ceil(log2(len(RELEASES)))


def test_ends_that_are_alike_are_looked_between() -> None:
    found, looked, _ = search({release: int(40 <= place < 80) for place, release in enumerate(RELEASES)})
    assert [change.first for change in found] == ["1.40.0", "1.80.0"]
    none, looked, whole = search({})
    assert none == []
    assert whole.ends == ("1.0.0", "1.124.0")
    assert len(looked) <= WORST


def test_three_values_are_two_changes() -> None:
    changes, _, _ = search(steps(50, 90))
    assert [(change.first, change.before, change.after) for change in changes] == [("1.50.0", 0, 1), ("1.90.0", 1, 2)]


def test_releases_that_cannot_be_used_are_passed_over_also_at_the_ends() -> None:
    values = steps(60)
    broken = ["1.0.0", "1.31.0", "1.58.0", "1.59.0", "1.60.0", "1.61.0", "1.62.0", "1.124.0"]
    changes, looked, whole = search({**values, **dict.fromkeys(broken)})
    assert changes == [Change("1.57.0", "1.63.0", 0, 1)]
    assert whole.ends == ("1.1.0", "1.123.0")
    assert len(set(looked)) == len(looked)


def test_nothing_that_can_be_used_is_no_change_and_has_no_ends() -> None:
    changes, looked, whole = search(dict.fromkeys(RELEASES))
    assert (changes, whole.ends) == ([], None)
    assert looked == RELEASES


def test_whatever_is_found_is_a_border_in_truth() -> None:
    chance = random.Random(5)
    for _ in range(200):
        values: dict[str, Any] = {release: chance.choice([0, 0, 0, 1, None]) for release in RELEASES}
        changes, _, _ = search(values)
        for change in changes:
            between = RELEASES[RELEASES.index(change.previous) + 1 : RELEASES.index(change.first)]
            assert values[change.previous] == change.before != change.after == values[change.first]
            assert all(values[release] is None for release in between)


# --- the command


Bisect = Callable[..., tuple[Result, dict[str, Any]]]

LEAKS_FROM = """\
const at = version => version.split('.').map(Number).reduce((sum, part) => sum * 1000 + part, 0);
export default async ({tf, target}) => {
  if (CONDITION) tf.ones([2, 3]);
};
"""


@pytest.fixture
def bisect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bisect:
    """Run `tensorledger bisect` over the pinned releases alone, which need no network; ``more`` beside them."""
    monkeypatch.chdir(tmp_path)

    def run(condition: str, *arguments: str, more: tuple[str, ...] = ()) -> tuple[Result, dict[str, Any]]:
        from packaging.version import Version

        from tensorledger.targets.target import Target

        releases = sorted([*PINNED, *more], key=Version)
        found = [Target("tfjs", release, "cpu") for release in releases]
        monkeypatch.setitem(vars(import_module("tensorledger.cli.bisect")), "resolve", lambda written: found)
        Path("planted.mjs").write_text(LEAKS_FROM.replace("CONDITION", condition), encoding="utf-8")
        done = CliRunner().invoke(main, ["bisect", "planted.mjs", "--json", "b.json", *arguments])
        return done, json.loads(Path("b.json").read_text(encoding="utf-8")) if Path("b.json").is_file() else {}

    return run


def test_the_first_release_that_leaks_is_found(bisect: Bisect) -> None:
    done, said = bisect("at(target.version) >= at('1.7.4')")
    assert done.exit_code == 0, done.output
    assert {key: said[key] for key in ("schema", "scenario", "first", "previous", "from", "to")} == {
        "schema": "tensorledger/bisect/1",
        "scenario": "planted.mjs",
        "first": "1.7.4",
        "previous": "1.0.4",
        "from": "pass",
        "to": "fail",
    }
    assert "the first release that differs: 1.7.4  verdict pass in 1.0.4, fail in 1.7.4" in done.output
    runs = {run["version"]: run for run in said["runs"]}
    assert runs["1.7.4"]["verdict"] == "fail"
    assert runs["1.7.4"]["tensors"] == 1
    assert "end tensors: expected 0, measured 1" in runs["1.7.4"]["reason"]
    assert runs["1.0.4"] == {**runs["1.0.4"], "verdict": "pass", "tensors": 0, "bytes": 0, "reason": ""}
    assert list(runs) == sorted(runs, key=PINNED.index)


def test_the_other_direction_finds_the_same_border(bisect: Bisect) -> None:
    done, said = bisect("at(target.version) < at('2.8.6')", "--good", "4.22.0", "--bad", "0.15.3")
    assert done.exit_code == 0, done.output
    assert (said["previous"], said["first"], said["from"], said["to"]) == ("1.7.4", "2.8.6", "fail", "pass")
    assert {run["version"] for run in said["runs"]} <= set(PINNED[2:])


def test_two_changes_are_both_said(bisect: Bisect) -> None:
    done, said = bisect("target.version === '1.0.4' || target.version === '1.7.4'", "--what", "bytes")
    assert done.exit_code == 0, done.output
    assert [(change["first"], change["from"], change["to"]) for change in said["changes"]] == [
        ("1.0.4", 0, 24),
        ("2.8.6", 24, 0),
    ]
    assert "it changes 2 times in this range" in done.output


def test_a_release_that_does_not_load_is_passed_over_and_listed(
    bisect: Bisect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    package = tmp_path / "cache" / "releases" / "1.5.0" / "node_modules" / "@tensorflow" / "tfjs"
    package.mkdir(parents=True)
    (package / "package.json").write_text('{"main": "index.js"}', encoding="utf-8")
    (package / "index.js").write_text("throw new Error('planted to be broken');", encoding="utf-8")
    done, said = bisect("at(target.version) >= at('1.7.4')", more=("1.5.0",))
    assert done.exit_code == 0, done.output
    assert (said["previous"], said["first"]) == ("1.0.4", "1.7.4")
    (broken,) = [run for run in said["runs"] if run["version"] == "1.5.0"]
    assert (broken["verdict"], broken["tensors"]) == ("skip", None)
    assert "planted to be broken" in broken["reason"]
    assert "cannot be used, and were passed over: 1.5.0" in done.output


def test_ends_that_do_not_differ_are_said_with_status_1(bisect: Bisect) -> None:
    done, said = bisect("false", "--good", "2.8.6")
    assert done.exit_code == 1, done.output
    assert (said["first"], said["changes"]) == (None, [])
    assert "no change found: 2.8.6 and 4.22.0 show the same verdict" in done.output


def test_what_is_thrown_can_be_asked_for(bisect: Bisect) -> None:
    condition = "(() => { if (at(target.version) > at('3.0.0')) throw new Error('planted'); })()"
    done, said = bisect(condition, "--what", "thrown", "--good", "2.8.6")
    assert done.exit_code == 0, done.output
    assert (said["first"], said["from"], said["to"]) == ("3.21.0", "nothing", "Error: planted")
    assert {run["version"]: run["verdict"] for run in said["runs"]} == {
        "2.8.6": "pass",
        "3.21.0": "error",
        "4.22.0": "error",
    }


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["planted.mjs", "--good", "1.0.4", "--bad", "1.0.4"], "--good and --bad are both 1.0.4"),
        (["planted.mjs", "--good", "1.0.99"], "no such release of TensorFlow.js was published; the nearest are 1.0.4"),
        (["planted.mjs", "--bad", "newest"], "a version is written as "),
        (["planted.mjs", "--backend", "cuda"], "'cuda' is not one of"),
        (["function-scope"], "function-scope is written in Python"),
        (["nothing.mjs"], "nothing.mjs: there is no such file"),
        (["create-dispos"], "did you mean create-dispose"),
        (["planted.mjs", "--json", "no/such/b.json"], "the folder does not exist"),
    ],
)
def test_what_cannot_be_bisected_is_refused(bisect: Bisect, arguments: list[str], said: str, tmp_path: Path) -> None:
    bisect("false", "--good", "none of them")  # writes the scenario
    done = CliRunner().invoke(main, ["bisect", *arguments])
    assert done.exit_code == 2, done.output
    assert said in " ".join(done.output.split())


def test_an_expectation_that_cannot_be_used_is_said(bisect: Bisect, tmp_path: Path) -> None:
    (tmp_path / "planted.toml").write_text("[checkpoints]\nend = { tensors = 'nonsense' }\n", encoding="utf-8")
    done, _ = bisect("false")
    assert done.exit_code == 2
    assert "no part 'nonsense'" in done.output


def test_ctrl_c_tells_what_is_known(bisect: Bisect, monkeypatch: pytest.MonkeyPatch) -> None:
    known = vars(import_module("tensorledger.cli.bisect"))
    measure, count = known["measure_with"], iter(range(2))

    def interrupted(*arguments: Any) -> Any:
        if next(count, None) is None:
            raise KeyboardInterrupt
        return measure(*arguments)

    monkeypatch.setitem(known, "measure_with", interrupted)
    done, said = bisect("at(target.version) >= at('1.7.4')")
    assert done.exit_code == 130
    assert "interrupted after 2 releases" in done.output
    assert [run["version"] for run in said["runs"]] == ["0.12.4", "4.22.0"]
    assert said["first"] is None

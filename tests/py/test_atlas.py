"""The atlas: measured cell by cell, kept at once, never twice; releases within a budget; one page out of the data."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec.structs
import pytest
from click.testing import CliRunner
from outcomes import cycle, outcome, thrown

from tensorledger.atlas import executors, shelf, sweep
from tensorledger.atlas.data import Atlas, atlas_of, committed, read, text_of
from tensorledger.atlas.executors import NoCluster, cluster
from tensorledger.atlas.measure import How, Measured, counting, measure_with
from tensorledger.atlas.page import page
from tensorledger.atlas.shelf import MARK, Shelf, bytes_of
from tensorledger.atlas.shows import Point, Shows, Threw, Walk, alike, outcome_of, shown, verdict
from tensorledger.atlas.store import Store, StoreUnusable, key, store_at
from tensorledger.cli import main
from tensorledger.environment import releases
from tensorledger.environment.cache import VARIABLE
from tensorledger.environment.releases import ReleaseMissing, in_use
from tensorledger.expectations.expectation import Expectation, Throws
from tensorledger.scenarios.catalogue import all_scenarios
from tensorledger.targets.catalogue import default
from tensorledger.targets.target import Target

PINNED = [target for target in default() if target.backend == "cpu"]
QUICK = ["leak-native", "tidy-keeps-referenced", "scope-interleaved"]
SCENARIOS = [all_scenarios()[name] for name in QUICK]
NEWEST = PINNED[-1]


# --- what a release shows


def test_what_is_shown_is_the_last_cycle_and_a_warm_up_that_was_otherwise() -> None:
    warm, later = {"tensors": 3, "bytes": 12, "buffers": 3}, {"tensors": 1, "bytes": 4, "buffers": 1}
    found = shown(outcome(cycle(created=warm, end=warm), cycle(created=later), cycle(created=later)))
    assert found.cycle == Walk((Point("created", 1, 4, 1, 0), Point("end", 0, 0, 0, 0)))
    assert found.first == Walk((Point("created", 3, 12, 3, 0), Point("end", 3, 12, 3, 0)))
    assert shown(outcome(cycle(created=later), cycle(created=later))).first is None


def test_cycles_are_enough_when_two_in_a_row_are_alike() -> None:
    one, other = cycle(end={"tensors": 1}), cycle(end={"tensors": 2})
    assert not alike([one])
    assert alike([one, one])
    assert not alike([one, one, other])
    assert not alike([one, cycle(thrown(), end={"tensors": 1})])
    assert shown(outcome(one, other, one)).unsteady


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("Container 'sequential_6' is already disposed.", "Container 'sequential_#' is already disposed."),
        ("Layer 'dense_Dense11' is already disposed.", "Layer 'dense_Dense#' is already disposed."),
        ("no weights: hidden/kernel_5, hidden/bias_12", "no weights: hidden/kernel_#, hidden/bias_#"),
        ("shape [8,10] of float32 is not 3", "shape [8,10] of float32 is not 3"),
    ],
)
def test_numbers_that_count_up_are_not_what_is_thrown(message: str, wanted: str) -> None:
    found = [outcome(cycle(thrown(text))) for text in (message, message.replace("11", "13"))]
    assert {shown(one).threw for one in found} == {Threw("Error", wanted)}


@pytest.mark.parametrize("cycles", [2, 3, 9])
@pytest.mark.parametrize(
    "shows",
    [
        Shows(recipe="dispose", cycle=Walk((Point("created", 4, 160, None, 160), Point("end", 2, 8, None, 8)))),
        Shows(recipe="dispose", cycle=Walk((Point("end", 0, 0, 0, 0),)), first=Walk((Point("end", 2, 8, 2, 8),))),
        Shows(recipe="dispose", cycle=Walk((Point("end", 1, 4, 1, None),), Threw("Error", "no", "made"))),
        Shows(recipe="dispose", cycle=Walk((Point("end", 0, 0, 0, 0),)), parity={"keras/m": True, "tf-keras/m": False}),
    ],
)
def test_an_outcome_that_is_made_up_again_shows_the_same(shows: Shows, cycles: int) -> None:
    assert shown(outcome_of(shows, cycles)) == shows


def test_the_verdict_is_by_the_plain_expectation() -> None:
    def says(walk: Walk | None, expectation: Expectation | None = None, **more: Any) -> tuple[str, str]:
        return verdict(Shows(cycle=walk, **more), expectation or Expectation(), NEWEST)

    nothing, left = Point("end", 0, 0, 0, 0), Point("end", 2, 8, 2, 8)
    assert says(Walk((nothing,))) == ("pass", "")
    assert says(Walk((left,))) == ("fail", "the default expectation: end tensors: expected 0, measured 2")
    assert says(Walk((nothing,), Threw("TypeError", "no such thing"))) == ("error", "TypeError: no such thing")
    assert says(Walk((nothing,), Threw("E", "no")), Expectation(throws=Throws(matches="no"))) == ("pass", "")
    assert says(None, broke="WorkerDied: gone") == ("error", "WorkerDied: gone")
    assert says(Walk((Point("end", 0, 0, None, 0),)))[0] == "skip"


# --- the store


def test_what_was_kept_is_there_again_and_a_line_that_was_cut_off_is_not(tmp_path: Path) -> None:
    with store_at(tmp_path / "s") as store:
        store.add(NEWEST, "one", "k1", Measured(shows=Shows(recipe="dispose")))
        store.add(NEWEST, "two", "k2", Measured(not_loaded="why"))
    (file,) = (tmp_path / "s").glob("*.jsonl")
    whole = file.read_bytes()
    file.write_bytes(whole[:-7])
    with store_at(tmp_path / "s") as store:
        assert store.get("k1") == Measured(shows=Shows(recipe="dispose"))
        assert store.get("k2") is None
        store.add(NEWEST, "two", "k2", Measured(not_loaded="why"))
    assert file.read_bytes() == whole


def test_a_store_that_is_broken_is_said_with_the_line(tmp_path: Path) -> None:
    (tmp_path / "1.0.0+cpu.jsonl").write_text('{"key": "a"}\nnonsense\n', encoding="utf-8")
    with pytest.raises(StoreUnusable, match=r"1\.0\.0\+cpu\.jsonl, line 1: .*\nDelete the line"):
        Store(tmp_path)


def test_a_store_is_one_runs_at_a_time(tmp_path: Path) -> None:
    with store_at(tmp_path), pytest.raises(StoreUnusable, match="another run is writing"), store_at(tmp_path):
        pass
    with store_at(tmp_path):
        pass


def test_the_key_is_of_all_that_a_cell_depends_on(tmp_path: Path) -> None:
    first, second = SCENARIOS[:2]
    keys = {
        key(scenario, target, how) for scenario in (first, second) for target in PINNED for how in (How(), How("tidy"))
    }
    assert len(keys) == 4 * len(PINNED)
    assert key(first, NEWEST, How()) == key(first, NEWEST, How())


# --- the sweep, without workers


Measure = Callable[[str, Target, How], Measured]


class Fake:
    """A world in which cells are measured at once, and what was asked for is noted."""

    def __init__(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[tuple[str, Target]] = []
        self.brought: list[Target] = []
        self.measure: Measure = lambda scenario, target, how: Measured(shows=_nothing(), versions={"node": "18.4.0"})
        self._folder = tmp_path / "store"
        monkeypatch.setattr(sweep, "measure", self._measure)

    def _measure(self, scenario: str, target: Target, how: How) -> Measured:
        self.asked.append((scenario, target))
        return self.measure(scenario, target, how)

    def bring(self, target: Target, needed: Any) -> None:
        self.brought.append(target)
        assert target in needed

    def run(self, targets: list[Target] = PINNED) -> sweep.Swept:
        done: Counter[Target] = Counter()
        with store_at(self._folder) as store, ThreadPoolExecutor(2) as executor:
            found = sweep.sweep(
                SCENARIOS,
                targets,
                How(),
                executor,
                2,
                store,
                self,  # type: ignore[arg-type]
                lambda target, cells: done.update({target: cells}),
            )
        assert done == dict.fromkeys(targets, len(SCENARIOS))
        return found


def _nothing(tensors: int = 0) -> Shows:
    return Shows(recipe="dispose", cycle=Walk((Point("end", tensors, 4 * tensors, tensors, 4 * tensors),)))


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    return Fake(tmp_path, monkeypatch)


def test_every_cell_is_run_once_and_a_second_run_runs_and_fetches_nothing(fake: Fake) -> None:
    swept = fake.run()
    assert swept.ran == len(fake.asked) == len(set(fake.asked)) == len(PINNED) * len(SCENARIOS)
    assert fake.brought == PINNED
    fake.asked.clear()
    fake.brought.clear()
    again = fake.run()
    assert (again.ran, fake.asked, fake.brought) == (0, [], [])
    assert again.cells == swept.cells


def test_a_run_that_broke_goes_on_where_it_was(fake: Fake) -> None:
    whole, works = len(PINNED) * len(SCENARIOS), fake.measure

    def breaks(scenario: str, target: Target, how: How) -> Measured:
        if len(fake.asked) == 10:
            raise OSError("the machine went down")
        return works(scenario, target, how)

    fake.measure = breaks
    with pytest.raises(OSError, match="went down"):
        fake.run()
    before = len(fake.asked)
    assert 0 < before < whole
    fake.measure = works
    fake.asked.clear()
    assert whole - before <= fake.run().ran < whole


def test_a_release_that_does_not_load_is_tried_once_and_kept(fake: Fake) -> None:
    broken = PINNED[2]
    works = fake.measure
    fake.measure = lambda s, target, how: Measured(not_loaded="why") if target == broken else works(s, target, how)
    atlas = atlas_of(fake.run())
    assert [target for _, target in fake.asked].count(broken) == 1
    assert atlas.releases == [str(target.version) for target in PINNED if target != broken]
    assert [(found.release, found.state, found.why) for found in atlas.unusable] == [
        (broken.version, "does not load", "why")
    ]
    assert all(len(ranges) == 1 for ranges in atlas.scenarios.values())
    fake.asked.clear()
    fake.run()
    assert fake.asked == []


def test_a_release_that_could_not_be_fetched_is_listed_and_tried_again(
    fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = PINNED[1]
    bring = fake.bring

    def fails(target: Target, needed: Any) -> None:
        bring(target, needed)
        if target == missing:
            raise ReleaseMissing("no network")

    monkeypatch.setattr(fake, "bring", fails)
    atlas = atlas_of(fake.run())
    assert [(found.release, found.state) for found in atlas.unusable] == [(missing.version, "does not install")]
    monkeypatch.setattr(fake, "bring", bring)
    fake.brought.clear()
    assert atlas_of(fake.run()).unusable == []
    assert fake.brought == [missing]


def test_releases_that_are_alike_and_follow_upon_each_other_are_one_range(fake: Fake) -> None:
    fake.measure = lambda s, target, how: Measured(shows=_nothing(int(PINNED.index(target) in (3, 4, 6))))
    ranges = atlas_of(fake.run()).scenarios[QUICK[0]]
    versions = [str(target.version) for target in PINNED]
    assert [(found.first, found.last) for found in ranges] == [
        (versions[0], versions[2]),
        (versions[3], versions[4]),
        (versions[5], versions[5]),
        (versions[6], versions[6]),
        (versions[7], versions[7]),
    ]


def test_the_file_is_the_same_however_the_cells_came_in(fake: Fake, tmp_path: Path) -> None:
    atlas = atlas_of(fake.run())
    backwards = atlas_of(fake.run(PINNED[::-1]))
    assert text_of(atlas) == text_of(backwards)
    (tmp_path / "a.json").write_text(text_of(atlas), encoding="utf-8")
    assert read(tmp_path / "a.json") == atlas


# --- releases on the shelf


def _fetched(version: str, backend: str) -> Path:
    home = releases.folder_of(version, backend)
    package = home / "node_modules" / "@tensorflow" / "tfjs"
    package.mkdir(parents=True)
    (package / "package.json").write_bytes(os.urandom(2**20))
    return home


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, into which each release is fetched with 1 MiB in it."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(shelf, "fetched", _fetched)
    monkeypatch.setattr(releases, "_is_in_checkout", lambda version, backend: False)
    return tmp_path / "cache" / "releases"


def _there(cache: Path) -> list[str]:
    return sorted(path.name for path in cache.iterdir() if path.is_dir())


def _releases(*versions: str) -> list[Target]:
    return [Target("tfjs", version, "cpu") for version in versions]


def test_over_the_budget_what_a_sweep_has_fetched_goes_the_oldest_first(cache: Path) -> None:
    kept = Shelf(bytes_of("2.5M"))
    for number, target in enumerate(_releases("1.0.0", "1.0.1", "1.0.2", "1.0.3")):
        kept.bring(target, [target])
        os.utime(cache / str(target.version) / MARK, (number, number))
    assert kept.discarded == ["1.0.0"]
    assert _there(cache) == ["1.0.1", "1.0.2", "1.0.3"]
    kept.bring(Target("tfjs", "1.0.4", "cpu"), [])
    assert kept.discarded == ["1.0.0", "1.0.1"]


def test_what_the_user_had_or_is_needed_or_used_stays_over_any_budget(cache: Path) -> None:
    users, needed, used, other, last = _releases("2.0.0", "2.0.1", "2.0.2", "2.0.3", "2.0.4")
    _fetched("2.0.0", "cpu")
    kept = Shelf(0)
    everything = [users, needed, used, other, last]
    for target in everything[:4]:
        kept.bring(target, everything)
    handle = in_use("2.0.2", "cpu")
    assert handle is not None
    kept.bring(last, [needed, last])
    assert kept.discarded == ["2.0.3"]
    handle.close()
    kept.bring(Target("tfjs", "2.0.5", "cpu"), [needed, last])
    assert kept.discarded == ["2.0.3", "2.0.2"]
    assert _there(cache) == ["2.0.0", "2.0.1", "2.0.4", "2.0.5"]


def test_what_an_earlier_run_fetched_may_go_too(cache: Path) -> None:
    Shelf(0).bring(Target("tfjs", "1.0.0", "cpu"), [])
    again = Shelf(0)
    again.bring(Target("tfjs", "1.0.1", "cpu"), [])
    assert again.discarded == ["1.0.0"]


@pytest.mark.parametrize(
    ("written", "wanted"), [("8G", 8 * 2**30), ("1.5 MiB", 3 * 2**19), ("500m", 500 * 2**20), ("0", 0), ("12", 12)]
)
def test_sizes_are_read(written: str, wanted: int) -> None:
    assert bytes_of(written) == wanted


# --- with processes


Run = Callable[..., subprocess.CompletedProcess[str]]
PROGRAM = "import sys; from tensorledger.cli import main; main()"


def _start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    targets = [part for target in PINNED for part in ("--target", str(target))]
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "atlas", *QUICK, *targets, *arguments],
        env={**os.environ, VARIABLE: str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        # Who started this may ignore Ctrl-C, as a shell has its background jobs do.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def _lines(folder: Path) -> list[dict[str, Any]]:
    return [
        json.loads(line)
        for file in (folder / "atlas").glob("*.jsonl")
        for line in file.read_bytes().splitlines(keepends=True)
        if line.endswith(b"\n")
    ]


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_is_killed_in_the_middle_goes_on_and_runs_nothing_twice(tmp_path: Path, how: signal.Signals) -> None:
    first = _start(tmp_path)
    try:
        deadline = time.monotonic() + 120
        while len(_lines(tmp_path)) < 3 and time.monotonic() < deadline:
            time.sleep(0.05)
        first.send_signal(how)
        said, _ = first.communicate(timeout=60)
    finally:
        first.kill()
    assert first.returncode == (130 if how == signal.SIGINT else -how), said
    kept = len(_lines(tmp_path))
    assert 3 <= kept < len(PINNED) * len(QUICK)
    second = _start(tmp_path, "--json", str(tmp_path / "a.json"), "--page", str(tmp_path / "a.md"))
    said, _ = second.communicate(timeout=300)
    assert second.returncode == 0, said
    assert f"{len(PINNED) * len(QUICK) - kept} cells were run" in said
    keys = [line["key"] for line in _lines(tmp_path)]
    assert len(keys) == len(set(keys)) == len(PINNED) * len(QUICK)
    atlas = read(tmp_path / "a.json")
    assert atlas.releases == [target.version for target in PINNED]
    assert (tmp_path / "a.md").read_text(encoding="utf-8") == page(atlas)


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """The address of a real scheduler on loopback that has two worker processes."""
    distributed = pytest.importorskip("distributed", reason="pip install 'tensorledger[dask]'")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None, memory_limit=0
    ) as found:
        yield str(found.scheduler_address)


def test_a_cluster_of_two_workers_measures_the_same(scheduler: str, tmp_path: Path) -> None:
    local = _start(tmp_path / "local", "--jobs", "2", "--json", str(tmp_path / "local.json"))
    said, _ = local.communicate(timeout=300)
    assert local.returncode == 0, said
    (tmp_path / "cluster").mkdir()
    on_cluster = _start(tmp_path / "cluster", "--scheduler", scheduler, "--json", str(tmp_path / "cluster.json"))
    said, _ = on_cluster.communicate(timeout=300)
    assert on_cluster.returncode == 0, said
    assert f"{len(PINNED) * len(QUICK)} cells were run" in said
    assert (tmp_path / "cluster.json").read_text() == (tmp_path / "local.json").read_text()


def test_a_scheduler_that_does_not_answer_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="pip install 'tensorledger[dask]'")
    monkeypatch.setattr(executors, "PATIENCE", 1)
    with pytest.raises(NoCluster, match=r"no scheduler answers at 127\.0\.0\.1:9"), cluster("127.0.0.1:9"):
        pass


def test_without_dask_a_scheduler_is_refused_with_the_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    done = CliRunner().invoke(main, ["atlas", QUICK[0], "--target", "tfjs", "--scheduler", "127.0.0.1:9"])
    assert done.exit_code == 2
    assert "pip install 'tensorledger[dask]'" in done.output


# --- bad input


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["function-scope"], "function-scope is written in Python"),
        (["mine.mjs"], "the atlas is of the project's scenarios"),
        (["--target", "keras"], "and not of keras"),
        (["--target", "tfjs@99.0.0"], "no release of this version was published"),
        (["--target", "tfjs", "--target", "tfjs@4.22.0/wasm"], "an atlas is of one backend"),
        (["--disk", "much"], "'much' is no size"),
        (["--jobs", "0"], "0 is not in the range"),
        (["--from", "nothing.json"], "nothing.json"),
        (["--from", "mine.mjs"], "mine.mjs: JSON is malformed"),
        (["--from", "other.json"], "its schema is 'other/1'"),
        (["--page", "no/such.md"], "the folder does not exist"),
    ],
)
def test_bad_input_is_refused(arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.mjs").write_text("export default () => {};", encoding="utf-8")
    other = {
        "schema": "other/1",
        "environment": {},
        "backend": "cpu",
        "releases": [],
        "unusable": [],
        "recipes": [],
        "scenarios": {},
    }
    Path("other.json").write_text(json.dumps(other), encoding="utf-8")
    done = CliRunner().invoke(main, ["atlas", *arguments])
    assert done.exit_code == 2, done.output
    assert said in " ".join(done.output.split())


@pytest.mark.parametrize("what", ["a broken line", "a file in its place"])
def test_a_store_that_cannot_be_used_is_said(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    if what == "a broken line":
        (tmp_path / "atlas").mkdir()
        (tmp_path / "atlas" / "4.22.0+cpu.jsonl").write_text("nonsense\n", encoding="utf-8")
    else:
        (tmp_path / "atlas").write_text("", encoding="utf-8")
    done = CliRunner().invoke(main, ["atlas", QUICK[0], "--target", "tfjs"])
    assert done.exit_code == 2, done.output
    assert ("4.22.0+cpu.jsonl, line 1" if what == "a broken line" else "cannot be used") in done.output


# --- the committed data


@pytest.fixture(scope="module")
def atlas() -> Atlas:
    return read(committed())


def test_the_committed_page_is_what_the_committed_data_make(atlas: Atlas) -> None:
    assert committed().with_suffix(".md").read_text(encoding="utf-8") == page(atlas)


def test_the_committed_file_is_as_it_is_written_and_small(atlas: Atlas) -> None:
    assert committed().read_text(encoding="utf-8") == text_of(atlas)
    assert committed().stat().st_size < 2**20


def test_the_committed_data_are_of_every_scenario_and_release(atlas: Atlas) -> None:
    target = Target("tfjs", "4.22.0", atlas.backend)
    assert list(atlas.scenarios) == [
        name for name, found in all_scenarios().items() if found.file(target) and not found.of_a_report
    ]
    known = releases.published(ask=False)
    assert sorted([*atlas.releases, *(found.release for found in atlas.unusable)]) == sorted(known)
    for ranges in atlas.scenarios.values():
        assert [release for found in ranges for release in atlas.within(found)] == atlas.releases


@pytest.mark.parametrize("target", PINNED, ids=str)
def test_the_committed_data_are_what_is_measured_anew(atlas: Atlas, target: Target) -> None:
    with counting() as workers:
        for name in ("create-dispose", "manual-walk", "predict-in-tidy", "leak-variable", "save-load"):
            measured = measure_with(workers, all_scenarios()[name], target, How())
            assert measured.shows is not None
            assert msgspec.structs.replace(measured.shows, recipe="") == atlas.shows(name, str(target.version)), name


def test_what_is_counted_at_one_point_only_is_refused() -> None:
    some, fewer = Walk((Point("end", 1, 4, 1, 4),)), Walk((Point("made", 1, 4, 1, 4), Point("end", 1, 4, None, None)))
    Shows(cycle=some, first=some)
    for first, last in ((None, fewer), (some, Walk(fewer.points[1:]))):
        with pytest.raises(ValueError, match="counted at all"):
            Shows(first=first, cycle=last)

"""Growth that no count sees: what is a slope, what raises a suspicion, what settles it, and how often in vain."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, islice, repeat
from pathlib import Path
from typing import Any

import msgspec
import pytest
from outcomes import Definitions, absolute, definitions_at, outcome, thrown

from tensorledger.cells.cell import Cell, Settings, run_cell
from tensorledger.expectations.expectation import END, Expectation
from tensorledger.protocol.messages import CheckpointReading, Cycle, Outcome, RunScenario
from tensorledger.results.result import Result
from tensorledger.scenarios.catalogue import Scenario
from tensorledger.targets.target import Target
from tensorledger.verdicts import growth
from tensorledger.verdicts.growth import (
    CLEAR,
    FALSE_ALARMS,
    LIBRARY_WARM_UP,
    LONG,
    LOOKS,
    PLAIN,
    WARM_UP,
    Settling,
    _adds_much,
    longest,
    suspicions,
    warm_up,
)
from tensorledger.verdicts.judge import Judgement, with_growth
from tensorledger.verdicts.levels import LEVELS, UNKNOWN, level, tensors_made
from tensorledger.verdicts.slope import BLOCKS, Slope, slope
from tensorledger.workers.worker import Watch

HEAP = level("heap", "js")
KIB = 1024


def cycles(
    values: Sequence[float | None], made: int = 0, key: str = "used", tensors: Sequence[int] = ()
) -> list[Cycle]:
    """Return cycles after each of which the heap is so large; the first value is the warm-up's."""
    found = []
    for number, value in enumerate(values):
        exact = {"tensors": tensors[number] if tensors else 4, "bytes": 4, "buffers": 1}
        before = absolute(exact)
        at = CheckpointReading(name="made", reading=absolute({**exact, "tensors": exact["tensors"] + made}))
        end = CheckpointReading(name=END, reading=absolute(exact, heap={key: value}))
        found.append(Cycle(baseline=before, checkpoints=[at, end], thrown=None, leaks=[]))
    return found


def ran(values: Sequence[float | None], made: int = 0) -> Outcome:
    return outcome(*cycles(values, made))


def growing(each: float, count: int, start: float = 5e6) -> list[float]:
    return [start + each * number for number in range(count + 1)]


def noisy(values: Sequence[float], spread: float, seed: int) -> list[float]:
    chance = random.Random(seed)
    return [value + chance.gauss(0, spread) for value in values]


def settled(values: Sequence[float | None], made: int = 0) -> tuple[Settling, int]:
    """Return what settling comes to, and after how many cycles it is over."""
    settling = Settling([HEAP], seconds=1000)
    whole = cycles(values, made)
    for count in range(1, len(whole) + 1):
        if settling.enough(whole[:count]):
            return settling, count - 1
    raise AssertionError("it wants more cycles than it says it takes")


# --- the slope


def test_the_slope_of_a_line_is_exact() -> None:
    found = slope(growing(700, 99))
    assert found.rate == pytest.approx(700) and found.error == pytest.approx(0, abs=1e-6)
    assert found.early == found.late == pytest.approx(700) and found.steady
    assert found.exceeds(699) == 0 and found.exceeds(701) == 1


def test_the_chance_is_students() -> None:
    # Against tables: with 8 degrees of freedom, t = 1.860 leaves 0.05 above it, and t = 4.501 leaves 0.001.
    found = slope(noisy(growing(1000, 39), 300, 1))
    for t, chance in ((1.860, 0.05), (3.355, 0.005), (4.501, 0.001), (0, 0.5), (-1.860, 0.95)):
        assert found.exceeds(found.rate - t * found.error) == pytest.approx(chance, rel=2e-3)
        assert found.stays_below(found.rate + t * found.error) == pytest.approx(chance, rel=2e-3)


def test_readings_that_are_too_high_do_not_count() -> None:
    values = growing(1000, 39)
    spiked = [value + (150_000 if number % 4 in (1, 2) else 0) for number, value in enumerate(values)]
    assert slope(spiked) == slope(values)


def test_the_first_readings_are_left_out_where_they_fill_no_block() -> None:
    assert slope([9e9, 8e9, *growing(10, 19)]) == slope(growing(10, 19))
    with pytest.raises(ValueError, match="fewer than 10"):
        slope([1.0] * (BLOCKS - 1))


def test_one_step_is_no_sure_slope_however_high() -> None:
    for place in range(1, 40):
        values = [0.0] * place + [1e9] * (40 - place)
        assert slope(values).exceeds(512) > 0.05


def test_a_line_just_as_steep_as_the_tolerance_does_not_exceed_it() -> None:
    found = slope(growing(512, 99, start=0))
    assert found.error == 0
    assert found.exceeds(512) == found.stays_below(512) == 1
    assert found.exceeds(511) == found.stays_below(513) == 0


@pytest.mark.parametrize(
    ("early", "late", "steady"),
    [(3, 2, True), (3, 1.999, False), (0, 1, True), (0, 0, False), (-3, -1, False), (3, 4, True)],
)
def test_it_is_steady_where_it_grows_and_slows_down_by_no_more_than_a_third(
    early: float, late: float, steady: bool
) -> None:
    assert Slope(rate=1, error=0, middle=1, early=early, late=late).steady == steady


# --- the suspicion


@pytest.mark.parametrize("count", [3, 10, LONG - 1])
def test_a_short_look_suspects_what_every_cycle_adds_much_to(count: int) -> None:
    assert HEAP.coarse is not None
    assert suspicions(ran(growing(HEAP.coarse, count)), "js") == [HEAP]
    assert suspicions(ran(growing(HEAP.coarse - 1, count)), "js") == []


def test_a_short_look_suspects_no_resident_size() -> None:
    def resident(count: int, made: int = 0) -> Outcome:
        sizes = growing(2e6, count)
        found = cycles(growing(0, count), made)
        for cycle, size in zip(found, sizes, strict=True):
            cycle.checkpoints[-1].reading.process["resident"] = size
        return outcome(*found)

    assert suspicions(resident(10), "js") == []
    assert [found.name for found in suspicions(resident(60), "js")] == ["process"]
    # As soon as a first look goes by the tolerance, whether the library is warming up or not.
    for made in (0, 4):
        assert [found.name for found in suspicions(resident(LONG + 1, made), "js")] == ["process"]


def test_a_short_look_does_not_suspect_a_step() -> None:
    assert suspicions(ran([0.0, *[1e9] * 10]), "js") == []
    assert suspicions(ran([0.0, 1e9, 1e9, 2e9, 2e9]), "js") == []


def test_a_long_look_suspects_a_kibibyte_where_nothing_is_made() -> None:
    assert suspicions(ran(growing(KIB, LONG)), "js") == [HEAP]
    assert suspicions(ran(noisy(growing(KIB, 50), 1000, 1)), "js") == [HEAP]
    assert suspicions(ran(noisy(growing(0, 50), 1000, 1)), "js") == []


def test_what_the_library_keeps_of_each_tensor_is_no_leak() -> None:
    assert suspicions(ran(growing(KIB, 50), made=4), "js") == []
    assert suspicions(ran(growing(HEAP.tolerance(4), longest(4)), made=4), "js") == []
    assert suspicions(ran(growing(HEAP.tolerance(4) + 1, longest(4)), made=4), "js") == [HEAP]


def test_a_library_may_warm_up_for_longer_than_a_first_look() -> None:
    most = HEAP.tolerance(4) + 4 * KIB
    assert suspicions(ran(growing(most, 60), made=4), "js") == []
    assert suspicions(ran(growing(most + 1, 60), made=4), "js") == [HEAP]


def test_once_the_library_has_warmed_up_a_first_look_allows_no_more_than_the_tolerance() -> None:
    # The warm-up's value, those of the cycles that are not looked at, and then one for each of 40 cycles.
    more = HEAP.tolerance(4) + KIB
    assert suspicions(ran(growing(more, LIBRARY_WARM_UP + LOOKS[0]), made=4), "js") == [HEAP]
    assert suspicions(ran(growing(more, LIBRARY_WARM_UP + LOOKS[0] - 1), made=4), "js") == []


def test_too_few_cycles_say_nothing() -> None:
    for count in range(3):
        assert suspicions(ran(growing(1e6, count)), "js") == []
    assert suspicions(ran(growing(1e6, 3)), "js") == [HEAP]


@pytest.mark.parametrize("quantity", ["tensors", "bytes", "buffers"])
def test_where_an_exact_count_grows_nothing_else_is_said(quantity: str) -> None:
    found = cycles(growing(1e6, 5))
    end = found[-1].checkpoints[-1]
    more = absolute({"tensors": 4, "bytes": 4, "buffers": 1, quantity: 99}, heap={"used": 6e6})
    found[-1] = Cycle(
        baseline=found[-1].baseline,
        checkpoints=[found[-1].checkpoints[0], CheckpointReading(name=end.name, reading=more)],
        thrown=None,
        leaks=[],
    )
    assert suspicions(outcome(*found), "js") == []


def test_what_is_not_read_in_every_cycle_is_not_judged() -> None:
    values: list[float | None] = [*growing(1e6, 50)]
    values[20] = None
    assert suspicions(ran(values), "js") == []
    settling, _ = settled([*values[:20], *[None] * 300])
    assert settling.grown == [] and settling.retained(cycles(values), ()) == {}


def test_tensors_are_counted_at_the_checkpoints_and_taken_for_many_where_there_is_none() -> None:
    assert tensors_made(cycles([1, 2], made=7)) == 7
    without = [Cycle(baseline=c.baseline, checkpoints=c.checkpoints[-1:], thrown=None, leaks=[]) for c in cycles([1])]
    assert tensors_made(without) == UNKNOWN
    (whole,), none = cycles([1], made=7), absolute({})
    at, end = whole.checkpoints
    for unread in (
        msgspec.structs.replace(whole, baseline=none),
        msgspec.structs.replace(whole, checkpoints=[msgspec.structs.replace(at, reading=none), end]),
    ):
        assert tensors_made([unread]) == UNKNOWN
        assert tensors_made([unread, *cycles([1], made=5)]) == 5


# --- settling it


def test_a_constant_leak_is_found_at_the_first_look_and_how_sure_is_said() -> None:
    settling, after = settled(noisy(growing(KIB, 200), 300, 2))
    assert after == WARM_UP + LOOKS[0] <= 50
    (grown,) = settling.found().values()
    assert 0.99 < grown.confidence < 1
    assert "heap grows by 1,0" in grown.said and "bytes per cycle" in grown.said and "cache" not in grown.said
    assert settling.retained([], settling.found()) == {}


def test_a_plain_leak_is_found_in_a_few_cycles() -> None:
    settling, after = settled(growing(1024 * KIB, 300))
    assert [*settling.found()] == ["heap"] and after == WARM_UP + PLAIN
    # So few cycles cannot tell it from a large cache, which is said, and how to.
    assert "; a cache of more than 22 would too: --cycles 200 tells" in settling.found()["heap"].said
    # As much at first, and less and less: it is not taken for one, however plain.
    warming = list(accumulate((2e6 * 0.9**number for number in range(longest(0))), initial=5e6))
    assert settled(warming)[0].found() == {}
    # In all cycles but one.
    stalled = growing(1024 * KIB, 300)
    stalled[WARM_UP + 7] = stalled[WARM_UP + 6]
    assert settled(stalled)[1] > WARM_UP + PLAIN


def test_a_leak_in_a_model_scenario_is_found_when_the_library_has_warmed_up() -> None:
    # 14 KiB in the first cycle, and less and less: as TensorFlow.js does where nothing leaks.
    warming = list(accumulate((14_000 * 0.97**number for number in range(longest(4))), initial=5e6))
    settling, _ = settled(noisy(warming, 1000, 3), made=4)
    assert settling.found() == {}
    leaking = [value + 16 * KIB * number for number, value in enumerate(warming)]
    settling, after = settled(noisy(leaking, 1000, 3), made=4)
    assert [*settling.found()] == ["heap"] and after == LIBRARY_WARM_UP + LOOKS[0] <= 200


def test_a_cache_of_a_hundred_that_fills_up_is_retention_and_is_called_so() -> None:
    values = [5e6 + 11_600 * min(number, 100) for number in range(longest(4) + 1)]
    settling, _ = settled(noisy(values, 500, 4), made=4)
    assert settling.found() == {}
    (said,) = settling.retained(cycles(values), ()).values()
    assert "retention, no leak" in said and HEAP.retains in said


def test_warming_up_that_slows_down_is_no_leak_though_it_never_ends() -> None:
    shapes: list[Callable[[int], float]] = [lambda n: 200_000 * (1 + n) ** 0.3, lambda n: 5e6 * (1 - 0.97**n)]
    for shape in shapes:
        settling, _ = settled(noisy([shape(number) for number in range(longest(0) + 1)], 100, 5))
        assert settling.found() == {}


def test_a_pool_that_doubles_is_no_leak() -> None:
    values = [float(2 ** max(20, (number * 65_536).bit_length())) for number in range(longest(0) + 1)]
    settling, _ = settled(values)
    assert settling.found() == {}


@pytest.mark.parametrize("place", [1, 12, 30, 49, 80])
def test_one_step_is_no_leak(place: int) -> None:
    settling, _ = settled(noisy([0.0] * place + [1e8] * (longest(0) + 1 - place), 500, 6))
    assert settling.found() == {}


def test_what_clearly_does_not_grow_is_over_at_the_first_look() -> None:
    settling, after = settled(noisy(growing(0, 200), 500, 7))
    assert settling.found() == {} and after == WARM_UP + LOOKS[0]


def test_settling_is_bounded_in_cycles_and_in_time() -> None:
    # A walk that goes nowhere for sure: 600 more and 400 less by turns, around the tolerance of 512.
    chance = random.Random(8)
    walk = list(accumulate((chance.gauss(HEAP.base, 4000) for _ in range(400)), initial=5e6))
    _, after = settled(walk)
    assert after <= longest(0)
    hurried = Settling([HEAP], seconds=-1)
    assert hurried.enough(cycles(growing(1e6, 1)))
    (said,) = hurried.retained(cycles(growing(1e6, 20)), ()).values()
    assert "not settled in the time there was" in said


def test_it_is_over_when_its_time_is_and_not_before(monkeypatch: pytest.MonkeyPatch) -> None:
    settling = Settling([HEAP], seconds=10, _started=100)
    for now, enough in ((101, False), (110, False), (110.5, True)):
        monkeypatch.setattr(time, "monotonic", lambda now=now: now)
        assert settling.enough(cycles(growing(0, 5))) == enough


def test_it_is_over_after_its_most_cycles_though_it_was_not_asked_at_each() -> None:
    for more in (0, 1, 20):
        assert Settling([HEAP], seconds=1000).enough(cycles(growing(0, longest(0) + more)))
    assert not Settling([HEAP], seconds=1000).enough(cycles(growing(0, longest(0) - 1)))


@pytest.mark.parametrize(
    ("chance", "below", "grows", "over"),
    [
        (FALSE_ALARMS / 3, 1, True, True),
        (FALSE_ALARMS / 3 + 1e-9, 1, False, False),
        (1, CLEAR, False, True),
        (1, CLEAR + 1e-9, False, False),
    ],
    ids=["just sure enough", "not quite", "just clear enough", "not quite clear"],
)
def test_a_look_is_sure_at_the_stated_chance_and_not_beyond(
    monkeypatch: pytest.MonkeyPatch, chance: float, below: float, grows: bool, over: bool
) -> None:
    class Looked(Slope):
        def exceeds(self, tolerance: float) -> float:
            return chance

        def stays_below(self, tolerance: float) -> float:
            return below

    monkeypatch.setattr(growth, "slope", lambda values: Looked(rate=1, error=1, middle=1, early=1, late=1))
    settling = Settling([HEAP], seconds=1000)
    assert settling.enough(cycles(growing(1, WARM_UP + LOOKS[0]))) == over
    assert bool(settling.found()) == grows


def test_what_stayed_open_is_said_to_have_lacked_steadiness_only_after_the_most_cycles() -> None:
    for count, said in (
        (longest(0) - 1, "was not settled in the time"),
        (longest(0), "did not go on growing steadily"),
    ):
        (found,) = Settling([HEAP], seconds=1000).retained(cycles(growing(1, count)), ()).values()
        assert said in found


def test_what_explains_the_others_is_what_is_named() -> None:
    objects, native, *_ = LEVELS["py"]
    settling = Settling([objects, native], seconds=1000)
    values = growing(1e6, longest(0))
    for count in range(1, len(values) + 1):
        found = [
            Cycle(
                baseline=absolute({"tensors": 0}),
                checkpoints=[
                    CheckpointReading(name="made", reading=absolute({"tensors": 0})),
                    CheckpointReading(name=END, reading=absolute({}, heap={"objects": v}, process={"in_use": v})),
                ],
                thrown=None,
                leaks=[],
            )
            for v in values[:count]
        ]
        if settling.enough(found):
            break
    assert len(settling.grown) == 2 and [*settling.found()] == ["heap"]


# --- how often in vain

Noise = Callable[[random.Random], Iterator[float]]


def _normal(chance: random.Random) -> Iterator[float]:
    """A walk: each cycle adds the tolerance on average, which is the most that is no leak."""
    yield from accumulate(chance.gauss(HEAP.base, 2000) for _ in repeat(None))


def _lumps(chance: random.Random) -> Iterator[float]:
    """One cycle in five adds five times the tolerance, more or less; the others nothing."""
    yield from accumulate(chance.expovariate(1 / (5 * HEAP.base)) if chance.random() < 0.2 else 0 for _ in repeat(None))


def _off(chance: random.Random) -> Iterator[float]:
    """Readings that are off, each by itself, around a line as steep as the tolerance."""
    number = 0
    while True:
        number += 1
        yield HEAP.base * number + chance.gauss(0, 5000)


def _falling(chance: random.Random) -> Iterator[float]:
    """It grows by more than the tolerance and falls back every few cycles, as what is freed now and then."""
    size = 0.0
    while True:
        size = 0.0 if chance.random() < 0.25 else size + 4 * HEAP.base
        yield size


@pytest.mark.parametrize("noise", [_normal, _lumps, _off, _falling])
def test_the_false_alarm_rate_is_below_its_bound(noise: Noise) -> None:
    runs = 1500
    chance = random.Random(f"{noise.__name__}")
    alarms = 0
    for _ in range(runs):
        values = list(islice(noise(chance), LOOKS[-1]))
        found = [slope(values[:look]) for look in LOOKS]
        alarms += any(one.steady and one.exceeds(HEAP.base) <= FALSE_ALARMS / len(LOOKS) for one in found) or (
            # The look after PLAIN cycles is beside these three: it is taken where each of them added much.
            _adds_much(values[:PLAIN], HEAP)
        )
    # No more than three standard deviations above what the bound allows.
    allowed = runs * FALSE_ALARMS
    assert alarms <= allowed + 3 * (allowed * (1 - FALSE_ALARMS)) ** 0.5


def test_the_simulation_itself_can_tell_a_rule_that_is_too_easy() -> None:
    chance = random.Random(9)
    alarms = sum(slope(list(islice(_normal(chance), LOOKS[0]))).exceeds(HEAP.base) <= 0.05 for _ in range(1500))
    assert alarms > 1500 * FALSE_ALARMS + 3 * (1500 * FALSE_ALARMS) ** 0.5


# --- in a cell


class Played:
    """Workers that play back the heap after each cycle, until who watches has seen enough."""

    def __init__(self, *heaps: Sequence[float]) -> None:
        self.heaps = list(heaps)
        self.fresh: list[bool] = []
        self.versions: dict[Target, dict[str, str]] = {}

    def run(
        self, target: Target, scenario: RunScenario, watch: Watch, limit: float, *, fresh: bool = False, **how: Any
    ) -> tuple[Outcome, str]:
        self.fresh.append(fresh)
        whole = cycles(self.heaps.pop(0)[: scenario.cycles + 1])
        for count in range(1, len(whole) + 1):
            if watch.enough(whole[:count]):
                whole = whole[:count]
                break
        return outcome(*whole), ""


def cell(workers: Played, tmp_path: Path, count: int) -> Result:
    file = tmp_path / "mine.mjs"
    file.write_text("export default () => {};", encoding="utf-8")
    target = Target("tfjs", "4.22.0", "cpu")
    settings = Settings(cycles=count)
    return run_cell(Cell(Scenario("mine", {"js": file}), target), workers, settings).result  # type: ignore[arg-type]


def test_a_cell_that_does_not_look_like_growing_costs_no_second_worker(tmp_path: Path) -> None:
    workers = Played(noisy(growing(0, 50), 500, 10))
    assert cell(workers, tmp_path, 50).verdict == "pass"
    assert workers.fresh == [False]


def test_a_suspicion_is_settled_in_a_fresh_worker_and_the_result_says_how_sure_it_is(tmp_path: Path) -> None:
    workers = Played(growing(KIB, 50), noisy(growing(KIB, 200), 200, 11))
    result = cell(workers, tmp_path, 50)
    assert workers.fresh == [False, True]
    assert (result.verdict, [*result.confidence], result.retained, result.cycles) == ("fail", ["heap"], {}, 50)
    assert 0.99 < result.confidence["heap"] <= 0.999999


def test_a_throw_in_the_fresh_worker_is_an_error(tmp_path: Path) -> None:
    class Throwing(Played):
        def run(self, *args: Any, fresh: bool = False, **kwargs: Any) -> tuple[Outcome, str]:
            found, log = super().run(*args, fresh=fresh, **kwargs)
            if fresh:
                found.cycles[9:] = [msgspec.structs.replace(found.cycles[9], thrown=thrown("the tenth call", "made"))]
            return found, log

    result = cell(Throwing(growing(KIB, 50), growing(KIB, 200)), tmp_path, 50)
    assert result.verdict == "error" and result.error is not None and result.error.checkpoint == "made"
    assert "a fresh worker, in which growth was to be settled, threw in cycle 9: Error: the tenth call" in result.reason


def test_a_cell_that_deviates_is_looked_at_for_growth_too(tmp_path: Path) -> None:
    file = tmp_path / "walk.mjs"
    file.touch()
    target = Target("tfjs", "4.22.0", "cpu")
    with definitions_at(tmp_path):
        definitions = Definitions(tmp_path)
        definitions.deviations(
            '[[deviation]]\nid = "more"\ntargets = ["tfjs"]\nwhy = "It is so."\ncheckpoints.made = { tensors = 0 }\n',
            definitions.expectation("checkpoints.made = { tensors = 1 }\n"),
        )
        cell = Cell(Scenario("walk", {"js": file}), target)
        steady = run_cell(cell, Played(noisy(growing(0, 50), 500, 13)), Settings(cycles=50)).result  # type: ignore[arg-type]
        leaking = Played(growing(KIB, 50), noisy(growing(KIB, 200), 200, 14))
        grown = run_cell(cell, leaking, Settings(cycles=50)).result  # type: ignore[arg-type]
    assert (steady.verdict, steady.deviation) == ("deviates", "more")
    assert (grown.verdict, [*grown.confidence]) == ("fail", ["heap"]) and "heap grows" in grown.reason


def test_growth_in_a_cell_that_deviates_is_said_before_the_deviation() -> None:
    deviates = Judgement("deviates", "as documented")
    judged = with_growth(deviates, {"heap": "heap grows"}, {})
    assert judged.verdict == "fail" and "heap grows" in judged.reason


def test_a_suspicion_that_a_fresh_worker_does_not_confirm_is_a_pass(tmp_path: Path) -> None:
    workers = Played(growing(KIB, 50), noisy([5e6 + KIB * min(n, 5) for n in range(200)], 200, 12))
    result = cell(workers, tmp_path, 50)
    assert (result.verdict, result.confidence, [*result.retained]) == ("pass", {}, ["heap"])
    assert result.reason == result.retained["heap"] and "retention, no leak" in result.reason


# --- what is said


def test_growth_fails_and_retention_passes_with_what_it_is() -> None:
    passed = Judgement("pass", "", expectation=Expectation())
    failed = with_growth(passed, {"heap": "heap grows"}, {})
    assert (failed.verdict, failed.reason) == ("fail", "the default expectation: heap grows, in a fresh worker")
    kept = with_growth(passed, {}, {"heap": "heap stopped growing"})
    assert (kept.verdict, kept.reason, kept.problems) == ("pass", "heap stopped growing", ())


@pytest.mark.parametrize(
    ("value", "said"),
    [(0.123, "0.12"), (9.96, "10"), (10, "10"), (-99.4, "-99"), (99.5, "100"), (-100, "-100"), (12345.6, "12,346")],
)
def test_numbers_are_said_by_two_digits_and_without_powers_of_ten(value: float, said: str) -> None:
    assert growth._rounded(value) == said


def test_the_warm_up_is_longer_where_a_library_is_at_work() -> None:
    assert warm_up(0) == WARM_UP < warm_up(1) == LIBRARY_WARM_UP
    assert longest(0) == WARM_UP + LOOKS[-1]

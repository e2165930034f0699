"""Judging: every number that is stated is compared, at every checkpoint of every cycle, and nothing unread passes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from outcomes import BEFORE, Definitions, absolute, as_expected, cycle, definitions_at, outcome, reading, thrown

from tensorledger.expectations.amount import Counts
from tensorledger.expectations.description import QUANTITIES
from tensorledger.expectations.deviation import Deviation, Deviations
from tensorledger.expectations.expectation import END, Caught, Expectation, LevelName, Throws
from tensorledger.protocol.messages import Agreement, CheckpointReading, Cycle, Outcome, Reading
from tensorledger.targets.target import Target
from tensorledger.verdicts.judge import Judgement, judge, not_caught, with_growth
from tensorledger.verdicts.verdict import Verdict

TFJS = Target("tfjs", "4.22.0", "cpu")
KERAS = Target("keras")
NONE = Deviations()

AT = {
    "created": {"tensors": 4, "bytes": 160, "buffers": 4, "buffer_bytes": 160},
    "released": {"tensors": 1, "bytes": 8, "buffers": 1, "buffer_bytes": 8},
    "end": {"tensors": 0, "bytes": 0, "buffers": 0, "buffer_bytes": 0},
}
WALK = Expectation(
    checkpoints={name: Counts(**numbers) for name, numbers in AT.items()},
    growth=Counts(tensors=0, bytes=0, buffers=0, buffer_bytes=0),
    path=Path("walk.toml"),
)


@pytest.fixture(autouse=True)
def definitions(tmp_path: Path) -> Iterator[Definitions]:
    with definitions_at(tmp_path):
        yield Definitions(tmp_path)


def good() -> Cycle:
    return cycle(**AT)


def off(checkpoint: str, quantity: str, by: int | None) -> Cycle:
    """Return a cycle of which one number is off; None: it is not read."""
    wrong: dict[str, int | None] = {**AT[checkpoint]}
    wrong[quantity] = None if by is None else AT[checkpoint][quantity] + by
    found: dict[str, Mapping[str, int | None]] = {**AT, checkpoint: wrong}
    return cycle(**found)


def judged(*cycles: Cycle, by: Expectation = WALK, deviations: Deviations = NONE, on: Target = TFJS) -> Judgement:
    return judge(outcome(*cycles), by, deviations, on)


def reaching(total: int, quantity: str, found: Cycle) -> Cycle:
    """Return a cycle that starts, and ends, with so much more than what lived before the run."""

    def more(reading: CheckpointReading) -> CheckpointReading:
        return CheckpointReading(name=reading.name, reading=_more(reading.reading, quantity, total))

    return Cycle(
        baseline=_more(found.baseline, quantity, total),
        checkpoints=list(map(more, found.checkpoints)),
        thrown=found.thrown,
        leaks=[],
    )


def _more(reading: Reading, quantity: str, total: int) -> Reading:
    return absolute({name: getattr(reading, name) + (total if name == quantity else 0) for name in QUANTITIES})


# --- numbers


def test_what_does_as_expected_passes() -> None:
    judgement = judged(good(), good(), good())
    assert (judgement.verdict, judgement.reason, judgement.problems) == ("pass", "", ())
    assert judgement.expectation == WALK and judgement.deviation is None


def test_numbers_are_relative_to_the_cycles_own_baseline() -> None:
    raised = reaching(30, "tensors", good())
    assert judged(raised, raised, raised).verdict == "pass"


@pytest.mark.parametrize("by", [1, -1])
@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("quantity", QUANTITIES)
@pytest.mark.parametrize("checkpoint", AT)
def test_one_number_off_by_one_in_one_cycle_fails(checkpoint: str, quantity: str, number: int, by: int) -> None:
    cycles = [good() for _ in range(4)]
    cycles[number] = off(checkpoint, quantity, by)
    judgement = judged(*cycles)
    expected = AT[checkpoint][quantity]
    assert judgement.verdict == "fail"
    said = f"walk.toml: {checkpoint} {quantity}: expected {expected}, measured {expected + by}"
    assert judgement.reason == judgement.problems[0] == (said if number == 1 else f"{said} (cycle {number})")


def test_every_number_that_is_off_is_told() -> None:
    wrong = cycle(created={"tensors": 5}, released=AT["released"], end={"bytes": 1})
    problems = judged(good(), wrong).problems
    places = [problem.split(": ")[1] for problem in problems]
    assert places == [f"created {name}" for name in QUANTITIES] + ["end bytes", "growth per cycle, bytes"]


def test_a_quantity_that_is_not_stated_is_not_judged() -> None:
    loose = replace(WALK, checkpoints={**WALK.checkpoints, "created": Counts(tensors=4)})
    assert judged(good(), off("created", "bytes", 1), by=loose).verdict == "pass"


def test_a_sum_of_parts_is_worked_out_for_the_target(definitions: Definitions) -> None:
    expectation = definitions.expectation('[checkpoints]\ncreated = { tensors = "weights + seeds" }')
    made = cycle(created={"tensors": 4})
    assert judge(outcome(made, made), expectation, NONE, TFJS).verdict == "pass"
    judgement = judge(outcome(made, made), expectation, NONE, KERAS)
    parts = "10 = weights 4 + seeds 6 (harness/models/classifier.toml)"
    assert judgement.reason == f"harness/expectations/walk.toml: created tensors: expected {parts}, measured 4"


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_growth_fails_though_every_cycle_is_back_at_its_own_baseline(quantity: str) -> None:
    # Between the cycles, where no checkpoint of either sees it.
    cycles = [good(), *(reaching(2 * number, quantity, good()) for number in (1, 2, 3))]
    judgement = judged(*cycles)
    assert judgement.verdict == "fail"
    assert judgement.problems == (f"walk.toml: growth per cycle, {quantity}: expected 0, measured 2",)


def test_growth_is_measured_from_the_end_of_the_warm_up() -> None:
    cached = {**AT, "end": {"tensors": 9}}
    rest = [reaching(9, "tensors", good()) for _ in range(3)]
    assert judged(cycle(**cached), *rest).verdict == "pass"


def test_growth_of_less_than_one_per_cycle_fails() -> None:
    last = reaching(1, "tensors", good())
    judgement = judged(good(), good(), good(), good(), last)
    assert judgement.problems == ("walk.toml: growth per cycle, tensors: expected 0, measured 0.25 (1 in 4 cycles)",)


def test_one_tensor_in_a_thousand_cycles_fails() -> None:
    # Whether its own cycle is looked at or not: here it is left between two cycles.
    last = reaching(1, "tensors", good())
    judgement = judged(*[good()] * 1000, last)
    assert judgement.problems == (
        "walk.toml: growth per cycle, tensors: expected 0, measured 0.001 (1 in 1000 cycles)",
    )
    assert judged(*[good()] * 1001).verdict == "pass"


def test_growth_that_is_expected_passes_only_where_it_is_exact() -> None:
    growing = replace(WALK, growth=Counts(tensors=2))
    assert judged(good(), *(reaching(2 * n, "tensors", good()) for n in (1, 2)), by=growing).verdict == "pass"
    assert judged(good(), *(reaching(3 * n, "tensors", good()) for n in (1, 2)), by=growing).verdict == "fail"
    assert judged(good(), good(), good(), by=growing).verdict == "fail"


# --- the warm-up


def test_the_warm_up_is_not_judged_where_first_is_not_stated() -> None:
    assert judged(off("created", "tensors", 5), good(), good()).verdict == "pass"


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_the_warm_up_is_judged_where_first_is_stated(quantity: str) -> None:
    warm = replace(WALK, first={"created": Counts(**{quantity: 7})})
    extra = 7 - AT["created"][quantity]
    assert judged(off("created", quantity, extra), good(), by=warm).verdict == "pass"
    judgement = judged(off("created", quantity, extra + 1), good(), by=warm)
    assert judgement.verdict == "fail"
    assert judgement.reason == f"walk.toml: the warm-up's created {quantity}: expected 7, measured 8"


def test_a_checkpoint_that_the_warm_up_never_reaches_fails_where_first_states_it() -> None:
    warm = replace(WALK, first={"craeted": Counts(tensors=4)})
    judgement = judged(good(), good(), by=warm)
    assert judgement.reason == 'walk.toml: the warm-up\'s checkpoint "craeted" was never reached'


# --- checkpoints


@pytest.mark.parametrize("number", [1, 2])
def test_a_checkpoint_that_is_never_reached_fails(number: int) -> None:
    cycles = [good(), good(), good()]
    cycles[number] = cycle(created=AT["created"])
    judgement = judged(*cycles)
    assert judgement.verdict == "fail"
    assert 'walk.toml: checkpoint "released" was never reached' in judgement.reason


@pytest.mark.parametrize("number", [1, 2])
def test_a_checkpoint_that_the_file_does_not_have_fails(number: int) -> None:
    cycles = [good(), good(), good()]
    cycles[number] = cycle(**AT, extra={})
    judgement = judged(*cycles)
    assert judgement.verdict == "fail"
    assert 'walk.toml: the scenario yields "extra", which is not in [checkpoints]' in judgement.reason


def test_the_default_expectation_judges_the_end_whatever_checkpoints_there_are() -> None:
    mine = cycle(anything={"tensors": 3})
    assert judged(mine, mine, by=Expectation()).verdict == "pass"
    judgement = judged(mine, cycle(end={"tensors": 1}), by=Expectation())
    assert judgement.reason == "the default expectation: end tensors: expected 0, measured 1"


# --- what is not read


@pytest.mark.parametrize("checkpoint", AT)
@pytest.mark.parametrize("quantity", QUANTITIES)
def test_what_is_not_read_skips_and_is_never_taken_for_zero(quantity: str, checkpoint: str) -> None:
    blind = off(checkpoint, quantity, None)
    judgement = judged(good(), blind, good())
    assert judgement.verdict == "skip"
    assert judgement.reason == f"not read here: {checkpoint} {quantity}"


def test_growth_of_what_is_not_read_skips() -> None:
    growth_only = replace(WALK, checkpoints={name: Counts() for name in AT})
    blind = off("end", "tensors", None)
    judgement = judged(blind, blind, by=growth_only)
    assert (judgement.verdict, judgement.reason) == ("skip", "not read here: growth per cycle, tensors")


def test_a_baseline_that_is_not_read_skips() -> None:
    blind = Cycle(baseline=absolute({}), checkpoints=good().checkpoints, thrown=None, leaks=[])
    judgement = judged(good(), blind)
    assert judgement.verdict == "skip" and "created tensors" in judgement.reason


def test_what_is_read_and_wrong_fails_though_something_else_is_not_read() -> None:
    created = {**AT["created"], "bytes": None, "tensors": 5}
    wrong = cycle(created=created, released=AT["released"], end=AT["end"])
    assert judged(good(), wrong).verdict == "fail"


# --- throws

THROWING = replace(WALK, throws=Throws(matches="already disposed", after="released"))


def throwing(message: str = "it is already disposed", after: str | None = "released") -> Cycle:
    return cycle(thrown(message, after), **AT)


def test_an_expected_throw_passes() -> None:
    assert judged(throwing(), throwing(), throwing(), by=THROWING).verdict == "pass"


def test_an_expected_throw_need_not_come_in_the_warm_up() -> None:
    assert judged(good(), throwing(), throwing(), by=THROWING).verdict == "pass"
    assert judged(throwing(after="created"), throwing(), by=THROWING).verdict == "pass"


def test_a_throw_before_the_first_checkpoint_can_be_expected() -> None:
    expectation = Expectation(throws=Throws(matches="no"))
    early = cycle(thrown("no", None))
    assert judged(early, early, by=expectation).verdict == "pass"
    late = cycle(thrown("no", "created"), created={})
    judgement = judged(late, late, by=expectation)
    assert 'expected a throw before the first checkpoint, it came after "created": no' in judgement.reason


def test_an_expected_throw_that_does_not_come_fails() -> None:
    # Not in the warm-up, which is not judged: 0.15 throws from its second cycle on.
    for cycles in ([good(), good()], [throwing(), throwing(), good()], [throwing(), good()]):
        judgement = judged(*cycles, by=THROWING)
        assert judgement.verdict == "fail"
        assert 'walk.toml: expected a throw after "released", nothing was thrown' in judgement.reason


def test_a_throw_at_another_point_fails() -> None:
    judgement = judged(throwing(), throwing(after="created"), by=THROWING)
    assert judgement.verdict == "fail"
    assert 'expected a throw after "released", it came after "created"' in judgement.reason


def test_a_throw_with_another_message_fails() -> None:
    judgement = judged(throwing(), throwing("out of memory"), by=THROWING)
    assert judgement.verdict == "fail"
    assert "expected a throw matching 'already disposed', its message is: out of memory" in judgement.reason


def test_an_expected_throw_does_not_excuse_a_wrong_number() -> None:
    wrong = cycle(thrown("already disposed", "released"), **{**AT, "end": {"tensors": 1}})
    assert judged(throwing(), wrong, by=THROWING).verdict == "fail"


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_throw_that_nobody_expects_is_an_error(number: int) -> None:
    broken = cycle(thrown("boom", "created", "RangeError"), created=AT["created"])
    judgement = judged(*[good()] * number, broken)
    assert (judgement.verdict, judgement.reason) == ("error", "RangeError: boom")


# --- deviations

KEEPS = Deviation(
    id="keeps-two",
    targets=["tfjs"],
    why="The engine keeps two.",
    checkpoints={"end": Counts(tensors=2)},
    growth=Counts(tensors=2),
)
DEVIATES = Deviations((KEEPS,), Path("deviations.toml"))


def keeping(count: int, cycles: int = 3) -> list[Cycle]:
    left = {**AT, "end": {**AT["end"], "tensors": count}}
    return [reaching(count * number, "tensors", cycle(**left)) for number in range(cycles + 1)]


def test_a_target_that_deviates_exactly_as_documented_deviates() -> None:
    judgement = judged(*keeping(2), deviations=DEVIATES)
    assert (judgement.verdict, judgement.reason, judgement.deviation) == ("deviates", "The engine keeps two.", KEEPS)
    assert judgement.expectation.checkpoints["end"] == Counts(tensors=2, bytes=0, buffers=0, buffer_bytes=0)


def test_a_target_that_no_longer_deviates_fails() -> None:
    judgement = judged(good(), good(), good(), deviations=DEVIATES)
    assert judgement.verdict == "fail"
    said = "deviations.toml: tfjs@4.22.0/cpu no longer deviates as keeps-two says: it does what is expected"
    assert judgement.reason == said


@pytest.mark.parametrize("count", [1, 3])
def test_a_target_that_deviates_otherwise_fails(count: int) -> None:
    judgement = judged(*keeping(count), deviations=DEVIATES)
    assert judgement.verdict == "fail"
    said = f"deviations.toml: keeps-two: walk.toml: end tensors: expected 2, measured {count}"
    assert judgement.reason == said


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_a_deviation_excuses_nothing_else(quantity: str) -> None:
    cycles = keeping(2)
    wrong = {**AT, "created": {**AT["created"], quantity: 9}, "end": {"tensors": 2}}
    cycles[2] = reaching(4, "tensors", cycle(**wrong))
    judgement = judged(*cycles, deviations=DEVIATES)
    assert judgement.verdict == "fail" and f"created {quantity}" in judgement.reason


def test_a_deviation_of_other_targets_changes_nothing() -> None:
    elsewhere = Deviations((replace_targets(KEEPS, "keras"),), Path("deviations.toml"))
    assert judged(good(), good(), deviations=elsewhere).verdict == "pass"
    assert judged(*keeping(2), deviations=elsewhere).verdict == "fail"


def replace_targets(deviation: Deviation, *targets: str) -> Deviation:
    return Deviation(
        id=deviation.id,
        targets=list(targets),
        why=deviation.why,
        checkpoints=deviation.checkpoints,
        growth=deviation.growth,
    )


@pytest.mark.parametrize(
    ("where", "repeats"),
    [
        ("end bytes", {"checkpoints": {"end": Counts(tensors=2, bytes=0)}, "growth": Counts(tensors=2)}),
        ("growth buffers", {"checkpoints": {"end": Counts(tensors=2)}, "growth": Counts(tensors=2, buffers=0)}),
    ],
)
def test_a_deviation_that_repeats_the_expectation_fails(where: str, repeats: dict[str, object]) -> None:
    repeating = Deviation(id="keeps-two", targets=["tfjs"], why="So.", **repeats)  # type: ignore[arg-type]
    judgement = judged(*keeping(2), deviations=Deviations((repeating,), Path("deviations.toml")))
    assert judgement.verdict == "fail"
    assert judgement.reason == f"deviations.toml: keeps-two: {where} is what the expectation says too"


def test_a_deviation_that_cannot_be_read_here_skips() -> None:
    blind = off("end", "tensors", None)
    for cycles in ([blind, blind, blind], [*keeping(2)[:1], blind]):
        judgement = judged(*cycles, deviations=DEVIATES)
        assert judgement.verdict == "skip"
        assert "end tensors" in judgement.reason


THROWS = Deviation(
    id="throws",
    targets=["tfjs"],
    why="It has no dispose.",
    checkpoints={"end": Counts(tensors=4)},
    growth=Counts(tensors=4),
    throws=Throws(matches="not a function", after="created"),
)


def refusing(number: int, message: str = "dispose is not a function", left: int = 4) -> Cycle:
    found = cycle(thrown(message, "created", "TypeError"), created=AT["created"], end={"tensors": left})
    return reaching(4 * number, "tensors", found)


def test_a_documented_throw_deviates_though_later_checkpoints_are_not_reached() -> None:
    deviations = Deviations((THROWS,), Path("deviations.toml"))
    assert judged(*map(refusing, range(3)), deviations=deviations).verdict == "deviates"
    assert judged(refusing(0), refusing(1, "boom"), deviations=deviations).verdict == "fail"
    assert judged(refusing(0), refusing(1, left=5), deviations=deviations).verdict == "fail"
    assert judged(good(), good(), deviations=deviations).verdict == "fail"
    assert judged(*map(refusing, range(3))).verdict == "error"


GROWS = Deviation(id="values-stay", targets=["tfjs"], why="It keeps values.", grows=["native"])
WHERE = "deviations.toml"


def judged_with(grown: dict[str, str], *cycles: Cycle) -> Judgement:
    found = judged(*(cycles or (good(), good(), good(), good())), deviations=Deviations((GROWS,), Path(WHERE)))
    return with_growth(found, grown, {}, WHERE)


def test_a_level_that_grows_as_documented_deviates() -> None:
    judgement = judged_with({"native": "native grows by 8"})
    assert (judgement.verdict, judgement.deviation) == ("deviates", GROWS)
    assert judgement.reason == "It keeps values.; native grows by 8"


def test_a_level_that_is_to_grow_and_does_not_fails() -> None:
    judgement = judged_with({})
    said = "deviations.toml: no longer deviates as values-stay says: native does not grow"
    assert (judgement.verdict, judgement.reason) == ("fail", said)


def test_a_level_that_grows_beside_the_documented_one_fails() -> None:
    judgement = judged_with({"native": "native grows by 8", "heap": "heap grows by 8"})
    assert (judgement.verdict, judgement.problems) == ("fail", ("walk.toml: heap grows by 8, in a fresh worker",))


def test_a_number_that_is_otherwise_where_a_level_grows_fails() -> None:
    assert judged_with({"native": "native grows by 8"}, *keeping(2)).verdict == "fail"


def test_growth_cannot_be_seen_in_few_cycles() -> None:
    judgement = judged_with({}, good(), good(), good())
    assert judgement.verdict == "skip" and "3 cycles" in judgement.reason


def test_a_throw_is_no_part_of_a_deviation_in_numbers() -> None:
    assert judged(*keeping(2, 1), refusing(2), deviations=DEVIATES).verdict == "error"


# --- what cannot be judged


def test_a_recipe_that_does_not_apply_skips() -> None:
    judgement = judge(outcome(not_applicable="it is a generator"), WALK, NONE, TFJS)
    assert (judgement.verdict, judgement.reason) == ("skip", "the recipe dispose does not apply: it is a generator")


def test_a_scenario_that_does_not_load_is_an_error() -> None:
    judgement = judge(outcome(error=thrown("Unexpected token", kind="SyntaxError")), WALK, NONE, TFJS)
    assert (judgement.verdict, judgement.reason) == ("error", "SyntaxError: Unexpected token")


@pytest.mark.parametrize("found", [outcome(), outcome(good())], ids=["no cycle", "the warm-up alone"])
def test_nothing_measured_is_an_error_and_no_pass(found: Outcome) -> None:
    judgement = judge(found, WALK, NONE, TFJS)
    assert (judgement.verdict, judgement.reason) == ("error", "no cycle ran after the warm-up: nothing to judge")


# --- predictions


def predictions(max_abs: float | None, bound: float = 1e-6) -> Agreement:
    return Agreement(model="classifier", source="keras", max_abs=max_abs, max_rel=None, bound=bound)


@pytest.mark.parametrize(
    ("max_abs", "verdict"), [(0.0, "pass"), (1e-6, "pass"), (1.01e-6, "fail"), (1.0, "fail"), (None, "fail")]
)
def test_predictions_fail_beyond_what_rounding_explains_and_where_they_are_no_numbers(
    max_abs: float | None, verdict: str
) -> None:
    found = outcome(good(), good(), agreements=(predictions(0.0), predictions(max_abs)))
    assert judge(found, WALK, NONE, TFJS).verdict == verdict


def test_predictions_that_are_off_are_no_part_of_a_deviation() -> None:
    found = outcome(*keeping(2), agreements=(predictions(1.0),))
    judgement = judge(found, WALK, DEVIATES, TFJS)
    assert judgement.verdict == "fail"
    assert "predictions of classifier made by keras are off by 1; rounding explains 1e-06" in judgement.reason


# --- leaks on purpose

LEAKS = replace(WALK, caught=Caught(end=Counts(tensors=2), growth=Counts(tensors=2)))


def test_a_leak_on_purpose_fails_and_is_caught_with_what_it_leaves() -> None:
    found = outcome(*keeping(2))
    assert judge(found, LEAKS, NONE, TFJS).verdict == "fail"
    assert not_caught(found, LEAKS, TFJS, "fail") == ()


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_leak_on_purpose_that_leaves_something_else_is_not_caught_with_it(count: int) -> None:
    problems = not_caught(outcome(*keeping(count)), LEAKS, TFJS, "fail")
    assert (
        problems[0]
        == f"it is caught, but not with what it is to leave: walk.toml: end tensors: expected 2, measured {count}"
    )
    assert problems[-1].endswith(f"walk.toml: growth per cycle, tensors: expected 2, measured {count}")


@pytest.mark.parametrize(("count", "verdict"), [(1, "skip"), (2, "skip"), (3, "pass")])
def test_a_leak_that_shows_as_growth_alone_is_skipped_where_there_are_too_few_cycles(count: int, verdict: str) -> None:
    heap = replace(WALK, caught=Caught(end=Counts(), growth=Counts(), grows=["heap"]))
    judgement = judge(outcome(*(good() for _ in range(count + 1))), heap, NONE, TFJS)
    assert judgement.verdict == verdict
    assert verdict == "pass" or judgement.reason == f"growth is looked at from 3 cycles on, and there were {count}"


def test_a_leak_on_purpose_is_held_to_all_that_its_file_says() -> None:
    for file in (
        replace(LEAKS, checkpoints={**LEAKS.checkpoints, "created": Counts(tensors=5)}),
        replace(LEAKS, first={"created": Counts(tensors=5)}),
        replace(LEAKS, throws=Throws(matches="no", after="created")),
    ):
        assert not_caught(outcome(*keeping(2)), file, TFJS, "fail")


def test_a_leak_that_grows_otherwise_than_it_is_to_is_told_with_both() -> None:
    grows, none = replace(LEAKS, caught=caught_growing(["heap"])), LEAKS
    told = "it is caught, but not with what it is to leave: walk.toml: caught.grows: expected"
    assert not_caught(outcome(*keeping(2)), grows, TFJS, "fail", ["heap"]) == ()
    assert not_caught(outcome(*keeping(2)), grows, TFJS, "fail") == (f"{told} heap, found nothing",)
    assert not_caught(outcome(*keeping(2)), none, TFJS, "fail", ["heap"]) == (f"{told} nothing, found heap",)


def caught_growing(names: list[LevelName]) -> Caught:
    return Caught(end=Counts(tensors=2), growth=Counts(tensors=2), grows=names)


def test_what_does_not_leak_on_purpose_or_did_not_run_is_not_asked_whether_it_was_caught() -> None:
    verdicts: tuple[Verdict, ...] = ("pass", "fail", "deviates", "error", "skip")
    assert [not_caught(outcome(*keeping(2)), WALK, TFJS, verdict) for verdict in verdicts] == [()] * 5
    for verdict in ("error", "skip"):
        assert not_caught(outcome(), LEAKS, TFJS, verdict) == ()


# --- the hand-made outcomes themselves


def test_hand_made_outcomes_are_above_a_baseline_that_is_not_zero() -> None:
    assert all(BEFORE.values())
    first = good().checkpoints[0].reading
    assert first.tensors == BEFORE["tensors"] + 4
    found = as_expected(WALK, TFJS)
    assert judge(found, WALK, NONE, TFJS).verdict == "pass"
    assert [checkpoint.name for checkpoint in found.cycles[0].checkpoints] == [*AT] and [*AT][-1] == END


def test_a_warm_up_that_takes_away_what_was_there_before_it_fails() -> None:
    taken = cycle(end={"tensors": -1, "bytes": -4, "buffers": -1})
    judgement = judge(outcome(taken, cycle()), Expectation(), NONE, TFJS)
    assert judgement.verdict == "fail"
    assert "the warm-up's end tensors: -1: it released what is not its own" in judgement.reason


def test_a_pass_says_what_the_warm_up_left() -> None:
    left: dict[str, int | None] = {"tensors": 2, "bytes": 8}
    second = msgspec.structs.replace(cycle(end=left), baseline=reading(**left))
    judgement = judge(outcome(cycle(end=left), second), Expectation(), NONE, TFJS)
    assert (judgement.verdict, judgement.reason) == ("pass", "the warm-up left 2 tensors, 8 bytes")


@pytest.mark.parametrize(("tensors", "bytes_"), [(2, 0), (0, 8)])
def test_a_pass_says_so_too_where_the_warm_up_left_tensors_without_bytes_or_bytes_alone(
    tensors: int, bytes_: int
) -> None:
    left: dict[str, int | None] = {"tensors": tensors, "bytes": bytes_}
    second = msgspec.structs.replace(cycle(end=left), baseline=reading(**left))
    judgement = judge(outcome(cycle(end=left), second), Expectation(), NONE, TFJS)
    assert judgement.reason == f"the warm-up left {tensors} tensors, {bytes_} bytes"


def test_a_prediction_that_was_to_be_compared_and_was_not_fails() -> None:
    compares = Expectation(compares=("classifier",))
    assert judge(outcome(cycle(), cycle(), agreements=(predictions(0.0),)), compares, NONE, TFJS).verdict == "pass"
    judgement = judge(outcome(cycle(), cycle()), compares, NONE, TFJS)
    assert judgement.verdict == "fail"
    assert "no prediction of classifier was compared with Keras's" in judgement.reason

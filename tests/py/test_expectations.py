"""Expectations, descriptions and deviations: what is written is what is held to; a mistake names its file and place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from outcomes import MODEL, Definitions, definitions_at

from tensorledger.expectations.amount import NOTHING, Counts, amount
from tensorledger.expectations.description import describe
from tensorledger.expectations.deviation import deviations_for
from tensorledger.expectations.deviation import load as load_deviations
from tensorledger.expectations.expectation import Expectation, expectation_for
from tensorledger.expectations.toml import BadDefinition
from tensorledger.targets.catalogue import installed
from tensorledger.targets.target import LANGUAGES, Target

TFJS = Target("tfjs", "4.22.0", "cpu")

WALK = """\
[checkpoints]
created = { tensors = "weights", bytes = "weights" }
released = { tensors = 0 }
"""

DEVIATION = """\
[[deviation]]
id = "keeps-weights"
targets = ["tfjs"]
why = "The engine keeps them."
checkpoints.end = { tensors = "weights" }
"""


@pytest.fixture
def definitions(tmp_path: Path) -> Iterator[Definitions]:
    with definitions_at(tmp_path):
        yield Definitions(tmp_path)


def value(written: int | str, quantity: str = "tensors", runtime: str = "tfjs") -> int:
    return amount(written, quantity, describe("classifier"), runtime).value


# --- numbers


@pytest.mark.parametrize(
    ("written", "tensors"),
    [
        (4, 4),
        (-2, -2),
        ("weights", 4),
        ("weights + optimizer.scalars", 6),
        ("weights+optimizer.slots", 12),
        ("weights + weights", 8),
        ("optimizer", 10),
        ("weights + optimizer + seeds", 14),
        ("weights + 1", 5),
        ("7", 7),
        ("2 + 3", 5),
    ],
)
def test_a_number_is_a_count_or_a_sum_of_parts_and_counts(
    definitions: Definitions, written: int | str, tensors: int
) -> None:
    assert value(written) == tensors


def test_a_part_is_what_the_runtime_has(definitions: Definitions) -> None:
    assert [value("seeds", "tensors", runtime) for runtime in LANGUAGES] == [0, 6, 0]
    assert [value("optimizer", "bytes", runtime) for runtime in LANGUAGES] == [328, 332, 332]


def test_a_prefix_sums_whole_names_only(definitions: Definitions) -> None:
    with pytest.raises(BadDefinition, match="no part 'optim'"):
        value("optim")


def test_each_tensor_has_a_buffer_of_its_own_unless_the_part_says_otherwise(definitions: Definitions) -> None:
    assert (value("weights", "buffers"), value("weights", "buffer_bytes")) == (4, 160)
    assert (value("views", "buffers"), value("views", "buffer_bytes")) == (1, 4)


def test_a_sum_says_what_it_is_made_of_part_by_part(definitions: Definitions) -> None:
    said = str(amount("weights + optimizer + 1", "tensors", describe("classifier"), "tfjs"))
    parts = "weights 4 + optimizer.scalars 2 + optimizer.slots 8 + 1"
    assert said == f"15 = {parts} (harness/models/classifier.toml)"
    assert str(amount(0, "tensors", describe("classifier"), "tfjs")) == "0"


@pytest.mark.parametrize(
    "written", ["", "weights +", "+ weights", "weights ++ seeds", "weights - 1", "weights * 2", "²"]
)
def test_what_is_no_sum_is_refused(definitions: Definitions, written: str) -> None:
    with pytest.raises(BadDefinition):
        value(written)


# --- expectation files


def test_the_end_and_the_growth_are_judged_where_the_file_does_not_state_them(definitions: Definitions) -> None:
    expectation = definitions.expectation(WALK)
    assert expectation.checkpoints["end"] == NOTHING == Counts(tensors=0, bytes=0, buffers=0)
    assert expectation.growth == NOTHING
    assert not expectation.first and expectation.throws is None
    assert list(expectation.checkpoints) == ["created", "released", "end"]


def test_an_empty_file_is_the_default_expectation(definitions: Definitions) -> None:
    read, default = definitions.expectation(""), Expectation()
    assert (read.model, read.checkpoints, read.growth) == (default.model, default.checkpoints, default.growth)


def test_what_the_file_states_is_what_is_judged(definitions: Definitions) -> None:
    text = WALK + 'end = { tensors = 1 }\n[growth]\nbytes = 3\n[first]\nend = { tensors = 2 }\n[throws]\nmatches = "no"'
    expectation = definitions.expectation(text)
    assert expectation.checkpoints["end"] == Counts(tensors=1)
    assert expectation.growth == Counts(bytes=3)
    assert expectation.first == {"end": Counts(tensors=2)}
    assert expectation.throws is not None and expectation.throws.after is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[checkpoints]\ncreated = { tensors = "wieghts" }', ["checkpoints.created.tensors", "'wieghts'", "weights"]),
        ('[checkpoints]\ncreated = { tensors = "views" }', ["checkpoints.created.tensors", "'views'", "keras"]),
        ('[growth]\nbytes = "nothing"', ["growth.bytes", "'nothing'"]),
        ('[first]\nend = { buffers = "lost" }', ["first.end.buffers", "'lost'"]),
        ('[caught]\nend = { tensors = "x" }\ngrowth = { tensors = 1 }', ["caught.end.tensors", "'x'"]),
        ('[caught]\nend = { tensors = 1 }\ngrowth = { tensors = "y" }', ["caught.growth.tensors", "'y'"]),
        ('model = "clasifier"\n[checkpoints]\ncreated = { tensors = "weights" }', ["'clasifier'", "classifier"]),
        ("[checkpoints]\ncreated = { tensor = 1 }", ["tensor", "checkpoints"]),
        ("[checkpoints]\ncreated = { tensors = 1.5 }", ["float", "checkpoints"]),
        ("[checkpoints]\ncreated = { tensors = true }", ["bool", "checkpoints"]),
        ("[checkpoint]\ncreated = { tensors = 1 }", ["checkpoint"]),
        ('[throws]\nafter = "released"', ["matches", "throws"]),
        ('[throws]\nmatches = "("', ["regular expression", "throws"]),
        ("[growth]\ntensors = ?\n", ["line 2"]),
        ("[growth]\ntensors = 0\ntensors = 0", ["overwrite"]),
    ],
)
def test_a_mistake_is_refused_with_its_file_and_place(definitions: Definitions, text: str, says: list[str]) -> None:
    with pytest.raises(BadDefinition) as refused:
        definitions.expectation(text)
    message = str(refused.value)
    assert message.startswith("harness/expectations/walk.toml: ")
    assert [part for part in says if part not in message] == []


@pytest.mark.parametrize("stated", ["[growth]\ntensors = 1\n", "[checkpoints]\nend = { tensors = 1 }\n"])
def test_a_leak_on_purpose_does_not_state_what_it_is_to_fail_by(definitions: Definitions, stated: str) -> None:
    caught = "[caught]\nend = { tensors = 1 }\ngrowth = { tensors = 1 }\n"
    expectation = definitions.expectation(caught)
    assert expectation.caught is not None and expectation.checkpoints["end"] == NOTHING == expectation.growth
    with pytest.raises(BadDefinition, match=r"walk\.toml: with \[caught\], end and growth are not stated"):
        definitions.expectation(stated + caught)


def test_a_leak_on_purpose_says_both_what_is_left_and_what_grows(definitions: Definitions) -> None:
    with pytest.raises(BadDefinition, match="growth"):
        definitions.expectation("[caught]\nend = { tensors = 1 }\n")


def test_the_projects_expectation_is_found_by_name_a_users_beside_the_file(
    definitions: Definitions, tmp_path: Path
) -> None:
    mine = tmp_path / "mine.mjs"
    assert expectation_for("mine.mjs", mine) == Expectation()
    mine.with_suffix(".toml").write_text("[growth]\ntensors = 2\n", encoding="utf-8")
    assert expectation_for("mine.mjs", mine).growth == Counts(tensors=2)
    definitions.expectation(WALK)
    assert "created" in expectation_for("walk", mine).checkpoints


# --- model descriptions


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("[keras]", '["keras@3"]', ["keras@3", "none for [keras]"]),
        ("[keras]", '["keras@three"]', ["keras@three", "neither a version nor a range"]),
        ("seeds = 0\n", "seeds = 1\n", ["seeds = 1"]),
        ("tensors = 4, bytes = 160", "tensors = 4", ["weights", "bytes"]),
        ("tensors = 4, bytes = 160", "tensors = 4, bytes = 160, buffer = 1", ["weights", "buffer"]),
        ("tensors = 4, bytes = 160", "tensor = 4, byte = 160", ["weights.tensor = 4"]),
        ("tensors = 4, bytes = 160", "tensors = 4.0, bytes = 160", ["weights", "float"]),
        ("weights = {", "weights = ", ["line 1"]),
    ],
)
def test_a_mistake_in_a_description_is_refused_with_its_file_and_place(
    definitions: Definitions, old: str, new: str, says: list[str]
) -> None:
    definitions.write("models/classifier", MODEL.replace(old, new))
    with pytest.raises(BadDefinition) as refused:
        describe("classifier")
    message = str(refused.value)
    assert "harness/models/classifier.toml: " in message
    assert [part for part in says if part not in message] == []


@pytest.mark.parametrize(("written", "meant"), [("kers", "keras"), ("tf_keras", "tf-keras"), ("tjs", "tfjs")])
def test_a_runtime_that_is_misspelt_is_not_taken_for_a_part(definitions: Definitions, written: str, meant: str) -> None:
    definitions.write("models/classifier", f"{MODEL}\n[{written}]\nseeds = 0\n")
    with pytest.raises(BadDefinition, match=rf"\[{written}\] is no runtime; did you mean \[{meant}\]\?"):
        describe("classifier")


def test_a_runtime_that_a_description_leaves_out_has_no_such_model(definitions: Definitions) -> None:
    definitions.write("models/classifier", MODEL.partition("[keras]")[0])
    with pytest.raises(BadDefinition, match=r"harness/models/classifier\.toml: there is no classifier for keras"):
        describe("classifier").of("keras")
    for runtime in ("tfjs", "keras", "tf-keras"):
        definitions.write("models/classifier", MODEL.replace(f"[{runtime}]", "[elsewhere]"))
        described = describe("classifier").parts
        assert runtime not in described and len(described) == 2


def test_an_unknown_model_is_refused_with_those_there_are(definitions: Definitions) -> None:
    with pytest.raises(BadDefinition, match="no model 'transformer'; there are: classifier"):
        describe("transformer")


# --- deviations


def test_a_deviation_replaces_the_numbers_that_it_states_and_no_others(definitions: Definitions) -> None:
    expectation = definitions.expectation(WALK)
    text = DEVIATION + "growth = { bytes = 7 }\nfirst.end = { tensors = 1 }\n"
    deviation = definitions.deviations(text, expectation).of(TFJS)
    assert deviation is not None
    documented = deviation.instead_of(expectation)
    assert documented.checkpoints["end"] == Counts(tensors="weights", bytes=0, buffers=0)
    assert documented.checkpoints["created"] == expectation.checkpoints["created"]
    assert documented.growth == Counts(tensors=0, bytes=7, buffers=0)
    assert documented.first == {"end": Counts(tensors=1)}
    assert documented.throws is None
    assert documented.path == expectation.path


def test_a_deviation_that_throws_expects_no_checkpoint_beyond_its_throw(definitions: Definitions) -> None:
    expectation = definitions.expectation(WALK + "[first]\nreleased = { tensors = 0 }\n")

    def reached(after: str) -> list[str]:
        text = DEVIATION + f'throws = {{ matches = "no"{after} }}\n'
        deviation = definitions.deviations(text, expectation).of(TFJS)
        assert deviation is not None
        documented = deviation.instead_of(expectation)
        return [*documented.checkpoints, *(f"first {name}" for name in documented.first)]

    assert reached("") == ["end"]
    assert reached(', after = "created"') == ["created", "end"]
    assert reached(', after = "released"') == ["created", "released", "end", "first released"]


def test_a_deviation_concerns_its_targets_and_no_others(definitions: Definitions) -> None:
    expectation = definitions.expectation(WALK)
    text = DEVIATION.replace('["tfjs"]', '["tfjs@<4.22.0", "tf-keras"]')
    deviations = definitions.deviations(text, expectation)
    assert deviations.of(Target("tfjs", "4.21.0", "cpu")) is not None
    assert deviations.of(Target("tf-keras")) is not None
    assert deviations.of(TFJS) is None
    assert deviations.of(Target("keras")) is None


def test_a_deviation_of_some_versions_of_keras_is_compared_with_the_installed_one(definitions: Definitions) -> None:
    expectation = definitions.expectation(WALK)
    version = installed(Target("keras"))
    for written, concerned in ((f"keras@{version}", True), (f"keras@<{version}", False)):
        deviations = definitions.deviations(DEVIATION.replace("tfjs", written), expectation)
        assert (deviations.of(Target("keras")) is not None) is concerned


def test_a_deviation_says_again_what_it_deviates_from(definitions: Definitions) -> None:
    expectation = definitions.expectation(WALK)
    definitions.deviations(DEVIATION, expectation)
    path = definitions.write("deviations/walk", DEVIATION)
    with pytest.raises(BadDefinition, match=r"keeps-weights: against.end tensors: not stated, but .* says: 0"):
        load_deviations(path, expectation)
    path = definitions.write("deviations/walk", DEVIATION + "against.end = { tensors = 1 }\n")
    with pytest.raises(BadDefinition, match=r"against.end tensors: 1, but harness/expectations/walk.toml says: 0"):
        load_deviations(path, expectation)
    path = definitions.write("deviations/walk", DEVIATION + "against.end = { tensors = 0, bytes = 0 }\n")
    with pytest.raises(BadDefinition, match=r"against.end bytes: 0, but .* is not deviated from"):
        load_deviations(path, expectation)


def test_two_deviations_of_one_target_are_refused(definitions: Definitions) -> None:
    expectation = definitions.expectation(WALK)
    other = DEVIATION.replace("keeps-weights", "keeps-all").replace('"tfjs"', '"tfjs@>=4"')
    deviations = definitions.deviations(DEVIATION + other, expectation)
    assert deviations.of(Target("tfjs", "3.0.0", "cpu")) is not None
    with pytest.raises(BadDefinition) as refused:
        deviations.of(TFJS)
    said = "harness/deviations/walk.toml: keeps-weights and keeps-all both concern tfjs@4.22.0/cpu"
    assert str(refused.value) == said


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('why = "The engine keeps them."\n', "", ["why"]),
        ("The engine keeps them.", "  ", ["keeps-weights does not say why"]),
        ('id = "keeps-weights"\n', "", ["id"]),
        ('"tfjs"', '"tfsj"', ["keeps-weights", "no target 'tfsj'"]),
        ('"tfjs"', '"tfjs@>=x"', ["keeps-weights", "neither a version nor a range"]),
        ('"weights"', '"wights"', ["keeps-weights", "checkpoints.end.tensors", "'wights'"]),
        ("tensors =", "tensor =", ["tensor"]),
        ("why =", "because =", ["because"]),
        ("[[deviation]]", "[[deviations]]", ["deviations"]),
    ],
)
def test_a_mistake_in_a_deviation_is_refused_with_its_file_and_place(
    definitions: Definitions, old: str, new: str, says: list[str]
) -> None:
    expectation = definitions.expectation(WALK)
    with pytest.raises(BadDefinition) as refused:
        definitions.deviations(DEVIATION.replace(old, new), expectation)
    message = str(refused.value)
    assert message.startswith("harness/deviations/walk.toml: ")
    assert [part for part in says if part not in message] == []


@pytest.mark.parametrize(
    ("more", "to", "says"),
    [
        ("", '["nativ"]', "nativ"),
        ("growth.tensors = 2\n", '["native"]', r"grows: harness/expectations/walk.toml: growth tensors: 2, which"),
        ("caught.end = {}\ncaught.growth = {}\n", '["native"]', "grows: the scenario leaks on purpose"),
    ],
)
def test_levels_that_would_never_be_looked_at_cannot_be_said_to_grow(
    definitions: Definitions, more: str, to: str, says: str
) -> None:
    expectation = definitions.expectation(f"checkpoints.made = {{ tensors = 1 }}\n{more}")
    text = '[[deviation]]\nid = "more"\ntargets = ["tfjs"]\nwhy = "It is so."\n'
    with pytest.raises(BadDefinition, match=says):
        definitions.deviations(f"{text}grows = {to}\n", expectation)


def test_a_deviation_may_name_a_part_that_only_its_own_runtime_has(definitions: Definitions) -> None:
    expectation = definitions.expectation(WALK)
    text = DEVIATION.replace('"weights"', '"views"')
    assert definitions.deviations(text, expectation).of(TFJS) is not None
    with pytest.raises(BadDefinition, match="no part 'views' for keras"):
        definitions.deviations(text.replace('"tfjs"', '"tfjs", "keras"'), expectation)


def test_a_scenario_without_a_file_of_deviations_has_none(definitions: Definitions) -> None:
    assert deviations_for("walk", definitions.expectation(WALK)).of(TFJS) is None

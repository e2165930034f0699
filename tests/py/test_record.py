"""record proposes what the data ask for, says where the definitions do not agree, and can silence nothing by itself."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner
from outcomes import Definitions, definitions_at

from tensorledger.atlas.data import SCHEMA, Atlas, Range, read, text_of
from tensorledger.atlas.propose import Proposal, block, disagreements, proposals, ranges, unmeant
from tensorledger.atlas.shows import Point, Shows, Threw, Walk
from tensorledger.cli import main
from tensorledger.environment.tree import tree
from tensorledger.expectations.deviation import Deviation, Deviations, deviations_for, load
from tensorledger.expectations.expectation import Expectation, expectation_for
from tensorledger.expectations.toml import BadDefinition
from tensorledger.scenarios.catalogue import all_scenarios
from tensorledger.targets.target import Target

RELEASES = ["1.0.0", "1.1.0", "1.2.0", "1.3.0", "1.4.0", "1.5.0"]
EXPECTED = """\
[checkpoints]
created = { tensors = "weights", bytes = "weights" }
released = { tensors = 0 }
"""


def walk(created: int = 4, released: int = 0, left: int = 0, threw: Threw | None = None) -> Walk:
    points = [("created", created), ("released", released), ("end", left)]
    if threw is not None:
        points = [point for point in points if point[0] != "released"]
    sizes = {"created": created * 40}
    return Walk(tuple(Point(n, t, sizes.get(n, 4 * t), t, sizes.get(n, 4 * t)) for n, t in points), threw)


def atlas(*walks: Walk, scenario: str = "walk") -> Atlas:
    """Return an atlas of one scenario, a walk for each release."""
    return Atlas(
        schema=SCHEMA,
        environment={"node": "18.4.0"},
        backend="cpu",
        releases=RELEASES[: len(walks)],
        recipes=[],
        unusable=[],
        scenarios={
            scenario: [
                Range(release, release, Shows(recipe="dispose", cycle=found))
                for release, found in zip(RELEASES, walks, strict=False)
            ]
        },
    )


@pytest.fixture
def files(tmp_path: Path) -> Iterator[Definitions]:
    files = Definitions(tmp_path)
    with definitions_at(tmp_path):
        yield files


def with_a_why(proposal: Proposal, name: str = "found") -> str:
    text = block(proposal)
    return re.sub(r"^id = .*$", f'id = "{name}"', text, flags=re.M).replace('why = ""', 'why = "because"')


GOOD, LEAKS, KEEPS = walk(), walk(released=2, left=2), walk(released=1)
THROWS = walk(left=4, threw=Threw("TypeError", "model.dispose is not a function (1+1)", "created"))


@pytest.mark.parametrize(
    ("walks", "wanted"),
    [
        ([GOOD, GOOD], []),
        ([LEAKS, LEAKS, GOOD], [["tfjs@>=1.0.0,<=1.1.0/cpu"]]),
        ([GOOD, LEAKS, GOOD], [["tfjs@1.1.0/cpu"]]),
        ([LEAKS, GOOD, LEAKS, LEAKS], [["tfjs@1.0.0/cpu", "tfjs@>=1.2.0,<=1.3.0/cpu"]]),
        ([LEAKS, KEEPS, THROWS], [["tfjs@1.0.0/cpu"], ["tfjs@1.1.0/cpu"], ["tfjs@1.2.0/cpu"]]),
    ],
)
def test_the_ranges_mean_exactly_the_releases_that_are_alike(
    files: Definitions, walks: list[Walk], wanted: list[list[str]]
) -> None:
    found = proposals(atlas(*walks), "walk", files.expectation(EXPECTED), Deviations())
    assert [proposal.deviation.targets for proposal in found] == wanted
    for proposal in found:
        meant = [release for release in RELEASES if proposal.deviation.concerns(Target("tfjs", release, "cpu"))]
        assert meant == list(proposal.releases)


@pytest.mark.parametrize("bad", [LEAKS, KEEPS, THROWS, walk(created=5, left=1)])
def test_what_is_proposed_agrees_with_the_data_once_a_person_has_said_why(files: Definitions, bad: Walk) -> None:
    expectation = files.expectation(EXPECTED)
    data = atlas(GOOD, bad, bad, GOOD)
    (proposal,) = proposals(data, "walk", expectation, Deviations())
    path = files.write("deviations/walk", block(proposal))
    with pytest.raises(BadDefinition, match="does not say why"):
        load(path, expectation)
    there = load(files.write("deviations/walk", with_a_why(proposal)), expectation)
    assert list(disagreements(data, "walk", expectation, there)) == []
    assert list(unmeant(data, there)) == []


def test_the_numbers_are_exact_and_only_where_the_expectation_says_otherwise(files: Definitions) -> None:
    (proposal,) = proposals(
        atlas(walk(created=4, released=2, left=3)), "walk", files.expectation(EXPECTED), Deviations()
    )
    (found,) = tomllib.loads(block(proposal))["deviation"]
    assert found == {
        "id": "",
        "targets": ["tfjs@1.0.0/cpu"],
        "why": "",
        "checkpoints": {"released": {"tensors": 2}, "end": {"tensors": 3, "bytes": 12, "buffers": 3}},
        "growth": {"tensors": 3, "bytes": 12, "buffers": 3},
        "against": {
            "released": {"tensors": 0},
            "end": {"tensors": 0, "bytes": 0, "buffers": 0},
            "growth": {"tensors": 0, "bytes": 0, "buffers": 0},
        },
    }


def test_a_throw_is_proposed_with_its_place_and_a_pattern(files: Definitions) -> None:
    (proposal,) = proposals(atlas(THROWS), "walk", files.expectation(EXPECTED), Deviations())
    (found,) = tomllib.loads(block(proposal))["deviation"]
    assert found["throws"] == {"after": "created", "matches": r"model\.dispose is not a function \(1\+1\)"}
    assert "released" not in found["checkpoints"]


def test_a_pattern_does_not_hold_a_name_that_counts_up(files: Definitions) -> None:
    data = atlas(walk(threw=Threw("Error", "Layer 'dense_Dense#' (1) is gone", "created")))
    (proposal,) = proposals(data, "walk", files.expectation(EXPECTED), Deviations())
    (found,) = tomllib.loads(block(proposal))["deviation"]
    assert found["throws"]["matches"] == r"Layer 'dense_Dense\d+' \(1\) is gone"
    there = load(files.write("deviations/walk", with_a_why(proposal)), files.expectation(EXPECTED))
    assert list(disagreements(data, "walk", files.expectation(EXPECTED), there)) == []


def test_an_expected_throw_that_does_not_come_is_proposed(files: Definitions) -> None:
    expectation = files.expectation('[throws]\nmatches = "no"\n')
    (proposal,) = proposals(atlas(GOOD), "walk", expectation, Deviations())
    assert proposal.deviation.throws is False


def test_a_leak_on_purpose_is_caught_with_other_numbers(files: Definitions) -> None:
    one = "{ tensors = 1, bytes = 4, buffers = 1 }"
    expectation = files.expectation(
        f"[checkpoints]\ncreated = {{}}\nreleased = {{}}\n[caught]\nend = {one}\ngrowth = {one}\n"
    )
    data = atlas(walk(left=1), walk(left=2))
    (proposal,) = proposals(data, "walk", expectation, Deviations())
    assert proposal.releases == ("1.1.0",)
    there = load(files.write("deviations/walk", with_a_why(proposal)), expectation)
    assert list(disagreements(data, "walk", expectation, there)) == []


# --- against the deviations that there are


def deviating(files: Definitions, *targets: str, numbers: str = "") -> tuple[Expectation, Deviations]:
    expectation = files.expectation(EXPECTED)
    found = numbers or "checkpoints.released = { tensors = 1 }"
    text = f'[[deviation]]\nid = "keeps"\ntargets = {list(targets)!r}\nwhy = "because"\n{found}\n'
    return expectation, files.deviations(text, expectation)


def test_a_release_that_deviates_and_is_in_no_range_is_said(files: Definitions) -> None:
    expectation, there = deviating(files, "tfjs@1.1.0/cpu")
    (found,) = disagreements(atlas(GOOD, KEEPS, KEEPS, KEEPS), "walk", expectation, there)
    assert found.targets == ("tfjs@>=1.2.0,<=1.3.0/cpu",)
    assert "released tensors: expected 0, measured 1" in found.said
    (proposal,) = proposals(atlas(GOOD, KEEPS, KEEPS, KEEPS), "walk", expectation, there)
    assert proposal.fits == ("keeps",)
    assert proposal.deviation.targets == ["tfjs@>=1.1.0,<=1.3.0/cpu"]


def test_a_release_in_a_range_that_does_not_deviate_or_otherwise_is_said(files: Definitions) -> None:
    expectation, there = deviating(files, "tfjs@<1.3/cpu")
    first, second = disagreements(atlas(GOOD, KEEPS, LEAKS), "walk", expectation, there)
    assert first.targets == ("tfjs@1.0.0/cpu",)
    assert "no longer deviates as keeps says" in first.said
    assert second.targets == ("tfjs@1.2.0/cpu",)
    assert "keeps: " in second.said


def test_a_deviation_of_no_release_is_said(files: Definitions) -> None:
    _, there = deviating(files, "tfjs@0.9.0/cpu")
    assert list(unmeant(atlas(GOOD), there)) == ["keeps"]


def test_numbers_of_another_runtime_are_no_matter(files: Definitions) -> None:
    expectation, there = deviating(files, "keras", numbers='checkpoints.released = { tensors = "seeds" }')
    assert list(disagreements(atlas(GOOD), "walk", expectation, there)) == []
    assert [proposal.fits for proposal in proposals(atlas(LEAKS), "walk", expectation, there)] == [()]


def test_neighbours_are_one_range_and_others_are_written_apart() -> None:
    data = atlas(*[GOOD] * 6)
    assert ranges(data, ["1.0.0", "1.1.0", "1.3.0", "1.5.0"]) == [
        "tfjs@>=1.0.0,<=1.1.0/cpu",
        "tfjs@1.3.0/cpu",
        "tfjs@1.5.0/cpu",
    ]


# --- the command


def record(*arguments: str) -> Any:
    return CliRunner().invoke(main, ["record", *arguments])


def test_the_command_prints_what_a_file_takes(tmp_path: Path) -> None:
    data = atlas(walk(left=2), scenario="tidy-keeps-referenced")
    (tmp_path / "a.json").write_text(text_of(data), encoding="utf-8")
    done = record("tidy-keeps-referenced", "--from", str(tmp_path / "a.json"))
    assert done.exit_code == 1
    assert "# does not agree: tfjs@1.0.0/cpu: " in done.output
    (found,) = tomllib.loads(done.output)["deviation"]
    assert msgspec.convert(found, Deviation).targets == ["tfjs@1.0.0/cpu"]
    assert found["why"] == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--from", "nothing.json"], "nothing.json"),
        (["--from", "broken.json"], "broken.json: "),
        (["function-scope", "--from", "good.json"], "function-scope is not in the data"),
        (["create-dispos"], "did you mean create-dispose"),
    ],
)
def test_bad_input_is_refused(arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("broken.json").write_text('{"schema"', encoding="utf-8")
    Path("good.json").write_text(text_of(atlas(GOOD)), encoding="utf-8")
    done = record(*arguments)
    assert done.exit_code == 2, done.output
    assert said in " ".join(done.output.split())


# --- what is committed


COMMITTED = read(tree() / "docs" / "atlas.json")


@pytest.mark.parametrize("name", COMMITTED.scenarios)
def test_the_deviations_agree_with_the_data(name: str) -> None:
    expectation = expectation_for(name, all_scenarios()[name].files["js"])
    there = deviations_for(name, expectation)
    assert [f"{found.targets}: {found.said}" for found in disagreements(COMMITTED, name, expectation, there)] == []
    assert list(unmeant(COMMITTED, there)) == []


def test_what_a_file_says_of_all_of_its_releases_is_not_to_be_widened(files: Definitions) -> None:
    expectation, data = files.expectation(EXPECTED), atlas(GOOD, LEAKS, LEAKS)
    (proposal,) = proposals(data, "walk", expectation, Deviations())
    text = with_a_why(proposal)
    for written, said in ((text, "# as found says\n"), (text.replace("<=1.2.0", "<=1.1.0"), ": widen its targets\n")):
        there = load(files.write("deviations/walk", written), expectation)
        (again,) = proposals(data, "walk", expectation, there)
        assert said in block(again)

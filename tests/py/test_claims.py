"""Each check of a claim can come out either way: it is fed runtimes that behave as they are said to, and otherwise."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner
from outcomes import CHECKOUT

from tensorledger.atlas.shows import Point, Shows, Threw, Walk
from tensorledger.claims import page
from tensorledger.claims.catalogue import CLAIMS, settle
from tensorledger.claims.claim import FAILS, HOLDS, UNMEASURED, Claim, Evidence, Settled, judged
from tensorledger.claims.lab import Measuring, Unmeasured
from tensorledger.claims.ranges import span
from tensorledger.cli import main
from tensorledger.cli.claims import read
from tensorledger.environment.tree import is_checkout
from tensorledger.protocol.messages import Agreement
from tensorledger.recipes.row import Left, Resident, Rise, Row
from tensorledger.results.build import unjudged
from tensorledger.results.marked import NoMarks, replaced
from tensorledger.results.result import Checkpoint, Failure, Growth, Result
from tensorledger.targets.target import Target

NEW, OLD = Target("tfjs", "4.22.0", "cpu"), Target("tfjs", "0.12.0", "cpu")
KERAS = Target("keras")
WEIGHTS = (4, 814_120)
BY_ID = {claim.id: claim for claim in CLAIMS}


def shows(
    *points: tuple[str, int, int], end: tuple[int, int] = (0, 0), threw: str = "", after: str | None = "x"
) -> Shows:
    """What a scenario shows: points, what is left at its end, what it throws."""
    walk = tuple(Point(name, tensors, size, tensors, size) for name, tensors, size in [*points, ("end", *end)])
    return Shows(cycle=Walk(walk, Threw("Error", threw, after) if threw else None))


def row(
    left: tuple[int, int] = (0, 0), grows: float = 0, sizes: tuple[int, int, int] = (100, 100, 100), native: float = 0
) -> Row:
    """A crossing of the recipes table."""
    return Row(
        model="m", language="js", target="t", recipe="r", usage="u", applies=True, error=None, cycles=16,
        bystander="kept",
        left=Left(tensors=left[0], bytes=left[1], buffers=left[0]),
        growth=Rise(tensors=grows, bytes=0, native=native, resident=0),
        resident=Resident(start=sizes[0], end=sizes[1], trimmed=sizes[2]),
    )  # fmt: skip


def result(
    end: tuple[int, int] = (0, 0), growth: dict[str, float] | None = None, parity: list[Agreement] | None = None
) -> Result:
    """A judged result."""
    plain = unjudged("s", NEW, 0.0, "pass", "")
    last = Checkpoint(
        name="end",
        tensors=end[0],
        bytes=end[1],
        buffers=0,
        buffer_bytes=0,
        backend={},
        heap={},
        process={},
        expected={},
    )
    grown = {"tensors": 0, "bytes": 0, "buffers": 0, "heap": 0, "native": 0, **(growth or {})}
    return msgspec.structs.replace(plain, checkpoints=[last], growth=Growth(**grown), parity=parity or [])


class Told:
    """A lab that says what it was told to: by scenario, by scenario and parameters, or by crossing."""

    def __init__(self, **said: Any) -> None:
        self.gone: list[Target] = []
        self._said = {"dispose_method": shows(("there", 0, 0)), "manual_walk": shows(), **said}

    def shows(self, target: Target, scenario: str, recipe: str = "", **params: Any) -> Shows:
        return self._find(scenario, *params.values())  # type: ignore[no-any-return]

    def result(self, target: Target, scenario: str, recipe: str = "", cycles: int = 2) -> Result:
        return self._find(scenario)  # type: ignore[no-any-return]

    def row(
        self, target: Target, model: str, usage: str, recipe: str, allocator: str = "default", cycles: int = 4
    ) -> Row:
        return self._find("row", recipe, allocator)  # type: ignore[no-any-return]

    def let_go(self, target: Target) -> None:
        self.gone.append(target)

    def _find(self, *names: object) -> Any:
        key = "_".join(str(name).replace("-", "_").replace(".", "_") for name in names)
        while key not in self._said:
            if "_" not in key:
                raise Unmeasured(f"nothing is said of {names}")
            key = key.rpartition("_")[0]
        return self._said[key]


def dispose_missing(**said: Any) -> Told:
    """A release whose models have no dispose()."""
    return Told(dispose_method=shows(("not there", 0, 0)), **said)


BROKE = Failure(type="Error", message="no", checkpoint=None, stack=[])
MISSING = shows(end=(8, 1), threw="weight.dispose is not a function")
LEFT = shows(end=WEIGHTS)
TWIN = ("the twin predicts", 0, 0)
PLAIN_TIDY = shows(TWIN, ("predicts as one made outside", 0, 0), ("trains", 0, 0))
GRAPHS = "graphs for 3"
SAME = Agreement(model="classifier", source="keras", max_abs=1e-7, max_rel=1e-6, bound=1e-5)
APART = msgspec.structs.replace(SAME, max_abs=1e-3)
ALIKE = [(f"{step}: 4 weights, 814120 bytes", 0, 0) for step in ("loaded", "predicted", "compiled", "trained")]


def cleaned(cleared: int, deleted: int, again: int) -> Shows:
    """What `cleaned-up` shows: tensors after each step."""
    return shows(
        ("predictions deleted, session cleared, collected", cleared, cleared),
        ("models deleted, collected", deleted, deleted),
        ("collected again, by gc.collect(2)", again, again),
    )


def graphs(count: int, kept: int = 0) -> Shows:
    """What `graphs` shows: how many, and what is left while the function is there."""
    return shows((f"{count} {GRAPHS} models", 1, 1), ("models deleted", kept, kept), ("function deleted", 0, 0))


EITHER_WAY: list[tuple[str, str, Target, Told, Told]] = [
    ("A1", "", NEW, Told(row=row(WEIGHTS)), Told(row=row())),
    ("A1", "", NEW, Told(row=row((8, 814_120))), Told(row=row((4, 814_000)))),
    ("A2", "", NEW, Told(model_in_tidy=shows(("tidied", *WEIGHTS))), Told(model_in_tidy=shows(("tidied", 0, 0)))),
    ("A3", "", NEW, Told(), dispose_missing()),
    ("A4", "a plain model", NEW, Told(row=row()), Told(row=row((2, 440)))),
    ("A4", "a plain model", NEW, Told(row=row()), Told(row=msgspec.structs.replace(row(), error=BROKE))),
    ("A4", "with a stateful layer", NEW, Told(row=row()), Told(row=row((2, 256)))),
    ("A5", "compiled", NEW, Told(compile_dispose=shows()), Told(compile_dispose=shows(end=(2, 8)))),
    ("A5", "compiled", NEW, Told(compile_dispose=shows()), Told(compile_dispose=shows(threw="no optimizer"))),
    (
        "A5",
        "trained, optimizer as an object",
        NEW,
        Told(optimizer_object=shows(("released", 0, 0))),
        Told(optimizer_object=shows(("released", 10, 63_688))),
    ),
    ("A6", "after fit", NEW, Told(train_dispose=shows()), Told(train_dispose=shows(end=(17, 1)))),
    ("A6", "never compiled", NEW, Told(dispose_uncompiled=shows()), Told(dispose_uncompiled=shows(threw="optimizer"))),
    ("A7", "", OLD, dispose_missing(manual_walk=shows()), dispose_missing(manual_walk=MISSING)),
    ("A7", "", OLD, dispose_missing(manual_walk=shows()), dispose_missing(manual_walk=LEFT)),
    (
        "A8",
        "after fit",
        NEW,
        Told(row_walk_weights=row((4, 9)), row_dispose=row((4, 9))),
        Told(row_walk_weights=row((10, 9)), row_dispose=row()),
    ),
    (
        "A9",
        "",
        NEW,
        Told(null_parameter_True=shows(end=(0, 0)), null_parameter_False=LEFT),
        Told(null_parameter_True=LEFT, null_parameter_False=LEFT),
    ),
    (
        "A10",
        "",
        NEW,
        Told(return_model_from_tidy=shows(threw="models may not be returned", after=None)),
        Told(return_model_from_tidy=shows(("returned", *WEIGHTS))),
    ),
    (
        "A11",
        "created",
        NEW,
        Told(model_in_tidy_used_created=shows(TWIN, ("predicts otherwise", 0, 0), ("trains", 0, 0))),
        Told(model_in_tidy_used_created=PLAIN_TIDY),
    ),
    (
        "A11",
        "returned",
        NEW,
        Told(model_in_tidy_used_returned=shows(TWIN, threw="it is disposed")),
        Told(model_in_tidy_used_returned=PLAIN_TIDY),
    ),
    *[
        (
            "A12",
            part,
            NEW,
            Told(**{scenario: result(growth={"tensors": 1, level: 100})}),
            Told(**{scenario: result(growth={level: 100})}),
        )
        for part, scenario, level in [
            ("bytes that grow under one tensor", "leak_bytes", "bytes"),
            ("the JavaScript heap", "leak_heap", "heap"),
            ("memory outside it", "leak_native", "native"),
        ]
    ],
    (
        "A13",
        "another rate, 0.05",
        NEW,
        Told(regularizer_rate=shows(("in force: 0.0500", 0, 0))),
        Told(regularizer_rate=shows(("in force: 0.0100", 0, 0))),
    ),
    (
        "A13",
        "the answer's own rate, 0.01",
        NEW,
        Told(regularizer_rate=shows(("in force: 0.0100", 0, 0))),
        Told(regularizer_rate=shows(threw="expected to be an object")),
    ),
    (
        "A14",
        "one that a variable outside refers to is kept",
        NEW,
        Told(tidy_keeps_referenced=shows(("tidied", 1, 64))),
        Told(tidy_keeps_referenced=shows(("tidied", 0, 0), threw="disposed")),
    ),
    ("A15", "", NEW, Told(manual_walk=LEFT), Told(manual_walk=MISSING)),
    ("B1", "", KERAS, Told(cleaned_up=cleaned(60, 0, 0)), Told(cleaned_up=cleaned(0, 0, 0))),
    ("B2", "called eagerly", KERAS, Told(cleaned_up_eager=cleaned(60, 0, 0)), Told(cleaned_up_eager=cleaned(60, 9, 9))),
    (
        "B2",
        "another module has a second name for it",
        KERAS,
        Told(second_name=shows(("first name deleted", 0, 0))),
        Told(second_name=shows(("first name deleted", *WEIGHTS))),
    ),
    (
        "B2",
        "the second collection changes something",
        KERAS,
        Told(cleaned_up=cleaned(60, 9, 0)),
        Told(cleaned_up=cleaned(60, 0, 0)),
    ),
    ("B3", "a graph for each model", KERAS, Told(graphs_models=graphs(3)), Told(graphs_models=graphs(1))),
    ("B3", "they keep deleted models", KERAS, Told(graphs_models=graphs(3, 90)), Told(graphs_models=graphs(3))),
    ("B4", "released", KERAS, Told(row=row()), Told(row=row((36, 9)))),
    (
        "B4",
        "as fast",
        KERAS,
        Told(speed=shows(("1 rows: 1.05 times", 0, 0), ("8 rows: 0.90 times", 0, 0))),
        Told(speed=shows(("1 rows: 3.05 times", 0, 0), ("8 rows: 0.90 times", 0, 0))),
    ),
    (
        "B5",
        "",
        KERAS,
        Told(graphs_models_True=graphs(3), graphs_models_False=graphs(0)),
        Told(graphs_models_True=graphs(3), graphs_models_False=graphs(3)),
    ),
    ("B6", "by fit", KERAS, Told(row_clear_before_load=row()), Told(row_clear_before_load=row((18, 9)))),
    ("B6", "called eagerly", KERAS, Told(row_clear_before_load=row()), Told(row_clear_before_load=row(grows=36))),
    ("B7", "by predict", KERAS, Told(row_function_scope=row()), Told(row_function_scope=row((36, 9)))),
    (
        "B8",
        "",
        KERAS,
        Told(row_complete_default=row(sizes=(100, 200, 200)), row_complete_allow_growth=row(sizes=(100, 120, 120))),
        Told(row_complete_default=row(sizes=(100, 200, 200)), row_complete_allow_growth=row(sizes=(100, 199, 199))),
    ),
    (
        "B9",
        "",
        KERAS,
        Told(row_complete=row(sizes=(100, 900, 900), native=50)),
        Told(row_complete_default=row(sizes=(100, 900, 900)), row_complete_system=row(sizes=(100, 110, 101))),
    ),
    (
        "B10",
        "",
        KERAS,
        Told(reserved=shows(("0.0100 of the memory after the import, 0.9000 after an operation", 0, 0))),
        Told(reserved=shows(("0.0100 of the memory after the import, 0.0101 after an operation", 0, 0))),
    ),
    (
        "B11",
        "",
        KERAS,
        Told(order_top=shows(("left", 0, 0)), order_before=shows(("left", 36, 9))),
        Told(order_top=shows(("left", 0, 0)), order_before=shows(("left", 0, 0))),
    ),
    (
        "C1",
        "the classifier of Keras 3",
        NEW,
        Told(load_predict_dispose=result(parity=[SAME])),
        Told(load_predict_dispose=result(parity=[APART])),
    ),
    ("C1", "the classifier of Keras 3", NEW, Told(load_predict=result(parity=[SAME])), Told(load_predict=result())),
    ("C2", "", NEW, Told(weights=shows(*ALIKE)), Told(weights=shows(*ALIKE[:3], ("trained: 3 weights, 1 byte", 0, 0)))),
    ("C2", "", KERAS, Told(weights=shows(*ALIKE)), Told(weights=shows(*ALIKE[:3], threw="fit fails"))),
    ("C3", "trained", KERAS, Told(row_complete=row()), Told(row_complete=row(grows=18))),
    ("C3", "untrained", NEW, Told(row_complete=row()), Told(row_complete=row(WEIGHTS))),
    (
        "C3",
        "untrained",
        NEW,
        Told(row_complete=row()),
        Told(row_complete=msgspec.structs.replace(row(), bystander="it lost 4 tensors")),
    ),
    (
        "B9",
        "",
        KERAS,
        Told(row_complete=row(sizes=(100, 900, 900), native=50)),
        Told(row_complete=row(sizes=(100, 99, 99), native=-100)),
    ),
    (  # it grows in no way
        "B9",
        "",
        KERAS,
        Told(row_complete=row(sizes=(100, 900, 900), native=50)),
        Told(row_complete=row(sizes=(100, 99, 100), native=0)),
    ),
    (  # the system allocator's process begins smaller, which gives nothing back
        "B9",
        "",
        KERAS,
        Told(
            row_complete_default=row(sizes=(100, 900, 900), native=50),
            row_complete_system=row(sizes=(20, 820, 820), native=50),
        ),
        Told(
            row_complete_default=row(sizes=(100, 900, 900), native=50),
            row_complete_system=row(sizes=(20, 820, 25), native=50),
        ),
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("claim", "part", "target", "so", "otherwise"),
    EITHER_WAY,
    ids=[f"{claim} {part}".strip() for claim, part, *_ in EITHER_WAY],
)
def test_a_check_says_yes_of_a_runtime_that_does_so_and_no_of_one_that_does_not(
    claim: str, part: str, target: Target, so: Told, otherwise: Told
) -> None:
    [check] = [each for each in BY_ID[claim].parts if each.name == part]
    yes, no = check.measure(so, target), check.measure(otherwise, target)
    assert yes is not None
    assert no is not None
    assert (yes.holds, no.holds) == (True, False), (yes, no)


def test_every_claim_is_tried_either_way() -> None:
    assert {claim for claim, *_ in EITHER_WAY} == set(BY_ID)


def test_the_claims_are_those_that_were_asked() -> None:
    assert [claim.id for claim in CLAIMS] == [
        *(f"A{number}" for number in range(1, 16)),
        *(f"B{number}" for number in range(1, 12)),
        "C1", "C2", "C3",
    ]  # fmt: skip


# --- verdicts


def evidence(target: str, holds: bool | None, part: str = "", *, beside: bool = False, **figures: Any) -> Evidence:
    return Evidence(target=target, scenario="s", figures=figures, part=part, holds=holds, beside=beside)


@pytest.mark.parametrize(
    ("found", "verdict", "where"),
    [
        ([evidence("tfjs@1.0.0/cpu", True), evidence("tfjs@2.0.0/cpu", True)], HOLDS, "on all 2 measured"),
        ([evidence("tfjs@1.0.0/cpu", False), evidence("tfjs@2.0.0/cpu", False)], FAILS, "on none of 2 measured"),
        (
            [evidence("tfjs@1.7.4/cpu", False), evidence("tfjs@2.0.0/cpu", True), evidence("tfjs@2.0.1/cpu", True)],
            "holds only for tfjs 2.0.0 – 2.0.1",
            "tfjs 2.0.0 – 2.0.1",
        ),
        (
            [evidence("tfjs@1.0.0/cpu", True), evidence("tfjs@2.0.0/cpu", False), evidence("tfjs@3.0.0/cpu", True)],
            "holds only for tfjs 1.0.0, tfjs 3.0.0",
            "tfjs 1.0.0, tfjs 3.0.0",
        ),
        (
            [evidence("keras", True, "eager"), evidence("keras", False, "traced")],
            "holds only for eager",
            "eager: on keras; traced: nowhere",
        ),
        (
            [evidence("keras", True), evidence("keras", False, "another thing", beside=True)],
            HOLDS,
            "on keras; another thing: nowhere",
        ),
        (  # releases that were not asked for lie between
            [evidence("tfjs@0.12.4/cpu", True), evidence("tfjs@4.22.0/cpu", True), evidence("keras", False)],
            "holds only for tfjs 0.12.4, tfjs 4.22.0",
            "tfjs 0.12.4, tfjs 4.22.0",
        ),
        (  # one between could not be measured
            [
                evidence("tfjs@1.0.0/cpu", True),
                evidence("tfjs@1.0.1/cpu", None, why="x"),
                evidence("tfjs@1.0.2/cpu", True),
                evidence("tfjs@1.0.3/cpu", False),
            ],
            "holds only for tfjs 1.0.0, tfjs 1.0.2",
            "tfjs 1.0.0, tfjs 1.0.2",
        ),
        (  # nobody knows of one part
            [evidence("keras", True, "released"), evidence("keras", None, "as fast", why="it hung")],
            "holds only for released",
            "released: on keras; as fast: not measured",
        ),
        ([evidence("keras", None, why="no such release")], UNMEASURED, "no such release"),
        ([evidence("keras", None, why="x"), evidence("tf-keras", True)], HOLDS, "on tf-keras"),
        ([], UNMEASURED, "no target that it is about was asked for"),
    ],
)
def test_the_verdict_follows_from_what_was_measured(found: list[Evidence], verdict: str, where: str) -> None:
    assert judged(found) == (verdict, where)


def test_a_claim_is_settled_on_the_targets_that_it_is_about_and_one_that_takes_long_on_the_newest() -> None:
    begun: list[tuple[str, str]] = []
    lab = Told(row=row(WEIGHTS), leak_bytes=result(), leak_heap=result(), leak_native=result())

    def told(claim: Claim, target: Target) -> None:
        begun.append((claim.id, str(target)))

    settled = settle([BY_ID["A1"], BY_ID["A12"], BY_ID["B1"]], lab, [OLD, NEW], 1, told)
    assert [(each.id, each.verdict) for each in settled] == [("A1", HOLDS), ("A12", FAILS), ("B1", UNMEASURED)]
    assert begun == [("A1", str(OLD)), ("A1", str(NEW)), ("A12", str(NEW))]
    assert lab.gone == [OLD, NEW]


def test_the_newest_release_is_so_by_its_number_whatever_the_order() -> None:
    lab = Told(leak_bytes=result(), leak_heap=result(), leak_native=result())
    [settled] = settle([BY_ID["A12"]], lab, [NEW, OLD], 1, lambda claim, target: None)
    assert {found.target for found in settled.evidence} == {str(NEW)}


def test_where_no_model_predicts_nothing_is_said_of_one_that_was_made_in_a_tidy() -> None:
    lab = Told(model_in_tidy_used=shows(threw="Argument 'a' must be a Tensor"))
    [settled] = settle([BY_ID["A11"]], lab, [OLD], 1, lambda claim, target: None)
    assert settled.verdict == UNMEASURED


def test_a_lab_that_is_over_starts_nothing_more() -> None:
    with Measuring() as lab:
        pass
    with pytest.raises(Unmeasured, match="the run is over"):
        lab.shows(NEW, "create-dispose")


def test_what_cannot_be_measured_is_said_with_why() -> None:
    [settled] = settle([BY_ID["B11"]], Told(), [KERAS], 1, lambda claim, target: None)
    assert settled.verdict == UNMEASURED
    assert "nothing is said of ('order'" in settled.where


# --- pages


def test_a_page_has_each_claim_and_targets_that_are_alike_in_one_line() -> None:
    settled = Settled(
        id="A1", verdict=HOLDS, where="everywhere", text="It | does.",
        evidence=[evidence("tfjs@1.0.0/cpu", True, tensors=4), evidence("tfjs@1.0.1/cpu", True, tensors=4)],
    )  # fmt: skip
    text = page.page([settled])
    assert "| tfjs 1.0.0 – 1.0.1 | yes | s | tensors 4 |" in text
    assert "| A1 | It \\| does. | **holds** | everywhere |" in page.readme_part([settled])


def test_backends_are_not_in_one_range_nor_are_kerases() -> None:
    assert span(["tfjs@4.21.0/wasm", "tfjs@4.22.0/cpu"]) == "tfjs 4.21.0/wasm, tfjs 4.22.0"
    assert span(["tfjs@4.21.0/cpu", "tfjs@4.22.0/cpu"]) == "tfjs 4.21.0 – 4.22.0"
    assert span(["keras", "tf-keras"]) == "keras, tf-keras"


def test_a_part_stands_between_its_marks_and_nowhere_else() -> None:
    assert replaced("a<!-- x -->old<!-- /x -->b", "x", "new") == "a<!-- x -->new<!-- /x -->b"
    with pytest.raises(NoMarks, match="<!-- x --> … <!-- /x -->"):
        replaced("nothing", "x", "new")


@pytest.mark.skipif(not is_checkout(), reason="the pages are in a checkout")
def test_the_committed_pages_are_what_the_command_makes_of_the_committed_data(tmp_path: Path) -> None:
    data, readme = CHECKOUT / "docs" / "claims.json", CHECKOUT / "README.md"
    copy, written = tmp_path / "README.md", tmp_path / "claims.md"
    copy.write_text(readme.read_text(encoding="utf-8").replace("**holds**", "**fails**"), encoding="utf-8")
    done = CliRunner().invoke(main, ["claims", "--from", str(data), "--readme", str(copy), "--page", str(written)])
    assert done.exit_code == 0, done.output
    assert copy.read_text(encoding="utf-8") == readme.read_text(encoding="utf-8")
    assert written.read_text(encoding="utf-8") == (CHECKOUT / "docs" / "claims.md").read_text(encoding="utf-8")


@pytest.mark.skipif(not is_checkout(), reason="the data are in a checkout")
def test_no_claim_is_left_without_a_verdict() -> None:
    settled = read(CHECKOUT / "docs" / "claims.json")
    assert [each.id for each in settled] == list(BY_ID)
    assert [each.id for each in settled if each.verdict == UNMEASURED] == []
    for each in settled:
        assert judged(each.evidence) == (each.verdict, each.where), each.id


# --- the command


def run(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["claims", *arguments])
    return done.exit_code, done.output


def test_bad_input_is_refused_with_what_there_is(tmp_path: Path) -> None:
    status, said = run("A99")
    assert status == 2
    assert "no claim 'A99'; there are: A1, A2" in said
    broken = tmp_path / "broken.json"
    broken.write_text("{}", encoding="utf-8")
    status, said = run("--from", str(broken))
    assert status == 2
    assert "no claims can be read from it" in said
    broken.write_text(json.dumps({"schema": "tensorledger/results/1", "claims": []}), encoding="utf-8")
    status, said = run("--from", str(broken))
    assert status == 2
    assert "its schema is tensorledger/results/1" in said
    status, said = run("A5", "--from", str(broken), "--readme", str(tmp_path / "none.md"))
    assert status == 2
    assert "a page is written of all claims" in said
    unmarked = tmp_path / "unmarked.md"
    unmarked.write_text("nothing", encoding="utf-8")
    broken.write_text(json.dumps({"schema": "tensorledger/claims/1", "claims": []}), encoding="utf-8")
    status, said = run("--from", str(broken), "--readme", str(unmarked))
    assert status == 2
    assert "there is no <!-- claims -->" in said
    assert unmarked.read_text(encoding="utf-8") == "nothing"

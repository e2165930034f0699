"""Rows of the recipes table on TensorFlow.js, and the command that draws the table."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner
from outcomes import CHECKOUT, cycle
from packaging.version import Version

from tensorledger.atlas.measure import counting
from tensorledger.cli import main
from tensorledger.environment import packages
from tensorledger.environment.tree import is_checkout
from tensorledger.protocol.messages import RECIPES, Frame, Outcome, Thrown
from tensorledger.recipes.javascript import MODELS, USAGES, row_of, rows, takes
from tensorledger.recipes.page import part
from tensorledger.recipes.row import HARMED, SCHEMA, Left, Row
from tensorledger.recipes.table import advice, groups, reasons, works
from tensorledger.targets.catalogue import default
from tensorledger.targets.target import Target
from tensorledger.workers.pool import Workers

NEW = Target("tfjs", "4.22.0", "cpu")
OLD = Target("tfjs", "0.12.4", "cpu")
PINNED = [target for target in default() if target.name == "tfjs"]

needs_packages = pytest.mark.skipif(not packages.installed(), reason="npm packages are not installed: make setup")


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    with counting() as found:
        yield found


def one(model: str | Path, target: Target, recipe: str, usage: str, workers: Workers) -> Row:
    [row] = rows(str(model), target, [recipe], [usage], workers)
    return row


# --- what a release cannot make or train, as it says itself
CANNOT = {
    "extractor": "tf.layers.layerNormalization is not a function",
    "recurrent": "stateful RNN layer is not implemented yet",
}


@needs_packages
@pytest.mark.parametrize("target", [OLD, PINNED[3], NEW], ids=str)
def test_complete_leaves_nothing_of_any_model_and_a_bystander_all_it_had(target: Target, workers: Workers) -> None:
    for model in MODELS:
        for row in rows(model, target, ["complete"], USAGES, workers):
            if not row.applies:
                assert CANNOT[model] in row.reason, row
            else:
                assert row.error is None, row
                assert row.left == Left(tensors=0, bytes=0, buffers=0), row
                assert row.bystander == "kept", row


@needs_packages
def test_what_each_recipe_leaves_of_a_trained_classifier(workers: Workers) -> None:
    found = {row.recipe: row for row in rows("classifier", NEW, RECIPES["js"], ["trained"], workers)}
    assert {recipe: row.left and (row.left.tensors, row.left.bytes) for recipe, row in found.items()} == {
        "dispose": (0, 0),
        "walk-weights": (10, 1_628_248),
        "walk-values": (10, 1_628_248),
        "dispose-variables": (0, 0),
        "engine-scope": (14, 2_442_368),
        "tidy": None,
        "drop-reference": (14, 2_442_368),
        "complete": (0, 0),
    }
    assert "it predicts no more" in (found["dispose-variables"].bystander or "")
    assert not found["tidy"].applies
    assert "asynchronous" in found["tidy"].reason
    assert found["drop-reference"].growth is not None
    assert found["drop-reference"].growth.tensors == 14


@needs_packages
def test_a_method_that_a_release_lacks_makes_the_recipe_one_that_does_not_apply(workers: Workers) -> None:
    for recipe, method in (("dispose", "model.dispose"), ("walk-weights", "weight.dispose")):
        row = one("classifier", OLD, recipe, "made", workers)
        assert (row.applies, row.left) == (False, None)
        assert f"{method} is not a function" in row.reason


@needs_packages
def test_a_model_of_one_s_own_is_made_by_a_file_or_loaded_from_a_folder(tmp_path: Path, workers: Workers) -> None:
    own = tmp_path / "own model.mjs"
    own.write_text(
        "export default tf => tf.sequential({layers: [tf.layers.dense({inputShape: [3], units: 2})]});\n",
        encoding="utf-8",
    )
    assert takes(str(own))
    assert one(own, NEW, "drop-reference", "made", workers).left == Left(tensors=2, bytes=32, buffers=2)
    for usage in USAGES:
        assert works(one(own, NEW, "complete", usage, workers))


@needs_packages
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("export default 3;", "exports no function as default"),
        ("export default () => {\n  throw new Error('none today');\n};", "none today"),
        ("export default tf => {", "Unexpected end of input"),
    ],
)
def test_a_file_that_makes_no_model_does_not_apply_and_says_why(
    tmp_path: Path, workers: Workers, text: str, said: str
) -> None:
    own = tmp_path / "own.mjs"
    own.write_text(text, encoding="utf-8")
    row = one(own, NEW, "complete", "made", workers)
    assert not row.applies
    assert said in row.reason


@needs_packages
def test_complete_that_left_something_would_be_seen(workers: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check can fail: by a recipe that leaves the optimizer, the row is not one that works."""
    row = one("classifier", NEW, "walk-weights", "trained", workers)
    assert not works(row)
    plain = one("classifier", NEW, "complete", "trained", workers)
    assert works(plain)
    assert not works(msgspec.structs.replace(plain, bystander="it lost 2 of its 14 tensors"))


# --- the page


def lines_of(page: str, usage: str) -> dict[str, list[str]]:
    """The lines of the classifier's table for a usage, by the releases that they are of."""
    _, _, rest = page.partition(f"**classifier, {usage}**")
    table = rest.partition("**classifier,")[0]
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if line.startswith("|")
    ]
    return {label: found for label, *found in cells[2:]}


def within(label: str, release: str) -> bool:
    first, _, last = label.partition(" (")[0].partition(" – ")
    return Version(first) <= Version(release) <= Version(last or first)


@needs_packages
@pytest.mark.skipif(not is_checkout(), reason="the page is in a checkout")
@pytest.mark.parametrize("target", [OLD, NEW], ids=str)
def test_the_committed_page_is_what_the_rows_say(target: Target, workers: Workers) -> None:
    page = (CHECKOUT / "docs" / "releasing-a-tf-model.md").read_text(encoding="utf-8")
    measured = part(list(rows("classifier", target, RECIPES["js"], USAGES, workers)), "js")
    for usage in USAGES:
        [(_, said)] = lines_of(measured, usage).items()
        committed = [found for label, found in lines_of(page, usage).items() if within(label, str(target.version))]
        assert committed == [said], usage


# --- a row, from what a worker says


def thrown(kind: str, message: str, file: str = "js/recipes/used.mjs") -> Thrown:
    at = Frame(function="f", file=file, line=1, column=1, of="harness")
    return Thrown(type=kind, message=message, checkpoint=None, stack=[at])


def outcome(*cycles: object, **other: object) -> Outcome:
    said = {"recipe": "dispose", "agreements": [], "not_applicable": None, "running": [], "error": None, **other}
    return Outcome(cycles=list(cycles), **said)  # type: ignore[arg-type]


def test_harm_to_the_bystander_is_told_and_is_no_error() -> None:
    harmed = cycle(thrown(HARMED, "it lost 4 of its 14 tensors"), end={"tensors": 0})
    row = row_of(outcome(harmed, harmed), "classifier", NEW, "dispose-variables", "made")
    assert row.error is None
    assert row.bystander == "it lost 4 of its 14 tensors"


def test_any_other_throw_is_the_row_s_error_and_what_is_left_is_told_all_the_same() -> None:
    broke = cycle(thrown("Error", "no"), end={"tensors": 3, "bytes": 12, "buffers": 3})
    row = row_of(outcome(broke, broke), "classifier", NEW, "dispose", "made")
    assert row.error is not None
    assert (row.error.message, row.bystander, row.left) == ("no", None, Left(tensors=3, bytes=12, buffers=3))


def test_what_is_left_is_of_the_cycle_that_left_most_the_warm_up_aside() -> None:
    ends: list[dict[str, int]] = [{"tensors": left, "bytes": 4 * left, "buffers": left} for left in (9, 1, 3, 0)]
    row = row_of(outcome(*(cycle(end=end) for end in ends)), "classifier", NEW, "dispose", "made")
    assert row.left == Left(tensors=3, bytes=12, buffers=3)


def test_only_the_recipe_s_own_missing_method_makes_it_not_apply() -> None:
    said = "model.dispose is not a function"
    own = cycle(thrown("TypeError", said, "js/lifecycle/recipes.mjs"))
    other = cycle(thrown("TypeError", said))
    assert not row_of(outcome(own), "classifier", NEW, "dispose", "made").applies
    assert row_of(outcome(other), "classifier", NEW, "dispose", "made").applies


# --- the table


def row(
    target: str, recipe: str, left: tuple[int, int] | None, reason: str = "", bystander: str | None = "kept"
) -> Row:
    amount = None if left is None else Left(tensors=left[0], bytes=left[1], buffers=left[0])
    return Row(
        model="classifier", language="js", target=target, recipe=recipe, usage="made", left=amount, error=None,
        applies=left is not None, reason=reason, bystander=bystander,
    )  # fmt: skip


def test_targets_that_are_alike_in_every_recipe_share_a_line() -> None:
    found = [
        row("tfjs@1.0.0/cpu", "dispose", (4, 9)), row("tfjs@1.0.0/cpu", "complete", (0, 0)),
        row("tfjs@2.0.0/cpu", "dispose", (0, 0)), row("tfjs@2.0.0/cpu", "complete", (0, 0)),
        row("tfjs@3.0.0/cpu", "dispose", (0, 0)), row("tfjs@3.0.0/cpu", "complete", (0, 0)),
        row("tfjs@4.0.0/cpu", "dispose", (0, 0)), row("tfjs@4.0.0/cpu", "complete", (1, 4)),
    ]  # fmt: skip
    [group] = groups(found)
    assert [line.label for line in group.lines] == ["1.0.0", "2.0.0 – 3.0.0 (2)", "4.0.0"]
    assert [advice(line) for line in group.lines] == ["complete", "dispose", "dispose"]
    text = part(found, "js")
    assert "| 1.0.0 | 4 · 9 | 0 | complete |" in text
    assert "| 2.0.0 – 3.0.0 (2) | 0 | 0 | dispose |" in text


def test_both_kerases_are_named_where_they_are_alike() -> None:
    found = [
        msgspec.structs.replace(row(name, "complete", (0, 0)), language="py", allocator="default")
        for name in ("keras", "tf-keras")
    ]
    [group] = groups(found)
    assert [line.label for line in group.lines] == ["keras, tf-keras"]


def test_what_harms_or_throws_is_not_advised_and_is_told() -> None:
    found = [
        row("tfjs@1.0.0/cpu", "dispose", None, reason="there is no such method"),
        row("tfjs@1.0.0/cpu", "dispose-variables", (0, 0), bystander="it lost 2 of its 14 tensors"),
        row("tfjs@1.0.0/cpu", "drop-reference", (4, 9)),
    ]
    [group] = groups(found)
    assert advice(group.lines[0]) == "none of these"
    assert reasons(found) == [
        "dispose: there is no such method (classifier, made)",
        "dispose-variables: the model beside it: it lost 2 of its 14 tensors (classifier, made)",
    ]
    assert "| 1.0.0 | – | 0 ✗ | 4 · 9 | none of these |" in part(found, "js")


# --- the command


@needs_packages
@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        ("export default () => {\n  throw new Error('none today');\n};", 2, "none today"),
        (
            "export default tf => {\n"
            "  const model = tf.sequential({layers: [tf.layers.dense({units: 2, inputShape: [5]})]});\n"
            "  model.dispose = () => {};\n"
            "  model.layers[0]._trainableWeights[0].val.dispose = () => {};\n"
            "  return model;\n};",
            1,
            "made",
        ),
    ],
    ids=["a model that cannot be made", "one that complete does not release"],
)
def test_the_exit_status_says_what_came_of_a_model_of_one_s_own(
    tmp_path: Path, text: str, status: int, said: str
) -> None:
    own = tmp_path / "own.mjs"
    own.write_text(text, encoding="utf-8")
    found, output = run(str(own), "--target", str(NEW), "--usage", "made", "--recipe", "complete")
    assert said in output
    assert found == status, output


def run(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["recipes", *arguments])
    return done.exit_code, done.output


@needs_packages
def test_the_command_draws_the_table_and_writes_rows_and_a_page(tmp_path: Path) -> None:
    file, page = tmp_path / "r.json", tmp_path / "page.md"
    page.write_text("before <!-- recipes js -->old<!-- /recipes js --> after", encoding="utf-8")
    status, said = run("narrow", "--target", str(NEW), "--usage", "made", "--json", str(file), "--page", str(page))
    assert status == 0, said
    assert "narrow, made" in said
    written = json.loads(file.read_text(encoding="utf-8"))
    assert written["schema"] == SCHEMA
    assert [found["recipe"] for found in written["rows"]] == list(RECIPES["js"])
    assert set(written["rows"][0]) >= {"model", "language", "target", "recipe", "applies", "left", "error"}
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before <!-- recipes js -->")
    assert "| 4.22.0 | 0 | 0 | 0 | 0 ✗ | 4 · 31,840 | 4 · 31,840 | 4 · 31,840 | 0 | dispose |" in text


def test_bad_input_is_refused_with_what_there_is(tmp_path: Path) -> None:
    for arguments, expected in (
        (["nothing-like-this"], "the zoo has classifier"),
        ([str(tmp_path / "absent.mjs")], "no model"),
        (["classifier", "--recipe", "forget"], "no recipe 'forget'"),
        (["classifier", "--usage", "eaten"], "Invalid value for '--usage'"),
        (["narrow", "--target", "keras"], "nothing to run: narrow"),
        (["classifier", "--target", "tfjs", "--usage", "fit"], "nothing to run"),
        (["narrow", "--target", "tfjs", "--page", str(tmp_path / "none.md")], "No such file"),
    ):
        status, said = run(*arguments)
        assert status == 2, said
        assert expected in said, said

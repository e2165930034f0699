"""Both sides check the same messages: the schema in the tree is Python's own, and JavaScript holds to it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from msgspec import inspect

from tensorledger.environment.node import node
from tensorledger.environment.packages import modules
from tensorledger.environment.tree import tree
from tensorledger.protocol.messages import METHODS, PROTOCOL, Message
from tensorledger.protocol.schema import JAVASCRIPT, path, schema

MESSAGES = [(method, side) for method in JAVASCRIPT for side in ("params", "result")]

# Prints, for each [method, side, value] of the input, what is wrong with it, or null.
CHECK = """
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
const [check_mjs, schema, modules] = process.argv.slice(2);
const {checker} = await import(check_mjs);
const {Validator} = createRequire(`${modules}/`)('@cfworker/json-schema');
const check = checker(JSON.parse(readFileSync(schema, 'utf8')), Validator);
console.log(JSON.stringify(JSON.parse(readFileSync(0, 'utf8')).map(([method, side, value]) => {
  try {
    if (check(method, side, value) !== value) return 'it did not return the value';
    return null;
  } catch (error) {
    return `${error.name}: ${error.message}`;
  }
})));
"""

WRONG: dict[type[inspect.Type], list[Any]] = {
    inspect.IntType: ["1", 1.5, True, None, [], {}],
    inspect.FloatType: ["1.5", False, None, [], {}],
    inspect.StrType: [12, True, None, [], {}],
    inspect.BoolType: ["true", 1, None, [], {}],
    inspect.ListType: ["a", 1, None, {}],
    inspect.DictType: ["a", 1, None, []],
    inspect.StructType: ["a", 1, None, []],
}
"""What is not of a type; None is dropped where the field may be null."""


def kind(method: str, side: str) -> type[Message]:
    return METHODS[method][0 if side == "params" else 1]


def good(it: inspect.Type, *, null: bool = False) -> Any:
    """Make a value of a type, with something in every list and dict; ``null``: with null wherever it may be."""
    match it:
        case inspect.UnionType(types=types):
            some = next(one for one in types if not isinstance(one, inspect.NoneType))
            return None if null and len(types) > 1 else good(some, null=null)
        case inspect.StructType(fields=fields):
            return {field.encode_name: good(field.type, null=null) for field in fields}
        case inspect.ListType(item_type=item):
            return [good(item, null=null)]
        case inspect.DictType(value_type=value):
            return {"key": good(value, null=null)}
        case inspect.IntType():
            return 3
        case inspect.FloatType():
            return 0.25
        case inspect.StrType():
            return "text"
        case inspect.BoolType():
            return True
        case inspect.AnyType():
            return {"any": [1, None]}
    raise NotImplementedError(it)


def bad(it: inspect.Type, place: str = "") -> Iterator[tuple[str, Any]]:
    """Yield values that are wrong in one place each, with what was done and where."""
    if isinstance(it, inspect.UnionType):
        some = next(one for one in it.types if not isinstance(one, inspect.NoneType))
        yield from ((how, value) for how, value in bad(some, place) if value is not None)
        return
    yield from ((f"{place or '.'} = {value!r}", value) for value in WRONG.get(type(it), []))
    if isinstance(it, inspect.StructType):
        whole = good(it)
        yield f"{place}.unknown added", {**whole, "unknown": 1}
        for field in it.fields:
            name = field.encode_name
            if field.required:
                yield f"{place}.{name} missing", {key: value for key, value in whole.items() if key != name}
            yield from ((how, {**whole, name: value}) for how, value in bad(field.type, f"{place}.{name}"))
    elif isinstance(it, inspect.ListType):
        yield from ((how, [good(it.item_type), value]) for how, value in bad(it.item_type, f"{place}[1]"))
    elif isinstance(it, inspect.DictType):
        yield from ((how, {"key": value}) for how, value in bad(it.value_type, f"{place}.key"))


def taken_by_python(method: str, side: str, value: Any) -> bool:
    try:
        msgspec.json.decode(json.dumps(value), type=kind(method, side))
    except msgspec.ValidationError:
        return False
    return True


@pytest.fixture(scope="module")
def javascript(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str | None]:
    """Say what the JavaScript checker said to every message tried, by method, side and value."""
    cases = [
        [method, side, value]
        for method, side in MESSAGES
        for value in (*goods(method, side).values(), *bads(method, side).values())
    ]
    script = tmp_path_factory.mktemp("check") / "check.mjs"
    script.write_text(CHECK, encoding="utf-8")
    command = [node(), script, tree() / "js" / "protocol" / "check.mjs", path(), modules()]
    done = subprocess.run(command, input=json.dumps(cases), capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return {json.dumps(case): said for case, said in zip(cases, json.loads(done.stdout), strict=True)}


def goods(method: str, side: str) -> dict[str, Any]:
    described = inspect.type_info(kind(method, side))
    return {"full": good(described), "with nulls": good(described, null=True)}


def bads(method: str, side: str) -> dict[str, Any]:
    return dict(bad(inspect.type_info(kind(method, side))))


def test_the_schema_in_the_tree_is_what_python_generates() -> None:
    again = "; run: python -m tensorledger.protocol.schema"
    assert path().read_text(encoding="utf-8") == schema(), f"{path()} is not up to date{again}"


def test_the_schema_names_the_protocols_version_and_every_method_of_javascripts() -> None:
    document = json.loads(schema())
    assert document["protocol"] == PROTOCOL
    assert list(document["methods"]) == list(JAVASCRIPT)


@pytest.mark.parametrize(("method", "side"), MESSAGES)
def test_both_sides_take_what_is_as_agreed(method: str, side: str, javascript: dict[str, str | None]) -> None:
    for how, value in goods(method, side).items():
        assert taken_by_python(method, side, value), how
        assert javascript[json.dumps([method, side, value])] is None, how


@pytest.mark.parametrize(("method", "side"), MESSAGES)
def test_both_sides_refuse_every_field_unknown_missing_or_of_another_type(
    method: str, side: str, javascript: dict[str, str | None]
) -> None:
    tried = bads(method, side)
    assert ".unknown added" in tried
    for how, value in tried.items():
        assert not taken_by_python(method, side, value), f"Python takes {how}"
        said = javascript[json.dumps([method, side, value])]
        assert said is not None, f"JavaScript takes {how}"
        assert said.startswith(f'TypeError: protocol: the {side} of "{method}" are not as agreed'), how


def test_what_is_tried_reaches_into_every_message_type() -> None:
    tried = " ".join(how for method, side in MESSAGES for how in bads(method, side))
    for place in (".cycles[1].checkpoints[1].reading.tensors missing", ".cycles[1].thrown.stack[1].unknown added"):
        assert place in tried
    assert len(tried) > 5000

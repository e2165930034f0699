"""The files that a report is made of, each told by its schema: results, checks, recipe tables, the atlas."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from tensorledger.atlas.data import SCHEMA as ATLAS
from tensorledger.atlas.data import Atlas
from tensorledger.checking.checked import SCHEMA as CHECK
from tensorledger.checking.checked import Checked
from tensorledger.recipes.row import SCHEMA as RECIPES
from tensorledger.recipes.row import Row
from tensorledger.results.result import SCHEMA as RESULTS
from tensorledger.results.result import Result


class BadFile(Exception):
    """A file that no report can be made of; the message names it, and says what to do."""


class NoNumber(ValueError):
    """NaN, or an infinity, which Python writes and JSON has not; or a number beyond all counts."""


class Environment(msgspec.Struct, frozen=True):
    """Where results are from; null what was not told."""

    tensorledger: str | None = None
    node: str | None = None
    python: str | None = None
    platform: str | None = None
    date: str | None = None
    """When they were written, in UTC."""
    targets: dict[str, dict[str, str]] = {}
    """What each target's worker said it is."""


class Results(msgspec.Struct, frozen=True):
    """What ``run --json`` and ``pytest harness --results`` write."""

    results: list[Result]
    environment: Environment = Environment()


class Recipes(msgspec.Struct, frozen=True):
    """What ``recipes --json`` writes."""

    rows: list[Row]


Content = Results | Recipes | Checked | Atlas

KINDS: dict[str, type[Content]] = {RESULTS: Results, RECIPES: Recipes, CHECK: Checked, ATLAS: Atlas}
"""What a report takes, by schema."""


def read(path: Path) -> Content:
    """Return a file's content. Raises BadFile."""
    try:
        written: Any = json.loads(path.read_text(encoding="utf-8"), parse_constant=_no_number, parse_int=_counted)
    except OSError as error:
        raise BadFile(f"{path} could not be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise BadFile(f"{path} is no file of results: it is not text") from error
    except json.JSONDecodeError as error:
        if not error.doc.strip():
            raise BadFile(f"{path} is empty: was what wrote it interrupted?") from error
        at = f"line {error.lineno}, column {error.colno}"
        if error.pos >= len(error.doc.rstrip()) or error.msg.startswith("Unterminated"):
            raise BadFile(f"{path} is cut off at {at}: was what wrote it interrupted?") from error
        raise BadFile(f"{path} is not JSON: {at}: {error.msg}") from error
    except NoNumber as error:
        raise BadFile(f"{path} is not JSON: {error} is no number there") from error
    except RecursionError as error:
        raise BadFile(f"{path} is no file of results: it is nested too deeply") from error
    except ValueError as error:  # such as an integer of more digits than Python takes
        raise BadFile(f"{path} is not JSON: {error}") from error
    schema = written.get("schema") if isinstance(written, dict) else None
    if not isinstance(schema, str) or schema not in KINDS:
        raise BadFile(f"{path}: {_other(schema)}")
    try:
        content = msgspec.convert(_writable(written), KINDS[schema])
    except (msgspec.ValidationError, ValueError) as error:  # an infinity, which 1e999 is
        raise BadFile(f"{path} is not as {schema} has it: {error}") from error
    if isinstance(content, Atlas) and not content.is_whole:
        raise BadFile(f"{path}: it has ranges of releases that it does not list")
    return content


MOST = 2**63
"""What no count of anything comes near, and what a float still holds."""


def _counted(written: str) -> int:
    number = int(written)
    if abs(number) > MOST:
        raise NoNumber(f"a number of {len(written)} digits")
    return number


def _no_number(written: str) -> None:
    raise NoNumber(written)


def _writable(written: Any) -> Any:
    """Return JSON with no half of a character in it, which JavaScript may have and no file can hold."""
    text = json.dumps(written, ensure_ascii=False, allow_nan=False)
    whole = text.encode("utf-8", "replace").decode("utf-8")
    return written if whole == text else json.loads(whole)


def _other(schema: object) -> str:
    """Say what a file is that no report is made of."""
    if not isinstance(schema, str):
        return "no file of tensorledger's: it has no schema"
    for known in KINDS:
        name, _, number = known.rpartition("/")
        other, _, theirs = schema.rpartition("/")
        if name == other and theirs.isdecimal() and len(theirs) < 10:
            what = "a newer tensorledger wrote it" if int(theirs) > int(number) else "an older tensorledger wrote it"
            do = "report with that one" if int(theirs) > int(number) else "run it again"
            return f"its schema is {schema}, and {known} is what is read here: {what}; {do}"
    return f"its schema is {schema!r}; a report is made of {', '.join(KINDS)}"

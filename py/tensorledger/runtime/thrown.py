"""What was thrown, in the protocol's words: type, message, and the stack from the user's innermost frame on."""

from __future__ import annotations

import sysconfig
import traceback
from pathlib import Path

import tensorledger
from tensorledger.environment.tree import shown, tree
from tensorledger.protocol.messages import Frame, Thrown

_PACKAGE = Path(tensorledger.__file__).resolve().parent
_LIBRARIES = tuple(Path(sysconfig.get_path(name)).resolve() for name in ("purelib", "platlib", "stdlib"))


def describe(error: BaseException, checkpoint: str | None) -> Thrown:
    """Return what a scenario threw after ``checkpoint``."""
    frames = [_frame(line.name, line.filename, line.lineno, _from_one(line.colno)) for line in _stack(error)]
    if isinstance(error, SyntaxError) and error.filename:
        frames.insert(0, _frame("", error.filename, error.lineno, error.offset))
    user = next((index for index, frame in enumerate(frames) if frame.of == "user"), 0)
    # What is half a character can be in a string, and not in a message.
    message = str(error).encode("utf-8", "replace").decode("utf-8")
    return Thrown(type=type(error).__name__, message=message, checkpoint=checkpoint, stack=frames[user:])


def _stack(error: BaseException) -> list[traceback.FrameSummary]:
    return list(reversed(traceback.extract_tb(error.__traceback__)))


def _frame(function: str, file: str, line: int | None, column: int | None) -> Frame:
    return Frame(function=function, file=shown(file), line=line, column=column, of=whose(Path(file)))


def _from_one(column: int | None) -> int | None:
    """Count columns from 1, as editors, JavaScript and Python's own syntax errors do."""
    return None if column is None else column + 1


def whose(path: Path) -> str:
    """Say whose a source file is: "user", "library" or "harness"."""
    if not path.is_absolute():
        return "library"  # <string>, <frozen importlib>: no file that a person could open
    if path.is_relative_to(tree() / "py" / "scenarios"):
        return "user"
    if str(path).startswith("<frozen "):  # Python's own import machinery, which lies between an import and its module
        return "library"
    if path.is_relative_to(_PACKAGE):
        return "harness"
    return "library" if any(path.is_relative_to(library) for library in _LIBRARIES) else "user"

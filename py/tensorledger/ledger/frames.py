"""Whose a line of code is, and stacks that are cheap to take and are spelt out only when someone looks at them."""

from __future__ import annotations

import site
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Literal

import tensorledger
from tensorledger.environment.tree import shown, tree
from tensorledger.protocol.messages import Frame

Frames = Literal["user", "all", "none"]
"""What is kept of where a tensor was made: the user's innermost frame, all from there to the outermost, nothing."""

Stack = tuple[CodeType | int, ...]
"""Code and the offset of the instruction in it, by turns, from the innermost frame out."""

_PACKAGE = Path(tensorledger.__file__).resolve().parent
_LIBRARIES = tuple(
    Path(folder).resolve()
    for folder in (
        *(sysconfig.get_path(name) for name in ("purelib", "platlib", "stdlib", "platstdlib")),
        *site.getsitepackages(),
        site.getusersitepackages(),
    )
)
_INSTALLED = frozenset(("site-packages", "dist-packages"))
_CONVERTED = "__autograph_generated_file"
_TYPED = ("<stdin>", "<console>", "<ipython-input", "<python-input")
_DEPTH = 200
"""Frames of one stack that are kept."""


def whose(path: Path) -> str:
    """Say whose a source file is: "user", "library" or "harness"."""
    if not path.is_absolute():
        # <string>, <frozen importlib>: no file that a person could open. What a person types in is theirs.
        return "user" if str(path).startswith(_TYPED) else "library"
    if path.is_relative_to(tree() / "py" / "scenarios"):
        return "user"
    if str(path).startswith("<frozen "):  # Python's own import machinery, which lies between an import and its module
        return "library"
    if path.is_relative_to(_PACKAGE):
        return "harness"
    if _CONVERTED in path.name:
        return "library"  # where it comes from is looked up, where TensorFlow tells
    if not _INSTALLED.isdisjoint(path.parts):
        return "library"  # of another environment, which is on this one's path
    places = {path, path.resolve()}  # an environment may have been come to through a link
    return "library" if any(place.is_relative_to(library) for place in places for library in _LIBRARIES) else "user"


def frame(function: str, file: str, line: int | None, column: int | None) -> Frame:
    """Return a frame as it is told."""
    return Frame(function=function, file=shown(file), line=line, column=column, of=whose(Path(file)))


def from_user(frames: list[Frame]) -> list[Frame]:
    """Leave out what lies inside the user's innermost frame; all of them stay where none is the user's."""
    user = next((index for index, one in enumerate(frames) if one.of == "user"), 0)
    return frames[user:]


def from_one(column: int | None) -> int | None:
    """Count columns from 1, as editors, JavaScript and Python's own syntax errors do."""
    return None if column is None else column + 1


def taker(kept: Frames) -> Callable[[], Stack]:
    """Return a function that takes the stack of the code that made a tensor, as seen from the hook of this package.

    Equal stacks are one object.
    """
    stacks: dict[tuple[int, ...], Stack] = {}
    users: dict[str, bool] = {}

    def user(code: CodeType) -> bool:
        found = users[code.co_filename] = _is_users(code.co_filename)
        return found

    def innermost() -> Stack:
        frame: FrameType | None = sys._getframe(2)
        while frame is not None:
            code = frame.f_code
            mine = users.get(code.co_filename)
            if mine or (mine is None and user(code)):
                at = frame.f_lasti
                key = (id(code), at)
                # The value holds the code, so that no other one can come to its address.
                return stacks.get(key) or stacks.setdefault(key, (code, at))
            frame = frame.f_back
        return ()

    def outward() -> Stack:
        start: FrameType | None = sys._getframe(2)
        frame = start
        while frame is not None:
            code = frame.f_code
            mine = users.get(code.co_filename)
            if mine or (mine is None and user(code)):
                break
            frame = frame.f_back
        frame = frame or start
        codes: list[CodeType] = []
        places: list[int] = []
        while frame is not None and len(codes) < _DEPTH:
            codes.append(frame.f_code)
            places.append(frame.f_lasti)
            frame = frame.f_back
        key = (*map(id, codes), *places)
        found = stacks.get(key)
        if found is None:
            found = stacks.setdefault(key, tuple(part for pair in zip(codes, places, strict=True) for part in pair))
        return found

    return {"user": innermost, "all": outward, "none": tuple}[kept]


def spelt_out(stack: Stack) -> list[Frame]:
    """Return the frames of a stack that was taken, from the user's innermost to the user's outermost one."""
    frames = []
    for code, at in zip(stack[::2], stack[1::2], strict=True):
        assert isinstance(code, CodeType) and isinstance(at, int)
        line, column = _position(code, at)
        origin = _origins(code.co_filename).get(line) if _CONVERTED in code.co_filename else None
        if origin is not None:
            frames.append(frame(origin.function_name or code.co_name, origin.loc.filename, origin.loc.lineno, None))
        else:
            frames.append(frame(code.co_name, code.co_filename, line, column))
    frames = from_user(frames)
    outermost = max((index for index, one in enumerate(frames) if one.of == "user"), default=len(frames))
    return frames[: outermost + 1]


def _position(code: CodeType, at: int) -> tuple[int | None, int | None]:
    if sys.version_info < (3, 11):  # it keeps no columns
        lines = (line for start, end, line in code.co_lines() if start <= at < end)
        return next(lines, code.co_firstlineno), None
    positions = list(code.co_positions())
    line, _, column, _ = (
        positions[at // 2] if 0 <= at // 2 < len(positions) else (code.co_firstlineno, None, None, None)
    )
    return line, from_one(column)


def _is_users(file: str) -> bool:
    if _CONVERTED in file:
        origins = _origins(file)
        return any(whose(Path(origin.loc.filename)) == "user" for origin in list(origins.values())[:1])
    return whose(Path(file)) == "user"


def _origins(file: str) -> dict[int | None, Any]:
    """Return where each line of a file that AutoGraph wrote comes from; nothing where TensorFlow does not tell.

    It is read from TensorFlow's own cache of converted functions (private).
    """
    try:
        from tensorflow.python.autograph.impl import api

        for factories in list(api._TRANSPILER._cache._cache.values()):
            for factory in factories.values():
                if factory.module.__file__ == file:
                    return {
                        place.lineno: origin for place, origin in factory.source_map.items() if place.filename == file
                    }
    except Exception:
        pass
    return {}

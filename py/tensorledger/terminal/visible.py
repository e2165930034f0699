"""Text of others made visible: what a terminal would obey is shown by a sign, and what it cannot show by another."""

from __future__ import annotations

import codecs
from typing import TextIO

_SIGNS = {
    **{code: 0x2400 + code for code in range(0x20) if chr(code) not in "\n\t"},
    0x7F: 0x2421,
    **dict.fromkeys((*range(0x80, 0xA0), 0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A)), 0xFFFD),
    **dict.fromkeys(range(0xD800, 0xE000), 0xFFFD),
}
"""Control characters, those that turn the direction of writing, and halves of characters: each becomes one."""
_PLAIN = {
    "✓": "+", "≠": "~", "◎": "o", "✗": "x", "–": "-", "•": "*", "…": "...", "×": "x", "→": "->", "█": "#", "·": ".",
    "±": "+-", "†": "+", "░": ".", "▁": "_",
}  # fmt: skip
"""Our own signs where only ASCII can be written: told apart still."""
REPLACED = "tensorledger.replaced"


def visible(text: str) -> str:
    """Return text that moves no cursor, rings no bell, changes no title, and hides nothing; of the same length."""
    return text.translate(_SIGNS)


def _replaced(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return "".join(_PLAIN.get(sign, "?") for sign in error.object[error.start : error.end]), error.end


codecs.register_error(REPLACED, _replaced)


def forgiving(stream: TextIO | None) -> None:
    """Let a stream write another sign for what its encoding has not."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors=REPLACED)

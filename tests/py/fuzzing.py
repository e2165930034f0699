"""How long tests look for what breaks something: the same few inputs each time, or ``FUZZ`` times as many new ones.

``FUZZ=50 pytest tests/py/test_fuzz_channel.py`` looks deeper; ``--hypothesis-seed`` says where from.
"""

from __future__ import annotations

import copy
import os
import random
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from hypothesis import HealthCheck, Phase, settings

DEEPER = int(os.environ.get("FUZZ", "0"))


def examples(count: int, *, shrink: bool = True) -> settings:
    """Return how a test is run on so many inputs. ``shrink``: whether what breaks it is made smaller first."""
    return settings(
        max_examples=count * max(1, DEEPER),
        derandomize=not DEEPER,
        deadline=None,
        database=None,
        print_blob=bool(DEEPER),
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, *([Phase.shrink] if shrink else [])],
    )


ODD: list[Any] = [
    None, True, False, 0, 1, -1, 2, 2**31, 2**53 + 1, 2**63 - 1, 2**63, 10**400, -(2**70), 0.5, -0.0, 1e308,
    float("nan"), float("inf"), "", "end", "x" * 5000, "\x1b[2J", "\ud800", "../../etc/passwd", "/etc/passwd", "http://localhost/x",
    "__proto__", "constructor", [], {}, [None], [[]], [-1], {"__proto__": {"x": 1}}, {"class_name": "Dense"}, "NaN",
]  # fmt: skip
"""What stands where something else was expected."""


def deep(levels: int) -> list[Any]:
    """Return a list in a list in a list …"""
    found: list[Any] = []
    for _ in range(levels):
        found = [found]
    return found


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each place in what JSON can say: the list or object, and the index or key."""
    for key, inner in list(value.items() if isinstance(value, dict) else enumerate(value)):
        yield value, key
        if isinstance(inner, dict | list):
            yield from places(inner)


def mutated(value: Any, chance: random.Random, changes: int = 1) -> Any:
    """Return a copy of what JSON can say with something in it replaced, left out, doubled, renamed or moved."""
    value = copy.deepcopy(value)
    for _ in range(changes):
        there = list(places(value)) if isinstance(value, dict | list) else []
        if not there:
            return chance.choice(ODD)
        holder, key = chance.choice(there)
        match chance.randrange(7):
            case 0 | 1:
                holder[key] = copy.deepcopy(chance.choice(ODD))
            case 2:
                del holder[key]
            case 3 if isinstance(holder, list):
                holder.insert(key, copy.deepcopy(holder[key]))
            case 3:
                holder[chance.choice(["more", "__proto__", "", "\x00", "x" * 300])] = copy.deepcopy(holder[key])
            case 4:
                other, its = chance.choice(there)
                with suppress(KeyError, IndexError):
                    holder[key] = copy.deepcopy(other[its])
            case 5:
                holder[key] = [copy.deepcopy(holder[key])]
            case 6:
                holder[key] = _near(holder[key], chance)
    return value


def _near(value: Any, chance: random.Random) -> Any:
    """Return another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return chance.choice([value + 1, value - 1, -value, value * 2, value * 2**40, value % 7 + 0.5])
    if isinstance(value, str):
        return chance.choice([value + "x", value[:-1], value.upper(), value * 2, value + "\x1b[31m", f"../{value}"])
    return None


def damaged(content: bytes, chance: random.Random) -> bytes:
    """Return bytes with some of them flipped, left out, doubled, cut off, or others put in."""
    found = bytearray(content)
    for _ in range(chance.choice([1, 1, 2, 5, 30])):
        at = chance.randrange(len(found) + 1)
        match chance.randrange(6):
            case 0 | 1 if at < len(found):
                found[at] ^= 1 << chance.randrange(8)
            case 2 if at < len(found):
                found[at] = chance.choice([0, 0xFF, 0x7F, 0x80, 0x0A, 0x22])
            case 3:
                del found[at : at + chance.choice([1, 2, 8, 200])]
            case 4:
                found[at:at] = chance.choice([chance.randbytes(8), bytes(found[at : at + 64]), b"\xff" * 8, b"\0" * 8])
            case 5 if chance.random() < 0.2:
                del found[at:]
    return bytes(found)

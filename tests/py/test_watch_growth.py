"""What is a leak, from the levels between rounds; and that the observer in the tree is made of its sources."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tensorledger.environment.node import node
from tensorledger.environment.tree import is_checkout, tree
from tensorledger.watch.engines import Key, Reading, alike, keys, plain
from tensorledger.watch.engines import grows as grows_of
from tensorledger.watch.growth import each, grows, steady
from tensorledger.watch.realms import Realm
from tensorledger.watch.trace import untraced


@pytest.mark.parametrize(
    ("levels", "leaks"),
    [
        ([7, 7, 7, 7], False),
        ([7, 10, 13, 16], True),
        ([7, 8], True),
        ([9, 8, 7], False),  # it gives back
        ([5, 9, 9, 9, 9, 9, 9], False),  # a cache, filled in the first round
        ([5, 5, 5, 9, 9, 9, 9], False),  # … in the third
        ([1, 2, 3, 4, 4, 4, 4, 4, 4, 4, 4], False),  # one with a bound, once it is full
        ([0, 1, 2, 0, 1, 2, 0, 1, 2], False),  # emptied now and then
        ([0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5], True),  # of every second round
        ([0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3], True),  # of every third
        ([0, 3, 4, 9, 10, 14, 15], True),  # as many as the data have it
        ([0, 4, 4, 4, 4, 4, 8], False),  # twice is not each third
    ],
)
def test_rounds_that_leave_something_for_good(levels: list[int], leaks: bool) -> None:
    assert grows(levels) is leaks


def test_growth_is_by_round() -> None:
    assert each([7, 10, 13]) == 3
    assert each([0, 0, 1]) == 0.5
    assert steady([1, 2, 3])
    assert not steady([1, 2, 2])


def _reading(*urls: str) -> Reading:
    realms = {Realm(url, url, "worker"): url for url in urls}
    return Reading(
        {realm: [{"tensors": 1, "bytes": 4, "made": 1, "gpu": None, "gpu_allocated": None}] for realm in realms},
        realms,
        {},
    )


def test_like_realms_are_those_of_one_path_whatever_they_ask_for() -> None:
    assert plain("http://a.example/w.js?v=1#x") == plain("http://a.example/w.js?v=2") == "http://a.example/w.js"
    assert plain("blob:http://a.example/1-2") == plain("blob:http://a.example/3-4")


def test_realms_of_another_path_each_round_count_together() -> None:
    site = "http://a.example"
    ended = alike([_reading(f"{site}/b.js", f"{site}/item/{number}/") for number in range(4)])
    assert keys(ended) == [Key("worker", f"{site}/b.js", 0), Key("worker", f"{site}/item/…", 0)]
    assert [grows_of(ended, key) for key in keys(ended)] == [[], []]
    left = alike([_reading(*(f"{site}/item/{one}" for one in range(number + 1))) for number in range(4)])
    assert [(key.url, grows_of(left, key)) for key in keys(left)] == [(f"{site}/item/…", ["tensors", "realms"])]


def test_a_worker_that_comes_once_stays_one_of_its_own() -> None:
    readings = alike(
        [_reading("http://a.example/b.js"), *[_reading("http://a.example/b.js", "http://a.example/c.js")] * 3]
    )
    assert [key.url for key in keys(readings)] == ["http://a.example/b.js", "http://a.example/c.js"]


def test_a_place_that_cannot_be_traced_is_told_as_it_was_written() -> None:
    stack = "Error\n    at e.tidy (http://a.example/b.js:5:10991)\n    at http://a.example/b.js:7:1"
    assert [(frame.function, frame.file, frame.line, frame.column) for frame in untraced(stack).frames] == [
        ("e.tidy", "http://a.example/b.js", 5, 10991),
        ("", "http://a.example/b.js", 7, 1),
    ]


@pytest.mark.skipif(not is_checkout(), reason="esbuild is in a checkout")
def test_the_observer_in_the_tree_is_what_its_sources_make(tmp_path: Path) -> None:
    folder = tree() / "js" / "watch"
    made = tmp_path / "observer.js"
    subprocess.run([node(), folder / "bundle.mjs", made], check=True, capture_output=True, timeout=60)
    again = "; run: node js/watch/bundle.mjs"
    assert (folder / "observer.js").read_text(encoding="utf-8") == made.read_text(encoding="utf-8"), again

"""Readings between rounds, by engine. Like realms count as one: a worker that each round starts anew is the same."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any
from urllib.parse import urlsplit

from tensorledger.watch import growth
from tensorledger.watch.found import Growth, Level
from tensorledger.watch.realms import Realm


@dataclass(frozen=True)
class Key:
    """What makes engines of several realms the same."""

    kind: str
    url: str
    index: int
    """Of the engine, in its realm: those of two releases on one page are two."""


@dataclass(frozen=True)
class Reading:
    """All realms with an engine, at one moment."""

    engines: Mapping[Realm, Sequence[Mapping[str, Any]]]
    urls: Mapping[Realm, str]
    heaps: Mapping[str, int]

    def realms(self, key: Key) -> list[Realm]:
        """Return the realms that have it."""
        return [realm for realm in self.engines if key in self.keys(realm)]

    def keys(self, realm: Realm) -> list[Key]:
        """Return the engines of a realm."""
        url = plain(self.urls.get(realm, ""))
        return [Key(realm.kind, url, index) for index in range(len(self.engines.get(realm, [])))]

    def of(self, key: Key) -> list[Mapping[str, Any]]:
        """Return what was read of it, of each realm that has it."""
        return [self.engines[realm][key.index] for realm in self.realms(key)]

    def sum(self, key: Key, quantity: str) -> int | None:
        """Return how much there is of something; None where no realm tells, and 0 where there is no realm."""
        values = [engine[quantity] for engine in self.of(key)]
        known = [int(value) for value in values if value is not None]
        return sum(known) if known or not values else None


def plain(url: str) -> str:
    """Return where a script is without what is another each time: a query, a fragment, the number of a blob."""
    if url.startswith("blob:"):
        parts = urlsplit(url.removeprefix("blob:"))
        return f"blob:{parts.scheme}://{parts.netloc}/…"
    return urlsplit(url)._replace(query="", fragment="").geturl()


def alike(readings: Sequence[Reading]) -> list[Reading]:
    """Return the readings with one URL for all realms of a kind that come at another path each round."""
    shared: dict[Realm, str] = {}
    for kind in {realm.kind for reading in readings for realm in reading.engines}:
        first: dict[str, int] = {}
        for number, reading in enumerate(readings):
            for realm in reading.engines:
                if realm.kind == kind:
                    first.setdefault(plain(reading.urls.get(realm, "")), number)
        new = {url: number for url, number in first.items() if number > 0}
        # One that comes once is one more, and none that is another each round.
        if new and len(set(new.values())) >= min(2, len(readings) - 1):
            folder = _folder(new)
            shared |= {
                realm: f"{folder}…"
                for reading in readings
                for realm in reading.engines
                if realm.kind == kind and plain(reading.urls.get(realm, "")).startswith(folder)
            }
    return [replace(reading, urls={**reading.urls, **shared}) for reading in readings]


def _folder(urls: Collection[str]) -> str:
    """Return what some URLs begin with alike, up to a slash: a folder, or a site, or nothing."""
    folders = zip(*(url.split("/")[:-1] for url in urls))  # noqa: B905
    return "".join(f"{names[0]}/" for names in takewhile(lambda names: len(set(names)) == 1, folders))


def keys(readings: Sequence[Reading]) -> list[Key]:
    """Return all engines that have ever made a tensor, or all where none has: early releases have some to spare."""
    found = list(dict.fromkeys(key for reading in readings for realm in reading.engines for key in reading.keys(realm)))
    used = [key for key in found if any(reading.sum(key, "made") for reading in readings)]
    return used or found


def levels(readings: Sequence[Reading], key: Key) -> list[Level]:
    """Return what there was of it after each round."""

    def heap(reading: Reading) -> int | None:
        sessions = {realm.session for realm in reading.realms(key)}
        known = [reading.heaps[session] for session in sessions if session in reading.heaps]
        return sum(known) if known else None

    return [
        Level(
            round=number,
            tensors=reading.sum(key, "tensors") or 0,
            bytes=reading.sum(key, "bytes") or 0,
            gpu=reading.sum(key, "gpu"),
            gpu_allocated=reading.sum(key, "gpu_allocated"),
            heap=heap(reading),
        )
        for number, reading in enumerate(readings)
    ]


def series(found: Sequence[Level], quantity: str) -> list[int] | None:
    """Return one quantity after each round; None where it was not always read."""
    values: list[int | None] = [getattr(level, quantity) for level in found]
    known = [value for value in values if value is not None]
    return known if len(known) == len(values) > 1 else None


def grown(found: Sequence[Level]) -> Growth | None:
    """Return the growth a round."""
    if len(found) < 2:
        return None
    gpu = series(found, "gpu")
    return Growth(
        tensors=growth.each([level.tensors for level in found]),
        bytes=growth.each([level.bytes for level in found]),
        gpu=None if gpu is None else growth.each(gpu),
    )


def grows(readings: Sequence[Reading], key: Key) -> list[str]:
    """Return what rounds leave more of for good: of "tensors", and without them "bytes" and "gpu"; "realms"."""
    found = levels(readings, key)
    there = [len(reading.realms(key)) for reading in readings]
    more = ["realms"] if growth.grows(there) else []
    for quantity in ("tensors", "bytes", "gpu"):
        values = series(found, quantity)
        if values is not None and growth.grows(values):
            return [quantity, *more]
    return more


def uneven(readings: Sequence[Reading]) -> bool:
    """Say whether something rose over the rounds, and not by the same in each: more rounds would tell more."""
    for key in keys(readings):
        found = levels(readings, key)
        there = [len(reading.realms(key)) for reading in readings]
        if not growth.steady(there) and there[-1] > there[0]:
            return True
        for quantity in ("tensors", "bytes", "gpu"):
            values = series(found, quantity)
            if values is not None and not growth.steady(values) and values[-1] > values[0]:
                return True
    return False

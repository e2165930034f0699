"""What the data say about deviations: which there should be, with exact numbers, and where those there are disagree."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import msgspec.structs

from tensorledger.atlas.data import Atlas
from tensorledger.atlas.shows import CUT, Point, Shows, numbered, outcome_of
from tensorledger.expectations.amount import Counts, amount
from tensorledger.expectations.deviation import Deviation, Deviations, otherwise
from tensorledger.expectations.expectation import END, Caught, Expectation, Throws
from tensorledger.targets.target import Pattern, Target
from tensorledger.verdicts.growth import FEWEST
from tensorledger.verdicts.judge import judge, not_caught


@dataclass(frozen=True)
class Proposal:
    """A deviation that the data ask for: all but why."""

    deviation: Deviation
    """With the numbers and the ranges of targets, an empty ``id`` and an empty ``why``."""
    releases: tuple[str, ...]
    fits: tuple[str, ...]
    """The ids of the deviations that the file has, whose numbers these are."""
    there: bool
    """Whether each of the releases is meant by one of those."""


def disagreement(shows: Shows, expectation: Expectation, deviations: Deviations, target: Target) -> str | None:
    """Say what the definitions do not say of what a release shows; None where they agree with it.

    As the suite judges it, but for what only statistics see. Raises BadDefinition.
    """
    if shows.cycle is None:
        return shows.broke
    outcome = outcome_of(shows, FEWEST)
    judgement = judge(outcome, expectation, deviations, target)
    if expectation.caught is None or judgement.verdict not in ("pass", "fail"):
        return None if judgement.verdict in ("pass", "deviates") else judgement.reason
    # A leak on purpose is to fail; what it is caught with is looked at, as far as counts show it.
    deviation = deviations.of(target)
    documented = deviation.instead_of(expectation) if deviation else expectation
    assert documented.caught is not None
    problems = not_caught(outcome, documented, target, "fail", documented.caught.grows)
    if deviation is not None and not not_caught(outcome, expectation, target, "fail", expectation.caught.grows):
        return f"{target} no longer deviates as {deviation.id} says"
    return problems[0] if problems else None


def proposals(atlas: Atlas, scenario: str, expectation: Expectation, deviations: Deviations) -> list[Proposal]:
    """Return the deviations that a scenario's data ask for, in the order in which releases first show them.

    What could not be run at all asks for none. Raises BadDefinition.
    """
    releases: dict[str, list[str]] = {}
    kinds: dict[str, Deviation] = {}
    fits: dict[str, dict[str, None]] = {}
    meant: dict[str, list[str | None]] = {}
    for release in atlas.releases:
        shows, target = atlas.shows(scenario, release), atlas.target(release)
        if shows is None or shows.cycle is None:
            continue
        plain = disagreement(shows, expectation, Deviations(), target)
        if plain is None:
            continue
        numbers = _numbers(shows, expectation, target)
        kind = json.dumps(msgspec.to_builtins(numbers), sort_keys=True)
        kinds[kind] = numbers
        releases.setdefault(kind, []).append(release)
        by = deviations.of(target)
        meant.setdefault(kind, []).append(by.id if by else None)
        fitting = fits.setdefault(kind, {})
        for found in deviations.all:
            if not any(Pattern.parse(text).name == target.name for text in found.targets):
                continue  # another runtime's, in terms that this one does not have
            alone = Deviations((msgspec.structs.replace(found, targets=[str(target)]),), deviations.path)
            if disagreement(shows, expectation, alone, target) is None:
                fitting[found.id] = None
    return [
        Proposal(
            msgspec.structs.replace(numbers, targets=ranges(atlas, releases[kind])),
            tuple(releases[kind]),
            tuple(fits[kind]),
            all(name in fits[kind] for name in meant[kind]),
        )
        for kind, numbers in kinds.items()
    ]


def ranges(atlas: Atlas, releases: Sequence[str]) -> list[str]:
    """Return the targets, as they are written, that mean these releases and no other that was measured."""
    written = []
    places = sorted(atlas.releases.index(release) for release in releases)
    start = 0
    for number, place in enumerate(places):
        if number + 1 < len(places) and places[number + 1] == place + 1:
            continue
        first, last = atlas.releases[places[start]], atlas.releases[place]
        written.append(f"tfjs@{first if first == last else f'>={first},<={last}'}/{atlas.backend}")
        start = number + 1
    return written


def _numbers(shows: Shows, expectation: Expectation, target: Target) -> Deviation:
    """Return what a release shows in the places where the expectation says otherwise."""
    assert shows.cycle is not None
    found = {point.name: point for point in shows.cycle.points}
    first = {point.name: point for point in (shows.first or shows.cycle).points}

    def differing(counts: Counts, point: Point) -> Counts:
        return Counts(
            **{
                quantity: getattr(point, quantity)
                for quantity, written in counts.stated()
                if getattr(point, quantity) not in (None, _value(written, quantity, expectation, target))
            }
        )

    def all_of(wanted: dict[str, Counts], points: dict[str, Point]) -> dict[str, Counts]:
        each = {name: differing(counts, points[name]) for name, counts in wanted.items() if name in points}
        return {name: counts for name, counts in each.items() if dict(counts.stated())}

    caught = expectation.caught
    leaks = None
    wanted, growth = dict(expectation.checkpoints), differing(expectation.growth, shows.cycle.end)
    if caught is not None:
        wanted.pop(END)
        growth = Counts()
        if dict(differing(caught.end, shows.cycle.end).stated()) or dict(
            differing(caught.growth, shows.cycle.end).stated()
        ):
            leaks = Caught(_stated(caught.end, shows.cycle.end), _stated(caught.growth, shows.cycle.end), caught.grows)
    numbers = Deviation(
        id="",
        targets=[],
        why="",
        checkpoints=all_of(wanted, found),
        first=all_of(expectation.first, first),
        growth=growth,
        throws=_throws(shows, expectation),
        caught=leaks,
    )
    against = {place: Counts(**said) for place, said in otherwise(numbers, expectation).items()}
    return msgspec.structs.replace(numbers, against=against)


def _value(written: int | str, quantity: str, expectation: Expectation, target: Target) -> int:
    return amount(written, quantity, expectation.description, str(target)).value


def _stated(counts: Counts, point: Point) -> Counts:
    return Counts(**{quantity: getattr(point, quantity) for quantity, _ in counts.stated()})


def _throws(shows: Shows, expectation: Expectation) -> Any:
    """Return a throw that is another than the expected one; False where an expected one does not come."""
    threw, wanted = shows.threw, expectation.throws
    if threw is None:
        return None if wanted is None else False
    if wanted is not None and wanted.after == threw.after and re.search(wanted.matches, threw.message):
        return None
    return Throws(matches=_pattern(threw.message), after=threw.after)


def _pattern(message: str) -> str:
    """Return a pattern of a message's first line, which is read well: only what means something in one is escaped."""
    message = message.removesuffix(CUT).splitlines()[0] if message else ""
    return re.sub(r"([\\.^$*+?{}\[\]|()])", r"\\\1", numbered(message, "\0")).replace("\0", r"\d+")


# --- as a file has it


def block(proposal: Proposal) -> str:
    """Return a proposal as a person completes it: TOML, with an empty ``why``, which no suite takes."""
    deviation = proposal.deviation
    return "\n".join(
        [
            f"# {len(proposal.releases)} releases: {', '.join(proposal.releases)}",
            *(f"# as {name} says{'' if proposal.there else ': widen its targets'}" for name in proposal.fits),
            "[[deviation]]",
            f"id = {json.dumps(proposal.fits[0] if proposal.fits else '')}",
            f"targets = {json.dumps(deviation.targets)}",
            'why = ""',
            *body(deviation),
        ]
    )


def body(deviation: Deviation) -> Iterator[str]:
    """Yield a deviation's numbers and throw, and what they are against."""
    for name, counts in deviation.checkpoints.items():
        yield f"checkpoints.{_key(name)} = {_table(counts)}"
    for name, counts in deviation.first.items():
        yield f"first.{_key(name)} = {_table(counts)}"
    if dict(deviation.growth.stated()):
        yield f"growth = {_table(deviation.growth)}"
    if deviation.grows:
        yield f"grows = {json.dumps(deviation.grows)}"
    if deviation.throws is False:
        yield "throws = false"
    elif deviation.throws is not None:
        after = f"after = {_text(deviation.throws.after)}, " if deviation.throws.after else ""
        yield f"throws = {{ {after}matches = {_text(deviation.throws.matches)} }}"
    if deviation.caught is not None:
        yield f"caught.end = {_table(deviation.caught.end)}"
        yield f"caught.growth = {_table(deviation.caught.growth)}"
        if deviation.caught.grows:
            yield f"caught.grows = {json.dumps(deviation.caught.grows)}"
    for name, counts in deviation.against.items():
        yield f"against.{_key(name)} = {_table(counts)}"


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _table(counts: Counts) -> str:
    said = (f"{quantity} = {json.dumps(written)}" for quantity, written in counts.stated())
    return f"{{ {', '.join(said)} }}"


@dataclass(frozen=True)
class Disagreement:
    """Releases about which definitions and data say different things."""

    releases: tuple[str, ...]
    targets: tuple[str, ...]
    said: str


def disagreements(
    atlas: Atlas, scenario: str, expectation: Expectation, deviations: Deviations
) -> Iterator[Disagreement]:
    """Yield where a scenario's definitions do not agree with the data. Raises BadDefinition."""
    found: dict[str, list[str]] = {}
    for release in atlas.releases:
        shows, target = atlas.shows(scenario, release), atlas.target(release)
        said = None if shows is None else disagreement(shows, expectation, deviations, target)
        if said is not None:
            found.setdefault(said.replace(str(target), "this target"), []).append(release)
    for said, releases in found.items():
        yield Disagreement(tuple(releases), tuple(ranges(atlas, releases)), said)


def unmeant(atlas: Atlas, deviations: Deviations) -> Iterator[str]:
    """Yield the ids of deviations of this backend that mean no release which was measured."""
    targets = [atlas.target(release) for release in atlas.releases]
    for deviation in deviations.all:
        other = [replace(target, backend=None) for target in targets]
        if any(f"/{atlas.backend}" in text for text in deviation.targets) and not any(
            deviation.concerns(target) for target in (*targets, *other)
        ):
            yield deviation.id

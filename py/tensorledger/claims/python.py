"""The claims about prediction in Python TensorFlow, on the model of the second question, on CPU."""

from __future__ import annotations

import re

from tensorledger.atlas.shows import Point, Shows
from tensorledger.claims.claim import Claim, Measure, Measured, Part
from tensorledger.claims.figures import amount, left, nothing, point
from tensorledger.claims.lab import Lab, Unmeasured
from tensorledger.recipes.python import CYCLES
from tensorledger.recipes.row import Resident, Row
from tensorledger.targets.target import Target

NEGLIGIBLE = 1.1
"""Times the processor time that may be called the same: a tenth more. Chosen before anything was measured."""
LARGE = 0.1
"""Share of the machine's memory that may be called large: a tenth. Likewise."""
SAME = 0.05
"""Part of a resident size by which two runs of the same thing may differ. Likewise; where docs/claims.json has one
crossing twice (B8, B9), the sizes in the end differ by less than 0.1 %."""

_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def _at(shows: Shows, name: str) -> Point:
    """Return a checkpoint. Raises Unmeasured where it was not reached: neither a yes nor a no."""
    found = point(shows, name)
    if found is None:
        threw = f"{shows.threw.type}: {shows.threw.message}" if shows.threw else f"there is no checkpoint {name!r}"
        raise Unmeasured(threw)
    return found


CLEARED = "predictions deleted, session cleared, collected"
DELETED = "models deleted, collected"
AGAIN = "collected again, by gc.collect(2)"


def _not_released(lab: Lab, target: Target) -> Measured:
    found = _at(lab.shows(target, "cleaned-up", infer="traced"), CLEARED)
    return Measured("cleaned-up", not nothing(found), amount(found))


def _released_when_deleted(infer: str) -> Measure:
    def measure(lab: Lab, target: Target) -> Measured:
        found = _at(lab.shows(target, "cleaned-up", infer=infer), AGAIN)
        return Measured("cleaned-up", nothing(found), amount(found))

    return measure


def _second_collect_differs(lab: Lab, target: Target) -> Measured:
    shows = lab.shows(target, "cleaned-up", infer="traced")
    once, again = (_at(shows, name) for name in (DELETED, AGAIN))
    figures = {"after gc.collect()": amount(once), "after gc.collect(2)": amount(again)}
    return Measured("cleaned-up", amount(once) != amount(again), figures)


def _second_name(lab: Lab, target: Target) -> Measured:
    found = _at(lab.shows(target, "second-name"), "first name deleted")
    return Measured("second-name", nothing(found), amount(found))


def _graphs(vary: str, *, converted: bool) -> Measure:
    """Return what measures whether a traced function keeps a graph for each model, or shape of inputs."""

    def measure(lab: Lab, target: Target) -> Measured:
        shows = lab.shows(target, "graphs", vary=vary, converted=converted)
        said = shows.cycle.points[0].name if shows.cycle else ""
        numbers = _NUMBER.findall(said)
        if len(numbers) != 2:
            raise Unmeasured(f"it says {said!r}")
        return Measured("graphs", numbers[0] == numbers[1], {"graphs": int(numbers[0]), vary: int(numbers[1])})

    return measure


def _graphs_keep(lab: Lab, target: Target) -> Measured:
    """Say whether a traced function keeps memory of models that were deleted."""
    shows = lab.shows(target, "graphs", vary="models", converted=True)
    kept, after = (_at(shows, name) for name in ("models deleted", "function deleted"))
    return Measured("graphs", not nothing(kept), {"models deleted": amount(kept), "function deleted": amount(after)})


def _graphs_avoided(lab: Lab, target: Target) -> Measured:
    without = _graphs("models", converted=True)(lab, target)
    under = _graphs("models", converted=False)(lab, target)
    assert without is not None and under is not None
    figures = {"do_not_convert": under.figures, "without": without.figures}
    return Measured("graphs", under.figures["graphs"] < without.figures["graphs"], figures)


def _row_released(usage: str, recipe: str) -> Measure:
    """Return what measures whether a recipe leaves nothing and adds nothing, in a crossing of the extractor."""

    def measure(lab: Lab, target: Target) -> Measured:
        row = lab.row(target, "extractor", usage, recipe)
        return Measured(f"extractor, {usage}, {recipe}", _is_released(row), _figures(row))

    return measure


def _is_released(row: Row) -> bool:
    grows = row.growth is not None and bool(row.growth.tensors)
    return row.left is not None and row.left.nothing and not grows and row.error is None


def _figures(row: Row) -> dict[str, object]:
    growth = {"tensors a cycle": round(row.growth.tensors or 0, 3)} if row.growth else {}
    return {**left(row), **growth}


def _long(lab: Lab, target: Target, allocator: str) -> Row:
    """Return a row of so many cycles that sizes mean something."""
    return lab.row(target, "extractor", "predict", "complete", allocator, cycles=CYCLES)


def _sizes(row: Row) -> tuple[Resident, int]:
    """Return the process's sizes, and what each cycle adds outside of Python, in bytes. Raises Unmeasured."""
    if row.resident is None or row.growth is None:
        raise Unmeasured("the resident size was not read")
    return row.resident, round(row.growth.native or 0)


def _told(sizes: Resident, native: int) -> dict[str, int]:
    return {"start": sizes.start, "end": sizes.end, "trimmed": sizes.trimmed, "native a cycle": native}


def _is_fast(lab: Lab, target: Target) -> Measured:
    shows = lab.shows(target, "speed")
    said = [point.name for point in shows.cycle.points[:-1]] if shows.cycle else []
    ratios = {name: float(ratio.removesuffix(" times")) for name, _, ratio in (each.partition(": ") for each in said)}
    if not ratios:
        raise Unmeasured("no time was taken")
    return Measured("speed", max(ratios.values()) <= NEGLIGIBLE, {"eager by traced": ratios})


def _grows_less(lab: Lab, target: Target) -> Measured:
    (plain, added), (setting, more) = (_sizes(_long(lab, target, each)) for each in ("default", "allow-growth"))
    figures = {"default": _told(plain, added), "allow_growth": _told(setting, more)}
    return Measured("extractor, predict, complete", setting.end < plain.end * (1 - SAME), figures)


def _is_leak(lab: Lab, target: Target) -> Measured:
    """Say whether what stays is lost: nothing gives it back, and each cycle adds to it."""
    row, pooled = (_long(lab, target, each) for each in ("default", "system"))
    (plain, native), (system, more) = _sizes(row), _sizes(pooled)
    figures = {
        "tensors left": row.left.tensors if row.left else None,
        "default": _told(plain, native),
        "system allocator": _told(system, more),
        "what gives it back": row.lever,
    }
    retained = plain.end - plain.start
    still = min(sizes.trimmed - sizes.start for sizes in (plain, system))
    grows = native * row.cycles > retained * SAME
    lost = retained > 0 and grows and still > retained * (1 - SAME)
    return Measured("extractor, predict, complete", lost, figures)


def _reserves(lab: Lab, target: Target) -> Measured:
    shows = lab.shows(target, "reserved")
    shares = [float(share) for share in _NUMBER.findall(shows.cycle.points[0].name)] if shows.cycle else []
    if len(shares) != 2:
        raise Unmeasured("the size was not read")
    figures = {"after the import": shares[0], "after an operation": shares[1]}
    return Measured("reserved", shares[1] - shares[0] >= LARGE, figures)


def _order_matters(lab: Lab, target: Target) -> Measured:
    top, before = (_at(lab.shows(target, "order", clear=each), "left") for each in ("top", "before"))
    figures = {"at the top of the try": amount(top), "just before it": amount(before)}
    return Measured("order", amount(top) != amount(before), figures)


PYTHON = "keras tf-keras"

CLAIMS = (
    Claim(
        "B1",
        "`clear_session()`, deleting the predictions and `gc.collect()` do not release the model's memory.",
        (Part(_not_released),),
        PYTHON,
    ),
    Claim(
        "B2",
        "Deleting the model itself as well, then `clear_session()`, `gc.collect()` and `gc.collect(2)`, does.",
        (
            Part(_released_when_deleted("eager"), "called eagerly"),
            Part(_released_when_deleted("traced"), "called by the question's `@tf.function`"),
            Part(_second_name, "another module has a second name for it"),
            Part(_second_collect_differs, "the second collection changes something", beside=True),
        ),
        PYTHON,
    ),
    Claim(
        "B3",
        "`@tf.function` caches graphs, and that can keep memory from being released.",
        (
            Part(_graphs("models", converted=True), "a graph for each model"),
            Part(_graphs("shapes", converted=True), "a graph for each shape of the inputs"),
            Part(_graphs_keep, "they keep deleted models"),
        ),
        PYTHON,
    ),
    Claim(
        "B4",
        "Without `@tf.function`, memory is released, and the loss of speed on CPU is negligible.",
        (Part(_row_released("eager", "del-clear-collect"), "released"), Part(_is_fast, "as fast")),
        PYTHON,
    ),
    Claim(
        "B5",
        "Putting `do_not_convert` under `@tf.function` avoids the graph caching.",
        (Part(_graphs_avoided),),
        PYTHON,
    ),
    Claim(
        "B6",
        "Calling `clear_session()` first, before each model is loaded, cleans up what earlier loads left.",
        (
            Part(_row_released("eager", "clear-before-load"), "called eagerly"),
            Part(_row_released("shared-traced", "clear-before-load"), "called by one traced function"),
            Part(_row_released("predict", "clear-before-load"), "by predict"),
            Part(_row_released("fit", "clear-before-load"), "by fit"),
        ),
        PYTHON,
    ),
    Claim(
        "B7",
        "Loading, predicting and cleaning up inside one function releases the memory by scope alone.",
        (
            Part(_row_released("eager", "function-scope"), "called eagerly"),
            Part(_row_released("shared-traced", "function-scope"), "called by one traced function"),
            Part(_row_released("predict", "function-scope"), "by predict"),
            Part(_row_released("fit", "function-scope"), "by fit"),
        ),
        PYTHON,
    ),
    Claim("B8", "`gpu_options.allow_growth = True` applies to CPU memory as well.", (Part(_grows_less),), PYTHON),
    Claim("B9", "What stays resident after everything is released is a leak.", (Part(_is_leak),), PYTHON),
    Claim(
        "B10",
        "TensorFlow reserves a large share of CPU memory in advance, and a setting makes it allocate on demand.",
        (Part(_reserves),),
        PYTHON,
    ),
    Claim(
        "B11",
        "Moving `clear_session()` from the top of the `try` to just before it changes anything.",
        (Part(_order_matters),),
        PYTHON,
    ),
)

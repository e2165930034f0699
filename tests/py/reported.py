"""Results made by hand, for what shows results: a cell of each verdict, with something in every field."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import msgspec

from tensorledger.atlas.data import SCHEMA as ATLAS
from tensorledger.atlas.data import Atlas, Range, Unusable
from tensorledger.atlas.data import Recipe as Released
from tensorledger.atlas.shows import Point, Shows, Threw, Walk
from tensorledger.checking.checked import Advice, Checked, Off, Parity
from tensorledger.conversion.convert import Refusal
from tensorledger.protocol.messages import Agreement, Frame, LiveTensor
from tensorledger.recipes.row import Left, Row
from tensorledger.report.compared import changes
from tensorledger.report.data import data
from tensorledger.report.files import Environment
from tensorledger.report.merged import Merged, Run, Seen
from tensorledger.results.result import Checkpoint, CycleEnd, Failure, Growth, Result
from tensorledger.verdicts.verdict import Verdict

CPU = "tfjs@4.22.0/cpu"
OLD = "tfjs@0.15.3/cpu"
LINE = Frame(function="default", file="js/scenarios/leak-variable.mjs", line=3, column=6, of="user")
CALLER = Frame(function="main", file="/home/me/app.mjs", line=7, column=None, of="user")
LIBRARY = Frame(function="assign", file="tfjs/dist/tf.js", line=99, column=1, of="library")


def checkpoint(name: str, tensors: int | None, expected: int | None = None) -> Checkpoint:
    size = None if tensors is None else 8 * tensors
    stated = {} if expected is None else {"tensors": expected, "bytes": 8 * expected, "buffers": expected}
    exact: dict[str, Any] = {"tensors": tensors, "bytes": size, "buffers": tensors, "buffer_bytes": size}
    return Checkpoint(name=name, **exact, backend={"wasm": 65536.0}, heap={}, process={}, expected=stated)


def series(tensors: int, cycles: int, heap: Sequence[float] = ()) -> list[CycleEnd]:
    """Return cycles each of which leaves so many tensors, and the heap after each."""
    found = []
    for number in range(1, cycles + 1):
        left = {"tensors": tensors, "bytes": 8 * tensors, "buffers": tensors}
        levels = {"heap": heap[number - 1] if heap else None, "native": 0.0}
        above = {**{name: float(value * number) for name, value in left.items()}, **levels}
        found.append(CycleEnd(cycle=number, **left, heap=levels["heap"], native=0.0, above=above))
    return found


def result(scenario: str, target: str = CPU, verdict: Verdict = "pass", **fields: Any) -> Result:
    """Return a result of three checkpoints and three cycles that leave nothing, but for what is given."""
    made: dict[str, Any] = {
        "language": "py" if "keras" in target else "js",
        "recipe": "dispose",
        "reason": "",
        "deviation": None,
        "seconds": 0.25,
        "cycles": 3,
        "checkpoints": [checkpoint("created", 4, 4), checkpoint("predicted", 5), checkpoint("end", 0, 0)],
        "first": [checkpoint("created", 6), checkpoint("end", 2)],
        "series": series(0, 3),
        "growth": Growth(tensors=0, bytes=0, buffers=0, heap=None, native=0),
        "confidence": {},
        "error": None,
        "leaks": [],
        "problems": [],
        "parity": [],
        **fields,
    }
    return Result(scenario=scenario, target=target, verdict=verdict, **made)


LEFT = [
    LiveTensor(2, [4, 4], "float32", 64, "dense/kernel", True, [LINE, CALLER], True, ["KEPT['tensor']"]),
    LiveTensor(1, None, "int32", None, None, False, [LIBRARY]),
    LiveTensor(1, [], "bool", 1, None, None, []),
]
PROBLEMS = [f"harness/expectations/x.toml: end {name}: expected 0, measured 3" for name in ("tensors", "buffers")]
RISING = [1000.0, 2100.0, 2900.0, 4050.0, 5000.0, 6100.0, 6900.0, 8000.0, 9050.0, 10000.0]

RESULTS = [
    result("clean"),
    result("clean", OLD, "deviates", deviation="seed-stays", reason="Up to 1.0 a seed stays."),
    result("clean", "keras", "skip", reason="not installed here", checkpoints=[], first=[], series=[], growth=None),
    result(
        "grows",
        verdict="fail",
        seconds=12.5,
        cycles=10,
        reason=PROBLEMS[0],
        problems=PROBLEMS,
        checkpoints=[
            checkpoint("created", 4, 4),
            checkpoint("a rather long name of a checkpoint", None, 1),
            checkpoint("end", 3, 0),
        ],
        series=series(3, 10, RISING),
        growth=Growth(tensors=3, bytes=24, buffers=3, heap=1000.5, native=0),
        confidence={"heap": 0.999},
        retained={"native": "kept to be used again, which is no leak"},
        leaks=LEFT,
        log="the last line that it printed",
        parity=[
            Agreement("classifier", "layers", 1e-7, 1e-6, 1e-6),
            Agreement("classifier", "graph", 0.5, None, 1e-6),
        ],
    ),
    result(
        "breaks",
        verdict="error",
        reason="TypeError: it broke",
        error=Failure(type="TypeError", message="it broke\n  for good", checkpoint="created", stack=[LINE, CALLER]),
        checkpoints=[],
        first=[],
        series=[],
        growth=None,
    ),
    result(
        "leak-one",
        verdict="fail",
        caught=True,
        reason=PROBLEMS[0],
        problems=PROBLEMS,
        thrown=Failure(type="Error", message="already disposed", checkpoint=None, stack=[]),
        series=series(3, 2),
        leaks=LEFT[:1],
    ),
]

ROWS = [
    Row(
        model="classifier",
        language="js",
        target=CPU,
        recipe=recipe,
        applies=left is not None,
        left=left,
        error=None,
        usage="trained",
        reason="" if left else "it wraps a whole function",
        bystander="kept" if left else None,
    )
    for recipe, left in [
        ("dispose", Left(tensors=0, bytes=0, buffers=0)),
        ("walk-weights", Left(tensors=10, bytes=1600000, buffers=10)),
        ("tidy", None),
    ]
]

AT_ONCE = Threw("Error", "no such layer")
SHOWN = Shows(
    cycle=Walk((Point("made", 2, 128, 1, 64), Point("end", 2, 128, 1, 64))),
    first=Walk((Point("end", 3, 256, 2, 128),), Threw("Error", "disposed", "made")),
    parity={"layers/classifier": False},
)
ATLASED = Atlas(
    schema=ATLAS,
    environment={"node": "18.4.0"},
    backend="cpu",
    releases=["1.0.0", "1.0.1", "2.0.0"],
    recipes=[Released("1.0.0", "2.0.0", "dispose")],
    unusable=[Unusable("1.0.2", "does not load", "it lacks a package")],
    scenarios={
        "leak-variable": [Range("1.0.0", "1.0.1", SHOWN), Range("2.0.0", "2.0.0", Shows(broke="it hung"))],
        "of-my-own": [Range("1.0.0", "2.0.0", Shows(cycle=Walk((Point("end", 0, 0, None, None),), AT_ONCE)))],
    },
)

CHECKED = Checked(
    model="model.keras",
    kind="keras",
    keras="keras",
    quantize="",
    formats=["graph"],
    parity=[
        Parity(target=CPU, format="graph", max_abs=5e-7, max_rel=2e-6, ok=True),
        Parity(
            target=OLD,
            format="graph",
            max_abs=None,
            max_rel=None,
            ok=False,
            reason="not a finite number",
            outputs=[Off(inputs="zeros", output="dense", max_abs=None, max_rel=None, bound=1e-6, ok=False)],
        ),
    ],
    results=[],
    recipes=[Advice(target=CPU, format="graph", usage="loaded", recipe="dispose")],
    refused=[Refusal("layers", "it has a Lambda layer", "graph")],
    notes=["it has a fixed batch"],
    left_out=["the optimizer"],
)


def merged(results: Sequence[Result], *, more: Sequence[Result] = (), **other: Any) -> Merged:
    """Return the merge of a file of results, and of another one that has ``more``."""
    environment = Environment(tensorledger="0.1.0", node="18.4.0", date="2026-12-01T10:00:00+00:00", targets={CPU: {}})
    runs = [Run("first.json", environment), Run("second.json", Environment())]
    cells: dict[tuple[str, str], list[Seen]] = {}
    for number, found in enumerate((results, more)):
        for one in found:
            cells.setdefault((one.scenario, one.target), []).append(Seen(number, one))
    return Merged(runs[: 2 if more else 1], {key: tuple(seen) for key, seen in cells.items()}, **other)


def everything() -> dict[str, Any]:
    """Return a page's data that have something in every section."""
    after = merged(
        RESULTS,
        more=[result("clean", verdict="fail", reason="once only"), result("new")],
        rows=ROWS,
        atlases=[ATLASED],
        checks=[CHECKED],
        problems=["third.json is empty: was what wrote it interrupted?"],
    )
    before = merged([result("clean"), result("gone"), result("grows"), result("breaks", verdict="fail")])
    return data(after, [*changes(before, after)])


def thousands(scenarios: int = 46, targets: int = 218) -> dict[str, Any]:
    """Return a page's data of a grid of so many rows and columns, in which no two cells are quite alike."""
    chance = random.Random(1)
    names = [f"tfjs@{n // 40}.{n % 40}.0/{backend}" for backend in ("cpu", "wasm") for n in range((targets - 2) // 2)]
    verdicts: list[Verdict] = ["pass", "deviates", "fail"]
    found = []
    for row in range(scenarios):
        for target in [*names, "keras", "tf-keras"]:
            verdict = chance.choices(verdicts, [24, 6, 1])[0]
            left = chance.randrange(20) if verdict == "fail" else 0
            heap = [float(round(chance.gauss(0, 9000))) for _ in range(10)]
            found.append(
                result(
                    f"scenario-{row:02}-of-many",
                    target,
                    verdict,
                    seconds=chance.uniform(0.2, 9),
                    cycles=10,
                    series=series(left, 10, heap),
                    deviation="stays" if verdict == "deviates" else None,
                    reason={"deviates": "Something stays.", "fail": PROBLEMS[0], "pass": ""}[verdict],
                    leaks=[msgspec.structs.replace(LEFT[0], bytes=chance.randrange(9999))] if left else [],
                )
            )
    return data(merged(found))

"""The messages, defined once.

Python decodes into these structs, which checks every field; ``schema.py`` writes them out as the JSON Schema that
the JavaScript worker checks with. A change here is a change of the protocol: raise ``PROTOCOL`` when an older
worker could not take part any more.
"""

from __future__ import annotations

from typing import Any

import msgspec

PROTOCOL = 3

RECIPES = {
    "js": (
        "dispose",
        "walk-weights",
        "walk-values",
        "dispose-variables",
        "engine-scope",
        "tidy",
        "drop-reference",
        "complete",
    ),
    "py": (
        "del-clear-collect",
        "del",
        "del-collect",
        "clear-session",
        "clear-before-load",
        "function-scope",
        "function-scope-finally",
        "complete",
    ),
}
"""The names of the ways to release, by the language of the worker that has them."""


class Message(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A part of the protocol. Unknown fields are refused on both sides."""


# --- handshake


class Hello(Message, frozen=True):
    """The harness's first request: which protocol it speaks, and which target the worker is to be."""

    protocol: int
    name: str
    version: str | None
    backend: str | None
    package: str | None
    """Folder of the TensorFlow.js package to load (JavaScript only)."""
    backend_package: str | None
    """Folder of the package that a backend comes in, where it is not in TensorFlow.js itself."""
    counts_only: bool = False
    """Whether how much is left is all that is wanted, and not what it is. No stack is taken then, and ``Cycle.leaks``
    stays empty. In JavaScript nothing is collected either: heap and process are read and mean nothing."""


class Welcome(Message, frozen=True):
    """The worker's answer: what it really is."""

    protocol: int
    versions: dict[str, str]
    """Versions of what runs here: tfjs and node, or tensorflow, keras and python."""


# --- running one scenario


class RunScenario(Message, frozen=True):
    """One cell, as the worker sees it."""

    scenario: str
    """Path of the scenario's file."""
    model: str
    """Whose data ``data.x`` and ``data.y`` are."""
    recipe: str
    """Name of the way to release; the empty string asks for the target's default."""
    cycles: int
    """Cycles after the warm-up, at most: the harness may say earlier that it has seen enough."""
    throws: bool
    """Whether a throw is expected, so that the cycles go on after one."""
    params: dict[str, Any]
    full_stacks: bool = False
    """Whether every tensor's whole stack is taken as it is made, the library's frames too (JavaScript only); slow."""


class Reading(Message, frozen=True):
    """Memory at one moment, in absolute numbers. What cannot be read is null, never 0."""

    tensors: int | None
    bytes: int | None
    """As the runtime itself reports it."""
    buffers: int | None
    buffer_bytes: int | None
    """Each buffer once, from the ledger."""
    backend: dict[str, float | None]
    heap: dict[str, float | None]
    process: dict[str, float | None]


class Frame(Message, frozen=True):
    """One line of a stack; ``of`` is "user", "library" or "harness"."""

    function: str
    file: str
    line: int | None
    column: int | None
    of: str


class Thrown(Message, frozen=True):
    """What a scenario threw, and the last checkpoint before it (null: none in that cycle)."""

    type: str
    message: str
    checkpoint: str | None
    stack: list[Frame]


class LiveTensor(Message, frozen=True):
    """A group of like tensors that are still there."""

    count: int
    shape: list[int] | None
    dtype: str
    bytes: int | None
    """Of one of them."""
    name: str | None
    reachable: bool | None
    """Whether anything refers to it still; if not, it can never be disposed. Null where that is not known."""
    stack: list[Frame]
    """From the user's innermost frame on."""
    kept: bool | None = None
    """Whether it was exempted from its scopes by ``tf.keep``; null where there is no such thing."""
    held: list[str] = []
    """What holds some of them, as far as it was found: traced functions, or a chain of referrers."""


class CheckpointReading(Message, frozen=True):
    """Memory at a checkpoint."""

    name: str
    reading: Reading


class Cycle(Message, frozen=True):
    """One run of the scenario. The last checkpoint is always ``end``."""

    baseline: Reading
    checkpoints: list[CheckpointReading]
    thrown: Thrown | None
    leaks: list[LiveTensor]
    """What was made in this cycle and is alive at its end."""


class Agreement(Message, frozen=True):
    """How far predictions are from the reference that was computed where the model was made."""

    model: str
    source: str
    max_abs: float | None
    """Null where a prediction is not a finite number."""
    max_rel: float | None
    bound: float
    """What rounding in float32 can explain for this model; see models/saved.py."""


class Outcome(Message, frozen=True):
    """All that a worker has to say of one scenario.

    ``cycles`` starts with the warm-up. A worker sends none here: it tells each as it ends (``ended``) and keeps none,
    so that it does not grow by its own records.
    """

    recipe: str
    cycles: list[Cycle]
    agreements: list[Agreement]
    not_applicable: str | None
    """Why the recipe does not apply to this scenario, or is not there, if so."""
    running: list[str]
    """What the scenario left running, such as timers and threads: another scenario might be hit by it."""
    error: Thrown | None
    """What kept the scenario from being run at all: it does not load, or has the wrong form."""
    told: dict[str, Any] = {}
    """What a scenario of the harness's own has to say beyond memory, by ``context.tell(name, value)`` (JavaScript)."""


# --- while it runs


class Reached(Message, frozen=True):
    """Sent before a checkpoint is read, so that the harness knows how far a worker came that dies."""

    cycle: int
    name: str


class Ended(Message, frozen=True):
    """A cycle has ended; sent after each, with a question."""

    number: int
    """0 is the warm-up."""
    cycle: Cycle


class GoOn(Message, frozen=True):
    """The answer: whether there is to be another cycle."""

    go_on: bool


class SavedModelRequest(Message, frozen=True):
    """A worker asks for a zoo model's file; the harness makes it if need be."""

    model: str
    source: str
    """Which Keras made it: "keras" or "tf-keras"."""
    release: str | None
    """The TensorFlow.js that is to load it; null for Python."""


class SavedModel(Message, frozen=True):
    """Where a zoo model's files are, and what it predicts."""

    keras: str
    """The file that the Keras which made the model saved."""
    tfjs: str
    """The folder with its ``model.json`` of layers, as that TensorFlow.js can load it."""
    graph: str
    """The folder with its ``model.json`` of a graph."""
    predictions: list[float]
    """What the Keras that made the model predicts for the model's ``data.x``, row by row."""
    bound: float
    """See Agreement."""


# --- the process that Python workers are forked from


class Fork(Message, frozen=True):
    """Ask for a worker; its channel and its log come along as two descriptors."""


class Forked(Message, frozen=True):
    """The worker's process."""

    pid: int


class Wait(Message, frozen=True):
    """Ask how a worker ended, and wait for it that long."""

    pid: int
    seconds: float


class Waited(Message, frozen=True):
    """How it ended."""

    status: int | None
    """Exit status, or minus the signal's number; null while the process lives."""


# --- the process that has the browser


class OpenPage(Message, frozen=True):
    """Ask for a worker in a fresh page; its channel and its log come along as two descriptors."""

    modules: str
    """The folder of npm packages."""


class PageOpened(Message, frozen=True):
    """The page, by a number of its own."""

    page: int


class ClosePage(Message, frozen=True):
    """Ask how a page ended, and wait for it that long; one that lives when its channel has closed is closed."""

    page: int
    seconds: float


class PageClosed(Message, frozen=True):
    """How it ended, in words."""

    how: str


class Nothing(Message, frozen=True):
    """The answer of a method that has none."""


# --- with what runs an action on a page that is watched


class LoadAction(Message, frozen=True):
    """Load the action file."""


class ActionLoaded(Message, frozen=True):
    """Which of ``setup``, ``action`` and ``back`` it has, or why it cannot be used."""

    steps: list[str]
    error: Thrown | None


class FindPage(Message, frozen=True):
    """Find the page in the browser that has this endpoint."""

    endpoint: str
    timeout: float
    """Seconds that Playwright waits for what it is told to do, unless the action says otherwise."""


class Act(Message, frozen=True):
    """Run one of the file's functions on the page."""

    step: str


class Acted(Message, frozen=True):
    """How that went."""

    error: Thrown | None


METHODS: dict[str, tuple[type[Message], type[Message]]] = {
    "hello": (Hello, Welcome),
    "run": (RunScenario, Outcome),
    "reached": (Reached, Nothing),
    "ended": (Ended, GoOn),
    "saved_model": (SavedModelRequest, SavedModel),
    "fork": (Fork, Forked),
    "wait": (Wait, Waited),
    "open_page": (OpenPage, PageOpened),
    "close_page": (ClosePage, PageClosed),
    "load_action": (LoadAction, ActionLoaded),
    "find_page": (FindPage, Acted),
    "act": (Act, Acted),
}
"""Each method with the type of its parameters and of its result. ``reached`` is a notification."""

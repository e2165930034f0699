"""The Python ledger: `tensorledger.track()`. Both Kerases are in this process, side by side, where both are installed.

This file needs a TensorFlow and pytest, and nothing else of the harness.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import importlib.util
import subprocess
import sys
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import tensorledger
from tensorledger.data import samples
from tensorledger.environment.tree import tree
from tensorledger.ledger import hook as hooks
from tensorledger.ledger.frames import whose
from tensorledger.models import zoo

tf = pytest.importorskip("tensorflow")
from tensorflow.python import pywrap_tfe  # noqa: E402

from tensorledger.ledger.hook import HOOK, SETTER  # noqa: E402
from tensorledger.runtime.census import Census  # noqa: E402
from tensorledger.runtime.cycles import Disagreement, _read  # noqa: E402

HERE = "tests/py/test_track.py"
KERASES = ("keras", "tf-keras")
tf.constant(0)  # TensorFlow has begun long before any ledger does


@pytest.fixture(params=KERASES)
def keras(request: pytest.FixtureRequest) -> Any:
    return pytest.importorskip(zoo.KERASES[request.param])


@pytest.fixture(autouse=True)
def hook_is_out() -> Iterator[None]:
    tf.ones([1])  # what TensorFlow keeps for itself is there before
    yield
    assert HOOK._records == (), "a test left a ledger on"


def line_of(text: str, file: Path = Path(__file__)) -> int:
    """Return the number of the one line that ends with a mark."""
    (found,) = [n for n, line in enumerate(file.read_text().splitlines(), 1) if line.rstrip().endswith(f"# {text}")]
    return found


def shapes(ledger: Any, **options: Any) -> list[Any]:
    return [group.shape for group in ledger.live(**options) for _ in range(group.count)]


# --- light


def test_importing_tensorledger_and_its_ledger_does_not_import_tensorflow() -> None:
    script = "import sys, tensorledger; tensorledger.track; print({'tensorflow', 'keras', 'numpy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_what_the_package_does_not_have_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'trak'"):
        tensorledger.trak  # noqa: B018


# --- the live set


def test_only_what_was_made_inside_and_is_alive_is_listed() -> None:
    before = tf.ones([2])
    with tensorledger.track() as ledger:
        kept = tf.ones([3])
        tf.ones([4])
    after = tf.ones([5])
    assert shapes(ledger) == [[3]] and (ledger.count, ledger.bytes) == (1, 12)
    del kept
    assert ledger.live() == [] and (ledger.count, ledger.bytes) == (0, 0)
    del before, after


def test_tensors_in_a_reference_cycle_are_there_until_they_are_collected() -> None:
    gc.disable()
    try:
        with tensorledger.track() as ledger:
            loop: list[Any] = [tf.ones([3])]
            loop.append(loop)
            del loop
        assert shapes(ledger, collect=False) == [[3]]
        assert ledger.live() == []
    finally:
        gc.enable()


def test_a_cycle_through_an_attribute_of_the_tensor_itself_is_collected() -> None:
    with tensorledger.track() as ledger:
        tensor = tf.ones([3])
        tensor.loop = [tensor]
        del tensor
    assert ledger.live() == []


def test_a_variable_and_its_handles_count_once() -> None:
    with tensorledger.track() as ledger:
        variable = tf.Variable(tf.ones([4, 4]), name="mine")
        handle = variable.handle
        copy = tf.identity(handle)
    (group,) = ledger.live()
    assert (group.count, group.shape, group.dtype, group.bytes, group.name) == (1, [4, 4], "float32", 64, "mine")
    del variable, handle
    assert ledger.count == 1, "the copy of the handle keeps the memory"
    del copy
    assert ledger.live() == []


def test_a_new_handle_of_an_older_variable_is_not_counted() -> None:
    old = tf.Variable(tf.ones([4, 4]))
    with tensorledger.track() as ledger:
        copy = tf.identity(old.handle)
        new = tf.Variable(tf.ones([2]))
    assert shapes(ledger) == [[2]]
    del copy, new


def test_strings_count_their_contents_and_variants_and_iterators_have_no_bytes() -> None:
    with tensorledger.track() as ledger:
        texts = tf.constant(["abc", "de"])
        variant = tf.data.Dataset.range(3)._variant_tensor
        iterator = iter(tf.data.Dataset.range(3))
    found = {group.dtype: group for group in ledger.live()}
    assert variant.dtype == tf.variant and "variant" not in found
    assert (found["string"].shape, found["string"].bytes) == ([2], 5)
    assert (found["resource"].count, found["resource"].bytes) == (1, 0)
    del texts, variant, iterator


def test_like_ones_of_one_place_are_grouped_and_others_are_not() -> None:
    with tensorledger.track() as ledger:
        kept = [tf.ones([3]) for _ in range(5)]
        kept.append(tf.ones([3]))
    assert [(group.count, group.bytes) for group in ledger.live()] == [(5, 12), (1, 12)]
    del kept


# --- agreement with the census


def life_eager(_: Any) -> Any:
    start = tf.constant([1.0, 2.0, 3.0])
    texts = tf.strings.join([tf.constant(["a", "b"]), tf.constant(["c", "d"])])
    return start, tf.split(start * 2 + 1, 3), tf.unique(tf.cast(start, tf.int64)), texts, start[1:]


def life_variables(_: Any) -> Any:
    first, second = tf.Variable(tf.ones([3])), tf.Variable([[1, 2]], trainable=False)
    first.assign_add(tf.ones([3]))
    return first, second.read_value()


def life_captures(_: Any) -> Any:
    variable, constant = tf.Variable(tf.ones([3])), tf.ones([3])

    captures = tf.function(lambda x: (x * variable + constant, tf.constant(3.0)))

    def gradient(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = captures(x)[0]
        return tape.gradient(y, [x, variable])

    return captures, gradient(tf.ones([3]))


def life_in_threads(keras: Any) -> Any:
    kept: list[Any] = []

    def work(size: int) -> None:
        for _ in range(20):
            kept.append(tf.ones([size]) + 1.0)
        kept.append(tf.Variable(kept[-1]))

    threads = [threading.Thread(target=work, args=(size,)) for size in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return kept


def life_created(keras: Any) -> Any:
    return zoo.classifier(keras)


def life_predicted(keras: Any) -> Any:
    model = zoo.classifier(keras)
    return model, model(tf.constant(samples.inputs(784)), training=False)


def life_predict_method(keras: Any) -> Any:
    model = zoo.extractor(keras)
    return model, model.predict(samples.inputs(64), verbose=0)


def life_fit(keras: Any) -> Any:
    model = zoo.classifier(keras)
    model.compile("adam", "categorical_crossentropy")
    model.fit(samples.inputs(784), samples.labels(10), verbose=0)
    return model


def life_fit_and_dropped(keras: Any) -> Any:
    life_fit(keras)
    keras.backend.clear_session()


def life_traced(keras: Any) -> Any:
    model = zoo.classifier(keras)
    traced = tf.function(lambda x: model(x, training=False) * tf.constant(2.0))
    return traced, traced(tf.constant(samples.inputs(784)))


@pytest.mark.parametrize(
    "life",
    [
        life_eager,
        life_variables,
        life_captures,
        life_in_threads,
        life_created,
        life_predicted,
        life_predict_method,
        life_fit,
        life_fit_and_dropped,
        life_traced,
    ],
)
def test_the_ledger_and_the_census_know_the_same_tensors(keras: Any, life: Callable[[Any], Any]) -> None:
    gc.collect()
    gc.disable()
    try:
        before = Census().identities()
        with tensorledger.track(frames="none") as ledger:
            kept = life(keras)
            during = Census().identities() - before
            assert ledger.identities() - before == during and (during or kept is None)
            gc.collect()
            after = Census().identities() - before
            assert ledger.identities() - before == after
        assert ledger.count == len(after)
        assert ledger.bytes == sum(size for identity, size, _ in Census().sizes() if identity in after)
        del kept
    finally:
        gc.enable()
        keras.backend.clear_session()


def test_a_tensor_that_the_ledger_lacks_is_a_disagreement() -> None:
    before = Census().identities()
    with tensorledger.track() as ledger:
        seen = tf.ones([2])
        assert _read(ledger, before).tensors is not None
        usual, HOOK.created = HOOK.created, lambda tensor: None
        unseen = tf.ones([3])
        HOOK.created = usual
        with pytest.raises(Disagreement, match=r"of 2 tensors the ledger lacks 1, and it has 0"):
            _read(ledger, before)
    del seen, unseen


def test_a_tensor_that_the_census_lacks_is_a_disagreement(monkeypatch: pytest.MonkeyPatch) -> None:
    before = Census().identities()
    with tensorledger.track() as ledger:
        kept = tf.ones([2])
        monkeypatch.setattr(Census, "identities", lambda census: before)
        with pytest.raises(Disagreement, match=r"the ledger lacks 0, and it has 1"):
            _read(ledger, before)
    del kept


# --- frames


def load_scenario(name: str) -> tuple[ModuleType, Path]:
    path = tree() / "py" / "scenarios" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"scenario_of_test_{name}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module
    spec.loader.exec_module(module)
    return module, path


@pytest.mark.parametrize(
    ("name", "leaking", "left", "held"),
    [
        ("leak_prediction", "PREDICTIONS.append(", [[8, 10]], "PREDICTIONS[0]"),
        ("leak_variable", "KEPT.append(", [[4, 4]], "KEPT[0] -> ResourceVariable._handle"),
        ("leak_bytes", 'KEPT["tensor"] = ', [[1, 64]], "KEPT['tensor']"),
        ("leak_heap", "", [], ""),
        ("leak_native", "", [], ""),
    ],
)
def test_the_users_frame_is_the_very_line_that_leaks(
    keras: Any, name: str, leaking: str, left: list[list[int]], held: str
) -> None:
    x = tf.constant(samples.inputs(784))
    models = SimpleNamespace(classifier=lambda: zoo.classifier(keras))
    context = SimpleNamespace(tf=tf, keras=keras, models=models, data=SimpleNamespace(x=x), release=lambda: None)
    for frames in ("user", "all"):
        module, path = load_scenario(name)
        with tensorledger.track(frames=frames) as ledger:
            for _ in module.scenario(context):
                pass
            keras.backend.clear_session()
        found = ledger.live(held=20)
        assert [group.shape for group in found] == left
        for group in found:
            frame = group.stack[0]
            assert (frame.function, frame.file, frame.of) == ("scenario", f"py/scenarios/{name}.py", "user")
            assert frame.line is not None
            assert path.read_text().splitlines()[frame.line - 1].strip().startswith(leaking)
            assert group.held[-1] == f"{module.__name__}.{held}"
            assert frames == "user" or [frame.function for frame in group.stack[:2]] == [
                "scenario",
                "test_the_users_frame_is_the_very_line_that_leaks",
            ]


def make_deep(depth: int) -> Any:
    if depth:
        return make_deep(depth - 1)
    return tf.ones([3])  # the line that makes it


def test_user_frames_are_one_and_all_frames_go_out_to_the_users_outermost() -> None:
    told = {}
    for frames in ("user", "all", "none"):
        with tensorledger.track(frames=frames) as ledger:
            kept = make_deep(2)
        (group,) = ledger.live()
        told[frames] = group.stack
        del kept
    assert [(frame.function, frame.line) for frame in told["user"]] == [
        ("make_deep", line_of("the line that makes it"))
    ]
    assert [frame.function for frame in told["all"]][:3] == ["make_deep"] * 3
    assert told["all"][3].function == "test_user_frames_are_one_and_all_frames_go_out_to_the_users_outermost"
    assert told["all"][-1].of == "user" and told["none"] == []


def test_frames_of_libraries_and_of_tensorledger_are_not_the_users() -> None:
    assert whose(Path(tensorledger.__file__)) == "harness"
    assert whose(Path(tf.__file__)) == whose(Path(threading.__file__)) == whose(Path("<string>")) == "library"
    assert whose(Path("/other/lib/python3.12/site-packages/tensorflow/api.py")) == "library"
    assert whose(Path(__file__)) == whose(Path("<stdin>")) == "user"
    with tensorledger.track() as ledger:
        model = zoo.classifier(importlib.import_module("keras"))  # tensorledger's own file makes the layers
    assert {group.stack[0].line for group in ledger.live()} == {line_of("tensorledger's own file makes the layers")}
    del model


def test_code_that_autograph_rewrote_is_told_by_its_own_line() -> None:
    kept: list[Any] = []

    def rewritten(x: Any) -> Any:
        with tf.init_scope():
            kept.append(tf.ones([7]))  # eager, in a traced function
        return x

    with tensorledger.track() as ledger:
        tf.function(rewritten)(tf.constant(1.0))
    (frame,) = next(group.stack for group in ledger.live() if group.shape == [7])
    assert (frame.line, frame.of) == (line_of("eager, in a traced function"), "user")
    assert frame.file.endswith("test_track.py")


# --- blocks, functions, threads


def test_nested_ledgers_share_the_hook_and_each_has_its_own() -> None:
    with tensorledger.track() as outer:
        one = tf.ones([1])
        with tensorledger.track(frames="all") as inner:
            two = tf.ones([2])
        three = tf.ones([3])
    assert (shapes(outer), shapes(inner)) == ([[1], [2], [3]], [[2]])
    del one, two, three


def test_ledgers_may_end_in_any_order() -> None:
    first, second = tensorledger.track(), tensorledger.track()
    early, late = first.__enter__(), second.__enter__()
    first.__exit__(None, None, None)
    kept = tf.ones([2])
    second.__exit__(None, None, None)
    assert (shapes(early), shapes(late)) == ([], [[2]])
    del kept


def test_a_decorated_function_has_a_ledger_of_each_call() -> None:
    kept: list[Any] = []

    @tensorledger.track()
    def grow(size: int) -> int:
        """Grow."""
        kept.append(tf.ones([size]))
        return size

    assert grow(3) == 3 and grow(4) == 4
    assert grow.__doc__ == "Grow." and shapes(grow.ledger) == [[4]]  # type: ignore[attr-defined]


def test_coroutines_and_generators_are_tracked_to_their_end() -> None:
    kept: list[Any] = []

    @tensorledger.track()
    async def awaited() -> None:
        await asyncio.sleep(0)
        kept.append(tf.ones([3]))

    @tensorledger.track()
    def stepped() -> Iterator[str]:
        yield "first"
        kept.append(tf.ones([4]))

    asyncio.run(awaited())
    assert list(stepped()) == ["first"]
    assert shapes(awaited.ledger) == [[3]]  # type: ignore[attr-defined]
    assert shapes(stepped.ledger) == [[4]]  # type: ignore[attr-defined]

    async def both() -> Any:
        yield 1

    with pytest.raises(TypeError, match="asynchronous generators"):
        tensorledger.track()(both)


def test_tensors_of_every_thread_are_recorded_with_their_frames() -> None:
    kept: list[Any] = []

    def work(size: int) -> None:
        for _ in range(50):
            kept.append(tf.ones([size]))  # in a thread

    with tensorledger.track() as ledger:
        threads = [threading.Thread(target=work, args=(size,)) for size in range(1, 5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted((group.shape, group.count) for group in ledger.live()) == [([n], 50) for n in range(1, 5)]
    assert {group.stack[0].line for group in ledger.live()} == {line_of("in a thread")}


def test_what_a_thread_of_tensorflows_own_makes_is_in_the_ledger_without_a_place() -> None:
    kept: list[Any] = []

    def keep(value: Any) -> Any:
        kept.append(value)
        return value

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with tensorledger.track() as ledger:
            data = tf.data.Dataset.range(4).map(lambda value: tf.py_function(keep, [value], tf.int64))
            for _ in data:
                pass
        alive = sum(group.count for group in ledger.live() if group.shape == [] and group.dtype == "int64")
    assert len(kept) == 4 and alive >= 4


def test_ledgers_that_come_and_go_in_threads_do_not_disturb_each_other() -> None:
    wrong: list[Any] = []

    def work(size: int) -> None:
        for _ in range(30):
            with tensorledger.track() as ledger:
                kept = tf.ones([size])
            if [size] not in shapes(ledger, collect=False):
                wrong.append(size)
            del kept

    threads = [threading.Thread(target=work, args=(size,)) for size in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_an_error_inside_ends_the_ledger_and_passes() -> None:
    kept: list[Any] = []
    with pytest.raises(ZeroDivisionError), tensorledger.track() as ledger:
        kept.append(tf.ones([3]))
        1 / 0  # noqa: B018
    assert HOOK._records == ()
    assert shapes(ledger) == [[3]]


def test_one_track_is_for_one_block() -> None:
    tracked = tensorledger.track()
    with tracked, pytest.raises(RuntimeError, match="make another one"), tracked:
        pass
    with pytest.raises(ValueError, match="frames is one of user, all, none, not 'some'"):
        tensorledger.track(frames="some")  # type: ignore[arg-type]


# --- the hook


class Other:
    """Somebody else's hook."""

    def __init__(self) -> None:
        self.seen = 0

    def created(self, tensor: Any) -> None:
        self.seen += 1


@pytest.fixture
def other() -> Iterator[Other]:
    one = Other()
    pywrap_tfe.TFE_Py_SetEagerTensorProfiler(one)
    yield one
    pywrap_tfe.TFE_Py_SetEagerTensorProfiler(None)


def test_the_hook_is_taken_out_by_the_last_ledger() -> None:
    assert hooks._present() is None
    with tensorledger.track():
        with tensorledger.track():
            pass
        assert HOOK._is_in()
    assert hooks._present() is None and not HOOK._is_in()


def test_a_hook_that_is_held_stays_in_and_is_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[Any] = []
    present = hooks._present

    def look() -> Any:
        looked.append(present())
        return looked[-1]

    monkeypatch.setattr(hooks, "_present", look)
    with HOOK.held():
        for _ in range(3):
            with tensorledger.track() as ledger:
                kept = tf.identity(1.0)
            assert shapes(ledger) == [[]] and HOOK._is_in()
            del kept
    assert len(looked) == 1 and present() is None and not HOOK._is_in()


def test_another_hook_hears_of_tensors_while_this_one_is_held(other: Other) -> None:
    with HOOK.held():
        before = other.seen
        tf.identity(1.0)
        assert other.seen > before
        with tensorledger.track() as ledger:
            kept = tf.identity(2.0)
        assert shapes(ledger) == [[]]
        del kept
    assert hooks._present() is other


def test_where_there_is_no_hook_none_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(pywrap_tfe, SETTER)
    with HOOK.held():
        assert HOOK._records == ()


def test_a_hook_that_was_there_is_called_on_and_put_back(other: Other) -> None:
    with tensorledger.track() as ledger:
        before = other.seen
        kept = tf.identity(1.0)
        assert other.seen > before
    assert shapes(ledger) == [[]] and hooks._present() is other
    del kept


def test_what_another_hook_raises_does_not_reach_the_operation(other: Other, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda one: told.append(one.exc_type))
    with tensorledger.track() as ledger:
        monkeypatch.setattr(other, "created", lambda tensor: 1 / 0)
        kept = tf.ones([3])
        monkeypatch.undo()
    assert shapes(ledger) == [[3]] and set(told) == {ZeroDivisionError}
    del kept


def test_a_plain_function_as_hook_is_respected() -> None:
    holder = type("Holder", (), {"created": staticmethod(lambda tensor: None)})
    pywrap_tfe.TFE_Py_SetEagerTensorProfiler(holder)
    try:
        with pytest.warns(RuntimeWarning, match="another hook is in its place"), tensorledger.track() as ledger:
            kept = tf.ones([3])
        assert [3] in shapes(ledger)
        del kept
    finally:
        pywrap_tfe.TFE_Py_SetEagerTensorProfiler(None)


def test_a_hook_that_was_put_in_meanwhile_stays_and_the_ledger_says_that_it_is_not_exact() -> None:
    one = Other()
    with tensorledger.track() as ledger:
        pywrap_tfe.TFE_Py_SetEagerTensorProfiler(one)
    try:
        assert hooks._present() is one
        with pytest.warns(RuntimeWarning, match="not exact.*another eager tensor hook"):
            ledger.live()
    finally:
        pywrap_tfe.TFE_Py_SetEagerTensorProfiler(None)


def test_without_the_hook_it_warns_and_takes_a_census(monkeypatch: pytest.MonkeyPatch) -> None:
    before = tf.ones([2])
    monkeypatch.delattr(pywrap_tfe, SETTER)
    tracked = tensorledger.track()
    with pytest.warns(RuntimeWarning, match="no TFE_Py_SetEagerTensorProfiler.*slower"):
        ledger = tracked.__enter__()
    kept = [tf.ones([3]), tf.Variable(tf.ones([4]))]
    assert shapes(ledger) == [[3], [4]]
    tracked.__exit__(None, None, None)
    later = tf.ones([5])
    assert [(group.shape, group.stack) for group in ledger.live()] == [([3], []), ([4], [])]
    kept.clear()
    assert ledger.live() == []
    del before, later


def test_what_fails_in_the_ledger_does_not_reach_the_operation_and_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tensorledger.ledger.frames._is_users", lambda file: 1 / 0)
    with tensorledger.track() as ledger:
        kept = tf.ones([3])
    with pytest.warns(RuntimeWarning, match="not exact.*ZeroDivisionError"):
        assert ledger.live() == []
    del kept


def test_a_weak_references_callback_that_raises_does_not_disturb_the_ledger(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda one: told.append(one.exc_type))
    with tensorledger.track() as ledger:
        kept = tf.ones([3])
        watching = weakref.ref(kept, lambda ref: 1 / 0)
        del kept
        other = tf.ones([4])
    assert shapes(ledger) == [[4]] and told == [ZeroDivisionError]
    del watching, other


def test_a_ledger_does_not_keep_tensors_and_is_not_kept_by_them() -> None:
    with tensorledger.track() as ledger:
        kept = tf.ones([3])
    watching = weakref.ref(ledger)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ledger.live()
    del ledger
    gc.collect()
    assert watching() is None
    del kept


# --- what holds them

CACHE: dict[str, Any] = {}


class Keeper:
    box: list[Any] = []  # noqa: RUF012


def held(ledger: Any) -> list[str]:
    return [reason for group in ledger.live(held=30) for reason in group.held]


def test_a_module_global_that_holds_a_tensor_is_named() -> None:
    with tensorledger.track() as ledger:
        CACHE["x"] = SimpleNamespace(kernel=[tf.ones([3])])
    assert held(ledger) == [f"{__name__}.CACHE['x'] -> SimpleNamespace.kernel[0]"]
    CACHE.clear()
    assert held(ledger) == []


def test_a_list_in_a_class_attribute_is_named() -> None:
    with tensorledger.track() as ledger:
        Keeper.box.append(tf.ones([3]))
    assert held(ledger) == [f"{__name__}.Keeper.box[0]"]
    Keeper.box.clear()


def test_a_closure_is_named_with_its_variable() -> None:
    def make() -> Callable[[], Any]:
        kept = [tf.ones([3])]
        return lambda: kept

    with tensorledger.track() as ledger:
        CACHE["closure"] = make()
    (reason,) = held(ledger)
    assert reason.startswith(f"{__name__}.CACHE['closure'] -> function ") and reason.endswith("(closure kept)[0]")
    CACHE.clear()


def test_a_local_of_a_running_function_is_named_and_not_kept_by_that() -> None:
    with tensorledger.track() as ledger:
        mine = tf.ones([3])
    assert held(ledger) == [
        "local mine of test_a_local_of_a_running_function_is_named_and_not_kept_by_that, which runs"
    ]
    del mine
    assert ledger.live() == []


def test_a_tensor_that_is_an_attribute_of_another_is_named() -> None:
    with tensorledger.track() as ledger:
        CACHE["x"] = [tf.ones([3])]
        CACHE["x"][0].logits = tf.ones([4])
    assert held(ledger) == [f"{__name__}.CACHE['x'][0]", f"{__name__}.CACHE['x'][0] -> EagerTensor.logits"]
    CACHE.clear()


def test_a_local_of_a_suspended_generator_is_named() -> None:
    def steps() -> Iterator[None]:
        mine = tf.ones([3])
        yield
        del mine

    with tensorledger.track() as ledger:
        CACHE["steps"] = steps()
        next(CACHE["steps"])
    (reason,) = held(ledger)
    assert reason.startswith(f"{__name__}.CACHE['steps'] -> generator ") and reason.endswith("steps, local mine")
    next(CACHE["steps"], None)
    assert ledger.live() == []
    CACHE.clear()


def test_to_look_for_what_holds_a_tensor_keeps_it_no_longer_than_that() -> None:
    gc.disable()
    try:
        with tensorledger.track() as ledger:
            mine, boxed = tf.ones([3]), [tf.ones([4])]
        assert len(held(ledger)) == 2
        watching = [weakref.ref(mine), weakref.ref(boxed[0])]
        del mine, boxed
        assert [ref() for ref in watching] == [None, None]
    finally:
        gc.enable()


def test_a_thread_local_is_named() -> None:
    CACHE["local"] = threading.local()
    with tensorledger.track() as ledger:
        CACHE["local"].tensor = tf.ones([3])
    assert held(ledger) == [f"{__name__}.CACHE['local'] -> _local['tensor']"]
    CACHE.clear()


def test_a_traced_function_and_its_capture_are_named() -> None:
    def make() -> Any:
        variable = tf.Variable(tf.ones([3]), name="captured")

        def doubled(x: Any) -> Any:
            return x * variable

        return tf.function(doubled).get_concrete_function(tf.ones([3]))

    with tensorledger.track() as ledger:
        CACHE["traced"] = make()
        gc.collect()
    group = next(group for group in ledger.live(held=30) if group.name == "captured")
    assert group.held[0].startswith("traced function doubled captures it as ")
    assert any(reason.startswith(f"{__name__}.CACHE['traced'] -> ") for reason in group.held)
    CACHE.clear()


def test_after_fit_the_gradient_registry_is_named(keras: Any) -> None:
    with tensorledger.track() as ledger:
        life_fit(keras)
        keras.backend.clear_session()
    found = ledger.live(held=30)
    assert sum(group.count for group in found) >= 16
    for group in found:
        if group.shape is not None and group.dtype != "resource":
            assert any("gradient registry, CustomGradient-" in reason for reason in group.held), group


def test_without_its_entries_in_the_registry_nothing_stays_after_fit(keras: Any) -> None:
    from tensorflow.python.framework import ops

    registry = ops.gradient_registry._registry
    with tensorledger.track() as ledger:
        before = set(registry)
        life_fit(keras)
        keras.backend.clear_session()
    assert ledger.count >= 16
    for name in set(registry) - before:
        del registry[name]
    assert ledger.live() == []


def test_the_search_ends_when_its_time_is_over() -> None:
    with tensorledger.track() as ledger:
        CACHE["x"] = tf.ones([3])
    assert [group.held for group in ledger.live(held=1e-9)] == [[]]
    assert [group.held for group in ledger.live()] == [[]]
    CACHE.clear()

"""Writes docs/layers.md: every layer of Keras and of TensorFlow.js, and what becomes of it when it is converted.

python docs/layer_table.py            measures, and writes the page
python docs/layer_table.py --check    writes nothing; exit status 1 where the page says otherwise than what is measured

What is right, wrong or refused is measured by tests/py/parity_suite.py; the first release of TensorFlow.js is the
converter's own (conversion/since.py).
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path

from packaging.specifiers import SpecifierSet
from packaging.version import Version

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "py"))

import convertible
from graph_layers import layer_of
from parity_suite import (
    BACKENDS,
    BASES,
    FORMS,
    OF_TFJS,
    REFUSED,
    RIGHT,
    WRONG,
    Case,
    Found,
    Suite,
    all_layer_names,
    is_option,
    measured,
    of_layer,
    shortly,
    unexplained,
)

from tensorledger.conversion.layers import NEWEST
from tensorledger.conversion.since import LACKS
from tensorledger.environment.releases import published
from tensorledger.results.marked import markdown

PAGE = Path(__file__).with_name("layers.md")
SPOKEN = {"keras": "Keras 3", "tf-keras": "tf_keras"}
NONE = "–"

Verdicts = dict[tuple[str, str], Found]
"""By Keras and backend; without a Keras that has no such layer."""


def rendered(suite: Suite) -> str:
    """Return the page."""
    return "\n\n".join(_page(suite)) + "\n"


def _page(suite: Suite) -> Iterator[str]:
    names = all_layer_names(suite)
    rows = [_layer_row(suite, name) for name in names if name not in BASES and _is_anywhere(suite, name)]
    apart = {**BASES, **OF_TFJS}
    yield "# Layers"
    yield (
        "Which layers of Keras arrive in TensorFlow.js, as a layers model and as a graph model.\n"
        "`python docs/layer_table.py` writes this page out of a run, and a test holds it against another."
    )
    yield _how(suite)
    yield "## Every layer"
    columns = ["Layer", "As a layers model", "As a graph model", "From TensorFlow.js"]
    yield markdown(columns, rows)
    yield "Public classes that are in no model as they are:"
    yield markdown(["Class", "Why"], [[f"`{name}`", why] for name, why in apart.items()])
    yield "## Options and activations"
    yield (
        "What a layer does with an option that is not its default, where that was tried: each a model of that layer\n"
        "alone. Beneath, models of several layers that are not right though each of their layers is."
    )
    yield markdown(columns[:3], _option_rows(suite))


def _how(suite: Suite) -> str:
    models = {(case.keras, case.name) for case in suite.found}
    return f"""\
Measured with Keras {version("keras")} and tf_keras {version("tf-keras")} on TensorFlow {version("tensorflow")}, \
and TensorFlow.js {NEWEST} in Node.js, on {len(models)} models
of {len({name for _, name in models})} kinds, with random weights. Each predicts for random numbers, \
for one row of them, for zeros and for numbers a thousand times as large;
where a layer takes indices, for those.

- **right**: on both backends, cpu and wasm, and of both Kerases, every prediction is as close to Keras's as rounding
  explains ([why that much](decisions/0018-checking-a-model.md)), and the converted model has all its weights.
- **wrong**: it is converted without complaint, and on that backend it predicts something else, or TensorFlow.js throws;
  `tensorledger check` says so.
- **refused**: the converter says no, with this reason.
- **not made**: Keras itself cannot make a model of it here, with this error.

What is true of one Keras or of one backend only is said so. Where Keras itself predicts what is not a finite number,
nothing is compared. A layer that changes what it is given in training only, as those for augmentation, counts as what
its model does when it predicts; beside one that may do nothing then, its model has a convolution. "Not everywhere
with" lists the options further down with which the layer is not right for a Keras or on a backend. The last column is
the first release that loads a layers model with the layer and is right; releases from 0.11.1 to 0.11.6 load no
converted model, and those from 4.9 to 4.10 none without weights."""


def _is_anywhere(suite: Suite, name: str) -> bool:
    return bool(_of_layer(suite, name, FORMS[0]))


def _of_layer(suite: Suite, name: str, form: str) -> Verdicts:
    return {
        (keras, backend): found
        for keras in convertible.KERASES
        for backend in BACKENDS
        if (found := of_layer(suite, keras, name, form, backend)) is not None
    }


def _of_model(suite: Suite, name: str, form: str) -> Verdicts:
    return {
        (keras, backend): suite.found[Case(keras, name, form, backend)]
        for keras in convertible.KERASES
        for backend in BACKENDS
        if Case(keras, name, form, backend) in suite.found
    }


def _layer_row(suite: Suite, name: str) -> list[str]:
    each = [_of_layer(suite, name, form) for form in FORMS]
    cells = [_cell(verdicts) + _not_with(suite, name, form) for form, verdicts in zip(FORMS, each, strict=True)]
    right = any(found.verdict == RIGHT for found in each[0].values())
    return [_layer(suite, name), *cells, _since(name) if right else NONE]


def _layer(suite: Suite, name: str) -> str:
    there = [keras for keras in convertible.KERASES if name in suite.public[keras]]
    others = sorted({other for keras in there for other in suite.public[keras][name]} - {name})
    spelled = f"`{name}`" + (f", {', '.join(f'`{other}`' for other in others)}" if others else "")
    return spelled + (f" ({SPOKEN[there[0]]} only)" if len(there) == 1 else "")


def _not_with(suite: Suite, name: str, form: str) -> str:
    """Return which options a layer is not right with, where it is right itself."""
    options = {
        case.name.removeprefix(name).strip(): None
        for case, found in suite.found.items()
        if is_option(case.name)
        and (layer_of(case.name), case.form) == (name, form)
        and found.verdict in (WRONG, REFUSED)
        and (own := of_layer(suite, case.keras, name, form, case.backend)) is not None
        and own.verdict == RIGHT
    }
    return f"; not everywhere with {', '.join(f'`{option}`' for option in options)}" if options else ""


def _since(name: str) -> str:
    """Return the first release that is right with a layer; out of what the converter refuses for older ones."""
    lacks = [SpecifierSet(lack.releases) for lack in LACKS if lack.what == f"{name} layers"]
    lacking = [[release for release in published(ask=False) if lack.contains(release)] for lack in lacks]
    right = [release for release in published(ask=False) if not any(release in each for each in lacking)]
    later = [release for each in lacking for release in each if Version(release) > Version(right[0])]
    return right[0] + (f", but not {', '.join(later)}" if later else "")


def _option_rows(suite: Suite) -> Iterator[list[str]]:
    names = {case.name for case in suite.found}
    for name in sorted(filter(is_option, names), key=str.lower):
        yield [f"`{name}`", *(_cell(_of_model(suite, name, form)) for form in FORMS)]
    for name in sorted({case.name for case in unexplained(suite)}):
        yield [f"the model {name}", *(_cell(_of_model(suite, name, form)) for form in FORMS)]


def _cell(verdicts: Verdicts) -> str:
    """Return what is true of a form: once, where the backends and the Kerases agree."""
    each = {}
    for keras in dict.fromkeys(keras for keras, _ in verdicts):
        of_backends = {backend: _short(verdicts[keras, backend]) for backend in BACKENDS}
        same = len(set(of_backends.values())) == 1
        each[keras] = of_backends["cpu"] if same else "; ".join(f"{key}: {text}" for key, text in of_backends.items())
    if len(set(each.values())) == 1:
        return next(iter(each.values()))
    return "; ".join(f"{SPOKEN[keras]}: {text}" for keras, text in each.items())


def _short(found: Found) -> str:
    return found.verdict if found.verdict == RIGHT else f"{found.verdict}: {shortly(found)}"


def main(arguments: Sequence[str]) -> int:
    """Write the page, or check it; return the exit status."""
    if list(arguments) not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        wanted = rendered(measured(Path(folder)))
    if PAGE.is_file() and PAGE.read_text(encoding="utf-8") == wanted:
        print("docs/layers.md says what was measured")
        return 0
    if arguments:
        print("docs/layers.md is not what was measured; python docs/layer_table.py writes it", file=sys.stderr)
        return 1
    PAGE.write_text(wanted, encoding="utf-8")
    print("docs/layers.md is written")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""What releases of TensorFlow.js lack of what the newest can load: a layers model for one of them is refused.

Measured by loading a model with each layer, and each option that matters, in every stable release from 0.6.1 to 4.22.0
and holding its predictions against Keras's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from packaging.specifiers import SpecifierSet

from tensorledger.conversion.names import named
from tensorledger.conversion.topology import Json, all_layers, is_model, layers_of


@dataclass(frozen=True)
class Lack:
    """Something that a range of releases does not do."""

    releases: str
    """As ``<0.7``."""
    what: str
    concerns: Callable[[Json], bool]
    """Whether a layer has it."""


NO_MODEL = {SpecifierSet("==0.9.0"): "0.9.1", SpecifierSet(">=0.11,<0.11.7"): "0.11.7"}
"""Releases that load no converted model, and the next that does: 0.9.0 itself does not load, 0.11.1 takes a model's
topology for another, and later ones bring two copies of their core, which do not predict."""

_LAYERS = {
    "<0.7": ("LeakyReLU", "ELU", "ThresholdedReLU", "Softmax", "DepthwiseConv2D"),
    "<0.8": ("Conv2DTranspose", "ZeroPadding2D"),
    "<0.9.1": ("SeparableConv2D", "AveragePooling2D"),
    "<0.11.7": ("AveragePooling1D", "MaxPooling1D", "UpSampling2D", "Cropping2D", "Bidirectional"),
    "<0.12.5": ("Permute",),
    "<0.12.6": ("ReLU",),
    "<0.13.3": ("Dot",),
    "<0.14.2": ("PReLU",),
    "<1.0.2": ("AlphaDropout", "GaussianDropout", "GaussianNoise"),
    "<1.1": ("Masking",),
    "<1.2.1": ("RNN",),
    "<1.2.10": ("StackedRNNCells",),
    "==1.2.11": ("BatchNormalization",),
    "<1.3": ("LayerNormalization", "Conv3D", "MaxPooling3D", "AveragePooling3D"),
    "<1.3.2": ("SpatialDropout1D",),
    "<2.4": ("ConvLSTM2D",),
    "<3.4": ("Conv3DTranspose",),
    "<3.21": ("Rescaling",),
}
"""Layers that are not there, do not load, or predict something else."""


def _is(kind: str) -> Callable[[Json], bool]:
    return lambda layer: bool(layer["class_name"] == kind)


def _option(name: str, *values: object) -> Callable[[Json], bool]:
    return lambda layer: not is_model(layer) and layer["config"].get(name) in values


def _activation(*names: str) -> Callable[[Json], bool]:
    def concerns(layer: Json) -> bool:
        config = {} if is_model(layer) else layer["config"]
        return any(key.endswith("activation") and value in names for key, value in config.items())

    return concerns


def _dilated(layer: Json) -> bool:
    rate = None if is_model(layer) else layer["config"].get("dilation_rate")
    return any(one != 1 for one in (rate if isinstance(rate, list | tuple) else [rate or 1]))


def _sequential_in_functional(layer: Json) -> bool:
    if not is_model(layer) or layer["class_name"] == "Sequential":
        return False
    return any(inner["class_name"] == "Sequential" for inner in layers_of(layer))


def _bare_normalization(layer: Json) -> bool:
    config = layer["config"]
    return _is("BatchNormalization")(layer) and not (config.get("center", True) and config.get("scale", True))


LACKS: tuple[Lack, ...] = (
    *(Lack(releases, f"{kind} layers", _is(kind)) for releases, kinds in _LAYERS.items() for kind in kinds),
    Lack("<0.7", "batch normalization without center or scale", _bare_normalization),
    Lack("<0.9.1", "dilated convolutions", _dilated),
    Lack("<0.11.7", "a Sequential inside a functional model", _sequential_in_functional),
    Lack("<0.12.6", "stateful recurrent layers", _option("stateful", True)),
    Lack("<2.5", "the activation swish", _activation("swish", "silu")),
    Lack("<4.19", "the activation gelu", _activation("gelu")),
)
WEIGHTLESS = SpecifierSet(">=4.9,<4.11")
"""Releases that load no model without weights."""


def lacking(topology: Json, release: str) -> Iterator[str]:
    """Yield what a release lacks of a model, each with a layer that has it and what release to take."""
    for none, better in NO_MODEL.items():
        if none.contains(release):
            yield f"tfjs@{release} loads no converted model; the next that does is {better}"
    layers = list(all_layers(topology))
    for lack in LACKS:
        found = next((layer for layer in layers if lack.concerns(layer)), None)
        if found is not None and SpecifierSet(lack.releases).contains(release):
            name = found["config"].get("name", "?") if isinstance(found["config"], dict) else found.get("name", "?")
            yield f"{name} ({found['class_name']}): tfjs@{release} is not right with {lack.what}; {_better(lack)}"
    if WEIGHTLESS.contains(release) and not list(named(topology)):
        yield f"tfjs@{release} loads no model without weights; 4.11.0 does"


def _better(lack: Lack) -> str:
    return f"from {lack.releases[1:]} on it is" if lack.releases.startswith("<") else "1.3.0 is"

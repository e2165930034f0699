"""Models of one layer each, for whichever Keras is handed in: the layers that convertible.py has not, and options.

A model is called after the class of its layer; of an option, that name comes first, and then what is set.
"""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

Make = Callable[[Any], Any]
Layer = Callable[[Any], Any]

IMAGE, VOLUME, STEPS, FRAMES = (8, 8, 3), (4, 4, 4, 2), (4, 5), (2, 5, 5, 2)

AS_MADE = (
    "Normalization", "Discretization", "IntegerLookup", "StringLookup", "TextVectorization", "MelSpectrogram",
    "STFTSpectrogram",
)  # fmt: skip
"""Classes whose weights are not drawn: they are made of what the layer is given."""


def _alone(layer: Layer, shape: tuple[int | None, ...] = (6,), dtype: str = "float32") -> Make:
    return lambda k: k.Sequential([k.Input(shape, dtype=dtype), layer(k.layers)])


def _image(name: str, *given: Any, **options: Any) -> Make:
    return _alone(lambda of: getattr(of, name)(*given, **options), IMAGE)


def _before_convolution(name: str, options: Any) -> Make:
    """Return a model in which a layer that may do nothing when it predicts is not all."""
    return lambda k: k.Sequential([k.Input(IMAGE), getattr(k.layers, name)(**options), k.layers.Conv2D(2, 2)])


def _two(make: Callable[[Any, Any, Any], Any], shape: tuple[int, ...] = STEPS, dtype: str = "float32") -> Make:
    def model(k: Any) -> Any:
        one, other = k.Input(shape, name="one", dtype=dtype), k.Input(shape, name="other", dtype=dtype)
        return k.Model([one, other], make(k.layers, one, other))

    return model


def _adapted(k: Any) -> Any:
    layer = k.layers.Normalization()
    layer.adapt(np.random.default_rng(1).normal(2.0, 3.0, (40, 6)).astype(np.float32))
    return k.Sequential([k.Input((6,)), layer])


def _tfsm(k: Any) -> Any:
    inner = k.Sequential([k.Input((6,)), k.layers.Dense(3)])
    with tempfile.TemporaryDirectory() as folder:
        inner.export(folder, verbose=False)
        return k.Sequential([k.Input((6,)), k.layers.TFSMLayer(folder, call_endpoint="serve")])


def _jax(k: Any) -> Any:
    kernel = np.random.default_rng(1).normal(size=(6, 3)).astype(np.float32)
    x = k.Input((6,))
    return k.Model(x, k.layers.JaxLayer(_product, params={"kernel": kernel})(x))


def _product(params: Any, inputs: Any) -> Any:
    return inputs @ params["kernel"]


def _flax(k: Any) -> Any:
    import flax.linen

    x = k.Input((6,))
    return k.Model(x, k.layers.FlaxLayer(flax.linen.Dense(3))(x))


def _torch(k: Any) -> Any:
    return k.Sequential([k.Input((6,)), k.layers.TorchModuleWrapper(lambda x: x)])


def _boxes(k: Any) -> Any:
    given = {
        "images": k.Input(IMAGE, name="images"),
        "bounding_boxes": {"boxes": k.Input((3, 4), name="boxes"), "labels": k.Input((3,), name="labels")},
    }
    layer = k.layers.MaxNumBoundingBoxes(2, bounding_box_format="xyxy")
    return k.Model(given, layer(given)["bounding_boxes"]["boxes"])


def _features(k: Any) -> Any:
    import tensorflow as tf

    x = k.Input((2,), name="x")
    return k.Model({"x": x}, k.layers.DenseFeatures([tf.feature_column.numeric_column("x", (2,))])({"x": x}))


def _trained_normalization(k: Any) -> Any:
    x = k.Input((6,))
    return k.Model(x, k.layers.BatchNormalization()(x, training=True))


def _masked(*layers: Layer) -> Make:
    return lambda k: k.Sequential(
        [k.Input((5,)), k.layers.Embedding(10, 4, mask_zero=True), *(x(k.layers) for x in layers)]
    )


def _states(k: Any) -> Any:
    x = k.Input(STEPS)
    return k.Model(x, k.layers.LSTM(3, return_sequences=True, return_state=True)(x))


def _given_state(k: Any) -> Any:
    x, first = k.Input(STEPS), k.Input((3,))
    return k.Model([x, first], k.layers.SimpleRNN(3)(x, initial_state=first))


IMAGES_ONLY = {
    name: _before_convolution(name, options)
    for name, options in {
        "AugMix": {"value_range": (0, 1)},
        "AutoContrast": {"value_range": (0, 1)},
        "ContrastLimitedAdaptiveHistogramEqualization": {"value_range": (0, 1), "tile_grid_size": (2, 2)},
        "CutMix": {},
        "Equalization": {"value_range": (0, 1)},
        "MixUp": {},
        "RandAugment": {"value_range": (0, 1)},
        "RandomBrightness": {"factor": 0.2},
        "RandomColorDegeneration": {"factor": 0.2},
        "RandomColorJitter": {"value_range": (0, 1), "brightness_factor": 0.2},
        "RandomContrast": {"factor": 0.2},
        "RandomCrop": {"height": 4, "width": 6},
        "RandomElasticTransform": {},
        "RandomErasing": {},
        "RandomFlip": {},
        "RandomGaussianBlur": {},
        "RandomGrayscale": {},
        "RandomHeight": {"factor": 0.2},
        "RandomHue": {"factor": 0.2},
        "RandomInvert": {},
        "RandomPerspective": {},
        "RandomPosterization": {"factor": 4},
        "RandomRotation": {"factor": 0.2},
        "RandomSaturation": {"factor": 0.2},
        "RandomSharpness": {"factor": 0.2},
        "RandomShear": {"x_factor": 0.2},
        "RandomTranslation": {"height_factor": 0.2, "width_factor": 0.2},
        "RandomWidth": {"factor": 0.2},
        "RandomZoom": {"height_factor": 0.2},
        "Solarization": {},
    }.items()
}
"""Layers that change images, most of them only in training."""

ADAPTIVE = {
    f"Adaptive{kind}Pooling{rank}D": _alone(
        lambda of, name=f"Adaptive{kind}Pooling{rank}D": getattr(of, name)(3),  # type: ignore[misc]
        {1: (7, 2), 2: (7, 7, 2), 3: (4, 4, 4, 2)}[rank],
    )
    for kind in ("Average", "Max")
    for rank in (1, 2, 3)
}

LAYERS: dict[str, Make] = {
    "ActivityRegularization": _alone(lambda of: of.ActivityRegularization(0.1)),
    "AdditiveAttention": _two(lambda of, one, other: of.AdditiveAttention()([one, other])),
    "Attention": _two(lambda of, one, other: of.Attention(use_scale=True)([one, other])),
    "MultiHeadAttention": _two(lambda of, one, other: of.MultiHeadAttention(2, 3)(one, other)),
    "GroupQueryAttention": _two(lambda of, one, other: of.GroupQueryAttention(3, 4, 2)(one, other)),
    "CategoryEncoding": _alone(lambda of: of.CategoryEncoding(4, output_mode="multi_hot"), (3,), "int32"),
    "CenterCrop": _image("CenterCrop", 4, 6),
    "Conv1DTranspose": _alone(lambda of: of.Conv1DTranspose(3, 2, strides=2), STEPS),
    "ConvLSTM1D": _alone(lambda of: of.ConvLSTM1D(2, 2), (3, 6, 2)),
    "ConvLSTM3D": _alone(lambda of: of.ConvLSTM3D(2, 2), (3, *VOLUME)),
    "Cropping1D": _alone(lambda of: of.Cropping1D(1), STEPS),
    "Cropping3D": _alone(lambda of: of.Cropping3D(1), VOLUME),
    "DenseFeatures": _features,
    "DepthwiseConv1D": _alone(lambda of: of.DepthwiseConv1D(2, depth_multiplier=2), STEPS),
    "Discretization": _alone(lambda of: of.Discretization(bin_boundaries=[-1.0, 0.0, 0.5])),
    "EinsumDense": _alone(lambda of: of.EinsumDense("abc,cd->abd", (None, 3), bias_axes="d"), STEPS),
    "FlaxLayer": _flax,
    "GlobalAveragePooling3D": _alone(lambda of: of.GlobalAveragePooling3D(), VOLUME),
    "GlobalMaxPooling3D": _alone(lambda of: of.GlobalMaxPooling3D(), VOLUME),
    "GroupNormalization": _alone(lambda of: of.GroupNormalization(2), (5, 5, 4)),
    "HashedCrossing": _two(lambda of, one, other: of.HashedCrossing(5)([one, other]), (1,), "int32"),
    "Hashing": _alone(lambda of: of.Hashing(5), (3,), "int32"),
    "Identity": _alone(lambda of: of.Identity()),
    "IntegerLookup": _alone(lambda of: of.IntegerLookup(vocabulary=[1, 5, 7]), (3,), "int64"),
    "JaxLayer": _jax,
    "Lambda": _alone(lambda of: of.Lambda(lambda x: x * 2.0)),
    "LocallyConnected1D": _alone(lambda of: of.LocallyConnected1D(3, 2), STEPS),
    "LocallyConnected2D": _image("LocallyConnected2D", 3, 2),
    "MaxNumBoundingBoxes": _boxes,
    "MaxPooling3D": _alone(lambda of: of.MaxPooling3D((1, 1, 2)), VOLUME),
    "MelSpectrogram": _alone(
        lambda of: of.MelSpectrogram(fft_length=64, sequence_stride=32, num_mel_bins=8, sampling_rate=400), (200,)
    ),
    "Normalization": _adapted,
    "Pipeline": lambda k: k.Sequential(
        [k.Input(IMAGE), k.layers.Pipeline([k.layers.RandomFlip(), k.layers.Rescaling(0.5)]), k.layers.Conv2D(2, 2)]
    ),
    "Resizing": _image("Resizing", 5, 6),
    "ReversibleEmbedding": _alone(lambda of: of.ReversibleEmbedding(10, 4), (5,), "int32"),
    "RMSNormalization": _alone(lambda of: of.RMSNormalization()),
    "SeparableConv1D": _alone(lambda of: of.SeparableConv1D(3, 2, depth_multiplier=2), STEPS),
    "SpatialDropout2D": _image("SpatialDropout2D", 0.2),
    "SpatialDropout3D": _alone(lambda of: of.SpatialDropout3D(0.2), VOLUME),
    "SpectralNormalization": _alone(lambda of: of.SpectralNormalization(of.Dense(3))),
    "STFTSpectrogram": _alone(lambda of: of.STFTSpectrogram(frame_length=32, frame_step=16, fft_length=32), (200, 1)),
    "StringLookup": _alone(lambda of: of.StringLookup(vocabulary=["a", "b"]), (3,), "string"),
    "Subtract": _two(lambda of, one, other: of.Subtract()([one, other])),
    "TextVectorization": _alone(lambda of: of.TextVectorization(vocabulary=["a", "b"]), (1,), "string"),
    "TFSMLayer": _tfsm,
    "TorchModuleWrapper": _torch,
    "UnitNormalization": _alone(lambda of: of.UnitNormalization()),
    "UpSampling1D": _alone(lambda of: of.UpSampling1D(2), STEPS),
    "UpSampling3D": _alone(lambda of: of.UpSampling3D(2), VOLUME),
    "ZeroPadding1D": _alone(lambda of: of.ZeroPadding1D(2), STEPS),
    "ZeroPadding3D": _alone(lambda of: of.ZeroPadding3D(1), VOLUME),
    **IMAGES_ONLY,
    **ADAPTIVE,
}

OPTIONS: dict[str, Make] = {
    "AveragePooling2D padding=same": _image("AveragePooling2D", 3, strides=2, padding="same"),
    "BatchNormalization axis=1": _alone(lambda of: of.BatchNormalization(axis=1), (5, 4)),
    "BatchNormalization training=True": _trained_normalization,
    "Bidirectional merge_mode=ave": _alone(lambda of: of.Bidirectional(of.SimpleRNN(3), merge_mode="ave"), STEPS),
    "Conv1D padding=causal": _alone(lambda of: of.Conv1D(3, 2, padding="causal"), STEPS),
    "Conv1D strides=2": _alone(lambda of: of.Conv1D(3, 3, strides=2, padding="same"), STEPS),
    "Conv2D groups=2": _alone(lambda of: of.Conv2D(4, 2, groups=2), (6, 6, 4)),
    "Conv2D padding=same strides=2": _image("Conv2D", 3, 3, strides=2, padding="same"),
    "Conv2DTranspose dilation_rate=2": _image("Conv2DTranspose", 3, 2, dilation_rate=2),
    "Conv2DTranspose output_padding=1": _image("Conv2DTranspose", 3, 3, strides=2, output_padding=1),
    "Conv2DTranspose padding=same": _image("Conv2DTranspose", 3, 3, strides=2, padding="same"),
    "Conv3D strides=2": _alone(lambda of: of.Conv3D(3, 2, strides=2, padding="same"), VOLUME),
    "ConvLSTM2D return_sequences=True": _alone(
        lambda of: of.ConvLSTM2D(2, 2, return_sequences=True, padding="same"), FRAMES
    ),
    "Cropping2D uneven": _image("Cropping2D", ((1, 2), (0, 3))),
    "DepthwiseConv2D strides=2": _image("DepthwiseConv2D", 3, strides=2, padding="same"),
    "Dot axes=2": _two(lambda of, one, other: of.Dot(2)([one, other])),
    "Dot normalize=True": _two(lambda of, one, other: of.Dot(1, normalize=True)([one, other]), (5,)),
    "ELU alpha=0.5": _alone(lambda of: of.ELU(alpha=0.5)),
    "Embedding mask_zero=True, GlobalAveragePooling1D": _masked(lambda of: of.GlobalAveragePooling1D()),
    "Embedding mask_zero=True, LSTM": _masked(lambda of: of.LSTM(3)),
    "Flatten data_format=channels_first": _image("Flatten", data_format="channels_first"),
    "GRU reset_after=True": _alone(lambda of: of.GRU(3), STEPS),
    "GRUCell reset_after=True": _alone(lambda of: of.RNN(of.GRUCell(3)), STEPS),
    "GlobalAveragePooling1D keepdims=True": _alone(lambda of: of.GlobalAveragePooling1D(keepdims=True), STEPS),
    "GlobalAveragePooling2D keepdims=True": _image("GlobalAveragePooling2D", keepdims=True),
    "GlobalMaxPooling1D keepdims=True": _alone(lambda of: of.GlobalMaxPooling1D(keepdims=True), STEPS),
    "GlobalMaxPooling2D keepdims=True": _image("GlobalMaxPooling2D", keepdims=True),
    "LayerNormalization axis=(1, 2)": _alone(lambda of: of.LayerNormalization(axis=(1, 2)), STEPS),
    "LayerNormalization axis=1": _alone(lambda of: of.LayerNormalization(axis=1), STEPS),
    "LayerNormalization rms_scaling=True": _alone(lambda of: of.LayerNormalization(rms_scaling=True), STEPS),
    "LSTM use_bias=False": _alone(lambda of: of.LSTM(3, use_bias=False), STEPS),
    "SimpleRNN initial_state": _given_state,
    "LSTM recurrent_activation=hard_sigmoid": _alone(lambda of: of.LSTM(3, recurrent_activation="hard_sigmoid"), STEPS),
    "LSTM return_state=True": _states,
    "MaxPooling2D padding=same": _image("MaxPooling2D", 3, strides=2, padding="same"),
    "PReLU shared_axes": _alone(lambda of: of.PReLU(shared_axes=[1]), STEPS),
    "ReLU negative_slope, threshold": _alone(lambda of: of.ReLU(max_value=1.0, negative_slope=0.1, threshold=0.2)),
    "Rescaling of each channel": _image("Rescaling", [0.1, 0.2, 0.3], [0.0, 1.0, 2.0]),
    "SeparableConv2D strides=2": _image("SeparableConv2D", 3, 3, strides=2),
    "Softmax axis=1": _alone(lambda of: of.Softmax(axis=1), STEPS),
    "UpSampling2D interpolation=bilinear": _image("UpSampling2D", interpolation="bilinear"),
    "UpSampling2D size=(2, 3)": _image("UpSampling2D", (2, 3)),
    "ZeroPadding2D uneven": _image("ZeroPadding2D", ((1, 2), (0, 3))),
}
"""What of a layer's options may be right or wrong apart from it."""

MODELS: dict[str, Make] = LAYERS | OPTIONS


def activations(k: Any) -> dict[str, Make]:
    """Return a model for each activation that a Keras names, and that takes nothing else."""
    return {
        f"Activation {name}": _alone(lambda of, name=name: of.Activation(name))  # type: ignore[misc]
        for name, one in sorted(vars(k.activations).items())
        if inspect.isfunction(one) and name not in ("deserialize", "get", "serialize") and _takes_one(one)
    }


def _takes_one(function: Any) -> bool:
    needed = [one for one in inspect.signature(function).parameters.values() if one.default is one.empty]
    return len(needed) == 1


def layer_of(name: str) -> str:
    """Return the class of the layer that a model is of."""
    return name.split()[0].rstrip(",")

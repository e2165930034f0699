"""Operations into which TensorFlow fuses what follows them, such as a sum and an activation, taken apart again."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator
from typing import Any

from tensorledger.conversion.topology import Json

PLAIN = {
    "_FusedConv2D": "Conv2D",
    "_FusedMatMul": "MatMul",
    "FusedDepthwiseConv2dNative": "DepthwiseConv2dNative",
    "_FusedDepthwiseConv2dNative": "DepthwiseConv2dNative",
}
"""What each begins with."""
_KEPT = ("T", "strides", "padding", "data_format", "dilations", "explicit_paddings", "transpose_a", "transpose_b")


def terms(node: Json) -> list[str]:
    """Return what a fused operation adds: the names of the inputs that its BiasAdd steps take."""
    found, rest = [], _inputs(node)[2:]
    for step in _steps(node):
        if step in ("BiasAdd", "Prelu"):
            taken = rest.pop(0)
            found += [taken] if step == "BiasAdd" else []
    return found


def runs(node: Json) -> bool:
    """Say whether TensorFlow.js is right with a fused operation.

    Of a depthwise one it does not read LeakyRelu's slope, and says NaN.
    """
    return not ("Depthwise" in node["op"] and "LeakyRelu" in _steps(node))


def apart(node: Json) -> Iterator[Json]:
    """Yield a node as the plain operations that it stands for, the last by its name; others as they are."""
    kind = node.get("attr", {}).get("T", {"type": "DT_FLOAT"})
    if node["op"] == "Prelu":
        value, slope = _inputs(node)
        yield from _prelu(node["name"], value, slope, kind)
        return
    if node["op"] not in PLAIN:
        yield node
        return
    steps = _steps(node)
    first, second, *rest = _inputs(node)
    controls = [source for source in node["input"] if source.startswith("^")]
    at = node["name"] if not steps else f"{node['name']}/plain"
    kept = {key: node["attr"][key] for key in _KEPT if key in node["attr"]}
    yield {"name": at, "op": PLAIN[node["op"]], "input": [first, second, *controls], "attr": kept}
    for number, step in enumerate(steps):
        name = node["name"] if number == len(steps) - 1 else f"{node['name']}/{number}"
        if step == "Prelu":
            yield from _prelu(name, at, rest.pop(0), kind)
        elif step == "BiasAdd":
            yield _node(name, "AddV2", [at, rest.pop(0)], kind)
        elif step == "LeakyRelu":
            yield _node(name, "LeakyRelu", [at], kind, alpha=node["attr"]["leakyrelu_alpha"])
        else:
            yield _node(name, step, [at], kind)
        at = name


def _inputs(node: Json) -> list[str]:
    return [source for source in node["input"] if not source.startswith("^")]


def _steps(node: Json) -> list[str]:
    return [b64decode(step).decode() for step in node["attr"].get("fused_ops", {}).get("list", {}).get("s", [])]


def _node(name: str, op: str, inputs: list[str], kind: Json, **attributes: Any) -> Json:
    return {"name": name, "op": op, "input": inputs, "attr": {"T": kind, **attributes}}


def _prelu(name: str, value: str, slope: str, kind: Json) -> Iterator[Json]:
    """Yield ``relu(x) - slope * relu(-x)``, node by node."""
    yield _node(f"{name}/positive", "Relu", [value], kind)
    yield _node(f"{name}/turned", "Neg", [value], kind)
    yield _node(f"{name}/negative", "Relu", [f"{name}/turned"], kind)
    yield _node(f"{name}/scaled", "Mul", [f"{name}/negative", slope], kind)
    yield _node(name, "Sub", [f"{name}/positive", f"{name}/scaled"], kind)

"""Operations of a graph that do more than compute: a model of them is a program that reads and writes files, say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tensorledger.conversion.folder import read_tfjs
from tensorledger.conversion.refusal import CannotConvert
from tensorledger.conversion.sources import Given

REACHING = frozenset(
    {
        "CacheDataset", "CacheDatasetV2", "CreateSummaryFileWriter", "EagerPyFunc", "FixedLengthRecordDataset",
        "FixedLengthRecordDatasetV2", "FixedLengthRecordReader", "FixedLengthRecordReaderV2", "GeneratorDataset",
        "LoadDataset", "MatchingFiles", "PrintV2", "PyFunc", "PyFuncStateless", "ReadFile", "RpcCall", "SaveDataset",
        "SaveDatasetV2", "SnapshotDataset", "SnapshotDatasetV2", "SqlDataset", "TFRecordDataset", "TFRecordDatasetV2",
        "TFRecordReader", "TFRecordReaderV2", "TextLineDataset", "TextLineReader", "TextLineReaderV2",
        "WholeFileReader", "WholeFileReaderV2", "WriteFile", "WriteSummary",
    }
)  # fmt: skip
"""Those that reach files, the terminal, Python or the network; but what saves variables is in every SavedModel."""


def refuse_reaching(source: Given) -> None:
    """Raise CannotConvert where a SavedModel, or a graph, has such operations: --run-code has it run all the same."""
    if source.kind == "saved-model":
        names: Iterable[str] = _of_saved_model(source.path)
    elif source.kind == "tfjs-graph":
        names = _of_nodes(read_tfjs(source.path).described["modelTopology"])
    else:
        return
    found = sorted(REACHING.intersection(names))
    if found:
        raise CannotConvert(
            f"{source}: its graph has operations that reach beyond the model, {', '.join(found)}: it is a program, "
            "which is run only with --run-code"
        )


def _of_saved_model(folder: Path) -> Iterator[str]:
    from google.protobuf import text_format
    from google.protobuf.message import DecodeError
    from tensorflow.core.protobuf.saved_model_pb2 import SavedModel

    saved, binary = SavedModel(), folder / "saved_model.pb"
    try:
        if binary.is_file():
            saved.ParseFromString(binary.read_bytes())
        else:
            text_format.Parse((folder / "saved_model.pbtxt").read_text(encoding="utf-8"), saved)
    except (DecodeError, text_format.ParseError, UnicodeDecodeError) as error:
        raise CannotConvert(f"{folder}: its saved_model is broken: {error}") from error
    for graph in saved.meta_graphs:
        yield from (node.op for node in graph.graph_def.node)
        yield from (node.op for function in graph.graph_def.library.function for node in function.node_def)


def _of_nodes(graph: Any) -> Iterable[str]:
    """Yield every ``op`` in a graph's JSON, in the functions of its library too."""
    waiting = [graph]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            if isinstance(op := one.get("op"), str):
                yield op
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one

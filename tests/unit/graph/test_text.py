from __future__ import annotations

from typing import TYPE_CHECKING, Any

import onnx
import pytest

from ascendflow.errors import StageError
from ascendflow.graph.ingest import read_model
from ascendflow.graph.text import not_utf8
from tests.exported_models import constant, model, node, value

if TYPE_CHECKING:
    from pathlib import Path

PLACES = ("OUTPUT", "NODE", "WEIGHT", "TYPE", "ATTRIBUTE")


def named() -> bytes:
    weight = constant("WEIGHT", [1, 2])
    inner = node("TYPE", ["x"], ["y"], name="NODE", ATTRIBUTE=1)
    proto = model([inner], [value("x", [2])], [value("OUTPUT", [2])], [weight])
    return bytes(proto.SerializeToString())


@pytest.mark.parametrize("place", PLACES)
def test_text_that_is_not_utf8_is_refused_wherever_it_stands(
    place: str, tmp_path: Path
) -> None:
    broken = b"\xff" + place.encode()[1:]
    path = tmp_path / "model.onnx"
    path.write_bytes(named().replace(place.encode(), broken))

    with pytest.raises(StageError, match="is not UTF-8") as caught:
        read_model(path)

    assert repr(broken) in caught.value.message


def test_text_of_any_language_is_fine() -> None:
    proto = onnx.ModelProto.FromString(named().replace(b"OUTPUT", "输出".encode()))

    assert list(not_utf8(proto)) == []


@pytest.mark.parametrize("kind", ["s", "strings"])
def test_an_attribute_that_is_no_utf8_is_named_once_in_functions_too(kind: str) -> None:
    """Protobuf holds an attribute's text as bytes, so only we can say."""
    inner = node("TYPE", ["x"], ["y"], name="inner")
    bad: Any = b"\xff" if kind == "s" else [b"ok", b"\xff"]
    inner.attribute.add(name="mode", **{kind: bad})
    proto = onnx.ModelProto()
    proto.functions.add(name="f", node=[inner])

    assert list(not_utf8(proto)) == [r"node 'inner': its 'mode' is not UTF-8: b'\xff'"]

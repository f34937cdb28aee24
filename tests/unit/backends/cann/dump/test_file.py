"""Dump files, held against what protobuf's own writer writes."""

from __future__ import annotations

import struct
import tracemalloc
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ascendflow.backends.cann.dump.file import read
from ascendflow.backends.cann.dump.tensor import Origin
from ascendflow.errors import StageError
from tests.dump_files import MESSAGE, dump, header, tensor

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FLOAT, HALF, INT32 = 1, 2, 7
NCHW, ND, NC1HWC0 = 0, 2, 3

X = np.arange(24, dtype=np.float16).tobytes()
Y = np.arange(32, dtype=np.float32).tobytes()
WHOLE = dump(
    inputs=[tensor(X, HALF, ND, [2, 3, 4]), tensor(b"\1\0\0\0", INT32, ND, [])],
    outputs=[
        (
            Y,
            {
                "data_type": FLOAT,
                "format": NC1HWC0,
                "shape": {"dim": [1, 1, 1, 2, 16]},
                "original_shape": {"dim": [1, 3, 1, 2]},
                "original_op": {"name": "conv/1", "output_index": 1, "format": NCHW},
                "sub_format": 4,
                "address": 2**63,
                "dim_range": [{"dim_start": 1, "dim_end": 9}],
            },
        )
    ],
    buffers=[(b"buffer", {})],
    spaces=[(b"workspace", {})],
    dump_time=1_700_000_000_000_000,
    op_name="conv/1.trans",
    attr=[{"name": "a", "value": "{}"}],
    dfx_message="none",
)


def written(folder: Path, data: bytes) -> Path:
    path = folder / "Conv2D.conv.1.2"
    path.write_bytes(data)
    return path


def test_everything_that_protobuf_wrote_is_read(tmp_path: Path) -> None:
    read_back = read(written(tmp_path, WHOLE))
    x, scalar = read_back.inputs
    (y,) = read_back.outputs

    assert (read_back.version, read_back.time) == ("2.0", 1_700_000_000_000_000)
    assert read_back.op_name == "conv/1.trans"
    assert (x.dtype, x.layout, x.shape, x.size) == (HALF, ND, (2, 3, 4), len(X))
    assert (scalar.shape, scalar.size, scalar.origin) == ((), 4, None)
    assert (y.shape, y.origin_shape, y.groups) == ((1, 1, 1, 2, 16), (1, 3, 1, 2), 4)
    assert y.origin == Origin("conv/1", 1, NCHW)
    assert (read_back.scratch, read_back.beyond) == (15, 0)
    assert [read_back.raw(each).tobytes() for each in (x, scalar, y)] == [X, b"\1\0\0\0", Y]


def test_input_lies_before_output_whatever_the_order_of_the_header(tmp_path: Path) -> None:
    first = header({"input": [tensor(b"in", 4, ND, [2])]}).SerializeToString()
    last = header({"output": [tensor(b"out", 4, ND, [3])]}).SerializeToString()
    made = last + first

    read_back = read(written(tmp_path, struct.pack("<Q", len(made)) + made + b"inout"))

    assert read_back.raw(read_back.inputs[0]).tobytes() == b"in"
    assert read_back.raw(read_back.outputs[0]).tobytes() == b"out"


def test_empty_tensor_and_bytes_beyond_the_last_one_are_told(tmp_path: Path) -> None:
    read_back = read(written(tmp_path, dump([tensor(b"", FLOAT, ND, [0, 3])]) + b"tail"))

    assert read_back.raw(read_back.inputs[0]).size == 0
    assert read_back.inputs[0].shape == (0, 3)
    assert read_back.beyond == 4


def test_file_cut_short_at_any_byte_is_refused(tmp_path: Path) -> None:
    for length in range(len(WHOLE)):
        with pytest.raises(StageError, match=r"Conv2D\.conv\.1\.2: "):
            read(written(tmp_path, WHOLE[:length]))


def packed(*parts: bytes) -> bytes:
    made = b"".join(parts)
    return struct.pack("<Q", len(made)) + made


@pytest.mark.parametrize(
    ("data", "told"),
    [
        pytest.param(b"", "has 0 bytes, a dump more than 8", id="empty"),
        pytest.param(bytes(9), "its header has 0 bytes, 1 are left", id="no-header"),
        pytest.param(b"\xff" * 9, "has 18446744073709551615 bytes, 1 are", id="no-dump"),
        pytest.param(packed(b"\x0b\x01"), "wire type 3", id="group"),
        pytest.param(packed(b"\x08\x01"), "field 1 has the wire type 0, not 2", id="type"),
        pytest.param(packed(b"\x0a\x02\xff\xff"), "is not UTF-8", id="text"),
        pytest.param(
            packed(b"\x22\x02\x28\x05"), "tensors have 5 bytes, 0 are left", id="no-tensor"
        ),
        pytest.param(
            packed(b"\x22\x0b\x28" + b"\xff" * 9 + b"\x01"),
            "tensors have 18446744073709551615 bytes, 0 are left",
            id="endless-tensor",
        ),
        pytest.param(
            packed(MESSAGE["DumpData"](output=[{"data": b"abc"}]).SerializeToString()),
            "lie within the header, as in dumps of version 1",
            id="version-1",
        ),
        pytest.param(
            packed(header({"input": [tensor(b"", 1, 2, [1] * 33)]}).SerializeToString()),
            "more than 32 dimensions",
            id="dimensions",
        ),
        pytest.param(
            packed(header({"input": [tensor(b"", 1, 2, [2**64 - 1])]}).SerializeToString()),
            "a shape has the dimension -1",
            id="negative",
        ),
    ],
)
def test_what_is_no_dump_is_refused_with_what_is_wrong(
    tmp_path: Path, data: bytes, told: str
) -> None:
    with pytest.raises(StageError, match=told):
        read(written(tmp_path, data))


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StageError, match="is no regular file"):
        read(tmp_path)
    with pytest.raises(StageError, match="No such file"):
        read(tmp_path / "gone")


def peak_of(call: Callable[[], Any]) -> int:
    """Return the most that a call holds at a time, in bytes."""
    tracemalloc.start()
    try:
        call()
    except StageError:
        pass
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak


@pytest.mark.parametrize(
    "part",
    [
        pytest.param(b"\x22\x00", id="empty-inputs"),
        pytest.param(b"\x1a\x02\x22\x00", id="outputs-with-an-origin"),
        pytest.param(b"\x22\x22\x1a\x20\x0a\x1e" + b"\x7f" * 30, id="shapes"),
        pytest.param(b"\x10\x01", id="numbers"),
        pytest.param(b"\x0a\x00", id="texts"),
    ],
)
def test_file_of_many_small_parts_takes_little_memory(tmp_path: Path, part: bytes) -> None:
    path = written(tmp_path, packed(part * ((1 << 18) // len(part))))

    assert peak_of(lambda: read(path)) < 10 * path.stat().st_size


def test_header_of_endless_fields_does_not_keep_us(tmp_path: Path) -> None:
    path = written(tmp_path, packed(b"\x10\x01" * (8 << 20)))

    with pytest.raises(StageError, match="more than 1048576 fields"):
        read(path)


def test_long_shape_is_not_kept(tmp_path: Path) -> None:
    dims = b"\x0a\x80\x80\x40" + b"\x01" * (1 << 20)
    path = written(tmp_path, packed(b"\x22\x88\x80\x40\x1a\x84\x80\x40" + dims))

    with pytest.raises(StageError, match="more than 32 dimensions"):
        read(path)
    assert peak_of(lambda: read(path)) < 1 << 20


@settings(
    max_examples=400,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    st.lists(
        st.tuples(st.integers(0, len(WHOLE) - 1), st.integers(0, 255)),
        min_size=1,
        max_size=6,
    ),
    st.integers(0, len(WHOLE)),
)
def test_damaged_file_is_read_or_refused(
    tmp_path: Path, damage: list[tuple[int, int]], length: int
) -> None:
    data = bytearray(WHOLE[:length] if length % 2 else WHOLE)
    for place, byte in damage:
        if place < len(data):
            data[place] = byte
    path = written(tmp_path, bytes(data))
    try:
        read_back = read(path)
    except StageError:
        return
    for each in (*read_back.inputs, *read_back.outputs):
        assert each.start + each.size <= len(data)
        assert read_back.raw(each).size == each.size


@settings(
    max_examples=400,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.binary(max_size=200), st.booleans())
def test_arbitrary_bytes_are_read_or_refused(
    tmp_path: Path, data: bytes, as_header: bool
) -> None:
    try:
        read(written(tmp_path, packed(data) if as_header else data))
    except StageError:
        return

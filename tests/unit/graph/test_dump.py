"""Dumps in segments against one run with every tensor marked as an output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper, numpy_helper, parser

from ascendflow.errors import StageError
from ascendflow.graph import dump, segment
from ascendflow.graph.dump import every_tensor

if TYPE_CHECKING:
    from pathlib import Path

Feeds = dict[str, np.ndarray]

IMAGE = np.random.default_rng(0).standard_normal((1, 3, 8, 8)).astype(np.float32)


def marked(model: onnx.ModelProto, feeds: Feeds) -> Feeds:
    """Run the whole model once with every node output of its top level marked."""
    whole = onnx.ModelProto()
    whole.CopyFrom(model)
    known = {value.name for value in whole.graph.output}
    names = [name for node in model.graph.node for name in node.output if name]
    whole.graph.output.extend(onnx.ValueInfoProto(name=n) for n in names if n not in known)
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    session = ort.InferenceSession(
        whole.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    tensors = [o.name for o in session.get_outputs() if o.type.startswith("tensor(")]
    values = dict(zip(tensors, session.run(tensors, feeds), strict=True))
    return {name: values[name] for name in names if name in values}


def chain() -> onnx.ModelProto:
    """Convolutions, a residual, a resize to computed sizes, and a long-lived tensor."""
    rng = np.random.default_rng(1)
    model = parser.parse_model("""
        <ir_version: 8, opset_import: ["" : 15]>
        g (float["n", 3, "h", "w"] x) => (float["n", 4, "h", "w"] y) {
          a = Conv <pads = [1, 1, 1, 1], strides = [2, 2]> (x, w0, b0)
          r = Relu (a)
          s = Conv <kernel_shape = [1, 1]> (r, w1)
          t = Add (r, s)
          shape = Shape (x)
          two = Constant <value_ints = [2]> ()
          big = Constant <value_ints = [4]> ()
          space = Slice (shape, two, big)
          head = Shape <end = 2> (t)
          sizes = Concat <axis = 0> (head, space)
          up = Resize <mode = "linear"> (t, , , sizes)
          long = GlobalAveragePool (a)
          one = Constant <value = float {1.5}> ()
          gate = Mul (long, one)
          y = Mul (up, gate)
        }""")
    weights = {"w0": (4, 3, 3, 3), "b0": (4,), "w1": (4, 4, 1, 1)}
    model.graph.initializer.extend(
        numpy_helper.from_array(rng.standard_normal(shape).astype(np.float32), name)
        for name, shape in weights.items()
    )
    return model


def branches() -> onnx.ModelProto:
    """An If and a Loop whose bodies read tensors made far before them."""
    return parser.parse_model("""
        <ir_version: 8, opset_import: ["" : 17]>
        g (float[3] x) => (float[3] y) {
          early = Neg (x)
          later = Exp (x)
          total = ReduceSum <keepdims = 0> (later)
          zero = Constant <value = float {0.0}> ()
          c = Greater (total, zero)
          chosen = If (c) <
            then_branch = then () => (float[3] t) { t = Add (early, later) },
            else_branch = other () => (float[3] e) { e = Identity (early) }
          >
          trips = Constant <value = int64 {3}> ()
          y = Loop (trips, , chosen) <
            body = turn (int64 i, bool keep, float[3] v) => (bool again, float[3] w) {
              again = Identity (keep)
              w = Add (v, early)
            }
          >
        }""")


def sequences() -> onnx.ModelProto:
    """A sequence that is read again only after several nodes."""
    return parser.parse_model(
        """
        <ir_version: 8, opset_import: ["" : 17]>
        g (float[4, 2] x) => (float[4, 2] y) {
          n = Neg (x)
          parts = SplitToSequence <axis = 0> (n)
          e = Exp (x)
          l = Log (e)
          m, keep = Dropout (l)
          joined = ConcatFromSequence <axis = 0> (parts)
          y = Add (joined, m)
        }"""
    )


def functions() -> onnx.ModelProto:
    """A local function, called twice."""
    return parser.parse_model("""
        <ir_version: 8, opset_import: ["" : 17, "local" : 1]>
        g (float[3] x) => (float[3] y) {
          a = local.twice (x)
          b = Neg (a)
          y = local.twice (b)
        }
        <domain: "local", opset_import: ["" : 17]>
        twice (v) => (w) { w = Add (v, v) }""")


def _dumped(model: onnx.ModelProto, feeds: Feeds, folder: Path, **options: Any) -> Feeds:
    folder.mkdir(exist_ok=True)
    onnx.save(model, folder / "model.onnx")
    return dict(every_tensor(folder / "model.onnx", feeds, threads=1, **options))


def _assert_same(found: Feeds, expected: Feeds) -> None:
    assert list(found) == list(expected)
    for name, tensor in expected.items():
        assert found[name].dtype == tensor.dtype, name
        np.testing.assert_array_equal(found[name], tensor, err_msg=name)


VECTOR = np.array([0.5, -1.0, 2.0], np.float32)
PLANE = np.arange(8, dtype=np.float32).reshape(4, 2)


@pytest.mark.parametrize("segment_nodes", [1, 2, 3, 5, 100])
@pytest.mark.parametrize(
    ("model", "feeds"),
    [
        pytest.param(chain(), {"x": IMAGE}, id="dynamic-shapes"),
        pytest.param(branches(), {"x": VECTOR}, id="subgraphs"),
        pytest.param(sequences(), {"x": PLANE}, id="sequences"),
        pytest.param(functions(), {"x": VECTOR}, id="functions"),
    ],
)
def test_segments_give_the_bits_of_one_marked_run(
    model: onnx.ModelProto, feeds: Feeds, segment_nodes: int, tmp_path: Path
) -> None:
    found = _dumped(model, feeds, tmp_path, segment_nodes=segment_nodes)

    _assert_same(found, marked(model, feeds))


def test_a_sequence_is_not_yielded(tmp_path: Path) -> None:
    assert "parts" not in _dumped(sequences(), {"x": PLANE}, tmp_path)


def test_external_weights_are_found_beside_the_file(tmp_path: Path) -> None:
    expected = marked(chain(), {"x": IMAGE})
    path = tmp_path / "model.onnx"
    onnx.save(
        chain(),
        path,
        save_as_external_data=True,
        location="model.onnx.data",
        size_threshold=0,
    )

    assert (tmp_path / "model.onnx.data").stat().st_size > 0
    _assert_same(dict(every_tensor(path, {"x": IMAGE}, threads=1)), expected)
    moved = tmp_path / "elsewhere" / "model.onnx"
    moved.parent.mkdir()
    path.rename(moved)
    found = every_tensor(moved, {"x": IMAGE}, threads=1, weights=tmp_path)
    _assert_same(dict(found), expected)


def test_a_feed_replaces_an_initializer_of_the_same_name(tmp_path: Path) -> None:
    model = parser.parse_model("""
        <ir_version: 8, opset_import: ["" : 17]>
        g (float[3] x, float[3] w = {1.0, 1.0, 1.0}) => (float[3] y) {
          a = Add (x, w)
          y = Mul (a, w)
        }""")
    found = _dumped(model, {"x": VECTOR, "w": VECTOR}, tmp_path, segment_nodes=1)

    np.testing.assert_array_equal(found["y"], 2 * VECTOR * VECTOR)
    np.testing.assert_array_equal(
        _dumped(model, {"x": VECTOR}, tmp_path)["y"], VECTOR + np.float32(1)
    )


def test_strings_pass_between_segments_and_are_not_yielded(tmp_path: Path) -> None:
    model = parser.parse_model("""
        <ir_version: 8, opset_import: ["" : 17]>
        g (float[3] x) => (float[3] y) {
          text = Cast <to = 8> (x)
          y = Cast <to = 1> (text)
        }""")
    found = _dumped(model, {"x": VECTOR}, tmp_path, segment_nodes=1)

    assert list(found) == ["y"]
    np.testing.assert_array_equal(found["y"], VECTOR)


def test_what_onnxruntime_cannot_run_goes_to_the_reference_evaluator(
    tmp_path: Path,
) -> None:
    weight = np.array([1.5, -2.0, 0.25], np.float32).astype(ml_dtypes.bfloat16)
    nodes = [
        helper.make_node("Cast", ["x"], ["low"], to=TensorProto.BFLOAT16),
        helper.make_node("Mul", ["low", "weight"], ["product"]),
        helper.make_node("Cast", ["product"], ["y"], to=TensorProto.FLOAT),
        helper.make_node("Exp", ["y"], ["z"]),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3])],
        [helper.make_tensor_value_info("z", TensorProto.FLOAT, [3])],
        [numpy_helper.from_array(weight, "weight")],
    )
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8
    )
    onnx.save(
        model,
        tmp_path / "model.onnx",
        save_as_external_data=True,
        location="model.onnx.data",
        size_threshold=0,
    )
    path = tmp_path / "model.onnx"
    found = dict(every_tensor(path, {"x": VECTOR}, threads=1, segment_nodes=1))
    product = VECTOR.astype(ml_dtypes.bfloat16) * weight

    assert found["product"].dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(found["product"], product)
    np.testing.assert_array_equal(found["y"], product.astype(np.float32))
    np.testing.assert_allclose(found["z"], np.exp(found["y"]), rtol=1e-6)


def test_a_segment_that_does_not_load_is_made_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lengths = []

    def choosy(part: onnx.ModelProto, *args: object, **options: object) -> object:
        lengths.append(len(part.graph.node))
        if lengths[-1] < 3:
            raise RuntimeError("too short")
        return segment.run_in_onnxruntime(part, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(dump, "run_in_onnxruntime", choosy)
    found = _dumped(functions(), {"x": VECTOR}, tmp_path, segment_nodes=1)

    assert lengths == [1, 2, 3]
    _assert_same(found, marked(functions(), {"x": VECTOR}))


def test_what_runs_nowhere_is_an_error_that_names_its_node(tmp_path: Path) -> None:
    model = parser.parse_model("""
        <ir_version: 8, opset_import: ["" : 17, "vendor" : 1]>
        g (float[3] x) => (float[3] y) {
          a = Neg (x)
          [strange] y = vendor.Secret (a)
        }""")

    with pytest.raises(StageError, match=r"node 'strange' \(Secret\)"):
        _dumped(model, {"x": VECTOR}, tmp_path, segment_nodes=1)


def test_a_tensor_is_let_go_when_nothing_later_reads_it(tmp_path: Path) -> None:
    """A chain of 12 tensors of 4 MB: no more than a few may be alive at once."""
    import gc
    import weakref

    nodes = "\n".join(f"t{i + 1} = Neg (t{i})" for i in range(12))
    model = parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]>'
        f"g (float[N] t0) => (float[N] t12) {{ {nodes} }}"
    )
    onnx.save(model, tmp_path / "model.onnx")
    feeds = {"t0": np.ones(1 << 20, np.float32)}
    alive: list[weakref.ref[np.ndarray]] = []
    most = 0
    for _, tensor in every_tensor(
        tmp_path / "model.onnx", feeds, threads=1, segment_nodes=2
    ):
        alive.append(weakref.ref(tensor))
        del tensor
        gc.collect()
        most = max(most, sum(ref() is not None for ref in alive))

    assert len(alive) == 12
    assert most <= 3


def test_what_is_held_is_not_gone_through_for_each_segment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All tensors wait for the last node; looking at each of them again is quadratic."""
    many = 400
    nodes = [helper.make_node("Neg", ["x"], [f"t{i}"], name=f"n{i}") for i in range(many)]
    nodes.append(helper.make_node("Sum", [f"t{i}" for i in range(many)], ["y"], name="s"))
    floats = TensorProto.FLOAT
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", floats, [2])],
        [helper.make_tensor_value_info("y", floats, [2])],
    )
    model = helper.make_model(
        graph, ir_version=8, opset_imports=[helper.make_opsetid("", 13)]
    )
    looked = Counted()
    real = dump._Run.__init__

    def counting(run: Any, *arguments: Any) -> None:
        real(run, *arguments)
        looked.update(run.last_read)
        run.last_read = looked

    monkeypatch.setattr(dump._Run, "__init__", counting)
    feeds = {"x": np.ones(2, np.float32)}

    _assert_same(_dumped(model, feeds, tmp_path), marked(model, feeds))
    assert looked.count < 10 * many


class Counted(dict[str, int]):
    """Counts how often it is asked."""

    count = 0

    def get(self, *arguments: Any) -> Any:
        self.count += 1
        return super().get(*arguments)

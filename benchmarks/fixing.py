"""One fix of a model of 200 MB with the real stages: what ascendflow adds to their work.

`python -m benchmarks.fixing`. `benchmarks.build` compares with other tools, and its stages
copy files: they take less time than to hash what they wrote. Here they do their work.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.row import Row, beyond_stages, table
from benchmarks.timing import Command, environment

REPOSITORY = Path(__file__).resolve().parent.parent
DOIT = str(Path(sys.executable).parent / "doit")
LAYERS, WIDTH = 12, 2048
ROUNDS = 5


def measure() -> list[Row]:
    """Fix the model's rules again and again; the least is told."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        doit = _built(folder)
        spent = [_fix_once(doit, number) for number in range(1, 1 + ROUNDS)]
    claim = "one fix, a model of 200 MB and the real stages, beyond them"
    return [beyond_stages(claim, spent)]


def _built(folder: Path) -> Command:
    """Start a pipeline around a model, build it, and return the command for it."""
    _write_model(folder / "wide.onnx")
    variables = environment(REPOSITORY)
    init = [sys.executable, "-m", "ascendflow.cli", "init", "wide", "--onnx", "wide.onnx"]
    Command(init, folder, variables).run()
    doit = Command([DOIT, "model=wide"], folder, variables)
    doit.run()
    return doit


def _write_model(path: Path) -> None:
    """Write a chain of products, 200 MB of weights, with cubes that a rule can edit."""
    import numpy as np
    import onnx
    from onnx import helper, numpy_helper

    random = np.random.default_rng(0)
    weights = [numpy_helper.from_array(np.array(3, np.float32), "three")]
    nodes, last = [], "x"
    for number in range(LAYERS):
        weight = random.standard_normal((WIDTH, WIDTH)) / WIDTH**0.5
        weights.append(numpy_helper.from_array(weight.astype(np.float32), f"w{number}"))
        product, small, cube = (f"{name}{number}" for name in ("product", "small", "cube"))
        nodes.append(helper.make_node("MatMul", [last, f"w{number}"], [product]))
        nodes.append(helper.make_node("Tanh", [product], [small]))
        nodes.append(helper.make_node("Pow", [small, "three"], [cube], name=cube))
        last = cube
    shape = (onnx.TensorProto.FLOAT, [8, WIDTH])
    ends = [helper.make_tensor_value_info(name, *shape) for name in ("x", last)]
    graph = helper.make_graph(nodes, "wide", ends[:1], ends[1:], weights)
    opset = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), path)


def _fix_once(doit: Command, number: int) -> tuple[float, float]:
    """Fix once more; returns what it took, and its stages' processes of that, in ms."""
    manifest = doit.folder / "pipelines/wide/manifest.yaml"
    cubes = ", ".join(f"cube{layer}" for layer in range(number))  # one more than before
    rewrite = f"rewrite: {{rules: [{{name: pow-to-mul, nodes: [{cubes}]}}]}}"
    manifest.write_text(
        re.sub(r"^rewrite:.*$", rewrite, manifest.read_text(), flags=re.MULTILINE)
    )
    start = time.perf_counter()
    said = doit.run()
    whole = time.perf_counter() - start
    seconds = json.loads((doit.folder / ".ascendflow/timings.json").read_text())
    ran = re.findall(r"^   ([a-z]+:wide) executed", said, flags=re.MULTILINE)
    return 1000 * whole, 1000 * sum(seconds[task] for task in ran)


if __name__ == "__main__":
    print(table(measure()))

"""`python -m msprobe.msprobe compare -m offline_model`: its checks, its table, its traps.

Numbers are float32 and have six decimals; DataType stands twice in the table's head; a row
that could not be compared, and one of NaN, are no errors by its own verdict. What it does
wrong stands in `device.json` under `msprobe`: "no table", "two tables", "fails", "not
compared".
"""

from __future__ import annotations

import csv
import os
import stat
import sys

import numpy as np
import onnx
import onnxruntime
import standin_dump
from standin_om import Om
from standin_told import told

TAKEN = ("-m", "-tp", "-gp", "-o", "--rank", "--input_data", "--input_shape", "-ofs")
TIMES = ("20260102030405", "20260102030406")
HEAD = (
    *("Index", "OpType", "NPUDump", "DataType", "Address", "GroundTruth", "DataType"),
    *("TensorIndex", "Shape", "CosineSimilarity", "MaxAbsoluteError"),
    *("AccumulatedRelativeError", "RelativeEuclideanDistance"),
    *("KullbackLeiblerDivergence", "StandardDeviation", "MeanAbsoluteError"),
    *("RootMeanSquareError", "MaxRelativeError", "MeanRelativeError"),
    *("CompareFailReason", "IsNpuOps", "IsOutputNode", "IsPrecisionError"),
)


def main():
    """Compare, and write the table."""
    command, *arguments = sys.argv[1:]
    given = dict(zip(arguments[::2], arguments[1::2]))
    for name in given:
        if command != "compare" or name not in TAKEN:
            raise SystemExit("Invalid argument '{}' for mode 'offline_model'".format(name))
    assert given["-m"] == "offline_model"
    if told("msprobe") == "fails":
        raise RuntimeError("aclruntime: set device failed, ret[107001]")
    for path in (given["-tp"], *given["--input_data"].split(",")):
        os.chmod(path, 0o640)  # it does so, and needs to be allowed to
        assert not os.stat(path).st_mode & stat.S_IWOTH
    rows = list(compared(given))
    if told("msprobe") == "no table":
        return
    for time in TIMES if told("msprobe") == "two tables" else TIMES[:1]:
        folder = os.path.join(given["-o"], time)
        os.makedirs(folder)
        with open(
            os.path.join(folder, "result_{}.csv".format(time)), "w", newline=""
        ) as file:
            csv.writer(file).writerows([HEAD, *rows])


def compared(given):
    """Yield a row for each operator of the OM."""
    om = Om(given["-tp"])
    contents = []
    for path in given["--input_data"].split(","):
        with open(path, "rb") as file:
            contents.append(file.read())
    feeds = {
        name: np.frombuffer(content, dtype).reshape(om.shapes[name])
        for (name, dtype), content in zip(om.inputs, contents)
    }
    model = onnx.load(given["-gp"])
    golden = standin_dump.every_tensor(model, feeds, session)
    target = om.tensors(feeds)
    for number, op in enumerate(om.arguments["operators"]):
        for place, name in enumerate(op["outputs"]):
            yield row(number, op, place, golden.get(name), target.get(name))


def session(model):
    """Load a model."""
    content = model.SerializeToString()
    return onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])


def row(number, op, place, golden, target):
    """Make a row; of what ONNX has not there is nothing but the operator."""
    truth = ",".join(op["nodes"]) or "*"
    where = "{}:output:{}".format(op["name"], place)
    start = [number, op["type"], op["name"], "float16", "0x1", truth]
    if not op["nodes"]:
        return [*start, "NaN", "*", "[]", *(["NaN"] * 10), "", "YES", "NO", "NO"]
    if told("msprobe") == "not compared" and op["type"] == "Conv2D":
        why = "The data size (20) of output does not match ground truth (21)."
        return [*start, golden.dtype, where, "[]", *(["NaN"] * 10), why, "NO", "NO", "NO"]
    start[3] = "float16" if target.dtype == np.float32 else str(target.dtype)
    values = numbers(golden, target.astype(np.dtype(start[3])))
    shape = "[" + ",".join(map(str, golden.shape)) + "]"
    return [*start, golden.dtype, where, shape, *values, "", "NO", "NO", "NO"]


def numbers(golden, target):
    """Return the ten columns, in float32."""
    b, a = (each.astype(np.float32).ravel() for each in (golden, target))
    apart = np.abs(a - b)
    with np.errstate(all="ignore"):
        cosine = a @ b / np.sqrt((a @ a) * (b @ b))
        relative = np.where(b == 0, 0, apart / np.abs(b))
        total = np.abs(a[b != 0] / b[b != 0] - 1).sum()
        distance = np.sqrt((apart @ apart) / (b @ b))
    found = [cosine, apart.max(), total, distance, 0.0, None, apart.mean()]
    found += [np.sqrt((apart @ apart) / a.size), relative.max(), relative.mean()]
    return ["(0;1),(0;1)" if each is None else shown(each) for each in found]


def shown(value):
    """Write a number as the tool does."""
    return "NaN" if np.isnan(value) else "{:.6f}".format(value)


if __name__ == "__main__":
    main()

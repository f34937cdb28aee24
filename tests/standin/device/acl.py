"""Stands in for pyACL: each call is written down, and the order is held to.

A call that `device.json` names under `acl_fails` gives the code that stands there.
"""

from __future__ import annotations

import os

import numpy as np
import standin_dump
from standin_om import HIDDEN, Om
from standin_told import told

CODES = {
    "float32": 0,
    "float16": 1,
    "int8": 2,
    "int32": 3,
    "uint8": 4,
    "int16": 6,
    "uint16": 7,
    "uint32": 8,
    "int64": 9,
    "uint64": 10,
    "float64": 11,
    "bool": 12,
}
_state = {"context": False, "model": None, "next": 1000, "gear": None, "shapes": None}
_memory = {}
_described = {}
_live = []


def _call(name):
    path = os.path.join(os.environ["ASCEND_TOOLKIT_HOME"], "acl.trace")
    with open(path, "a", encoding="utf-8") as file:
        file.write(name + "\n")
    return (told("acl_fails") or {}).get(name, 0)


def _made(kind, what):
    _state["next"] += 1
    _live.append((kind, _state["next"]))
    _memory[_state["next"]] = what
    return _state["next"]


def _gone(kind, which):
    if (kind, which) not in _live:
        return 100000
    _live.remove((kind, which))
    return 0


def get_soc_name():
    """Say which SoC the device is."""
    return told("soc", "Ascend310P3")


def init(config=None):
    """Once per process; `config` is a path."""
    standin_dump.configure(config)
    return _call("init")


def finalize():
    """Everything must be given back by now."""
    return _call("finalize") or (500001 if _live or _state["context"] else 0)


def create_data_buffer(pointer, size):
    """Describe memory of the device."""
    _call("create_data_buffer")
    return _made("buffer", (pointer, size))


def get_data_buffer_addr(buffer):
    """Say where the memory is that a buffer describes; 0 if nowhere."""
    return _memory[buffer][0]


def get_data_buffer_size_v2(buffer):
    """Say how large it is."""
    return _memory[buffer][1]


def create_tensor_desc(dtype, dims, layout):
    """Describe a tensor."""
    assert isinstance(dims, list)
    del dtype, layout
    return 0 if _call("create_tensor_desc") else _made("tensor", list(dims))


def destroy_tensor_desc(described):
    """Forget the description; a dataset has a copy."""
    assert _gone("tensor", described) == 0
    del _memory[described]


def get_tensor_desc_num_dims(described):
    """Say how many dimensions it has."""
    return len(_memory[described])


def get_tensor_desc_dim_v2(described, index):
    """Say one dimension."""
    return _memory[described][index], _call("get_tensor_desc_dim_v2")


def destroy_data_buffer(buffer):
    """Forget the description."""
    return _call("destroy_data_buffer") or _gone("buffer", buffer)


class rt:  # noqa: N801
    """acl.rt."""

    @staticmethod
    def set_device(device):
        return _call("rt.set_device") or (0 if device < told("devices", 1) else 107001)

    @staticmethod
    def reset_device(device):
        del device
        return _call("rt.reset_device")

    @staticmethod
    def create_context(device):
        failed = _call("rt.create_context")
        _state["context"] = not failed
        return device + 77, failed

    @staticmethod
    def destroy_context(context):
        del context
        _state["context"] = False
        return _call("rt.destroy_context")

    @staticmethod
    def malloc(size, policy):
        assert policy == 0
        assert size > 0
        failed = _call("rt.malloc")
        return (0 if failed else _made("memory", bytearray(size))), failed

    @staticmethod
    def memset(pointer, room, value, count):
        assert count <= room
        _memory[pointer][:count] = bytes([value]) * count
        return _call("rt.memset")

    @staticmethod
    def free(pointer):
        return _call("rt.free") or _gone("memory", pointer)

    @staticmethod
    def malloc_host(size):
        failed = _call("rt.malloc_host")
        return (0 if failed else _made("host", bytearray(size))), failed

    @staticmethod
    def free_host(pointer):
        return _call("rt.free_host") or _gone("host", pointer)

    @staticmethod
    def memcpy(to, room, source, count, kind):
        assert kind in {1, 2}
        assert count > 0
        assert count <= room
        _memory[to][:count] = _memory[source][:count]
        return _call("rt.memcpy")


class util:  # noqa: N801
    """acl.util."""

    @staticmethod
    def bytes_to_ptr(content):
        _state["next"] += 1
        _memory[_state["next"]] = content
        return _state["next"]

    @staticmethod
    def ptr_to_bytes(pointer, size):
        return bytes(_memory[pointer][:size])


def _inputs():
    om = _state["model"]
    found = [(name, dtype, om.shapes[name]) for name, dtype in om.inputs]
    found += [(HIDDEN, "int32", [4])] if om.kind.startswith("dynamic_") else []
    return found + [(name, "uint8", [96]) for name in told("more_inputs", [])]


def _size(dtype, shape):
    if not _state["model"].kind.startswith("dynamic_") and -1 in shape:
        return 0
    gears = _state["model"].gears() or [[1]]
    largest = max(n for gear in gears for n in gear)
    sizes = [largest if n == -1 else n for n in shape]
    return int(np.prod(sizes, dtype=np.int64)) * np.dtype(dtype).itemsize


def _set(kind, gear):
    if _state["model"].kind != kind or gear not in _state["model"].gears():
        return 145013
    _state["gear"] = gear
    return 0


class mdl:  # noqa: N801
    """acl.mdl."""

    @staticmethod
    def load_from_file(path):
        assert _state["context"]
        failed = _call("mdl.load_from_file")
        if not failed:
            _state["model"] = Om(path)
        return 1, failed

    @staticmethod
    def unload(model):
        del model
        _state["model"] = None
        return _call("mdl.unload")

    @staticmethod
    def create_desc():
        return _made("desc", None)

    @staticmethod
    def destroy_desc(desc):
        return _call("mdl.destroy_desc") or _gone("desc", desc)

    @staticmethod
    def get_desc(desc, model):
        del desc, model
        return _call("mdl.get_desc")

    @staticmethod
    def get_num_inputs(desc):
        del desc
        return len(_inputs())

    @staticmethod
    def get_num_outputs(desc):
        del desc
        return len(_state["model"].outputs)

    @staticmethod
    def get_input_dims(desc, index):
        del desc
        return {"dims": list(_inputs()[index][2])}, 0

    @staticmethod
    def get_output_dims(desc, index):
        del desc
        return {"dims": list(_state["model"].outputs[index][2])}, 0

    @staticmethod
    def get_cur_output_dims(desc, index):
        del desc
        return {"dims": list(_state["shapes"][index])}, 0

    @staticmethod
    def get_input_data_type(desc, index):
        del desc
        return CODES[_inputs()[index][1]]

    @staticmethod
    def get_output_data_type(desc, index):
        del desc
        return CODES[_state["model"].outputs[index][1]]

    @staticmethod
    def get_input_name_by_index(desc, index):
        del desc
        return _inputs()[index][0]

    @staticmethod
    def get_output_name_by_index(desc, index):
        del desc
        return _state["model"].outputs[index][0]

    @staticmethod
    def get_input_index_by_name(desc, name):
        del desc
        return [each[0] for each in _inputs()].index(name), 0

    @staticmethod
    def get_input_size_by_index(desc, index):
        del desc
        return _size(*_inputs()[index][1:])

    @staticmethod
    def get_output_size_by_index(desc, index):
        del desc
        _, dtype, shape = _state["model"].outputs[index]
        size = _size(dtype, shape)
        return max(size, 4096) if size else 0

    @staticmethod
    def create_dataset():
        return _made("dataset", [])

    @staticmethod
    def destroy_dataset(dataset):
        return _call("mdl.destroy_dataset") or _gone("dataset", dataset)

    @staticmethod
    def add_dataset_buffer(dataset, buffer):
        _memory[dataset].append(buffer)
        return dataset, _call("mdl.add_dataset_buffer")

    @staticmethod
    def set_dataset_tensor_desc(dataset, described, index):
        failed = _call("mdl.set_dataset_tensor_desc")
        _described[dataset, index] = list(_memory[described])
        return dataset, failed

    @staticmethod
    def get_dataset_tensor_desc(dataset, index):
        del dataset
        if told("untold"):
            return 0
        _state["next"] += 1
        _memory[_state["next"]] = list(_state["shapes"][index])
        return _state["next"]

    @staticmethod
    def set_dynamic_batch_size(model, dataset, index, batch):
        del model, dataset
        assert _inputs()[index][0] == HIDDEN
        return _call("mdl.set_dynamic_batch_size") or _set("dynamic_batch_size", [batch])

    @staticmethod
    def set_dynamic_hw_size(model, dataset, index, height, width):
        del model, dataset
        assert _inputs()[index][0] == HIDDEN
        failed = _call("mdl.set_dynamic_hw_size")
        return failed or _set("dynamic_image_size", [height, width])

    @staticmethod
    def set_input_dynamic_dims(model, dataset, index, dims):
        del model, dataset
        assert _inputs()[index][0] == HIDDEN
        assert dims["dimCount"] == len(dims["dims"])
        om = _state["model"]
        wanted = [n for name, _ in om.inputs for n in om.shapes[name]]
        opened = [d for n, d in zip(wanted, dims["dims"]) if n == -1]
        return _call("mdl.set_input_dynamic_dims") or _set("dynamic_dims", opened)

    @staticmethod
    def execute(model, inputs, outputs):
        del model
        failed = _call("mdl.execute")
        om = _state["model"]
        if failed or (om.kind.startswith("dynamic_") and _state["gear"] is None):
            return failed or 145013
        left = list(_state["gear"] or [])
        shapes, contents = [], []
        for place, (name, dtype) in enumerate(om.inputs):
            shape = [left.pop(0) if n == -1 and left else n for n in om.shapes[name]]
            shape = _described.get((inputs, place), shape)
            pointer, _ = _memory[_memory[inputs][place]]
            size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
            contents.append(bytes(_memory[pointer][:size]))
            shapes.append(shape)
        found = om.run(contents, shapes)
        _state["shapes"] = [each.shape for each in found]
        for buffer, array in zip(_memory[outputs], found):
            pointer, size = _memory[buffer]
            if pointer == 0 and array.nbytes:
                pointer, size = _made("memory", bytearray(array.nbytes)), array.nbytes
                _memory[buffer] = pointer, size
            assert array.nbytes <= size
            if array.nbytes:
                _memory[pointer][: array.nbytes] = array.tobytes()
        return 0

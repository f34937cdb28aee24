"""Stands in for ais_bench's InferSession: its words, its checks, and those it lacks.

Bytes are passed on and only counted. Modes are spelled as the source spells them.
"""

from __future__ import annotations

import numpy as np
import standin_dump
from standin_om import HIDDEN, Om
from standin_told import told


class Description:
    """As `aclruntime.tensor_desc`."""

    def __init__(self, name, datatype, shape):
        self.name, self.datatype, self.shape = name, "dtype." + datatype, shape
        self.format = 2
        self.size = self.realsize = abs(int(np.prod(shape))) * np.dtype(datatype).itemsize


class InferSession:
    """A loaded OM."""

    def __init__(self, device_id, model_path, acl_json_path=None, debug=False, loop=1):
        del debug, loop
        standin_dump.configure(acl_json_path)
        if device_id >= told("devices", 1):
            raise RuntimeError("[1][ACL: invalid device] set device failed, ret[107001]")
        print("[INFO] load model " + model_path + " success")
        self._om = Om(model_path)
        self.infer_mode_switch = {
            "static": self._static,
            "dymbatch": self._dymbatch,
            "dymhw": self._dymhw,
            "dymdims": self._dymdims,
            "dymshape": self._dymshape,
        }
        if told("few_modes"):  # as of 2023
            known = self.infer_mode_switch
            del self.infer_mode_switch
            self._set = {mode: known[mode] for mode in ("dymdims", "dymshape")}
        if not told("no_free_resource"):
            self.free_resource = self._free_resource

    def get_inputs(self):
        """Return the inputs; of a model with gears one more."""
        om = self._om
        found = [Description(name, t, om.shapes[name]) for name, t in om.inputs]
        if om.kind.startswith("dynamic_"):
            found.append(Description(HIDDEN, "int32", [4]))
        return found + [
            Description(name, "uint8", [96]) for name in told("more_inputs", [])
        ]

    def get_outputs(self):
        """Return the outputs."""
        return [Description(*each) for each in self._om.outputs]

    def infer(self, feeds, mode="static", custom_sizes=100000, out_array=True):
        """Run one sample."""
        del out_array
        known = self._set if told("few_modes") else self.infer_mode_switch
        if mode not in known and not told("few_modes"):
            raise RuntimeError("wrong infer_mode:{}, only support modes".format(mode))
        if not 0 < custom_sizes < 1 << 31:
            raise ValueError("input value:{} is out of range".format(custom_sizes))
        if len(feeds) != len(self._om.inputs):
            raise RuntimeError("input datas and intensors nums not matched!")
        shapes = [each.shape for each in feeds]
        known.get(mode, lambda _: None)(shapes)  # what it does not know it does not say
        contents = [np.ascontiguousarray(each).tobytes() for each in feeds]
        if mode == "static":
            shapes = [self._om.shapes[name] for name, _ in self._om.inputs]
        for content, shape, (_, dtype) in zip(contents, shapes, self._om.inputs):
            if len(content) != int(np.prod(shape)) * np.dtype(dtype).itemsize:
                raise RuntimeError("input size is not equal to the model's")
        if mode != "dymshape" and any(-1 in shape for _, _, shape in self._om.outputs):
            raise RuntimeError("out i:0 size is zero")
        outputs = self._om.run(contents, shapes)
        if mode == "dymshape" and any(each.nbytes > custom_sizes for each in outputs):
            raise RuntimeError("the output is larger than custom_sizes")
        return outputs

    def _static(self, shapes):
        del shapes
        if self._om.kind != "static":
            raise RuntimeError("not a static model!")

    def _first(self, shapes, kind, word):
        if self._om.kind != kind:
            raise RuntimeError("not a {} model!".format(word))
        opened = []
        for (name, _), shape in zip(self._om.inputs, shapes):
            for wanted, size in zip(self._om.shapes[name], shape):
                if wanted == -1:
                    opened.append(size)
                elif wanted != size:
                    raise RuntimeError("input datas and intensors dim not matched!")
        return opened

    def _hold(self, gear):
        if gear not in self._om.gears():
            raise RuntimeError("set dynamic failed, ret[145013]")

    def _dymbatch(self, shapes):
        self._hold(self._first(shapes, "dynamic_batch_size", "dymbatch")[:1])

    def _dymhw(self, shapes):
        self._hold(self._first(shapes, "dynamic_image_size", "dymhw")[:2])

    def _dymdims(self, shapes):
        self._hold(self._first(shapes, "dynamic_dims", "dymdims"))

    def _dymshape(self, shapes):
        assert len(shapes) == len(self._om.inputs)

    @staticmethod
    def finalize():
        """Leave acl: what is dumped lies on the disk from here on."""
        print("[INFO] aclFinalize success")

    def _free_resource(self):
        print("[INFO] unload model success, model Id is 1")

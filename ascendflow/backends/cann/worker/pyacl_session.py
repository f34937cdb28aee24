"""The second way to run an OM: pyACL, in the order that its documents give.

Source: the runtime's documents of pyACL.
"""

from __future__ import annotations

import contextlib
import sys
from typing import Any

from .acl_codes import ACL_TYPES, checked
from .refused import RefusedError
from .slot import (
    DYNAMIC,
    GEAR_INPUT,
    OPEN,
    STATIC,
    Slot,
    as_they_come,
    kind_of,
    of_samples,
    stored,
)

MOST_DIMS = 128
"""More than any tensor has; a rank that is not known is told by a large number."""


class PyAcl:
    """An OM that pyACL has loaded."""

    def __init__(self, job: dict[str, Any]) -> None:
        import acl

        self._acl, self._held = acl, contextlib.ExitStack()
        self._kept = []  # type: list[RefusedError]
        try:
            self._load(job)
        except BaseException:
            self._held.close()
            raise

    def _load(self, job: dict[str, Any]) -> None:
        device, om, dump = job["device"], job["om"], job.get("acl_json")
        acl, hold = self._acl, self._hold
        checked("acl.init", acl.init() if dump is None else acl.init(dump))
        hold(self._held, "acl.finalize", acl.finalize)
        checked("acl.rt.set_device", acl.rt.set_device(device))
        hold(self._held, "acl.rt.reset_device", acl.rt.reset_device, device)
        context = checked("acl.rt.create_context", acl.rt.create_context(device))
        hold(self._held, "acl.rt.destroy_context", acl.rt.destroy_context, context)
        self._model = checked("acl.mdl.load_from_file", acl.mdl.load_from_file(om))
        hold(self._held, "acl.mdl.unload", acl.mdl.unload, self._model)
        self._desc = desc = acl.mdl.create_desc()
        hold(self._held, "acl.mdl.destroy_desc", acl.mdl.destroy_desc, desc)
        checked("acl.mdl.get_desc", acl.mdl.get_desc(desc, self._model))
        self._all = [self._slot("input", n) for n in range(acl.mdl.get_num_inputs(desc))]
        self.inputs = of_samples(self._all)
        count = acl.mdl.get_num_outputs(desc)
        outputs = [self._slot("output", n) for n in range(count)]
        self._shapes = kind_of(job["shapes"], outputs)
        self.outputs = as_they_come(job["shapes"], outputs)

    def _hold(self, held: Any, name: str, free: Any, *what: Any) -> None:
        """Give back what was taken when `held` ends; the rest too, if that fails."""

        def give_back() -> None:
            try:
                checked(name, free(*what))
            except RefusedError as error:
                sys.stderr.write(f"{error}\n")
                self._kept.append(error)

        held.callback(give_back)

    def _raise_kept(self) -> None:
        if self._kept:
            raise self._kept[0]

    def _slot(self, kind: str, index: int) -> Slot:
        ask = self._acl.mdl
        dims = getattr(ask, "get_" + kind + "_dims")(self._desc, index)
        shape = checked("acl.mdl.get_" + kind + "_dims", dims)["dims"]
        code = getattr(ask, "get_" + kind + "_data_type")(self._desc, index)
        name = getattr(ask, "get_" + kind + "_name_by_index")(self._desc, index)
        return Slot(name, ACL_TYPES.get(code, "type " + str(code)), list(shape))

    def run(self, arrays: list[Any], gear: list[int]) -> list[Any]:
        """Run one sample; what it takes of the device is freed, whatever happens."""
        with contextlib.ExitStack() as held:
            outputs = self._run(held, arrays, gear)
        self._raise_kept()
        return outputs

    def _run(self, held: Any, arrays: list[Any], gear: list[int]) -> list[Any]:
        feeds = iter(arrays)
        inputs, outputs = self._dataset(held), self._dataset(held)
        for index, slot in enumerate(self._all):
            self._feed(held, inputs, index, next(feeds) if slot in self.inputs else None)
        places = [self._place(held, outputs, n) for n in range(len(self.outputs))]
        self._choose(inputs, arrays, gear)
        done = self._acl.mdl.execute(self._model, inputs, outputs)
        checked("acl.mdl.execute", done)
        return [self._fetch(held, outputs, n, place) for n, place in enumerate(places)]

    def _dataset(self, held: Any) -> Any:
        dataset = self._acl.mdl.create_dataset()
        self._hold(held, "acl.mdl.destroy_dataset", self._acl.mdl.destroy_dataset, dataset)
        return dataset

    def _feed(self, held: Any, dataset: Any, index: int, array: Any) -> None:
        """Put an input there; of one that ATC put in, only the room for it."""
        size = self._acl.mdl.get_input_size_by_index(self._desc, index)
        if self._shapes == DYNAMIC and array is not None:
            size = max(size, array.nbytes)  # the model says 0 where it does not know
        size = max(size, 1)
        at = self._memory(held, size)
        if array is not None and array.nbytes:
            self._send(at, size, array)
        self._buffer(held, dataset, at, size)

    def _place(self, held: Any, dataset: Any, index: int) -> tuple[Any, Any, int]:
        """Make room for an output: its buffer, where it lies, its bytes."""
        size = self._acl.mdl.get_output_size_by_index(self._desc, index)
        if not size:  # the model does not know: the runtime takes what it needs
            return self._buffer(held, dataset, 0, 0), 0, 0
        at = self._memory(held, size)
        # What the device does not write is NaN, or -1, and not what lay there.
        checked("acl.rt.memset", self._acl.rt.memset(at, size, 0xFF, size))
        return self._buffer(held, dataset, at, size), at, size

    def _memory(self, held: Any, size: int) -> Any:
        at = checked("acl.rt.malloc", self._acl.rt.malloc(size, 0))
        self._hold(held, "acl.rt.free", self._acl.rt.free, at)
        return at

    def _buffer(self, held: Any, dataset: Any, at: Any, size: int) -> Any:
        acl = self._acl
        buffer = acl.create_data_buffer(at, size)
        self._hold(held, "acl.destroy_data_buffer", acl.destroy_data_buffer, buffer)
        added = acl.mdl.add_dataset_buffer(dataset, buffer)
        checked("acl.mdl.add_dataset_buffer", added)
        return buffer

    def _send(self, at: Any, size: int, array: Any) -> None:
        content = array.tobytes()
        if len(content) > size:
            text = "a feed has {} bytes, and the device's buffer {}"
            raise RefusedError(text.format(len(content), size))
        source = self._acl.util.bytes_to_ptr(content)
        copied = self._acl.rt.memcpy(at, size, source, len(content), 1)
        checked("acl.rt.memcpy", copied)

    def _choose(self, inputs: Any, arrays: list[Any], gear: list[int]) -> None:
        """Tell the shapes of this sample, in the way that the model asks for."""
        if self._shapes == STATIC:
            return
        mdl = self._acl.mdl
        if self._shapes == DYNAMIC:
            for array, slot in zip(arrays, self.inputs):
                self._describe(inputs, self._all.index(slot), array)
            return
        found = mdl.get_input_index_by_name(self._desc, GEAR_INPUT)
        index = checked("acl.mdl.get_input_index_by_name", found)
        if self._shapes == "dynamic_dims":
            dims = {"name": "", "dimCount": len(gear), "dims": gear}
            name, values = "set_input_dynamic_dims", [dims]  # type: str, list[Any]
        elif self._shapes == "dynamic_image_size":
            name, values = "set_dynamic_hw_size", gear
        else:
            name, values = "set_dynamic_batch_size", gear
        set_it = getattr(mdl, name)
        checked("acl.mdl." + name, set_it(self._model, inputs, index, *values))

    def _describe(self, dataset: Any, index: int, array: Any) -> None:
        acl = self._acl
        # The dataset copies it, and looks at nothing of it but the sizes.
        described = acl.create_tensor_desc(0, list(array.shape), 0)
        if not described:  # to set nothing would be no error
            raise RefusedError("acl.create_tensor_desc gave nothing")
        try:
            said = acl.mdl.set_dataset_tensor_desc(dataset, described, index)
        finally:
            acl.destroy_tensor_desc(described)
        checked("acl.mdl.set_dataset_tensor_desc", said)

    def _fetch(
        self, held: Any, dataset: Any, index: int, place: tuple[Any, Any, int]
    ) -> Any:
        import numpy as np

        acl, slot = self._acl, self.outputs[index]
        buffer, at, size = place
        if not size and acl.get_data_buffer_addr(buffer):
            at, size = acl.get_data_buffer_addr(buffer), acl.get_data_buffer_size_v2(buffer)
            self._hold(held, "acl.rt.free", acl.rt.free, at)
        shape = self._shape(dataset, index)
        dtype = np.dtype(stored(slot.dtype))
        wanted = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        if wanted > size or OPEN in shape:
            text = "output {!r} has {} bytes by its shape {}, and {} in its buffer"
            raise RefusedError(text.format(slot.name, wanted, shape, size))
        if not wanted:
            return np.zeros(shape, dtype)
        return np.frombuffer(self._bytes(at, wanted), dtype).reshape(shape)

    def _shape(self, dataset: Any, index: int) -> list[int]:
        """Return the shape that an output has now."""
        acl = self._acl
        if self._shapes == DYNAMIC:
            said = acl.mdl.get_dataset_tensor_desc(dataset, index)
            count = acl.get_tensor_desc_num_dims(said) if said else -1
            if not 0 <= count <= MOST_DIMS:
                text = "the shape of output {!r} is not told"
                raise RefusedError(text.format(self.outputs[index].name))
            name = "acl.get_tensor_desc_dim_v2"
            return [
                checked(name, acl.get_tensor_desc_dim_v2(said, n)) for n in range(count)
            ]
        name = "get_output_dims" if self._shapes == STATIC else "get_cur_output_dims"
        dims = checked("acl.mdl." + name, getattr(acl.mdl, name)(self._desc, index))
        return list(dims["dims"])

    def _bytes(self, at: Any, size: int) -> bytes:
        acl = self._acl
        host = checked("acl.rt.malloc_host", acl.rt.malloc_host(size))
        with contextlib.ExitStack() as held:
            self._hold(held, "acl.rt.free_host", acl.rt.free_host, host)
            checked("acl.rt.memcpy", acl.rt.memcpy(host, size, at, size, 2))
            return bytes(acl.util.ptr_to_bytes(host, size))

    def close(self) -> None:
        """Unload the model and leave the device."""
        self._held.close()
        self._raise_kept()

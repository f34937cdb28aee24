"""The first way to run an OM: ais_bench's InferSession.

Source: ais_bench's `infer/interface.py`.
"""

from __future__ import annotations

from typing import Any

from .refused import RefusedError
from .slot import Slot, as_they_come, kind_of, of_samples

MODES = {
    "static": "static",
    "dynamic_batch_size": "dymbatch",
    "dynamic_image_size": "dymhw",
    "dynamic_dims": "dymdims",
    "dynamic_shape": "dymshape",
}
"""ais_bench's own spelling; its documents write `dyn`, which it refuses."""

AIS_TYPES = {"double64": "float64", "double": "float64", "bf16": "bfloat16"}

FIRST_MODES = ("static", "dymdims", "dymshape")
"""What versions know that keep no list of modes; any other they take for `static`."""

TOLD_AS_TEXT, SEPARATORS = ("dymdims", "dymshape"), ":;,"
"""Modes in which shapes are told as "name:1,3;name:1,8"."""

ROOM, TIMES, MOST = 16 << 20, 64, (1 << 31) - 1
"""Bytes that an output of open shape gets: at least, times the inputs', and at most, since
first versions count in 32 bits."""


class AisBench:
    """An OM that ais_bench has loaded."""

    def __init__(self, job: dict[str, Any]) -> None:
        from ais_bench.infer.interface import InferSession

        dump = job.get("acl_json")
        asked = {} if dump is None else {"acl_json_path": dump}
        self._session = session = InferSession(job["device"], job["om"], **asked)
        self._end = None if dump is None else getattr(InferSession, "finalize", None)
        outputs = [self._slot(each) for each in session.get_outputs()]
        self._mode = MODES[kind_of(job["shapes"], outputs)]
        self.outputs = as_they_come(job["shapes"], outputs)
        wants_aipp = getattr(session, "get_dym_aipp_input_exist", int)()
        inputs = [self._slot(each) for each in session.get_inputs()]
        self.inputs = of_samples(inputs, bool(wants_aipp))
        known = getattr(self._session, "infer_mode_switch", FIRST_MODES)
        if self._mode not in known:
            text = "this ais_bench knows no mode {!r}, only {}; use `api: pyacl`"
            raise RefusedError(text.format(self._mode, ", ".join(sorted(known))))
        spelled = [each.name for each in self.inputs if set(each.name) & set(SEPARATORS)]
        if spelled and self._mode in TOLD_AS_TEXT:
            text = "ais_bench tells shapes as text, in which {} is cut; use `api: pyacl`"
            raise RefusedError(text.format(", ".join(map(repr, spelled))))

    @staticmethod
    def _slot(said: Any) -> Slot:
        if not hasattr(said, "datatype"):
            text = "this ais_bench does not say of which type {!r} is; use `api: pyacl`"
            raise RefusedError(text.format(said.name))
        dtype = str(said.datatype).rpartition(".")[2].lower()
        return Slot(said.name, AIS_TYPES.get(dtype, dtype), [int(n) for n in said.shape])

    def run(self, arrays: list[Any], gear: list[int]) -> list[Any]:
        """Run one sample; ais_bench finds the gear by the arrays' shapes."""
        del gear
        options = {}  # type: dict[str, Any]
        if self._mode == "dymshape":
            total = sum(each.nbytes for each in arrays)
            options["custom_sizes"] = min(max(ROOM, TIMES * total), MOST)
        outputs = self._session.infer(arrays, mode=self._mode, **options)
        return list(outputs)

    def close(self) -> None:
        """Free the device; older versions have no such call, and do so as they end."""
        if hasattr(self._session, "free_resource"):
            self._session.free_resource()
        if self._end is not None:
            self._end()  # so that what is dumped lies on the disk

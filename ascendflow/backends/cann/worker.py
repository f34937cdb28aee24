"""Runs an OM on a device: the one file that goes to the interpreter of the user's choice.

Plain Python of 3.7's syntax: the standard library, numpy, and ais_bench or acl; nothing of
ascendflow. It is called with a folder and an action, and speaks in files of that folder:
`job.json` and .npy files in, `answers.jsonl` and .npy files out, a line for each sample, so
that a crash tells at which one.

Sources: ais_bench's `infer/interface.py`; the runtime's documents of pyACL.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import sys
import threading
import time
import traceback
from typing import Any

JOB, ANSWERS, LOOK, SEEN, DIGESTS = (
    "job.json",
    "answers.jsonl",
    "look.json",
    "seen.json",
    "digests.json",
)
SCRIPT = os.path.abspath(__file__)
GEAR_INPUT = "ascend_mbatch_shape_data"
HIDDEN = (GEAR_INPUT, "ascend_dynamic_aipp_data")
MODES = {
    "static": "static",
    "dynamic_batch_size": "dymbatch",
    "dynamic_image_size": "dymhw",
    "dynamic_dims": "dymdims",
    "dynamic_shape": "dymshape",
}
"""ais_bench's own spelling; its documents write `dyn`, which it refuses."""

ACL_TYPES = dict(enumerate(("float32", "float16", "int8", "int32", "uint8")))
ACL_TYPES.update({6: "int16", 7: "uint16", 8: "uint32", 9: "int64", 10: "uint64"})
ACL_TYPES.update({11: "float64", 12: "bool", 27: "bfloat16"})
AIS_TYPES = {"double64": "float64", "double": "float64", "bf16": "bfloat16"}
ACL_ERRORS = dict.fromkeys(range(100012, 100017), "the model's file")
ACL_ERRORS.update(dict.fromkeys((200000, 207001), "no memory on the device"))
ACL_ERRORS.update(
    {
        100000: "a bad parameter",
        100001: "acl is not initialised",
        100002: "acl is initialised already",
        100003: "a file",
        100011: "no such model",
        100017: "an input mismatch",
        107001: "no such device",
        107002: "no context",
        145002: "the model's path",
        145006: "the OM's size",
        145013: "no such batch",
    }
)
ROOM = 16 << 20
"""Bytes that an output of unknown shape gets at least, and times the inputs' bytes."""
TIMES = 64


class RefusedError(Exception):
    """What is wrong, said for people."""


class Slot:
    """An input or output, as the loaded model says: -1 is an open size."""

    def __init__(self, name: str, dtype: str, shape: list[int]) -> None:
        self.name, self.dtype, self.shape = name, dtype, shape

    def fits(self, shape: Any) -> bool:
        """Whether an array of this shape is one for it."""
        pairs = list(zip(self.shape, shape))
        return len(self.shape) == len(shape) and all(a in (-1, b) for a, b in pairs)


class AisBench:
    """The first way: ais_bench's InferSession."""

    def __init__(self, job: dict[str, Any]) -> None:
        from ais_bench.infer.interface import InferSession

        self._mode = MODES[job["shapes"]]
        self._session = InferSession(job["device"], job["om"])
        inputs = self._session.get_inputs()
        self.inputs = [self._slot(each) for each in inputs if each.name not in HIDDEN]
        self.outputs = [self._slot(each) for each in self._session.get_outputs()]

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
            options["custom_sizes"] = max(ROOM, TIMES * total)
        outputs = self._session.infer(arrays, mode=self._mode, **options)
        return list(outputs)

    def close(self) -> None:
        """Free the device; older versions have no such call, and do so as they end."""
        if hasattr(self._session, "free_resource"):
            self._session.free_resource()


class PyAcl:
    """The second way: pyACL, in the order that its documents give."""

    def __init__(self, job: dict[str, Any]) -> None:
        if job["shapes"] == "dynamic_shape":
            raise RefusedError("pyacl runs no models of dynamic shape here: use ais_bench")
        import acl

        self._acl, self._shapes, self._held = acl, job["shapes"], contextlib.ExitStack()
        self._kept = []  # type: list[RefusedError]
        try:
            self._load(job["device"], job["om"])
        except BaseException:
            self._held.close()
            raise

    def _load(self, device: int, om: str) -> None:
        acl, hold = self._acl, self._hold
        checked("acl.init", acl.init())
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
        self.inputs = [each for each in self._all if each.name not in HIDDEN]
        count = acl.mdl.get_num_outputs(desc)
        self.outputs = [self._slot("output", n) for n in range(count)]

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
        given = [next(feeds) if slot in self.inputs else None for slot in self._all]
        inputs = self._dataset(held)
        outputs = self._dataset(held)
        size_of = self._acl.mdl.get_input_size_by_index
        for index, array in enumerate(given):
            at = self._buffer(held, inputs, size_of(self._desc, index))
            if array is not None:
                self._send(at, size_of(self._desc, index), array)
        size_of = self._acl.mdl.get_output_size_by_index
        sizes = [size_of(self._desc, n) for n in range(len(self.outputs))]
        places = [self._buffer(held, outputs, size) for size in sizes]
        for at, size in zip(places, sizes):
            # What the device does not write is NaN, or -1, and not what lay there.
            checked("acl.rt.memset", self._acl.rt.memset(at, size, 0xFF, size))
        self._choose(inputs, gear)
        done = self._acl.mdl.execute(self._model, inputs, outputs)
        checked("acl.mdl.execute", done)
        return [self._fetch(n, places[n], sizes[n]) for n in range(len(places))]

    def _dataset(self, held: Any) -> Any:
        dataset = self._acl.mdl.create_dataset()
        self._hold(held, "acl.mdl.destroy_dataset", self._acl.mdl.destroy_dataset, dataset)
        return dataset

    def _buffer(self, held: Any, dataset: Any, size: int) -> Any:
        acl = self._acl
        at = checked("acl.rt.malloc", acl.rt.malloc(size, 0))
        self._hold(held, "acl.rt.free", acl.rt.free, at)
        buffer = acl.create_data_buffer(at, size)
        self._hold(held, "acl.destroy_data_buffer", acl.destroy_data_buffer, buffer)
        added = acl.mdl.add_dataset_buffer(dataset, buffer)
        checked("acl.mdl.add_dataset_buffer", added)
        return at

    def _send(self, at: Any, size: int, array: Any) -> None:
        content = array.tobytes()
        if len(content) > size:
            text = "a feed has {} bytes, and the device's buffer {}"
            raise RefusedError(text.format(len(content), size))
        source = self._acl.util.bytes_to_ptr(content)
        copied = self._acl.rt.memcpy(at, size, source, len(content), 1)
        checked("acl.rt.memcpy", copied)

    def _choose(self, inputs: Any, gear: list[int]) -> None:
        if self._shapes == "static":
            return
        mdl = self._acl.mdl
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

    def _fetch(self, index: int, at: Any, size: int) -> Any:
        import numpy as np

        acl, slot = self._acl, self.outputs[index]
        kind = "get_output_dims" if self._shapes == "static" else "get_cur_output_dims"
        dims = getattr(acl.mdl, kind)(self._desc, index)
        shape = checked("acl.mdl." + kind, dims)["dims"]
        dtype = np.dtype(stored(slot.dtype))
        wanted = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        if wanted > size:
            text = "output {!r} has {} bytes by its shape, and {} in its buffer"
            raise RefusedError(text.format(slot.name, wanted, size))
        if not wanted:
            return np.zeros(shape, dtype)
        host = checked("acl.rt.malloc_host", acl.rt.malloc_host(wanted))
        with contextlib.ExitStack() as held:
            self._hold(held, "acl.rt.free_host", acl.rt.free_host, host)
            copied = acl.rt.memcpy(host, wanted, at, wanted, 2)
            checked("acl.rt.memcpy", copied)
            content = bytes(acl.util.ptr_to_bytes(host, wanted))
        return np.frombuffer(content, dtype).reshape(shape)

    def close(self) -> None:
        """Unload the model and leave the device."""
        self._held.close()
        self._raise_kept()


SESSIONS = {"ais_bench": AisBench, "pyacl": PyAcl}


def checked(name: str, result: Any) -> Any:
    """Return what a call of pyACL gives beside its `ret`, which must be 0."""
    value, ret = result if isinstance(result, tuple) else (None, result)
    if ret != 0:
        why = ACL_ERRORS.get(
            ret, "an inner error" if ret == 245000 or ret >= 500000 else "see its log"
        )
        raise RefusedError(f"{name} gave {ret}: {why}")
    return value


def stored(dtype: str) -> str:
    """Return numpy's type for the bits of `dtype`."""
    return "uint16" if dtype == "bfloat16" else dtype


def why_not(slots: list[Slot], feeds: dict[str, Any], arrays: dict[str, Any]) -> list[str]:
    """Say where a sample does not fit the model's inputs; nobody behind here looks."""
    wrong = []
    wanted = [slot.name for slot in slots]
    if sorted(wanted) != sorted(feeds):
        wrong.append(f"the OM's inputs are {wanted}, fed are {sorted(feeds)}")
    for slot in slots:
        if slot.name not in feeds:
            continue
        dtype, array = feeds[slot.name]["dtype"], arrays[slot.name]
        if dtype != slot.dtype or str(array.dtype) != stored(dtype):
            text = "input {!r} is {} in the OM, fed is {}"
            wrong.append(text.format(slot.name, slot.dtype, dtype))
        if not slot.fits(array.shape):
            text = "input {!r} has shape {} in the OM, fed is {}"
            wrong.append(text.format(slot.name, slot.shape, list(array.shape)))
    return wrong


def read_output(slot: Slot, array: Any) -> Any:
    """Hold an output to what the model says of it."""
    import numpy as np

    array, dtype = np.asarray(array, order="C"), np.dtype(stored(slot.dtype))
    said = -1 if -1 in slot.shape else int(np.prod(slot.shape, dtype=np.int64))
    if array.dtype != dtype and array.nbytes == said * dtype.itemsize:
        # What came is bytes, whatever they are called: the model says what they mean.
        array = np.frombuffer(array.tobytes(), dtype).reshape(slot.shape)
    if array.dtype != dtype or not slot.fits(array.shape):
        text = "output {!r} is {} {} in the OM, and came as {} {}"
        is_there = (array.dtype.name, list(array.shape))
        raise RefusedError(text.format(slot.name, slot.dtype, slot.shape, *is_there))
    return array


def soc_of_device(told: Any) -> str:
    """Ask the device which SoC it is; `told` is what is known where acl does not say."""
    name = None
    try:
        import acl

        name = acl.get_soc_name() if hasattr(acl, "get_soc_name") else None
    except ImportError as error:
        sys.stderr.write(f"acl: {error}\n")
    if not name and not told:
        raise RefusedError("which SoC the device is cannot be told: acl does not say")
    return str(name or told)


def run_all(job: dict[str, Any], say: Any) -> None:
    """Load the OM once, and run each sample."""
    import numpy as np

    soc = soc_of_device(job.get("device_soc"))
    say(event="device", soc=soc, python=platform.python_version(), numpy=np.__version__)
    if soc.lower() != job["soc_version"].lower():
        text = "the OM is built for {}, and device {} is {}"
        raise RefusedError(text.format(job["soc_version"], job["device"], soc))
    session = SESSIONS[job["api"]](job)  # type: Any
    try:
        for number, sample in enumerate(job["samples"]):
            say(event="begin", sample=number)
            started = time.perf_counter()
            outputs = run_one(session, number, sample)
            wall = round(1000 * (time.perf_counter() - started), 3)
            say(event="sample", sample=number, outputs=outputs, wall_ms=wall)
    except BaseException:
        with contextlib.suppress(Exception):  # the first error is the one to tell
            session.close()
        raise
    session.close()
    say(event="end")


def run_one(session: Any, number: int, sample: dict[str, Any]) -> list[dict[str, Any]]:
    """Run one sample and write what comes out."""
    import numpy as np

    feeds = sample["feeds"]
    arrays = {
        name: np.asarray(np.load(feed["file"], allow_pickle=False), order="C")
        for name, feed in feeds.items()
    }
    wrong = why_not(session.inputs, feeds, arrays)
    if wrong:
        raise RefusedError("; ".join(wrong))
    ordered = [arrays[slot.name] for slot in session.inputs]
    outputs = session.run(ordered, sample.get("gear") or [])
    if len(outputs) != len(session.outputs):
        text = "the OM has {} outputs, {} came"
        raise RefusedError(text.format(len(session.outputs), len(outputs)))
    said = []
    for index, (slot, array) in enumerate(zip(session.outputs, outputs)):
        np.save(f"out-{number}-{index}.npy", read_output(slot, array))
        said.append({"name": slot.name, "dtype": slot.dtype})
    return said


def run() -> int:
    """Do the job; answer in lines of JSON, each on the disk before the next step."""
    with open(ANSWERS, "w", encoding="utf-8") as file:

        def say(**line: Any) -> None:
            file.write(json.dumps(line) + "\n")
            file.flush()
            os.fsync(file.fileno())

        try:
            run_all(read(JOB), say)
        except RefusedError as error:
            say(event="refused", text=str(error))
            return 1
        except Exception as error:
            traceback.print_exc()
            say(event="failed", text=f"{type(error).__name__}: {error}")
            return 1
    return 0


def look() -> int:
    """Tell what `look.json` asks about this machine: files, and what it is."""
    seen = {}
    for path in read(LOOK)["files"]:
        if os.path.isfile(path):
            with open(path, encoding="utf-8", errors="replace") as file:
                seen[path] = {"text": file.read(1 << 20), "real": os.path.realpath(path)}
    found = {"files": seen, "arch": platform.machine(), "folder": os.getcwd()}
    found["drivers"] = [path for path in read(LOOK)["drivers"] if os.path.exists(path)]
    kept = read(LOOK)["kept"]
    found["environment"] = {key: os.environ[key] for key in kept if key in os.environ}
    return write(SEEN, found)


def digests() -> int:
    """Tell how much of each file has arrived, and its digest."""
    found = {}
    for folder, _, names in os.walk("."):
        for path in [os.path.join(folder, name) for name in names]:
            digest = hashlib.sha256()
            with open(path, "rb") as file:
                block = file.read(1 << 20)
                while block:
                    digest.update(block)
                    block = file.read(1 << 20)
                found[os.path.relpath(path)] = [file.tell(), digest.hexdigest()]
    return write(DIGESTS, found)


def again() -> int:
    """Start anew in the environment that the job names, and end when the caller does."""
    job = read(JOB)
    argv = [job["python"], "-u", SCRIPT, os.getcwd(), "held"]
    os.execve(job["python"], argv, job["environment"])


def held() -> int:
    """Do the job as long as standard input is open, which the caller holds."""

    def watch() -> None:
        while os.read(0, 4096):
            pass
        os._exit(3)

    threading.Thread(target=watch, daemon=True).start()
    return run()


def read(name: str) -> Any:
    """Read a JSON file."""
    with open(name, encoding="utf-8") as file:
        return json.load(file)


def write(name: str, content: Any) -> int:
    """Write a JSON file."""
    with open(name, "w", encoding="utf-8") as file:
        json.dump(content, file)
    return 0


ACTIONS = {"run": run, "look": look, "digests": digests, "again": again, "held": held}

if __name__ == "__main__":
    os.chdir(sys.argv[1])
    code = ACTIONS[sys.argv[2]]()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # a native library that crashes as it is unloaded changes nothing

"""What goes to the worker and what comes back: files of one folder, on either machine."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ascendflow.backends.cann.gear_of_sample import gear_of
from ascendflow.backends.cann.output_names import matched
from ascendflow.backends.cann.worker import files
from ascendflow.documents.json_file import write_json
from ascendflow.errors import StageError, ToolFailedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import numpy as np

    from ascendflow.backends.cann.signature import Signature, SignatureOutput

BFLOAT16 = "bfloat16"
SILENCE_S = 180
"""After which the caller of a worker on a board is gone; it speaks every few seconds."""


def write_feeds(
    work: Path, feeds: Iterable[Mapping[str, np.ndarray]], said: Signature
) -> list[dict[str, Any]]:
    """Write every sample's feeds, in the types that the OM is built to take.

    Returns:
        What the job says of the samples.

    Raises:
        StageError: a sample's shape is no gear.
    """
    import numpy as np

    taken = {each["name"]: each["om_dtype"] for each in said["inputs"]}
    samples = []
    for number, sample in enumerate(feeds):
        # In the model's order: a gear of all sizes is told in it.
        names = [name for name in taken if name in sample]
        names += [name for name in sample if name not in taken]
        arrays = {name: np.asarray(sample[name], order="C") for name in names}
        described = {}
        for place, (name, array) in enumerate(arrays.items()):
            fed = _as_taken(array, taken.get(name, array.dtype.name))
            file = f"feed-{number}-{place}.npy"
            bits = fed.view(np.uint16) if fed.dtype.name == BFLOAT16 else fed
            np.save(work / file, bits, allow_pickle=False)
            described[name] = {"file": file, "dtype": fed.dtype.name}
        shapes = {name: array.shape for name, array in arrays.items()}
        samples.append({"feeds": described, "gear": gear_of(said, shapes, number)})
    return samples


def _as_taken(array: np.ndarray, dtype: str) -> np.ndarray:
    """Cast float32 to float16 where the manifest has the OM take it so; no other."""
    import numpy as np

    if dtype == "float16" and array.dtype.name == "float32":
        with np.errstate(over="ignore"):  # as the device would: the numbers show it
            return array.astype("float16")
    return array


def write_job(
    work: Path,
    om: str,
    said: Signature,
    samples: Sequence[Mapping[str, Any]],
    options: Mapping[str, Any],
) -> None:
    """Write the job.

    Args:
        work: where to.
        om: the OM's path, as the worker sees it.
        said: what the OM is.
        samples: what `write_feeds` says of them.
        options: `infer` of the manifest; and `dump`, where all tensors inside are wanted:
            `models` are the names that the OM and its graphs are asked by, `most_bytes` is
            how much may come of it.
    """
    job = {
        "om": om,
        "api": options["api"],
        "device": options["device"],
        "soc_version": said["soc_version"],
        "shapes": said["shapes"],
        "samples": list(samples),
        "silence_s": SILENCE_S,
        "python": options["python"],
        "environment": options.get("environment", {}),
        "dump": options.get("dump"),
    }
    write_json(work / files.JOB, job)


def read_answers(work: Path) -> list[dict[str, Any]]:
    """Read what the worker said; a line that is cut short was not said."""
    path = work / files.ANSWERS
    if not path.is_file():
        return []
    answers = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            answers.append(json.loads(line))
        except ValueError:
            break
    return answers


def hold_to_end(answers: Sequence[Mapping[str, Any]], ended: str | None, said: str) -> None:
    """Accept a run that came to its end, and nothing else.

    Args:
        answers: the worker's.
        ended: how its process ended, if not well.
        said: the last lines of its output.

    Raises:
        StageError: the worker refused what it was given.
        ToolFailedError: it failed, or died.
    """
    last = answers[-1] if answers else {"event": "nothing"}
    if last["event"] == "end" and ended is None:
        return
    begun = [each["sample"] for each in answers if each["event"] == "begin"]
    where = f"infer: at sample number {begun[-1]}" if begun else "infer"
    if last["event"] == "refused":
        raise StageError(f"{where}: {last['text']}", hint="see the stage's log")
    text = last["text"] if last["event"] == "failed" else f"the worker {ended or 'ended'}"
    hint = _HINTS[bool(begun)] if "No module named" not in text else _INSTALL
    raise ToolFailedError(f"{where}: {text}\n{said}".rstrip(), hint=hint)


_HINTS = {
    True: "run that sample alone with Ascend's own tools to see whether it fails there",
    False: "the OM was not loaded; see the log for what the runtime said",
}
_INSTALL = (
    "infer.python must have numpy, and ais_bench and aclruntime (their wheels are for "
    "Python 3.7 to 3.12), or say `infer: {api: pyacl}`"
)


def read_outputs(
    work: Path, answers: Sequence[Mapping[str, Any]], said: Signature
) -> Iterator[dict[str, np.ndarray]]:
    """Yield each sample's outputs by their ONNX names, in the ONNX model's order.

    Raises:
        StageError: the OM's outputs are not the model's, or of a type that would lose
            something as the model's.
    """
    done = [each for each in answers if each["event"] == "sample"]
    for number, answer in enumerate(done):
        outputs = answer["outputs"]
        places = matched([each["name"] for each in outputs], said["outputs"])
        yield {
            onnx["name"]: _as_model(
                _load(work / f"out-{number}-{place}.npy", outputs[place]["dtype"]), onnx
            )
            for place, onnx in zip(places, said["outputs"], strict=True)
        }


def _load(file: Path, dtype: str) -> np.ndarray:
    import ml_dtypes
    import numpy as np

    array: np.ndarray = np.load(file, allow_pickle=False)
    return array.view(ml_dtypes.bfloat16) if dtype == BFLOAT16 else array


def _as_model(array: np.ndarray, onnx: SignatureOutput) -> np.ndarray:
    """Widen to the ONNX model's type, as for `--output_type=FP16`; never narrow."""
    import ml_dtypes  # noqa: F401  registers bfloat16
    import numpy as np

    wanted = np.dtype(onnx["dtype"])
    if array.dtype == wanted:
        return array
    if not np.can_cast(array.dtype, wanted, "safe"):
        raise StageError(
            f"infer: output {onnx['name']!r} is {array.dtype.name} in the OM and "
            f"{wanted.name} in the model, which it cannot become without loss",
            hint="see convert.output_type",
        )
    return array.astype(wanted)

"""The block `infer`: how the target runs, and on which device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, Field

from ascendflow import vocabulary
from ascendflow.manifest.atc_gears import GEARS
from ascendflow.manifest.backends import named_backends
from ascendflow.manifest.block import STRICT
from ascendflow.manifest.fields import DevicePath, SshConfig, SshHost, one_of
from ascendflow.manifest.paths import block, lookup
from ascendflow.manifest.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

ON_THE_BOARD = ("python", "toolkit")
NOT_WITH_MSPROBE = (
    ("infer", "host"),
    *(("convert", key) for key in ("aipp", "insert_op_conf", "input_fp16_nodes")),
    *(("convert", key) for key in ("dynamic_shape", *GEARS)),
)
"""It runs on this machine, and feeds one file to the OM and to ONNX."""


class Infer(BaseModel):
    """How the target runs. All but `threads` is for backend `cann`."""

    model_config = STRICT

    threads: Annotated[int, Field(ge=1, le=1024)] = 1
    """Of onnxruntime, in infer and compare; part of their keys."""
    python: DevicePath | None = None
    """The Python that has numpy and ais_bench; absent: `convert.python`. With `host`:
    the board's."""
    api: Annotated[str, one_of(vocabulary.INFER_APIS)] = "ais_bench"
    """What runs the OM: `ais_bench` with its aclruntime, or `pyacl`, which the toolkit
    holds."""
    device: Annotated[int, Field(ge=0, le=1023)] = 0
    """Number of the device."""
    toolkit: DevicePath | None = None
    """Where CANN is installed that runs the OM; absent: `convert.toolkit`. With `host`: on
    the board."""
    host: SshHost | None = None
    """`user@board`: run there, over ssh. Keys, ports and known hosts are ssh's own."""
    ssh_config: SshConfig | None = None
    """A configuration for ssh in place of your own, as `ssh -F` takes it."""


def infer_keys(data: Any) -> Iterator[Problem]:
    """Yield what does not stand together."""
    if "cann" in named_backends(lookup(data, ("convert",))):
        yield from _beside_msprobe(data)
        yield from _on_the_board(data)


def _on_the_board(data: Any) -> Iterator[Problem]:
    told = block(data, "infer")
    if "host" in told:
        for key in ON_THE_BOARD:
            if key not in told:
                text = "is missing: with host, the board's own must be named"
                yield Problem(("infer", key), text, f"give infer.{key}, as it is there")
    elif "ssh_config" in told:
        text = "is for ssh, and there is no infer.host"
        yield Problem(("infer", "ssh_config"), text, "name the host, or remove it")


def _beside_msprobe(data: Any) -> Iterator[Problem]:
    if lookup(data, ("compare", "nodes_by")) != "msprobe":
        return
    if others := [".".join(keys) for keys in NOT_WITH_MSPROBE if lookup(data, keys)]:
        text = f"is msprobe, which is not run here with {', '.join(others)}"
        hint = "remove it: ascendflow reads the dump itself then"
        yield Problem(("compare", "nodes_by"), text, hint)
